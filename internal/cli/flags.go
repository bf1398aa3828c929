package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/server"
)

// settingFlags gives a command the flags of all settings, and --config.
func settingFlags(flags *pflag.FlagSet) {
	for _, s := range server.Settings() {
		settingFlag(flags, &s)
	}
	configFlag(flags)
}

// someSettingFlags gives a command the flags of the settings named, and
// --config.
func someSettingFlags(flags *pflag.FlagSet, keys ...string) {
	for _, s := range server.Settings() {
		for _, key := range keys {
			if s.Key == key {
				settingFlag(flags, &s)
			}
		}
	}
	configFlag(flags)
}

// settingFlag adds one. Values are read by load, like those of the file, so
// that all are checked the same way; the flag's own value is only text.
func settingFlag(flags *pflag.FlagSet, s *server.Setting) {
	usage := s.Usage + " (" + s.Default + ")"
	if s.IsSwitch() {
		flags.Bool(s.Flag(), false, usage)
	} else {
		flags.Var(&textValue{kind: kindOf(s)}, s.Flag(), usage)
	}
	if s.Hidden {
		// The flag was just added, so it is there.
		_ = flags.MarkHidden(s.Flag())
	}
}

func configFlag(flags *pflag.FlagSet) {
	flags.String("config", "", "YAML file with settings; flags and "+server.EnvPrefix+"... variables win over it")
}

// kindOf is the word that help shows for a flag's value.
func kindOf(s *server.Setting) string {
	switch {
	case s.Key == "data":
		return "DIR"
	case strings.HasSuffix(s.Key, "addr"):
		return "HOST:PORT"
	case strings.HasSuffix(s.Key, "timeout"), strings.HasSuffix(s.Key, "delay"):
		return "DURATION"
	case s.Key == "memory", strings.HasSuffix(s.Key, "frame"):
		return "SIZE"
	case strings.HasPrefix(s.Key, "thrift1.max"), strings.HasPrefix(s.Key, "http.max"):
		return "N"
	}
	return "NAME"
}

// textValue is a flag that holds any text and shows no default of its own.
type textValue struct{ text, kind string }

func (v *textValue) String() string     { return v.text }
func (v *textValue) Set(s string) error { v.text = s; return nil }
func (v *textValue) Type() string       { return v.kind }

// load reads the settings for a command that has some of the flags.
func (a *app) load(c *cobra.Command) (*effective, error) {
	file := a.environment(configEnv)
	if f := c.Flags().Lookup("config"); f != nil && f.Changed {
		file = f.Value.String()
	}
	return load(layers{file: file, environ: a.environ, flags: c.Flags()})
}

// environment gives a variable of the environment; empty: it is not set.
func (a *app) environment(name string) string {
	value := ""
	for _, entry := range a.environ {
		if n, v, ok := strings.Cut(entry, "="); ok && n == name {
			value = v
		}
	}
	return value
}
