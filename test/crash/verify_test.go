package crash

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cellardb/cellar/test/plainthrift"
)

// expectation is what must be in the table.
type expectation struct {
	acknowledged map[string]int // number of the last write of each row
	pending      map[string]int // of the calls that were not answered
	counters     map[string]int64
}

// expect reads the logs of the writers and asks each for what it waited for.
func expect(writers []*writer) (*expectation, error) {
	e := &expectation{map[string]int{}, map[string]int{}, map[string]int64{}}
	for _, w := range writers {
		if err := e.readLog(w.log.Name()); err != nil {
			return nil, err
		}
		for _, key := range w.pending.rows {
			e.pending[key] = w.pending.number
		}
		e.counters[w.counter()] = w.counted
	}
	return e, nil
}

func (e *expectation) readLog(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		number, err := strconv.Atoi(fields[0])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, key := range fields[1:] {
			e.acknowledged[key] = number
		}
	}
	return lines.Err()
}

// errEnough ends a scan that finds one fault after the other.
var errEnough = errors.New("enough")

// verify compares the whole table with the expectation. A call that was not
// answered may have been done or not, row by row, but each row whole.
func (e *expectation) verify(t *testing.T, addr string) (rows int) {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	faults := 0
	fault := func(format string, args ...any) error {
		t.Errorf(format, args...)
		if faults++; faults == 20 {
			return errEnough
		}
		return nil
	}
	found := map[string]int{}
	err = c.Scan(tableName, func(r plainthrift.RowResult) error {
		if strings.HasPrefix(r.Key, counterPrefix) {
			return e.verifyCounter(r, fault)
		}
		number, err := numberOf(r.Key, r.Columns)
		if err != nil {
			return fault("%v", err)
		}
		found[r.Key] = number
		return nil
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	if err := e.compare(found, fault); err != nil {
		t.FailNow()
	}
	e.readSome(t, c)
	return len(found)
}

func (e *expectation) verifyCounter(r plainthrift.RowResult, fault func(string, ...any) error) error {
	value := r.Columns["f1:n"]
	if len(value) != 8 {
		return fault("counter %s holds %q", r.Key, value)
	}
	got, want := int64(binary.BigEndian.Uint64([]byte(value))), e.counters[r.Key]
	if got != want && got != want+1 {
		return fault("counter %s is %d, and %d was acknowledged", r.Key, got, want)
	}
	return nil
}

func (e *expectation) compare(found map[string]int, fault func(string, ...any) error) error {
	for key, want := range e.acknowledged {
		got, there := found[key]
		if !there {
			got = deleted
		}
		if pending, ok := e.pending[key]; got != want && (!ok || got != pending) {
			if err := fault("row %s is at write %d (%d: not there), and %d was acknowledged", key, got, deleted, want); err != nil {
				return err
			}
		}
	}
	for key, got := range found {
		_, acknowledged := e.acknowledged[key]
		if pending, ok := e.pending[key]; !acknowledged && (!ok || got != pending) {
			if err := fault("row %s is at write %d, which nobody made", key, got); err != nil {
				return err
			}
		}
	}
	return nil
}

// readSome reads some rows by their keys, which takes another way than a scan.
func (e *expectation) readSome(t *testing.T, c *plainthrift.Client) {
	t.Helper()
	n := 0
	for key, want := range e.acknowledged {
		if _, ok := e.pending[key]; ok {
			continue
		}
		got, err := c.GetRow(tableName, key)
		if err != nil {
			t.Fatalf("row %s: %v", key, err)
		}
		number := deleted
		if len(got) > 0 {
			if number, err = numberOf(key, got); err != nil {
				t.Error(err)
			}
		}
		if number != want {
			t.Errorf("row %s, read by its key, is at write %d, and %d was acknowledged", key, number, want)
		}
		if n++; n == 300 {
			return
		}
	}
}
