package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// option is a word of a command: name=value, or a name alone.
type option struct{ name, value string }

func parseOption(word string) option {
	name, value, _ := strings.Cut(word, "=")
	return option{name, value}
}

func (o option) number() int {
	if o.value == "all" {
		return math.MaxInt32
	}
	return int(parseInt(o.value))
}

func parseInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(fault("%v", err))
	}
	return n
}

func parseRange(s string) cell.TimeRange {
	min, max, _ := strings.Cut(s, ",")
	return cell.Between(parseInt(min), parseInt(max))
}

// parseColumn reads family:qualifier; without a colon the qualifier is nil.
func parseColumn(s string) (family, qualifier []byte) {
	f, q, ok := strings.Cut(s, ":")
	if ok {
		qualifier = decode(q)
	}
	return decode(f), qualifier
}

// parseStamped reads what@timestamp; without one it is the server's clock.
func parseStamped(s string) (what string, timestamp int64) {
	what, stamp, ok := strings.Cut(s, "@")
	if !ok {
		return what, cell.Latest
	}
	return what, parseInt(stamp)
}

// read is a get or a scan.
type read struct {
	scan cell.Scan // of a get the row is Start
	// keeps is what the script says of a filter that does not both keep and
	// drop: "all" or "none".
	keeps    string
	filtered bool
	// within has time ranges of families, whether they are selected or not.
	within map[string]cell.TimeRange
}

// parseRead reads options and, behind them, a filter. Its error is one of the
// filter: see filter.Parse.
func parseRead(text string) (r read, err error) {
	for text != "" {
		word, rest, _ := strings.Cut(text, " ")
		text = rest
		if beginsFilter(word) {
			r.filtered = true
			r.scan.Filter, err = parseFilter(word, text)
			return r, err
		}
		r.option(parseOption(word))
	}
	return r, nil
}

// beginsFilter says whether a word is one that the filter follows.
func beginsFilter(word string) bool { return word == "filter" || word == "call" || word == "regex" }

// parseFilter reads a text in HBase's filter language, a call, or a regular
// expression for values: its charset, its flags, and the pattern.
func parseFilter(kind, text string) (cell.Filter, error) {
	switch kind {
	case "call":
		return parseCall(text), nil
	case "regex":
		words := strings.SplitN(text, " ", 3)
		return filter.Value{Op: cell.Equal, Comparator: regex(words[0], words[1], decode(words[2]))}, nil
	}
	return filter.Parse(decode(text))
}

func (r *read) option(o option) {
	s := &r.scan
	switch o.name {
	case "from":
		s.Start, s.StartExclusive = decode(o.value), false
	case "after":
		s.Start, s.StartExclusive = decode(o.value), true
	case "to":
		s.Stop, s.StopInclusive = decode(o.value), false
	case "through":
		s.Stop, s.StopInclusive = decode(o.value), true
	case "reversed":
		s.Reversed = true
	case "raw":
		s.Raw = true
	case "limit":
		s.Limit = o.number()
	case "batch":
		s.Batch = o.number()
	case "caching", "eager": // how HBase goes about it: rows in one answer, no family left for later
	case "column":
		r.column(parseColumn(o.value))
	case "versions":
		s.MaxVersions = o.number()
	case "time":
		s.Within = parseRange(o.value)
	case "familytime":
		family, bounds, _ := strings.Cut(o.value, ",")
		if r.within == nil {
			r.within = map[string]cell.TimeRange{}
		}
		r.within[string(decode(family))] = parseRange(bounds)
	case "storelimit":
		s.StoreLimit = o.number()
	case "storeoffset":
		s.StoreOffset = o.number()
	case "keeps":
		r.keeps = o.value
	default:
		panic(fault("no such option of a read: %s", o.name))
	}
}

// column selects a column or, with a nil qualifier, a family; as in HBase's
// client the family takes the place of the columns that were named before.
func (r *read) column(family, qualifier []byte) {
	i := slices.IndexFunc(r.scan.Select, func(s cell.FamilySelect) bool { return string(s.Family) == string(family) })
	if i < 0 {
		i = len(r.scan.Select)
		r.scan.Select = append(r.scan.Select, cell.FamilySelect{Family: family})
	}
	sel := &r.scan.Select[i]
	if qualifier == nil {
		sel.Qualifiers = nil
		return
	}
	sel.Qualifiers = append(sel.Qualifiers, qualifier)
}

// boundFamilies puts the time ranges of families into the selection. Where the
// read names no families, all of the table's are selected for that.
func (r *read) boundFamilies(all []cell.FamilySchema) {
	if r.within == nil {
		return
	}
	if r.scan.Select == nil {
		for i := range all {
			r.scan.Select = append(r.scan.Select, cell.FamilySelect{Family: []byte(all[i].Name)})
		}
	}
	for i := range r.scan.Select {
		if within, ok := r.within[string(r.scan.Select[i].Family)]; ok {
			r.scan.Select[i].Within = &within
		}
	}
}
