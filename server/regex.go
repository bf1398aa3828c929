package server

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cellardb/cellar/cell/filter"
)

// Bounds of a regular expression that backtracks.
const (
	// matchTimeout is for one value.
	matchTimeout = time.Second
	// scanTimeout is for all values of one scan or get together, so that one
	// request cannot keep a core busy with values that each stay below
	// matchTimeout.
	scanTimeout = 30 * time.Second
)

// matchLimits bounds the time of a matcher.
type matchLimits struct {
	value time.Duration // of a match; the engine looks every tenth of a second
	// total of the matcher's life. The match that exceeds it still ends, so
	// that it is total plus value at worst.
	total time.Duration
	now   func() time.Time
}

// serverMatchLimits are those of a server.
func serverMatchLimits() matchLimits {
	return matchLimits{value: matchTimeout, total: scanTimeout, now: time.Now}
}

// backtracking makes matchers for the regular expressions of filters that have
// no linear-time form: lookaround, backreferences, atomic groups. A matcher
// lives as long as a scan. A match ends with filter.ErrTooSlow when it takes
// longer than the limit for a value, or when those before took the total.
func backtracking(limits matchLimits) func(pattern string) (filter.Matcher, error) {
	return func(pattern string) (filter.Matcher, error) {
		re, err := regexp2.Compile(pattern, regexp2.None)
		if err != nil {
			return nil, err
		}
		re.MatchTimeout = limits.value
		return &backtracker{re: re, limits: limits}, nil
	}
}

type backtracker struct {
	re     *regexp2.Regexp
	limits matchLimits
	spent  atomic.Int64 // ns in all matches so far
}

// MatchString implements filter.Matcher. The engine's one error is that the
// time is over.
func (b *backtracker) MatchString(text string) (bool, error) {
	if time.Duration(b.spent.Load()) >= b.limits.total {
		return false, fmt.Errorf("%w: over %v on the values of one scan; read less at once, or take a pattern without lookaround and backreferences",
			filter.ErrTooSlow, b.limits.total)
	}
	began := b.limits.now()
	ok, err := b.re.MatchString(text)
	b.spent.Add(int64(b.limits.now().Sub(began)))
	if err != nil {
		return false, fmt.Errorf("%w: over %v on a value of %d characters", filter.ErrTooSlow, b.limits.value, len(text))
	}
	return ok, nil
}
