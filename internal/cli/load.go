package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/server"
)

// configEnv names the configuration file where --config does not.
const configEnv = server.EnvPrefix + "CONFIG"

// layers are where settings come from, the last one winning: the file, the
// environment, the flags. What none of them sets has its default.
type layers struct {
	file    string   // empty: none
	environ []string // as os.Environ
	flags   *pflag.FlagSet
}

// effective is a configuration with every value in place.
type effective struct {
	config server.Config // resolved and valid
	// sources says where each value comes from, by key.
	sources map[string]source
}

// source is where a value comes from.
type source struct {
	kind string // "default", "file", "env" or "flag"
	name string // of the file, the variable or the flag
}

const (
	fromDefault = "default"
	fromFile    = "file"
	fromEnv     = "env"
	fromFlag    = "flag"
)

func (s source) String() string { return strings.TrimSpace(s.kind + " " + s.name) }

// sourcedError is what is wrong with a setting, and where it was set.
type sourcedError struct {
	err    error
	source source
}

func (e *sourcedError) Error() string {
	if e.source.kind == fromDefault {
		return e.err.Error()
	}
	return e.err.Error() + " (set by " + e.source.String() + ")"
}

func (e *sourcedError) Unwrap() error { return e.err }

// load merges the layers, reads every value, fills in defaults and checks the
// whole. It reports everything that is wrong, not only the first.
func load(l layers) (*effective, error) {
	merged := koanf.New(".")
	sources := map[string]source{}
	for _, s := range server.Settings() {
		sources[s.Key] = source{kind: fromDefault}
	}
	add := func(layer *koanf.Koanf, origin func(key string) source) error {
		for _, key := range layer.Keys() {
			if _, known := sources[key]; known {
				sources[key] = origin(key)
			}
		}
		return merged.Merge(layer)
	}
	if l.file != "" {
		layer, err := loadFile(l.file)
		if err != nil {
			return nil, err
		}
		if err := add(layer, func(string) source { return source{fromFile, l.file} }); err != nil {
			return nil, fmt.Errorf("read configuration %s: %w", l.file, err)
		}
	}
	layer, names, err := loadEnv(l.environ)
	if err != nil {
		return nil, err
	}
	if err := add(layer, func(key string) source { return source{fromEnv, names[key]} }); err != nil {
		return nil, fmt.Errorf("read environment: %w", err)
	}
	if l.flags != nil {
		layer, names, err := loadFlags(l.flags)
		if err != nil {
			return nil, err
		}
		if err := add(layer, func(key string) source { return source{fromFlag, names[key]} }); err != nil {
			return nil, fmt.Errorf("read flags: %w", err)
		}
	}
	return assemble(merged, sources)
}

// assemble turns merged values into a configuration.
func assemble(merged *koanf.Koanf, sources map[string]source) (*effective, error) {
	e := &effective{sources: sources}
	var wrong []error
	for _, s := range server.Settings() {
		if !merged.Exists(s.Key) {
			continue
		}
		text, err := scalar(s.Key, merged.Get(s.Key))
		if err == nil {
			err = s.Set(&e.config, text)
		}
		if err != nil {
			wrong = append(wrong, &sourcedError{err, sources[s.Key]})
		}
	}
	if len(wrong) == 0 {
		given := e.config
		e.config = e.config.Resolve()
		wrong = replaced(&given, e)
	}
	if len(wrong) == 0 {
		wrong = addSources(e.config.Validate(), sources)
	}
	if len(wrong) == 0 {
		return e, nil
	}
	err := errors.Join(wrong...)
	for _, w := range wrong {
		var s *sourcedError
		if errors.As(w, &s) && s.source.kind == fromFlag {
			return nil, &usageError{err}
		}
	}
	return nil, err
}

// replaced names the settings that were given and for which a default was taken
// all the same: 0 or nothing where that stands for "not set". Whoever writes
// max_connections: 0 does not mean 4096.
func replaced(given *server.Config, e *effective) (wrong []error) {
	for _, s := range server.Settings() {
		from := e.sources[s.Key]
		if was := s.Get(given); from.kind != fromDefault && was != s.Get(&e.config) {
			err := &server.SettingError{Key: s.Key, Value: was, Want: "a value above 0 or not empty, or leave it out for the default"}
			wrong = append(wrong, &sourcedError{err, from})
		}
	}
	return wrong
}

// addSources takes the errors of a Validate apart and says where each value was
// set.
func addSources(err error, sources map[string]source) []error {
	if err == nil {
		return nil
	}
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	for i, p := range parts {
		var s *server.SettingError
		if errors.As(p, &s) {
			parts[i] = &sourcedError{p, sources[s.Key]}
		}
	}
	return parts
}

// scalar gives the text of a value as a file may hold it.
func scalar(key string, v any) (string, error) {
	switch v.(type) {
	case nil:
		return "", &server.SettingError{Key: key, Want: "a value, or leave the key out"}
	case map[string]any, []any:
		return "", &server.SettingError{Key: key, Value: fmt.Sprint(v), Want: "a single value"}
	}
	return fmt.Sprint(v), nil
}

// loadEnv reads the variables that belong to settings, and gives their names by
// key. One that is empty is not set. Those that look like a misspelt setting are
// refused; others with our prefix are not ours to judge: Kubernetes sets
// CELLAR_PORT and the like wherever a service is called cellar.
func loadEnv(environ []string) (*koanf.Koanf, map[string]string, error) {
	if err := unknownVariables(environ); err != nil {
		return nil, nil, err
	}
	names := map[string]string{}
	keys := map[string]string{}
	for _, s := range server.Settings() {
		names[s.Key], keys[s.Env()] = s.Env(), s.Key
	}
	k := koanf.New(".")
	err := k.Load(env.Provider(".", env.Opt{
		Prefix:      server.EnvPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			if value == "" {
				return "", nil
			}
			return keys[name], value
		},
	}), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read environment: %w", err)
	}
	return k, names, nil
}

// loadFlags reads the flags that were given (the provider leaves the others out)
// and belong to settings, and gives their names by key.
func loadFlags(flags *pflag.FlagSet) (*koanf.Koanf, map[string]string, error) {
	names := map[string]string{}
	keys := map[string]string{}
	for _, s := range server.Settings() {
		names[s.Key], keys[s.Flag()] = "--"+s.Flag(), s.Key
	}
	k := koanf.New(".")
	err := k.Load(posflag.ProviderWithFlag(flags, ".", nil, func(f *pflag.Flag) (string, any) {
		return keys[f.Name], f.Value.String()
	}), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read flags: %w", err)
	}
	return k, names, nil
}

// loadFile reads a YAML file and refuses keys that are no settings.
func loadFile(name string) (*koanf.Koanf, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	f, err := readYAML(name, text)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(append(f.wrong, f.unknown())...); err != nil {
		return nil, err
	}
	k := koanf.New(".")
	if err := k.Load(nested(f.set), nil); err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", name, err)
	}
	return k, nil
}

// nested gives values by whole keys to koanf, which has sections in maps.
type nested map[string]any

// ReadBytes implements koanf.Provider.
func (nested) ReadBytes() ([]byte, error) { return nil, errors.New("there are no bytes") }

// Read implements koanf.Provider.
func (n nested) Read() (map[string]any, error) {
	all := map[string]any{}
	for key, value := range n {
		head, tail, ok := strings.Cut(key, ".")
		switch {
		case !ok && !isSection(settingKeys(), key):
			all[key] = value
		case ok:
			section, _ := all[head].(map[string]any)
			if section == nil {
				section = map[string]any{}
				all[head] = section
			}
			section[tail] = value
		}
	}
	return all, nil
}
