package schema

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	cases := map[string]time.Duration{
		"": 0, "0": 0, "forever": 0, " Forever ": 0, "0s": 0,
		"90d": 90 * day, "12h": 12 * time.Hour, "15m": 15 * time.Minute, "30s": 30 * time.Second,
		"250ms": 250 * time.Millisecond, "2w": 14 * day, "1y": 365 * day,
		"1h30m": 90 * time.Minute, "1d 12h": 36 * time.Hour, "30 days": 30 * day, "1 Day": day,
		"2 weeks 1 day": 15 * day, "5 minutes": 5 * time.Minute, "10min": 10 * time.Minute,
		"1 hour 1 second": time.Hour + time.Second, "292y": 292 * 365 * day,
		"106751d": 106751 * day, "9223372036854ms": 9223372036854 * time.Millisecond,
	}
	for text, want := range cases {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
			continue
		}
		if again, err := ParseDuration(FormatDuration(want)); again != want || err != nil {
			t.Errorf("%v is written as %q, which is read as %v, %v", want, FormatDuration(want), again, err)
		}
	}
	if len(cases) != 23 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestParseDurationRefuses(t *testing.T) {
	cases := map[string]string{
		"90": "90 has no unit", "1h30": "30 has no unit", "h": `a whole number is missing before "h"`,
		"-1d": "a whole number is missing", "1.5h": "1 has no unit", "3 fortnights": `unit "fortnights" is not known`,
		"1month": `unit "month" is not known`, "1d,2h": "a whole number is missing",
		"106752d": "292 years", "213504d": "292 years", "9223372036854775808ms": "292 years", "99999999999999999999999s": "292 years",
		"292y 1000d": "292 years", "10µs": "10 has no unit",
	}
	for text, want := range cases {
		_, err := ParseDuration(text)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text) {
			t.Errorf("ParseDuration(%q): %v; want %q", text, err, want)
		}
	}
	if len(cases) != 14 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestFormatDuration(t *testing.T) {
	cases := map[time.Duration]string{
		0: "forever", 90 * day: "90d", 36 * time.Hour: "1d12h", 14 * day: "14d",
		90*time.Minute + 30*time.Second + 5*time.Millisecond: "1h30m30s5ms", time.Second: "1s",
	}
	for d, want := range cases {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%v) = %s, want %s", d, got, want)
		}
	}
}
