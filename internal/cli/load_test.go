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
		{"a list", "data: [a, b]\n", `c.yaml:1: data: want a single value, or settings below it; this is a list`},
		{"no value", "data:\n", `data: "" is not right: want a value, or leave the key out (set by file`},
		{"a bad value", "memory: lots\n", `memory: "lots" is not right: want a size, as 512MiB, 1GiB or a number of bytes (set by file`},
		{"a value out of bounds", "memory: 1MiB\n", `memory: "1MiB" is not right: want at least 512MiB (set by file`},
		{"two bad values", "memory: lots\nlog:\n  level: loud\nengine: x\n", `memory: "lots"`},
		{"a key twice", "data: a\ndata: b\n", `c.yaml:2: data is set already, on line 1`},
		{"no YAML", "data: [\n", `read configuration`},
		{"a list of everything", "- data\n", `c.yaml:1: want settings, as "memory: 1GiB"`},
		{"one word", "data\n", `c.yaml:1: want settings`},
		{"another case", "Memory: 1GiB\n", `there is no setting "Memory": did you mean "memory"?`},
		{"another case in a section", "HTTP:\n  Addr: :1\n", `c.yaml:2: there is no setting "HTTP.Addr": did you mean "http.addr"?`},
		{"another way to write words", "thrift1:\n  maxConnections: 5\n", `there is no setting "thrift1.maxConnections": did you mean "thrift1.max_connections"?`},
		{"as the flag is written", "thrift1-addr: :1\n", `there is no setting "thrift1-addr": did you mean "thrift1.addr"?`},
		{"in the wrong section", "thrift1:\n  memory: 1GiB\n", `there is no setting "thrift1.memory": did you mean "memory"?`},
		{"in the other section", "http:\n  transport: framed\n", `there is no setting "http.transport": did you mean "thrift1.transport"?`},
		{"in no section", "max_connections: 5\n", `there is no setting "max_connections": did you mean "thrift1.max_connections" or "http.max_connections"?`},
		{"one key written in two ways", "http:\n  addr: :1\nhttp.addr: :2\n", `c.yaml:3: http.addr is set already, on line 2`},
		{"a section twice, its settings too", "http:\n  addr: :1\nhttp:\n  addr: :2\n", `c.yaml:4: http.addr is set already, on line 2`},
		{"a section between braces", "http: {addr: \":1\", addr: \":2\"}\n", `c.yaml:1: http.addr is set already, on line 1`},
		{"a second document", "memory: 1GiB\n---\nmemroy: 2GiB\n", `c.yaml:3: a second document`},
		{"an empty second document", "memory: 1GiB\n---\n", `c.yaml:3: a second document`},
		{"a key that is nothing", "null: x\n", `c.yaml:1: a key is a name, as memory; this is "null"`},
		{"a key that is a number", "1: x\n", `a key is a name, as memory; this is "1"`},
		{"a key that is empty", "http:\n  \"\": x\n", `c.yaml:2: a key is a name`},
		{"a key that is a list", "? [a]\n: x\n", `c.yaml:1: a key is a name`},
		{"a merged section", "http: &h\n  addr: :1\nthrift1:\n  <<: *h\n", `c.yaml:4: a key is a name, as memory; this is "<<"`},
		{"an alias", "data: &d x\nengine: *d\n", `c.yaml:2: engine: write the value itself`},
		{"a setting below a setting", "memory:\n  total: 1GiB\n", `c.yaml:2: there is no setting "memory.total"`},
		{"a setting that is a section too", "data:\n  {}\n", `data: "map[]" is not right: want a single value`},
		{"a fraction", "thrift1:\n  max_connections: 4.5\n", `thrift1.max_connections: "4.5" is not right: want a whole number`},
		{"another base", "thrift1:\n  max_connections: 0x10\n", `thrift1.max_connections: "0x10" is not right`},
		{"yes", "http:\n  pprof: yes please\n", `http.pprof: "yes please" is not right: want true or false`},
		{"a truth as an address", "http:\n  addr: true\n", `http.addr: "true" is not right: want host:port`},
		{"0 where it is no value", "thrift1:\n  max_connections: 0\n", `thrift1.max_connections: "0" is not right: want a value above 0 or not empty, or leave it out`},
		{"no memory at all", "memory: 0\n", `memory: "0" is not right: want a value above 0`},
		{"an empty text", "data: \"\"\n", `data: "" is not right: want a value above 0 or not empty`},
		{"two faults of different kinds", "wine: red\n- x\n", `read configuration`},
		{"faults of the file and of its keys", "null: x\nwine: red\n", `there is no setting "wine"`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(layers{file: writeFile(t, "c.yaml", tc.text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v\nwant %s", err, tc.want)
			}
		})
	}
	if len(cases) != 45 {
		t.Errorf("%d cases", len(cases))
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

// A value is taken as it is written, whatever YAML would take it for.
func TestLoad_valuesAreText(t *testing.T) {
	values := []string{"2026-01-01", "0x10", "1_000", "010", "1e3", "yes", "~/cellar", ".5"}
	for _, value := range values {
		e, err := load(layers{file: writeFile(t, "c.yaml", "data: "+value+"\n")})
		if err != nil || e.config.Data != value {
			t.Errorf("%s: %q, %v", value, e.config.Data, err)
		}
	}
	// Both ways to write a key, under the layers above the file.
	for _, text := range []string{"http.addr: 127.0.0.1:1\n", "http:\n  addr: 127.0.0.1:1\n"} {
		l := layers{file: writeFile(t, "c.yaml", text)}
		if e, err := load(l); err != nil || e.config.HTTP.Addr != "127.0.0.1:1" {
			t.Errorf("%q: %v", text, err)
		}
		l.environ = []string{"CELLAR_HTTP_ADDR=127.0.0.1:2"}
		if e, err := load(l); err != nil || e.config.HTTP.Addr != "127.0.0.1:2" {
			t.Errorf("%q under the environment: %v", text, err)
		}
	}
}

// A variable that looks like a misspelt setting is refused; those that others
// set are not.
func TestLoad_variables(t *testing.T) {
	cases := []struct{ variable, want string }{
		{"CELLAR_MEMROY=1GiB", "the variable CELLAR_MEMROY is no setting: did you mean CELLAR_MEMORY?"},
		{"CELLAR_THRIFT1_ADRR=:1", "did you mean CELLAR_THRIFT1_ADDR?"},
		{"CELLAR_THRIFT_ADDR=:1", "did you mean CELLAR_THRIFT1_ADDR?"},
		{"CELLAR_MAX_CONNECTIONS=5", "did you mean CELLAR_THRIFT1_MAX_CONNECTIONS or CELLAR_HTTP_MAX_CONNECTIONS?"},
		{"CELLAR_HTTP_MEMORY=1GiB", "did you mean CELLAR_MEMORY?"},
		{"CELLAR_ADDR=:1", "did you mean CELLAR_THRIFT1_ADDR or CELLAR_HTTP_ADDR?"},
		{"CELLAR_memory=1GiB", "did you mean CELLAR_MEMORY?"},
		{"CELLAR_MEMORY=", ""},
		{"CELLAR_DATA=", ""},
		{"CELLAR_CONFIG=", ""},
		{"CELLAR_PORT=tcp://10.0.0.1:9090", ""},
		{"CELLAR_SERVICE_HOST=10.0.0.1", ""},
		{"CELLAR_SERVICE_PORT_HTTP=8600", ""},
		{"CELLAR_PORT_8600_TCP_ADDR=10.0.0.1", ""},
		{"CELLAR_HTTP_SERVICE_HOST=10.0.0.1", ""},
		{"CELLAR_HTTP_PORT=tcp://10.0.0.1:8600", ""},
		{"CELLAR_SOAK=1", ""},
		{"CELLAR_VERSION=1.2", ""},
		{"CELLARS_MEMROY=1", ""},
		{"MEMROY=1", ""},
	}
	for _, tc := range cases {
		_, err := load(layers{environ: []string{"HOME=/x", tc.variable}})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.variable, err, tc.want)
		}
	}
	if len(cases) != 20 {
		t.Errorf("%d cases", len(cases))
	}
}

// A flag that a command does not have.
func TestUnknownFlag(t *testing.T) {
	cases := []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--memroy", "1GiB"}, "cellar: unknown flag: --memroy: did you mean --memory?\n"},
		{[]string{"serve", "--thrift1_addr=:1"}, "cellar: unknown flag: --thrift1_addr: did you mean --thrift1-addr?\n"},
		{[]string{"serve", "--wine"}, "cellar: unknown flag: --wine: cellar serve --help lists them\n"},
		{[]string{"status", "--memory", "1GiB"}, "cellar: unknown flag: --memory: cellar status --help lists them\n"},
		{[]string{"serve", "-x"}, "cellar: unknown shorthand flag: 'x' in -x\n"},
		{[]string{"serve", "--memory"}, "cellar: flag needs an argument: --memory\n"},
		// Hidden ones are not for users.
		{[]string{"serve", "--fault-fsync-delai", "1s"}, "cellar: unknown flag: --fault-fsync-delai: cellar serve --help lists them\n"},
	}
	for _, tc := range cases {
		var out, errOut bytes.Buffer
		if code := Run(t.Context(), tc.args, nil, &out, &errOut); code != exitUsage || errOut.String() != tc.want || out.Len() > 0 {
			t.Errorf("%v: status %d, %q%q; want %q", tc.args, code, &errOut, &out, tc.want)
		}
	}
	if len(cases) != 7 {
		t.Errorf("%d cases", len(cases))
	}
}
