package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/server"
)

// writeFile puts text into a file of the test's folder.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// parseFlags gives the flags of serve after a command line.
func parseFlags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	settingFlags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// One setting of every type, through every subset of the layers: the strongest
// one wins, and is named.
func TestLoad_precedence(t *testing.T) {
	settings := []struct{ key, file, env, flag, byDefault string }{
		{"data", "from-file", "from-env", "from-flag", "cellar-data"},
		{"memory", "1GiB", "2GiB", "3GiB", ""},
		{"thrift1.max_connections", "11", "12", "13", "4096"},
		{"drain_timeout", "11s", "12s", "13s", "30s"},
		{"http.pprof", "true", "false", "true", "false"},
		{"http.addr", "127.0.0.1:11", "127.0.0.1:12", "127.0.0.1:13", "127.0.0.1:8600"},
	}
	cases := 0
	for _, s := range settings {
		var known *server.Setting
		for _, k := range server.Settings() {
			if k.Key == s.key {
				known = &k
			}
		}
		for bits := range 8 {
			cases++
			l := layers{environ: []string{"HOME=/x", "CELLAR_PORT=tcp://10.0.0.1:1"}}
			want, from := s.byDefault, source{kind: fromDefault}
			if bits&1 != 0 {
				text := s.key + ": " + s.file + "\n"
				if section, name, ok := strings.Cut(s.key, "."); ok {
					text = section + ":\n  " + name + ": " + s.file + "\n"
				}
				l.file = writeFile(t, "c.yaml", text)
				want, from = s.file, source{fromFile, l.file}
			}
			if bits&2 != 0 {
				l.environ = append(l.environ, known.Env()+"="+s.env)
				want, from = s.env, source{fromEnv, known.Env()}
			}
			if bits&4 != 0 {
				l.flags = parseFlags(t, "--"+known.Flag()+"="+s.flag)
				want, from = s.flag, source{fromFlag, "--" + known.Flag()}
			} else {
				l.flags = parseFlags(t)
			}
			e, err := load(l)
			if err != nil {
				t.Errorf("%s, layers %03b: %v", s.key, bits, err)
				continue
			}
			if got := known.Get(&e.config); got != want && want != "" {
				t.Errorf("%s, layers %03b: %s, want %s", s.key, bits, got, want)
			}
			if e.sources[s.key] != from {
				t.Errorf("%s, layers %03b: from %q, want %q", s.key, bits, e.sources[s.key], from)
			}
		}
	}
	if cases != 48 {
		t.Errorf("%d cases, want 48", cases)
	}
}

// An empty file, and sections with nothing in them, change nothing.
func TestLoad_emptyFile(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "http:\nthrift1:\n  # addr: x\n", "http: {}\n"} {
		e, err := load(layers{file: writeFile(t, "c.yaml", text)})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if e.config != (server.Config{}).Resolve() {
			t.Errorf("%q gives %+v", text, e.config)
		}
	}
}

func TestLoad_refusesFile(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"a misspelt key", "memroy: 1GiB\n", `c.yaml:1: there is no setting "memroy": did you mean "memory"?`},
		{"a misspelt key in a section", "http:\n  addr: :1\n  adr: :2\n", `c.yaml:3: there is no setting "http.adr": did you mean "http.addr"?`},
		{"a key of nothing", "wine: red\n", `c.yaml:1: there is no setting "wine": cellar config print shows all of them`},
		{"two unknown keys", "one: 1\ntwo: 2\n", `"two"`},
		{"a section with a value", "http: 127.0.0.1:1\n", `there is no setting "http": it is a section`},
		{"a setting with keys", "data:\n  dir: x\n", `there is no setting "data.dir"`},
		{"an unknown section with nothing in it", "wine:\n", `there is no setting "wine"`},
		{"a list", "data: [a, b]\n", `data: "[a b]" is not right: want a single value`},
		{"no value", "data:\n", `data: "" is not right: want a value, or leave the key out (set by file`},
		{"a bad value", "memory: lots\n", `memory: "lots" is not right: want a size, as 512MiB, 1GiB or a number of bytes (set by file`},
		{"a value out of bounds", "memory: 1MiB\n", `memory: "1MiB" is not right: want at least 512MiB (set by file`},
		{"two bad values", "memory: lots\nlog:\n  level: loud\nengine: x\n", `memory: "lots"`},
		{"a key twice", "data: a\ndata: b\n", `already defined`},
		{"no YAML", "data: [\n", `read configuration`},
		{"a list of everything", "- data\n", `read configuration`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(layers{file: writeFile(t, "c.yaml", tc.text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v\nwant %s", err, tc.want)
			}
		})
	}
	if _, err := load(layers{file: "/no/such/file.yaml"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A bad flag is a wrong command line; a bad file or variable is not.
func TestLoad_saysWhoseFaultItIs(t *testing.T) {
	var u *usageError
	_, err := load(layers{flags: parseFlags(t, "--log-level=loud")})
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "set by flag --log-level") {
		t.Errorf("flag: %v", err)
	}
	_, err = load(layers{environ: []string{"CELLAR_LOG_LEVEL=loud"}})
	if err == nil || errors.As(err, &u) || !strings.Contains(err.Error(), "set by env CELLAR_LOG_LEVEL") {
		t.Errorf("environment: %v", err)
	}
}

// What config print writes is a file that gives the same configuration.
func TestPrint_readsBack(t *testing.T) {
	cases := [][]string{
		nil,
		{"--thrift1-addr=off", "--http-addr=[::1]:8600", "--memory=1GiB", "--http-pprof"},
		{"--data=true", "--thrift1-addr=:9090", "--fault-fsync-delay=5ms"},
		{"--data=# : {}'\"\\", "--log-format=json", "--wal-sync=os"},
		{"--data=1e3"},
		{"--data=0x10"},
	}
	for _, args := range cases {
		e, err := load(layers{flags: parseFlags(t, args...)})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := e.print(&text); err != nil {
			t.Fatal(err)
		}
		again, err := load(layers{file: writeFile(t, "c.yaml", text.String())})
		if err != nil {
			t.Errorf("%v: %v in\n%s", args, err, &text)
			continue
		}
		if again.config != e.config {
			t.Errorf("%v reads back as %+v, was %+v\n%s", args, again.config, e.config, &text)
		}
	}
}

func TestEditDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"memroy", "memory", 2}, {"http.adr", "http.addr", 1}, {"same", "same", 0}}
	for _, tc := range cases {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("%q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
