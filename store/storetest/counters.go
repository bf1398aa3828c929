package storetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func counterTests() []test {
	return []test{
		{"missing_cell_counts_as_zero", incrementMissing},
		{"adds_and_subtracts", incrementAdds},
		{"wraps_on_overflow", incrementWraps},
		{"zero_on_a_missing_cell_writes_zero", incrementByZero},
		{"wrong_width_is_refused", incrementWidth},
		{"deleted_cell_counts_as_zero", incrementDeleted},
		{"each_increment_is_a_version", incrementVersions},
		{"above_a_cell_of_the_future", incrementFuture},
		{"explicit_timestamp_is_ignored", incrementTimestamp},
		{"within_a_time_range", incrementWithin},
		{"several_columns_of_one_row", incrementSeveral},
		{"sees_the_row_before_the_mutation", incrementSeesBefore},
		{"append_to_a_missing_cell", appendMissing},
		{"append_gives_the_whole_value", appendWhole},
		{"append_is_a_version", appendVersions},
		{"append_above_a_cell_of_the_future", appendFuture},
		{"append_of_nothing", appendNothing},
		{"append_within_a_time_range", appendWithin},
		{"append_then_increment_checks_the_width", appendThenIncrement},
		{"mixed_with_puts_and_deletes", mixedMutation},
		{"functions_of_package_store", counterFunctions},
	}
}

// inc adds to f:n of row r and gives the new value.
func (e *env) inc(amount int64) int64 {
	e.Helper()
	v, err := store.Increment(e.ctx, e.s, "t", []byte("r"), []byte("f"), []byte("n"), amount, cell.UseDefault)
	e.must(err)
	return v
}

// counter reads f:n of row r.
func (e *env) counter() string {
	e.Helper()
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r"), Read: cell.Read{Select: selection("f:n"), MaxVersions: allVersions}}, &r))
	var values []string
	for _, c := range r.Cells {
		if len(c.Value) != 8 {
			e.Fatalf("a counter of %d bytes", len(c.Value))
		}
		values = append(values, fmt.Sprint(int64(binary.BigEndian.Uint64(c.Value))))
	}
	return strings.Join(values, " ")
}

func long(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func incrementMissing(e *env) {
	e.usual()
	if got := e.inc(5); got != 5 {
		e.Errorf("got %d, want 5", got)
	}
	e.equal(e.counter(), "5")
}

func incrementAdds(e *env) {
	e.usual()
	var got []int64
	for _, n := range []int64{5, -7, 0, 1 << 40, -1, 3} {
		got = append(got, e.inc(n))
		e.tick()
	}
	e.equal(fmt.Sprint(got), fmt.Sprint([]int64{5, -2, -2, 1<<40 - 2, 1<<40 - 3, 1 << 40}))
	e.equal(e.counter(), fmt.Sprint(int64(1<<40), int64(1<<40-3), int64(1<<40-2), -2, -2))
}

func incrementWraps(e *env) {
	e.usual()
	f, q := column("f:n")
	e.apply(cell.NewMutation([]byte("r")).Put(f, q, 1, long(math.MaxInt64)))
	if got := e.inc(1); got != math.MinInt64 {
		e.Errorf("MAX+1 = %d, want %d", got, int64(math.MinInt64))
	}
	e.tick()
	if got := e.inc(-1); got != math.MaxInt64 {
		e.Errorf("MIN-1 = %d, want %d", got, int64(math.MaxInt64))
	}
}

func incrementByZero(e *env) {
	e.usual()
	if got := e.inc(0); got != 0 {
		e.Errorf("got %d, want 0", got)
	}
	e.equal(e.counter(), "0")
}

func incrementWidth(e *env) {
	e.usual()
	for _, value := range []string{"", "1", "1234567", "123456789"} {
		e.put("r", "f:n", 1, value)
		_, err := store.Increment(e.ctx, e.s, "t", []byte("r"), []byte("f"), []byte("n"), 1, cell.UseDefault)
		e.refused(err, store.ErrNotCounter)
		var c *store.CounterError
		if !errors.As(err, &c) || c.Width != len(value) {
			e.Errorf("value %q: got %v", value, err)
		}
		e.equal(e.raw("r"), "f:n@1="+value)
	}
}

func incrementDeleted(e *env) {
	e.usual()
	e.inc(5)
	e.tick()
	e.script("delcol f:n@now; tick")
	if got := e.inc(2); got != 2 {
		e.Errorf("got %d, want 2", got)
	}
	e.equal(e.counter(), "2")
}

// Two increments are two versions, even of one millisecond.
func incrementVersions(e *env) {
	e.usual()
	e.inc(1)
	e.inc(1)
	e.tick()
	e.inc(1)
	e.equal(e.counter(), "3 2 1")
}

// The new cell is at max(now, old timestamp + 1).
func incrementFuture(e *env) {
	e.usual()
	f, q := column("f:n")
	future := epoch + 1_000_000
	e.apply(cell.NewMutation([]byte("r")).Put(f, q, future, long(40)))
	if got := e.inc(2); got != 42 {
		e.Errorf("got %d, want 42", got)
	}
	e.equal(e.get("r"), `f:n@now+1000001=\x00\x00\x00\x00\x00\x00\x00*`)
	e.equal(e.counter(), "42 40")
}

func incrementTimestamp(e *env) {
	e.usual()
	f, q := column("f:n")
	m := cell.NewMutation([]byte("r")).Increment(f, q, 3)
	m.Edits[0].Timestamp = 5
	e.apply(m)
	e.apply(m)
	e.equal(e.counter(), "6 3")
	e.equal(e.get("r", within(0, 1000)), "")
}

func incrementWithin(e *env) {
	e.usual()
	f, q := column("f:n")
	e.apply(cell.NewMutation([]byte("r")).Put(f, q, 10, long(100)).Put(f, q, 20, long(200)))
	m := cell.NewMutation([]byte("r")).Increment(f, q, 1)
	m.Within = cell.Between(5, 15)
	cells, err := store.MutateRow(e.ctx, e.s, "t", m)
	e.must(err)
	e.equal(string(cells[0].Value), string(long(101)))
	e.tick()
	m.Within = cell.Between(25, 30)
	cells, err = store.MutateRow(e.ctx, e.s, "t", m)
	e.must(err)
	e.equal(string(cells[0].Value), string(long(1)))
	e.equal(e.counter(), "1 101 200 100")
}

func incrementSeveral(e *env) {
	e.usual()
	m := cell.NewMutation([]byte("r")).Increment([]byte("g"), []byte("z"), 1).Increment([]byte("f"), []byte("b"), 2).Increment([]byte("f"), []byte("a"), 3).Increment([]byte("f"), nil, 4)
	for i := range 2 {
		cells, err := store.MutateRow(e.ctx, e.s, "t", m)
		e.must(err)
		var got []string
		for _, c := range cells {
			got = append(got, fmt.Sprintf("%s:%s=%d", c.Family, c.Qualifier, binary.BigEndian.Uint64(c.Value)))
			if c.Timestamp != cells[0].Timestamp {
				e.Error("one mutation has cells of different timestamps")
			}
		}
		n := i + 1
		e.equal(strings.Join(got, " "), fmt.Sprintf("g:z=%d f:b=%d f:a=%d f:=%d", n, 2*n, 3*n, 4*n))
		e.tick()
	}
}

// Increments and appends read the row as it was before the mutation, whatever
// else is in it.
func incrementSeesBefore(e *env) {
	e.usual()
	f, q := column("f:n")
	e.apply(cell.NewMutation([]byte("r")).Put(f, q, 1, long(10)))
	m := cell.NewMutation([]byte("r")).Put(f, q, 2, long(500)).Increment(f, q, 1).Increment(f, q, 2).DeleteColumn(f, []byte("x"), 5)
	cells, err := store.MutateRow(e.ctx, e.s, "t", m)
	e.must(err)
	if len(cells) != 2 || string(cells[0].Value) != string(long(11)) || string(cells[1].Value) != string(long(12)) {
		e.Errorf("got %s, want 11 and 12", text(cells))
	}
	e.equal(e.counter(), "12 500 10")
}

// app appends to f:n of row r and gives the new value.
func (e *env) app(value string) string {
	e.Helper()
	c, err := store.Append(e.ctx, e.s, "t", []byte("r"), []byte("f"), []byte("n"), []byte(value), cell.UseDefault)
	e.must(err)
	return string(c.Value)
}

func appendMissing(e *env) {
	e.usual()
	e.equal(e.app("abc"), "abc")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Select: selection("f:n")}})[:len("r: f:n@")], "r: f:n@")
}

func appendWhole(e *env) {
	e.usual()
	var got []string
	for _, s := range []string{"a", "bc", "\x00\xff", ""} {
		got = append(got, e.app(s))
		e.tick()
	}
	e.equal(fmt.Sprintf("%q", got), fmt.Sprintf("%q", []string{"a", "abc", "abc\x00\xff", "abc\x00\xff"}))
}

func appendVersions(e *env) {
	e.usual()
	e.app("a")
	e.app("b")
	e.tick()
	e.app("c")
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r"), Read: cell.Read{MaxVersions: 9}}, &r))
	var got []string
	for _, c := range r.Cells {
		got = append(got, string(c.Value))
	}
	e.equal(strings.Join(got, " "), "abc ab a")
}

func appendFuture(e *env) {
	e.usual()
	e.put("r", "f:n", epoch+500, "x")
	e.equal(e.app("y"), "xy")
	e.equal(e.all("r"), "f:n@now+501=xy f:n@now+500=x")
}

func appendNothing(e *env) {
	e.usual()
	e.equal(e.app(""), "")
	if got := e.get("r"); !strings.HasSuffix(got, "=") || !strings.HasPrefix(got, "f:n@") {
		e.Errorf("got %q, want an empty cell", got)
	}
}

func appendWithin(e *env) {
	e.usual()
	e.script("put f:n@10=a; put f:n@20=b")
	m := cell.NewMutation([]byte("r")).Append([]byte("f"), []byte("n"), []byte("x"))
	m.Within = cell.Between(0, 15)
	cells, err := store.MutateRow(e.ctx, e.s, "t", m)
	e.must(err)
	e.equal(string(cells[0].Value), "ax")
}

func appendThenIncrement(e *env) {
	e.usual()
	e.inc(1)
	e.tick()
	e.app("x")
	_, err := store.Increment(e.ctx, e.s, "t", []byte("r"), []byte("f"), []byte("n"), 1, cell.UseDefault)
	e.refused(err, store.ErrNotCounter)
}

// One mutation may hold puts, deletes, increments and appends, over all families.
func mixedMutation(e *env) {
	e.usual()
	e.script("put f:old@1=x; put g:old@1=y; app f:log+a; inc f:n+1; tick")
	m, err := parseMutation("r", "put g:new@5=z & delcol f:old@1 & inc f:n+2 & app f:log+b & delfam g@1")
	e.must(err)
	cells, err := store.MutateRow(e.ctx, e.s, "t", m)
	e.must(err)
	if len(cells) != 2 || string(cells[0].Value) != string(long(3)) || string(cells[1].Value) != "ab" {
		e.Errorf("got results %s", text(cells))
	}
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	var got []string
	for _, c := range r.Cells {
		got = append(got, fmt.Sprintf("%s:%s=%s", c.Family, c.Qualifier, cell.Printable(c.Value)))
	}
	e.equal(strings.Join(got, " "), `f:log=ab f:n=\x00\x00\x00\x00\x00\x00\x00\x03 g:new=z`)
}

func counterFunctions(e *env) {
	e.usual()
	_, err := store.Increment(e.ctx, e.s, "t", []byte("r"), []byte("x"), []byte("n"), 1, cell.SkipWAL)
	e.refused(err, store.ErrNoSuchFamily)
	_, err = store.Append(e.ctx, e.s, "nope", []byte("r"), []byte("f"), []byte("n"), nil, cell.SkipWAL)
	e.refused(err, store.ErrTableNotFound)
	c, err := store.Append(e.ctx, e.s, "t", []byte("r"), []byte("f"), []byte("a"), []byte("v"), cell.SkipWAL)
	e.must(err)
	e.equal(text([]cell.Cell{c}), e.get("r"))
}
