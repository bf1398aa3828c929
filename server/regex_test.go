package server

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cellardb/cellar/cell/filter"
)

func TestBacktracking(t *testing.T) {
	t.Cleanup(regexp2.StopTimeoutClock)
	cases := []struct {
		pattern, text string
		want          bool
	}{
		{`(?=.*b)a`, "ab", true},
		{`(?=.*b)a`, "ac", false},
		{`(a)(?:\1)`, "xaax", true},
		{`(a)(?:\1)`, "xabx", false},
		{`(?<!x)y`, "xy", false},
		{`(?>a+)a`, "aaa", false},
		{`[\xE0-\xFF]`, "\u00e9", true},
	}
	make := backtracking(time.Minute)
	for _, c := range cases {
		m, err := make(c.pattern)
		if err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		if got, err := m.MatchString(c.text); err != nil || got != c.want {
			t.Errorf("%s on %q: %v, %v", c.pattern, c.text, got, err)
		}
	}
	if len(cases) != 7 {
		t.Errorf("%d cases", len(cases))
	}
	if _, err := make(`(`); err == nil {
		t.Error("an open group was taken")
	}
}

// A pattern that would take for ever is given up, and says so.
func TestBacktrackingIsBounded(t *testing.T) {
	t.Cleanup(regexp2.StopTimeoutClock)
	m, err := backtracking(50 * time.Millisecond)(`^(?:(a+)+)+(?:\1)b$`)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := m.MatchString(strings.Repeat("a", 200))
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, filter.ErrTooSlow) {
			t.Errorf("got %v, want ErrTooSlow", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the match hangs")
	}
}
