package oracle

import (
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cellardb/cellar/cell/filter"
)

// backtracking makes matchers as the server does.
func backtracking(pattern string) (filter.Matcher, error) {
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = 10 * time.Second
	return re, nil
}
