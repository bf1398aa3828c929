package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cellardb/cellar/test/plainthrift"
)

// tableName is the table of all writers; its two families get every write.
const tableName = "crash"

// columns are those of every row. A write sets all of them, to values that name
// the row and the write.
var columns = []string{"f1:a", "f1:b", "f2:a", "f2:c"}

// A write has a number; a row that was deleted is at deleted.
const deleted = -1

// op is one call of a writer: it brings some rows to a number.
type op struct {
	rows   []string
	number int
}

// writer writes rows of its own, one call after the other, and logs each
// acknowledgement to a file of its own, which is on the disk before it goes on.
type writer struct {
	id   int
	log  *os.File
	rand *rand.Rand
	next int // number of the next write
	// pending is the call that was not acknowledged; it may have been done.
	pending op
	// counted is what the server last said that the writer's counter is.
	counted int64
	keys    []string // written and not deleted
}

func newWriter(id int, logName string) (*writer, error) {
	f, err := os.OpenFile(logName, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &writer{id: id, log: f, rand: rand.New(rand.NewPCG(uint64(id), 1)), next: 1}, nil
}

// newWriters makes as many as write at a time, each with a log in the folder, for
// the time of the test.
func newWriters(t *testing.T, logs string) (all []*writer) {
	t.Helper()
	for id := range writers {
		w, err := newWriter(id, filepath.Join(logs, fmt.Sprintf("writer-%d", id)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.log.Close() })
		all = append(all, w)
	}
	return all
}

// run writes until a call fails.
func (w *writer) run(addr string) error {
	c, err := plainthrift.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		w.pending = w.choose()
		if err := w.do(c, w.pending); err != nil {
			return err
		}
		if err := w.acknowledge(w.pending); err != nil {
			return err
		}
		w.pending = op{}
		if w.next%8 == 0 {
			if err := w.count(c); err != nil {
				return err
			}
		}
	}
}

// choose makes up the next call: mostly new rows, many or one; at times
// older rows again, or the deletion of one.
func (w *writer) choose() op {
	number := w.next
	w.next++
	switch roll := w.rand.IntN(10); {
	case roll == 0 && len(w.keys) > 0:
		i := w.rand.IntN(len(w.keys))
		key := w.keys[i]
		w.keys[i] = w.keys[len(w.keys)-1]
		w.keys = w.keys[:len(w.keys)-1]
		return op{[]string{key}, deleted}
	case roll <= 2 && len(w.keys) > 20:
		from := w.rand.IntN(len(w.keys) - 20)
		return op{append([]string(nil), w.keys[from:from+20]...), number}
	case roll <= 4:
		return w.newRows(number, 1)
	}
	return w.newRows(number, 20)
}

func (w *writer) newRows(number, n int) op {
	o := op{number: number}
	for i := range n {
		o.rows = append(o.rows, fmt.Sprintf("%08x-w%d-%d-%d", w.rand.Uint32(), w.id, number, i))
	}
	w.keys = append(w.keys, o.rows...)
	return o
}

// do makes the call.
func (w *writer) do(c *plainthrift.Client, o op) error {
	if o.number == deleted {
		_, err := c.Do("deleteAllRow", plainthrift.Bytes(tableName), plainthrift.Bytes(o.rows[0]), plainthrift.NoAttributes())
		return err
	}
	var rows []plainthrift.Row
	for _, key := range o.rows {
		r := plainthrift.Row{Key: key}
		for _, column := range columns {
			r.Puts = append(r.Puts, plainthrift.Put{Column: column, Value: valueOf(key, column, o.number)})
		}
		rows = append(rows, r)
	}
	return c.PutRows(tableName, rows...)
}

// count adds one to the writer's counter.
func (w *writer) count(c *plainthrift.Client) error {
	v, err := c.Do("atomicIncrement", plainthrift.Bytes(tableName), plainthrift.Bytes(w.counter()), plainthrift.Bytes("f1:n"), plainthrift.I64(1))
	if err != nil {
		return err
	}
	w.counted = v.(int64)
	return nil
}

func (w *writer) counter() string { return counterPrefix + strconv.Itoa(w.id) }

// counterPrefix begins the rows of the counters.
const counterPrefix = "counter-"

// acknowledge logs that a call was answered.
func (w *writer) acknowledge(o op) error {
	if _, err := fmt.Fprintf(w.log, "%d %s\n", o.number, strings.Join(o.rows, " ")); err != nil {
		return err
	}
	return w.log.Sync()
}

// valueOf is what a write stores in a column: the number of the write, and
// about 250 bytes that say where they belong.
func valueOf(key, column string, number int) string {
	text := fmt.Sprintf("%d %s %s ", number, key, column)
	return text + strings.Repeat(column[1:2], 250-len(text))
}

// numberOf reads the number of the write from the columns of a row. The error
// says what is not as one single write left it.
func numberOf(key string, got map[string]string) (int, error) {
	if len(got) != len(columns) {
		return 0, fmt.Errorf("row %s has %d columns of %d", key, len(got), len(columns))
	}
	text, _, _ := strings.Cut(got[columns[0]], " ")
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("row %s: column %s holds %q", key, columns[0], got[columns[0]])
	}
	for _, column := range columns {
		if got[column] != valueOf(key, column, number) {
			return 0, fmt.Errorf("row %s: column %s holds %.60q, while %s is of write %d", key, column, got[column], columns[0], number)
		}
	}
	return number, nil
}
