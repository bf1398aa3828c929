package bench

import (
	"cmp"
	"fmt"
	"slices"
)

// group is the results of several runs of one operation, slowest first.
type group struct {
	experiment string // "": none
	label      string
	runs       []*Result
}

// groupResults puts results together that say what they are about in the same
// words, in the order in which the words come first.
func groupResults(results []Result) []group {
	var groups []group
	at := make(map[string]int)
	for i := range results {
		r := &results[i]
		label := r.label()
		if n, ok := r.whole("records"); ok && r.Op == OpLoad {
			if label = fmt.Sprintf("%s, %d %s", label, n, r.Unit); n == 0 {
				connections, _ := r.whole("connections")
				label = fmt.Sprintf("%s, %v, %d connections", r.label(), r.Config["duration"], connections)
			}
		}
		experiment, _ := r.Config[configExperiment].(string)
		n, ok := at[experiment+"\x00"+label]
		if !ok {
			n = len(groups)
			at[experiment+"\x00"+label] = n
			groups = append(groups, group{experiment: experiment, label: label})
		}
		groups[n].runs = append(groups[n].runs, r)
	}
	for _, g := range groups {
		slices.SortStableFunc(g.runs, func(a, b *Result) int { return cmp.Compare(a.Rate, b.Rate) })
	}
	return groups
}

// whole is a number of the configuration, which is a float64 if it was read from
// JSON.
func (r *Result) whole(name string) (int, bool) {
	switch n := r.Config[name].(type) {
	case int:
		return n, true
	case float64:
		return int(n), true
	}
	return 0, false
}

// median is the middle run; of an even number the slower of the two.
func (g *group) median() *Result { return g.runs[(len(g.runs)-1)/2] }

func (g *group) errors() int64 {
	n := int64(0)
	for _, r := range g.runs {
		n += r.Errors
	}
	return n
}
