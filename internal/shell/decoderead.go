package shell

import (
	"bytes"
	"math"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// Column names a family or a column of a read, and how its values are shown.
type Column struct {
	Name Bytes
	// Convert is one of the names of converters; empty: values are shown as
	// they are.
	Convert string
}

// Read is what get and scan have in common.
type Read struct {
	Columns  []Column // nil: all
	Versions int      // at least 1
	// Min inclusive and Max exclusive bound timestamps in ms; Max of 2^63-1 is
	// no bound.
	Min, Max int64
	// Filter in the filter language; empty: none. It can be read.
	Filter string
	// MaxLength cuts values that are shown, in characters; 0: they are not.
	MaxLength int
}

// Commands that read.
type (
	// Get reads a row.
	Get struct {
		Table string
		Row   Bytes
		Read
	}
	// Scan reads rows.
	Scan struct {
		Table string
		Read
		Rows
		NoCache bool
		Batch   int
	}
	// Count counts rows.
	Count struct {
		Table    string
		Columns  []Column
		Filter   string
		Interval int // rows between two lines of progress
		Rows
	}
)

// Rows is which rows a scan reads.
type Rows struct {
	Start, Stop Bytes // as HBase: Start inclusive, Stop exclusive, reversed too
	// ByPrefix: rows that begin with Prefix only.
	ByPrefix bool
	Prefix   Bytes
	Reversed bool
	Limit    int64 // 0: none
	Caching  int   // 0: the shell's own
}

func newRead() Read { return Read{Versions: 1, Max: math.MaxInt64} }

// readOptions are the options that every read has.
func (a *args) readOptions(r *Read) options {
	columns := func(v value) error { return a.columns(r, list(v)) }
	return options{
		"COLUMN":  columns,
		"COLUMNS": columns,
		"VERSIONS": func(v value) error {
			n, err := a.integer(v, "VERSIONS", 1, math.MaxInt32)
			r.Versions = int(n)
			return err
		},
		"TIMESTAMP": func(v value) error {
			t, err := a.timestamp(v)
			if err != nil {
				return err
			}
			if t.MS == math.MaxInt64 {
				return a.wrong(v.pos, "TIMESTAMP is below 2^63-1")
			}
			r.Min, r.Max = t.MS, t.MS+1
			return nil
		},
		"TIMERANGE": func(v value) error { return a.timeRange(r, v) },
		"FILTER": func(v value) error {
			text, err := a.filter(v)
			r.Filter = text
			return err
		},
		"MAXLENGTH": func(v value) error {
			n, err := a.integer(v, "MAXLENGTH", 1, math.MaxInt32)
			r.MaxLength = int(n)
			return err
		},
	}
}

// cannotRead is why options of reads are refused.
func cannotRead() map[string]string {
	why := "Thrift 1 cannot send it"
	m := map[string]string{
		"FORMATTER":       "values are shown by a column's ending, as in 'f1:n:toLong'",
		"FORMATTER_CLASS": "values are shown by a column's ending, as in 'f1:n:toLong'",
	}
	for _, key := range []string{"RAW", "ATTRIBUTES", "AUTHORIZATIONS", "CONSISTENCY", "REGION_REPLICA_ID", "ISOLATION_LEVEL", "READ_TYPE", "ALLOW_PARTIAL_RESULTS", "ALL_METRICS", "METRICS"} {
		m[key] = why
	}
	return m
}

func (a *args) columns(r *Read, names []value) error {
	for _, v := range names {
		if v.kind == kindArray {
			if err := a.columns(r, v.list); err != nil {
				return err
			}
			continue
		}
		b, err := a.family(v)
		if err != nil {
			return err
		}
		r.Columns = append(r.Columns, parseColumn(b))
	}
	return nil
}

// parseColumn cuts the name of a converter off a column. Other colons are part
// of the qualifier.
func parseColumn(b []byte) Column {
	if i := bytes.LastIndexByte(b, ':'); i > 0 && bytes.IndexByte(b, ':') < i {
		if _, ok := converters()[string(b[i+1:])]; ok {
			return Column{Name: b[:i], Convert: string(b[i+1:])}
		}
	}
	return Column{Name: b}
}

func (a *args) timeRange(r *Read, v value) error {
	if v.kind != kindArray || len(v.list) != 2 {
		return a.wrong(v.pos, "TIMERANGE is two timestamps, as in [1356998400000, 1356998500000]; the second is not in the range")
	}
	from, err := a.timestamp(v.list[0])
	if err != nil {
		return err
	}
	to, err := a.timestamp(v.list[1])
	if err != nil {
		return err
	}
	if to.MS < from.MS {
		return a.wrong(v.pos, "TIMERANGE ends before it begins")
	}
	r.Min, r.Max = from.MS, to.MS
	return nil
}

// filter reads text in the filter language, and checks it: Apache's gateway
// closes the connection on one that it cannot read.
func (a *args) filter(v value) (string, error) {
	b, err := a.text(v, "FILTER")
	if err != nil {
		return "", err
	}
	if _, err := filter.Parse(b); err != nil {
		return "", a.wrong(v.pos, "FILTER: %v; filters are written as in \"PrefixFilter('r')\"", err)
	}
	return string(b), nil
}

func decodeGet(a *args) (Command, error) {
	g := Get{Read: newRead()}
	if err := a.options(a.hash(), a.readOptions(&g.Read), cannotRead()); err != nil {
		return nil, err
	}
	if err := a.count(2, math.MaxInt); err != nil {
		return nil, err
	}
	var err error
	if g.Table, err = a.table(a.take()); err != nil {
		return nil, err
	}
	if g.Row, err = a.row(a.take()); err != nil {
		return nil, err
	}
	return g, a.columns(&g.Read, a.rest)
}

// rowOptions are the options that say which rows.
func (a *args) rowOptions(r *Rows) options {
	bound := func(what string, to *Bytes) func(value) error {
		return func(v value) error {
			b, err := a.text(v, what)
			if len(b) > cell.MaxRow+1 {
				return a.wrong(v.pos, "%s has %d bytes: rows have %d at most", what, len(b), cell.MaxRow)
			}
			*to = b
			return err
		}
	}
	prefix := bound("ROWPREFIXFILTER", &r.Prefix)
	return options{
		"STARTROW":        bound("STARTROW", &r.Start),
		"STOPROW":         bound("STOPROW", &r.Stop),
		"ENDROW":          bound("ENDROW", &r.Stop),
		"ROWPREFIXFILTER": func(v value) error { r.ByPrefix = true; return prefix(v) },
		"LIMIT": func(v value) error {
			n, err := a.integer(v, "LIMIT", 1, math.MaxInt64)
			r.Limit = n
			return err
		},
		"CACHE": func(v value) error {
			n, err := a.integer(v, "CACHE", 1, 100_000)
			r.Caching = int(n)
			return err
		},
		"REVERSED": func(v value) error {
			on, err := a.boolean(v, "REVERSED")
			r.Reversed = on
			return err
		},
	}
}

func decodeScan(a *args) (Command, error) {
	s := Scan{Read: newRead()}
	known := a.readOptions(&s.Read)
	for key, read := range a.rowOptions(&s.Rows) {
		known[key] = read
	}
	known["CACHE_BLOCKS"] = func(v value) error {
		on, err := a.boolean(v, "CACHE_BLOCKS")
		s.NoCache = !on
		return err
	}
	known["BATCH"] = func(v value) error {
		n, err := a.integer(v, "BATCH", 1, math.MaxInt32)
		s.Batch = int(n)
		return err
	}
	hash := a.hash()
	if err := a.options(hash, known, cannotRead()); err != nil {
		return nil, err
	}
	if err := a.count(1, 1); err != nil {
		return nil, err
	}
	if err := a.possible(&s, hash.pos); err != nil {
		return nil, err
	}
	var err error
	s.Table, err = a.table(a.take())
	return s, err
}

// possible refuses what a scan over Thrift 1 cannot give exactly.
func (a *args) possible(s *Scan, pos Pos) error {
	switch {
	case s.Filter != "" && s.Versions > 1:
		return a.wrong(pos, "a scan over Thrift 1 gives its filter one version of each column: leave VERSIONS or FILTER out")
	case s.Filter != "" && s.Min > 0:
		return a.wrong(pos, "a scan over Thrift 1 bounds timestamps only from above, and its filter would see older cells: leave FILTER out, or begin TIMERANGE with 0")
	case s.Batch > 0 && s.Versions > 1:
		return a.wrong(pos, "a scan over Thrift 1 with VERSIONS reads whole rows: leave BATCH out")
	}
	return nil
}

func decodeCount(a *args) (Command, error) {
	c := Count{Interval: 1000}
	var r Read
	known := a.rowOptions(&c.Rows)
	known["INTERVAL"] = func(v value) error {
		n, err := a.integer(v, "INTERVAL", 1, math.MaxInt32)
		c.Interval = int(n)
		return err
	}
	columns := func(v value) error { return a.columns(&r, list(v)) }
	known["COLUMN"], known["COLUMNS"] = columns, columns
	known["FILTER"] = func(v value) error {
		text, err := a.filter(v)
		c.Filter = text
		return err
	}
	if err := a.options(a.hash(), known, cannotRead()); err != nil {
		return nil, err
	}
	if err := a.count(1, 3); err != nil {
		return nil, err
	}
	var err error
	if c.Table, err = a.table(a.take()); err != nil {
		return nil, err
	}
	c.Columns = r.Columns
	// The old form: count 't1', INTERVAL, CACHE.
	for _, to := range []*int{&c.Interval, &c.Caching} {
		if len(a.rest) > 0 {
			n, err := a.integer(a.take(), "INTERVAL and CACHE", 1, 100_000_000)
			if err != nil {
				return nil, err
			}
			*to = int(n)
		}
	}
	c.Caching = min(c.Caching, 100_000)
	return c, nil
}

// names gives the columns as Thrift 1 wants them.
func names(columns []Column) [][]byte {
	if len(columns) == 0 {
		return nil
	}
	out := make([][]byte, len(columns))
	for i := range columns {
		out[i] = columns[i].Name
	}
	return out
}
