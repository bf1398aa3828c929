package shell

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// fake is a gateway over a few rows, and an HTTP port, that write down what they
// are asked.
type fake struct {
	tables  map[string]bool // enabled
	rows    []Row           // of every table, sorted; cells newest first within a column
	calls   []string
	fail    map[string]error // by method
	atATime int              // rows that a scanner gives at most; 0: as asked
	block   bool             // TableNames waits for the end of its context
	splits  [][]byte
}

func newFake() *fake {
	c := func(column string, ts int64, value string) Cell { return Cell{[]byte(column), ts, []byte(value)} }
	counter := string(binary.BigEndian.AppendUint64(nil, 7))
	return &fake{
		tables: map[string]bool{"t": true, "off": false, "ns:u": true},
		rows: []Row{
			{[]byte("a"), []Cell{c("f:c", 30, "a3"), c("f:c", 20, "a2"), c("f:c", 10, "a1"), c("g:x", 10, "x")}},
			{[]byte("a\x00"), []Cell{c("f:n", 5, counter)}},
			{[]byte("ab"), []Cell{c("f:c", 20, "b2")}},
			{[]byte("b"), []Cell{c("f:c", 40, "\xff\\")}},
		},
		splits: [][]byte{{}, []byte("m"), {0x80}},
	}
}

func (f *fake) call(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	f.calls = append(f.calls, text)
	method, _, _ := strings.Cut(text, " ")
	return f.fail[method]
}

func (f *fake) Addr() string { return "fake:9090" }

func (f *fake) TableNames(ctx context.Context) ([]string, error) {
	if f.block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var names []string
	for n := range f.tables {
		names = append(names, n)
	}
	return names, f.call("names")
}

var errNoTable = errors.New("no such table")

func (f *fake) Families(_ context.Context, table string) ([]cell.FamilySchema, error) {
	family := cell.NewFamily("f")
	family.MaxVersions = 3
	return []cell.FamilySchema{family}, f.call("families %s", table)
}

func (f *fake) CreateTable(_ context.Context, table string, families []cell.FamilySchema) error {
	var parts []string
	for _, x := range families {
		parts = append(parts, fmt.Sprintf("%s/%d/%d/%s/%s/%v/%v", x.Name, x.MaxVersions, x.TTL, x.Compression, x.BloomFilter, x.InMemory, x.BlockCache))
	}
	return f.call("create %s %s", table, strings.Join(parts, " "))
}

func (f *fake) DeleteTable(_ context.Context, table string) error {
	return f.call("deletetable %s", table)
}

func (f *fake) EnableTable(_ context.Context, table string) error {
	f.tables[table] = true
	return f.call("enable %s", table)
}

func (f *fake) DisableTable(_ context.Context, table string) error {
	f.tables[table] = false
	return f.call("disable %s", table)
}

func (f *fake) IsEnabled(_ context.Context, table string) (bool, error) {
	on, ok := f.tables[table]
	if !ok {
		return false, errNoTable
	}
	return on, f.call("isenabled %s", table)
}

func (f *fake) RegionStarts(_ context.Context, table string) ([][]byte, error) {
	if _, ok := f.tables[table]; !ok {
		return nil, nil
	}
	return slices.Clone(f.splits), f.call("regions %s", table)
}

func (t Timestamp) text() string {
	if !t.Set {
		return "-"
	}
	return fmt.Sprint(t.MS)
}

func columnsText(columns [][]byte) string {
	if columns == nil {
		return "*"
	}
	return string(bytes.Join(columns, []byte(",")))
}

func wanted(column []byte, columns [][]byte) bool {
	return columns == nil || slices.ContainsFunc(columns, func(c []byte) bool {
		return bytes.Equal(c, column) || !bytes.ContainsRune(c, ':') && bytes.HasPrefix(column, append(bytes.Clone(c), ':'))
	})
}

// newest gives the newest cell of each column below a bound.
func newest(cells []Cell, columns [][]byte, before Timestamp) []Cell {
	var out []Cell
	for _, c := range cells {
		if wanted(c.Column, columns) && (!before.Set || c.Timestamp < before.MS) && (len(out) == 0 || !bytes.Equal(out[len(out)-1].Column, c.Column)) {
			out = append(out, c)
		}
	}
	return out
}

func (f *fake) row(key []byte) []Cell {
	for _, r := range f.rows {
		if bytes.Equal(r.Key, key) {
			return r.Cells
		}
	}
	return nil
}

func (f *fake) Row(_ context.Context, table string, row []byte, columns [][]byte, before Timestamp) ([]Cell, error) {
	err := f.call("row %s %s %s %s", table, Bytes(row), columnsText(columns), before.text())
	return newest(f.row(row), columns, before), err
}

func (f *fake) Versions(_ context.Context, table string, row, column []byte, before Timestamp, n int) ([]Cell, error) {
	err := f.call("versions %s %s %s %s %d", table, Bytes(row), Bytes(column), before.text(), n)
	var out []Cell
	for _, c := range f.row(row) {
		if bytes.Equal(c.Column, column) && (!before.Set || c.Timestamp < before.MS) && len(out) < n {
			out = append(out, Cell{nil, c.Timestamp, c.Value})
		}
	}
	return out, err
}

func (f *fake) Put(_ context.Context, table string, row, column, value []byte, at Timestamp) error {
	return f.call("put %s %s %s %s %s", table, Bytes(row), Bytes(column), Bytes(value), at.text())
}

func (f *fake) Delete(_ context.Context, table string, row, column []byte, upTo Timestamp) error {
	if column == nil {
		return f.call("deleterow %s %s %s", table, Bytes(row), upTo.text())
	}
	return f.call("delete %s %s %s %s", table, Bytes(row), Bytes(column), upTo.text())
}

func (f *fake) Increment(_ context.Context, table string, row, column []byte, amount int64) (int64, error) {
	return 7 + amount, f.call("incr %s %s %s %d", table, Bytes(row), Bytes(column), amount)
}

func (f *fake) Append(_ context.Context, table string, row, column, value []byte) ([]byte, error) {
	return append([]byte("old"), value...), f.call("append %s %s %s %s", table, Bytes(row), Bytes(column), Bytes(value))
}

func (f *fake) Scan(_ context.Context, table string, s ScanSpec) (Scanner, error) {
	err := f.call("scan %s [%s,%s) %s before=%s filter=%q reversed=%v caching=%d batch=%d nocache=%v", table, Bytes(s.Start), Bytes(s.Stop),
		columnsText(s.Columns), s.Before.text(), s.Filter, s.Reversed, s.Caching, s.Batch, s.NoCache)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, r := range f.rows {
		low, high := s.Start, s.Stop
		in := bytes.Compare(r.Key, low) >= 0 && (len(high) == 0 || bytes.Compare(r.Key, high) < 0)
		if s.Reversed {
			in = (len(low) == 0 || bytes.Compare(r.Key, low) <= 0) && (len(high) == 0 || bytes.Compare(r.Key, high) > 0)
		}
		cells := newest(r.Cells, s.Columns, s.Before)
		if !in || len(cells) == 0 {
			continue
		}
		part := len(cells)
		if s.Batch > 0 {
			part = s.Batch
		}
		for p := range slices.Chunk(cells, part) {
			rows = append(rows, Row{r.Key, p})
		}
	}
	if s.Reversed {
		slices.Reverse(rows)
	}
	return &fakeScanner{f, rows}, nil
}

type fakeScanner struct {
	f    *fake
	rows []Row
}

func (s *fakeScanner) Next(ctx context.Context, n int) ([]Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.f.atATime > 0 {
		n = s.f.atATime
	}
	n = min(n, len(s.rows))
	out := s.rows[:n]
	s.rows = s.rows[n:]
	return out, s.f.call("next %d", n)
}

func (s *fakeScanner) Close(ctx context.Context) error {
	if ctx.Err() != nil {
		return errors.New("closed with a context that has ended")
	}
	return s.f.call("close")
}

// fakeAdmin is the HTTP port beside it.
type fakeAdmin struct{ *fake }

func (a fakeAdmin) Describe(_ context.Context, table string) (*TableInfo, error) {
	family := cell.NewFamily("it's")
	family.TTL = 60
	s := cell.TableSchema{Name: table, Families: []cell.FamilySchema{family}, Durability: cell.AsyncWAL}
	return &TableInfo{Schema: s, Enabled: a.tables[table]}, a.call("http-describe %s", table)
}

func changesText(list []FamilyChange) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, f.Name+settingsText(f.Set))
	}
	return strings.Join(parts, " ")
}

func settingsText(list []Setting) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, s.Name+"="+s.Value)
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func (a fakeAdmin) Create(_ context.Context, table string, families []FamilyChange, settings []Setting, splits [][]byte) error {
	return a.call("http-create %s %s %s %q", table, changesText(families), settingsText(settings), splits)
}

func (a fakeAdmin) Alter(_ context.Context, table string, c Alteration) error {
	return a.call("http-alter %s %s drop=%v set=%s unset=%v", table, changesText(c.Families), c.Drop, settingsText(c.Set), c.Unset)
}

func (a fakeAdmin) Truncate(_ context.Context, table string, keep bool) error {
	return a.call("http-truncate %s %v", table, keep)
}

func (a fakeAdmin) Status(context.Context) (string, error) {
	return "cellar is well", a.call("http-status")
}

func (a fakeAdmin) Version(context.Context) (string, error) { return "9.9", a.call("http-version") }
