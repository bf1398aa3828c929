package spelling

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	long, longer := strings.Repeat("a", longest), strings.Repeat("a", longest+1)
	cases := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"memroy", "memory", 2}, {"http.adr", "http.addr", 1}, {"same", "same", 0},
		{"abc", "bca", 2}, {long, long[1:], 1}, {long, longer, longest + 1}, {longer, longer, 0}, {longer, "", longest + 1},
	}
	for _, c := range cases {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%.20q to %.20q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("%.20q to %.20q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
	if len(cases) != 11 {
		t.Error("cases are missing")
	}
}
