package server

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell/filter"
)

func TestBacktracking(t *testing.T) {
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
	make := backtracking(matchLimits{value: time.Minute, total: time.Minute, now: time.Now})
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
	m, err := backtracking(matchLimits{value: 50 * time.Millisecond, total: time.Minute, now: time.Now})(`^(?:(a+)+)+(?:\1)b$`)
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

// Values that each stay below the limit end a scan all the same when they are
// many; another scan has its own time.
func TestBacktrackingIsBoundedInTotal(t *testing.T) {
	now := time.Unix(0, 0)
	make := backtracking(matchLimits{value: time.Minute, total: scanTimeout, now: func() time.Time {
		now = now.Add(300 * time.Millisecond) // twice a match
		return now
	}})
	m, err := make(`(?=.*b)a`)
	if err != nil {
		t.Fatal(err)
	}
	matches := 0
	for ; matches < 1000; matches++ {
		var ok bool
		if ok, err = m.MatchString("ab"); err != nil {
			break
		}
		if !ok {
			t.Fatal("no match")
		}
	}
	if matches != 100 || !errors.Is(err, filter.ErrTooSlow) || !strings.Contains(err.Error(), "over 30s on the values of one scan") {
		t.Errorf("after %d matches of 0.3 s: %v", matches, err)
	}
	other, err := make(`(?=.*b)a`)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := other.MatchString("ab"); !ok || err != nil {
		t.Errorf("the next scan: %v, %v", ok, err)
	}
	if l := serverMatchLimits(); l.total != 30*time.Second || l.value != time.Second {
		t.Errorf("limits of a server: %+v", l)
	}
}
