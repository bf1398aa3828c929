package server

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// leaves counts the fields of a configuration that hold a value.
func leaves(t reflect.Type) int {
	n := 0
	for i := range t.NumField() {
		if f := t.Field(i).Type; f.Kind() == reflect.Struct {
			n += leaves(f)
		} else {
			n++
		}
	}
	return n
}

func TestSettings_listEveryFieldOnce(t *testing.T) {
	settings := Settings()
	if want := leaves(reflect.TypeFor[Config]()); len(settings) != want {
		t.Errorf("%d settings for %d fields of Config", len(settings), want)
	}
	var c Config
	fields, keys := map[any]string{}, map[string]bool{}
	for _, s := range settings {
		if other, taken := fields[s.field(&c)]; taken {
			t.Errorf("%s and %s are the same field", s.Key, other)
		}
		fields[s.field(&c)] = s.Key
		if keys[s.Key] {
			t.Errorf("key %s is there twice", s.Key)
		}
		keys[s.Key] = true
		if s.Usage == "" || s.Default == "" {
			t.Errorf("%s has no usage or default", s.Key)
		}
	}
}

func TestSettings_readBackWhatTheyPrint(t *testing.T) {
	values := map[string]string{
		"data": "/srv/x", "engine": "memory", "memory": "1536MiB", "drain_timeout": "1m30s",
		"thrift1.addr": "off", "thrift1.max_connections": "7", "thrift1.max_frame": "1000000",
		"thrift1.idle_timeout": "5m0s", "thrift1.scanner_timeout": "1s", "thrift1.fetch_timeout": "9s", "thrift1.transport": "framed", "thrift1.protocol": "compact",
		"http.addr": "[::1]:0", "http.max_connections": "9", "http.stall_timeout": "20s", "http.pprof": "true",
		"wal.sync": "os", "disk.reserve": "64MiB", "log.level": "debug", "log.format": "json", "fault.fsync_delay": "5ms",
	}
	var c Config
	for _, s := range Settings() {
		if err := s.Set(&c, values[s.Key]); err != nil {
			t.Errorf("set %s: %v", s.Key, err)
		}
	}
	for _, s := range Settings() {
		if got := s.Get(&c); got != values[s.Key] {
			t.Errorf("%s is %q after it was set to %q", s.Key, got, values[s.Key])
		}
	}
	if len(values) != len(Settings()) {
		t.Errorf("the test knows %d of %d settings", len(values), len(Settings()))
	}
}

func TestSettings_defaultsAreWhatHelpSays(t *testing.T) {
	c := Config{Memory: 1 * GiB}.Resolve()
	checked := 0
	for _, s := range Settings() {
		if strings.Contains(s.Default, " ") {
			continue // a rule, in words
		}
		checked++
		var want Config
		if err := s.Set(&want, s.Default); err != nil {
			t.Errorf("default of %s: %v", s.Key, err)
		}
		if got := s.Get(&c); got != s.Get(&want) {
			t.Errorf("%s is %q, help says %q", s.Key, got, s.Default)
		}
	}
	if checked != 18 {
		t.Errorf("%d defaults checked, want 18", checked)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
}

func TestSettings_names(t *testing.T) {
	s := Setting{Key: "thrift1.scanner_timeout"}
	if s.Flag() != "thrift1-scanner-timeout" || s.Env() != "CELLAR_THRIFT1_SCANNER_TIMEOUT" {
		t.Errorf("flag %s, variable %s", s.Flag(), s.Env())
	}
}

func TestSettings_refuseText(t *testing.T) {
	cases := []struct{ key, text, want string }{
		{"memory", "4 potatoes", "a size"},
		{"memory", "-1", "a size"},
		{"memory", "9999999999GiB", "a size"},
		{"drain_timeout", "30", "a duration"},
		{"thrift1.max_connections", "1.5", "a whole number"},
		{"http.pprof", "maybe", "true or false"},
	}
	for _, tc := range cases {
		t.Run(tc.key+"="+tc.text, func(t *testing.T) {
			var c Config
			err := setting(t, tc.key).Set(&c, tc.text)
			var s *SettingError
			if !errors.As(err, &s) || s.Key != tc.key || s.Value != tc.text || !strings.HasPrefix(s.Want, tc.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func setting(t *testing.T, key string) *Setting {
	t.Helper()
	for _, s := range Settings() {
		if s.Key == key {
			return &s
		}
	}
	t.Fatalf("no setting %s", key)
	return nil
}

func TestValidate_namesSettingAndValue(t *testing.T) {
	cases := []struct{ key, value string }{
		{"engine", "rocksdb"},
		{"memory", "511MiB"},
		{"drain_timeout", "-1s"},
		{"thrift1.addr", "9090"},
		{"thrift1.addr", "localhost"},
		{"thrift1.addr", "localhost:thrift"},
		{"thrift1.addr", "127.0.0.1:65536"},
		{"thrift1.addr", "http://127.0.0.1:9090"},
		{"thrift1.max_connections", "-1"},
		{"thrift1.max_frame", "1KiB"},
		{"thrift1.max_frame", "512MiB"},
		{"thrift1.idle_timeout", "-1s"},
		{"thrift1.scanner_timeout", "-1s"},
		{"thrift1.transport", "http"},
		{"thrift1.protocol", "json"},
		{"http.addr", "off"},
		{"http.max_connections", "9999999"},
		{"http.stall_timeout", "-1s"},
		{"wal.sync", "never"},
		{"log.level", "INFO"},
		{"log.format", "xml"},
		{"fault.fsync_delay", "2h0m0s"},
	}
	for _, tc := range cases {
		t.Run(tc.key+"="+tc.value, func(t *testing.T) {
			c := Config{Memory: 1 * GiB}
			if err := setting(t, tc.key).Set(&c, tc.value); err != nil {
				t.Fatal(err)
			}
			c = c.Resolve()
			err := c.Validate()
			var s *SettingError
			if !errors.As(err, &s) {
				t.Fatalf("error %v", err)
			}
			if s.Key != tc.key || s.Value != tc.value || s.Want == "" {
				t.Errorf("error %v, want one of %s = %s", err, tc.key, tc.value)
			}
		})
	}
}

func TestValidate_saysEverythingThatIsWrong(t *testing.T) {
	c := Config{Engine: "x", Log: LogConfig{Level: "loud"}}.Resolve()
	err := c.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 2 {
		t.Errorf("error %v, want two", err)
	}
}

// The least memory must do with every other setting left alone.
func TestResolve_leastMemoryIsValid(t *testing.T) {
	c := Config{Memory: MinMemory}.Resolve()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Thrift1.MaxFrame != 51*MiB {
		t.Errorf("largest message %s, want the doors' share", c.Thrift1.MaxFrame)
	}
}

func TestBytes_text(t *testing.T) {
	for text, want := range map[string]Bytes{"512MiB": 512 * MiB, "1GiB": GiB, "1GB": 1e9, "64KiB": 64 * KiB, " 100 ": 100, "0": 0} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
	}
	for b, want := range map[Bytes]string{0: "0", 1: "1", 1536 * MiB: "1536MiB", 4 * GiB: "4GiB", KiB: "1KiB", 1e6: "1000000"} {
		if b.String() != want {
			t.Errorf("%d prints as %s, want %s", int64(b), b, want)
		}
	}
}
