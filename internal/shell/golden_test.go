package shell

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestLanguage: each statement of testdata/language and the command that it is,
// or the error. Bytes that cannot be written there are given in the input as
// \xHH by the statements themselves.
func TestLanguage(t *testing.T) {
	ran := runGolden(t, "testdata/language", func(_ *testing.T, input string) string { return dotted(understand(input)) })
	if ran < 200 {
		t.Errorf("%d statements", ran)
	}
}

// understand renders what a text means, statement by statement.
func understand(text string) string {
	var out strings.Builder
	for text != "" {
		st, n, err := parse(text)
		if err != nil {
			fmt.Fprintf(&out, "%s\n", explainOnly(err))
			break
		}
		text = text[n:]
		if st == nil {
			continue
		}
		c, err := decode(st)
		if err != nil {
			fmt.Fprintf(&out, "%s\n", explainOnly(err))
			continue
		}
		fmt.Fprintf(&out, "%s\n", describeCommand(c))
	}
	return out.String()
}

func explainOnly(err error) string {
	if errors.Is(err, ErrIncomplete) {
		return "incomplete"
	}
	return strings.ReplaceAll(Explain(err), "\n", "\n  ")
}

// describeCommand writes a command's name and its fields that are not zero.
func describeCommand(c Command) string {
	v := reflect.ValueOf(c)
	return v.Type().Name() + fieldsOf(v)
}

func fieldsOf(v reflect.Value) string {
	var parts []string
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.IsZero() {
			parts = append(parts, v.Type().Field(i).Name+"="+valueOf(f))
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func valueOf(v reflect.Value) string {
	if b, ok := v.Interface().(Bytes); ok {
		return quote(b)
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	switch v.Kind() {
	case reflect.Struct:
		return fieldsOf(v)
	case reflect.String:
		return quote([]byte(v.String()))
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, valueOf(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// Every example of help is a statement that is understood, and is of the command
// that it is an example of.
func TestHelp_examplesAreUnderstood(t *testing.T) {
	checked := 0
	for _, spec := range specs() {
		if len(spec.usage) == 0 || spec.summary == "" {
			t.Errorf("%s has no help", spec.name)
		}
		for _, text := range spec.usage {
			checked++
			st, n, err := parse(text)
			if err != nil || n != len(text) {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if c := find(st.name); c == nil || c.name != spec.name {
				t.Errorf("%s is an example of %s", text, spec.name)
			}
			if _, err := decode(st); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	if checked < 55 {
		t.Errorf("%d examples", checked)
	}
}

// What is nested too deep, or has too many entries, is refused, and not found
// out by a full stack or after a long time.
func TestParse_limits(t *testing.T) {
	nested := func(n int) string { return "get 't', 'r', " + strings.Repeat("[", n) + "'f'" + strings.Repeat("]", n) }
	entries := func(n int) string {
		var b strings.Builder
		b.WriteString("scan 't', {")
		for i := range n {
			fmt.Fprintf(&b, "'a%d' => 1, ", i)
		}
		return b.String() + "}"
	}
	cases := map[string]string{
		nested(maxDepth): "", nested(maxDepth + 1): "nested deeper than 32", strings.Repeat("[", 1_000_000): "a command begins",
		"x " + strings.Repeat("(", 1_000_000): "nested deeper", "x " + strings.Repeat("{A => ", 1_000_000): "nested deeper",
		"x " + strings.Repeat("-", 1_000_000): "a value is missing", entries(maxPairs): "", entries(maxPairs + 1): "at most 1000 entries",
	}
	for text, want := range cases {
		_, _, err := parse(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	if len(cases) != 8 {
		t.Errorf("%d cases", len(cases))
	}
}

// No name is that of two commands, and all are found.
func TestNames(t *testing.T) {
	names := Names()
	for i, n := range names {
		if i > 0 && names[i-1] == n {
			t.Errorf("%s is there twice", n)
		}
		if find(n) == nil {
			t.Errorf("%s is not found", n)
		}
	}
	for _, want := range []string{"create", "describe", "desc", "alter", "put", "get", "scan", "incr", "append", "delete", "deleteall", "count",
		"exists", "truncate", "drop", "disable", "enable", "is_enabled", "is_disabled", "list", "status", "version", "whoami", "help", "exit"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no %s", want)
		}
	}
}

// FuzzParse: parsing ends, gives a statement, an error or incomplete, never
// goes backwards; a statement that is written again as it was understood is
// understood the same.
func FuzzParse(f *testing.F) {
	for _, spec := range specs() {
		for _, text := range spec.usage {
			f.Add(text)
		}
	}
	for _, text := range []string{"", ";;", "a #", "put 't', \"\\", "x [", "x (1+2)*3, -9223372036854775808", "x {A => {B => [nil]}}\ny", "x '\\'' , \"\\u{1f377}\\x0\"", "\\\n", "x 1e5, 0x1f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st, n, err := parse(text)
		var e *Error
		switch {
		case err != nil && !errors.Is(err, errIncomplete) && !errors.As(err, &e):
			t.Fatalf("%q: %v", text, err)
		case err != nil:
			return
		case n < 0 || n > len(text) || n == 0 && text != "":
			t.Fatalf("%q: %d bytes taken", text, n)
		case st == nil:
			return
		}
		again := st.name + " " + argsText(st.args)
		st2, _, err := parse(again)
		if err != nil || argsText(st2.args) != argsText(st.args) {
			t.Fatalf("%q is %q, and that is not understood: %v", text, again, err)
		}
		_, _ = decode(st)
	})
}

func argsText(args []value) string {
	parts := make([]string, len(args))
	for i := range args {
		parts[i] = args[i].String()
	}
	return strings.Join(parts, ", ")
}
