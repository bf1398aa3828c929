package server

import (
	"fmt"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cellardb/cellar/cell/filter"
)

// matchTimeout bounds a regular expression that backtracks on one value.
const matchTimeout = time.Second

// backtracking makes matchers for the regular expressions of filters that have
// no linear-time form: lookaround, backreferences, atomic groups. A match ends
// with filter.ErrTooSlow when it takes longer than the limit.
func backtracking(limit time.Duration) func(pattern string) (filter.Matcher, error) {
	return func(pattern string) (filter.Matcher, error) {
		re, err := regexp2.Compile(pattern, regexp2.None)
		if err != nil {
			return nil, err
		}
		re.MatchTimeout = limit
		return &backtracker{re: re, limit: limit}, nil
	}
}

type backtracker struct {
	re    *regexp2.Regexp
	limit time.Duration
}

// MatchString implements filter.Matcher. The engine's one error is that the
// time is over.
func (b *backtracker) MatchString(text string) (bool, error) {
	ok, err := b.re.MatchString(text)
	if err != nil {
		return false, fmt.Errorf("%w: over %v on a value of %d characters", filter.ErrTooSlow, b.limit, len(text))
	}
	return ok, nil
}
