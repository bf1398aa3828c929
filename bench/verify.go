package bench

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// ErrVerify is matched by errors that say that what was read is not what was
// written.
var ErrVerify = errors.New("what was read is not what was written")

// VerifyError says what is wrong with what was read; it matches ErrVerify.
type VerifyError struct {
	Table          string
	Written, Read  int    // rows
	Missing, Wrong int    // of the rows that were written
	Foreign, Twice int    // rows that nobody wrote; rows that came again
	Unsorted       int    // rows that came behind a larger key
	First          string // the first of them, in words
}

func (e *VerifyError) Error() string {
	return fmt.Sprintf("verify table %s: %d rows written, %d read: %d missing, %d with wrong values, %d unknown, %d twice, %d out of order; first: %s",
		e.Table, e.Written, e.Read, e.Missing, e.Wrong, e.Foreign, e.Twice, e.Unsorted, e.First)
}

// Is makes errors.Is(err, ErrVerify) true.
func (e *VerifyError) Is(target error) bool { return target == ErrVerify }

// ledger knows the checksum of every record that was written: 64 bits over its
// key, column names and values. Checksums are only comparable within one
// ledger. Writers set different records; readers come after them.
type ledger struct {
	records
	table string
	seed  maphash.Seed
	sums  []uint64
	names [len(recordColumns)]uint64
	// versions of the records; nil: none was overwritten.
	versions []uint32
}

// at is the generator of record i as it was written last.
func (l *ledger) at(i int) records {
	g := l.records
	if l.versions != nil {
		g.version = uint64(l.versions[i])
	}
	return g
}

func newLedger(g records, table string, n int) *ledger {
	l := &ledger{records: g, table: table, seed: maphash.MakeSeed(), sums: make([]uint64, n)}
	for c, name := range recordColumns {
		l.names[c] = maphash.Bytes(l.seed, name)
	}
	return l
}

// rowSum is a checksum in the making. Columns may come in any order.
type rowSum struct{ key, columns uint64 }

func (l *ledger) begin(key []byte) rowSum { return rowSum{key: maphash.Bytes(l.seed, key)} }

func (l *ledger) column(s *rowSum, name uint64, value []byte) {
	s.columns += mix(name*0x9e3779b97f4a7c15 ^ maphash.Bytes(l.seed, value))
}

func (s rowSum) sum() uint64 { return mix(s.key ^ mix(s.columns)) }

// of is the checksum of a row as it was read.
func (l *ledger) of(row *thriftclient.Row) uint64 {
	s := l.begin(row.Key)
	for i := range row.Columns {
		c := &row.Columns[i]
		l.column(&s, maphash.Bytes(l.seed, c.Name), c.Value)
	}
	return s.sum()
}

// check compares a row that a scan or a get returned.
func (l *ledger) check(row *thriftclient.Row) (index int, known, right bool) {
	i, known := l.index(row.Key, len(l.sums))
	return i, known, known && l.of(row) == l.sums[i]
}

// audit compares the rows of a scan while they come.
type audit struct {
	*ledger
	seen  []uint64 // a bit a record
	last  []byte   // the row before
	found VerifyError
	// expected says which records the scan returns; nil: all.
	expected func(i int) bool
}

func (l *ledger) audit() *audit {
	return &audit{ledger: l, seen: make([]uint64, (len(l.sums)+63)/64)}
}

// row takes the next row of the scan.
func (a *audit) row(row *thriftclient.Row) {
	f := &a.found
	f.Read++
	if bytes.Compare(row.Key, a.last) <= 0 {
		a.note(&f.Unsorted, row, "it came behind row "+cell.Printable(a.last))
	}
	a.last = append(a.last[:0], row.Key...)
	i, known, right := a.check(row)
	switch {
	case !known:
		a.note(&f.Foreign, row, "nobody wrote it")
	case a.seen[i/64]>>(i%64)&1 != 0:
		a.note(&f.Twice, row, "it came before")
	case !right:
		a.note(&f.Wrong, row, a.explain(i, row))
	case a.expected != nil && !a.expected(i):
		a.note(&f.Wrong, row, "the filter does not keep it")
	}
	if known {
		a.seen[i/64] |= 1 << (i % 64)
	}
}

func (a *audit) note(counter *int, row *thriftclient.Row, what string) {
	if a.found.First == "" {
		a.found.First = fmt.Sprintf("row %s: %s", cell.Printable(row.Key), what)
	}
	*counter++
}

// explain makes record i again to say what is wrong with the row.
func (l *ledger) explain(i int, row *thriftclient.Row) string {
	if want := l.key(nil, i); !bytes.Equal(want, row.Key) {
		return fmt.Sprintf("the key of %s", l.describe(i))
	}
	if len(row.Columns) != len(recordColumns) {
		return fmt.Sprintf("%d columns, want %d", len(row.Columns), len(recordColumns))
	}
	g := l.at(i)
	for c, name := range recordColumns {
		want := make([]byte, g.valueLen(i, c))
		g.value(want, i, c)
		for k := range row.Columns {
			got := row.Columns[k].Value
			if bytes.Equal(row.Columns[k].Name, name) && !bytes.Equal(got, want) {
				return fmt.Sprintf("column %s: %s", name, difference(got, want))
			}
		}
	}
	return fmt.Sprintf("its columns are not %s", bytes.Join(recordColumns[:], []byte(" ")))
}

// differenceShown is how many bytes a difference shows.
const differenceShown = 16

// difference says where two values begin to differ.
func difference(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	show := func(b []byte) string {
		if b = b[at:]; len(b) == 0 {
			return "its end"
		}
		return cell.Printable(b[:min(len(b), differenceShown)])
	}
	return fmt.Sprintf("%d bytes, want %d; at byte %d there is %s, want %s", len(got), len(want), at, show(got), show(want))
}

// end says what is wrong with the whole scan; nil if nothing is.
func (a *audit) end() error {
	f := a.found
	f.Table = a.table
	for i := range a.sums {
		if a.expected != nil && !a.expected(i) {
			continue
		}
		f.Written++
		if a.seen[i/64]>>(i%64)&1 == 0 {
			if f.First == "" {
				f.First = a.describe(i) + " is missing"
			}
			f.Missing++
		}
	}
	if f.Missing+f.Wrong+f.Foreign+f.Twice+f.Unsorted == 0 {
		return nil
	}
	return &f
}

// getFaults gathers what random reads found wrong; safe for many goroutines.
type getFaults struct {
	missing, wrong atomic.Int64
	first          atomic.Pointer[string]
}

func (g *getFaults) note(counter *atomic.Int64, what string) {
	counter.Add(1)
	g.first.CompareAndSwap(nil, &what)
}

func (g *getFaults) end(l *ledger, read int) error {
	first := g.first.Load()
	if first == nil {
		return nil
	}
	return &VerifyError{Table: l.table, Written: len(l.sums), Read: read,
		Missing: int(g.missing.Load()), Wrong: int(g.wrong.Load()), First: *first}
}
