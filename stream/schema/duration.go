package schema

import (
	"math"
	"strings"
	"time"
)

const day = 24 * time.Hour

// units of a duration; the first name of each is the one that is written.
var units = []struct {
	length time.Duration
	names  []string
}{
	{day, []string{"d", "day", "days"}},
	{time.Hour, []string{"h", "hour", "hours"}},
	{time.Minute, []string{"m", "min", "minute", "minutes"}},
	{time.Second, []string{"s", "sec", "second", "seconds"}},
	{time.Millisecond, []string{"ms"}},
	// Read only: they are written as days.
	{7 * day, []string{"w", "week", "weeks"}},
	{365 * day, []string{"y", "year", "years"}},
}

// ParseDuration reads a length of time as people write one: 90d, 12h, 1h30m,
// 2w, "30 days", 1y (365 days), forever (0). Every number needs a unit; "0" and
// "" are 0. Whole numbers only, none negative.
func ParseDuration(text string) (time.Duration, error) {
	switch rest := strings.ToLower(strings.TrimSpace(text)); rest {
	case "", "0", "forever":
		return 0, nil
	default:
		var sum time.Duration
		for rest != "" {
			one, after, err := leadingDuration(rest, text)
			if err != nil {
				return 0, err
			}
			if sum > math.MaxInt64-one {
				return 0, invalid("duration %q is too long; 292 years is the most", text)
			}
			sum += one
			rest = strings.TrimSpace(after)
		}
		return sum, nil
	}
}

func leadingDuration(rest, text string) (time.Duration, string, error) {
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits == 0 {
		return 0, "", invalid("duration %q: a whole number is missing before %q; write 90d, 12h or 1h30m", text, rest)
	}
	var n int64
	for _, c := range rest[:digits] {
		if n > (math.MaxInt64-9)/10 {
			return 0, "", invalid("duration %q is too long; 292 years is the most", text)
		}
		n = n*10 + int64(c-'0')
	}
	after := strings.TrimLeft(rest[digits:], " ")
	letters := len(after) - len(strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyz"))
	for _, u := range units {
		for _, name := range u.names {
			if name != after[:letters] {
				continue
			}
			if n > math.MaxInt64/int64(u.length) {
				return 0, "", invalid("duration %q is too long; 292 years is the most", text)
			}
			return time.Duration(n) * u.length, after[letters:], nil
		}
	}
	if letters == 0 {
		return 0, "", invalid("duration %q: %s has no unit; write d, h, m, s or ms after it", text, rest[:digits])
	}
	return 0, "", invalid("duration %q: unit %q is not known; there are y, w, d, h, m, s and ms", text, after[:letters])
}

// FormatDuration writes a duration so that ParseDuration reads it: 90d, 1h30m.
// 0 is "forever"; parts of a millisecond are left out.
func FormatDuration(d time.Duration) string {
	if d < time.Millisecond {
		return "forever"
	}
	var b strings.Builder
	for _, u := range units[:5] {
		if n := d / u.length; n > 0 {
			b.WriteString(itoa(int64(n)))
			b.WriteString(u.names[0])
			d %= u.length
		}
	}
	return b.String()
}
