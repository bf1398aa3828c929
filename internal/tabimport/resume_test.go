package tabimport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// faultyTarget writes to a store, and lets a function look on: before and after
// each batch.
type faultyTarget struct {
	StoreTarget
	before, after func(rows []cell.Mutation) error
}

func (t *faultyTarget) Lane(table string) Lane { return &faultyLane{t.StoreTarget.Lane(table), t} }

type faultyLane struct {
	Lane
	t *faultyTarget
}

func (l *faultyLane) Write(ctx context.Context, rows []cell.Mutation) error {
	if l.t.before != nil {
		if err := l.t.before(rows); err != nil {
			return err
		}
	}
	if err := l.Lane.Write(ctx, rows); err != nil {
		return err
	}
	if l.t.after != nil {
		return l.t.after(rows)
	}
	return nil
}

// ticking is a clock that goes on by a minute whenever it is asked, so that every
// look at it makes a checkpoint.
func ticking() func() time.Time {
	var n int64
	return func() time.Time {
		n++
		return time.UnixMilli(began).Add(time.Duration(n-1) * time.Minute)
	}
}

// crashInput is lines of which some are bad and some have the same key.
func crashInput(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("id,a,b\n")
	for i := range n {
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "bad%d,\"x\"y\n", i)
		case 1:
			fmt.Fprintf(&b, ",no key %d\n", i)
		case 2:
			fmt.Fprintf(&b, "r%d,\"two\nlines %d\",z\r\n", r.IntN(50), i)
		case 3:
			fmt.Fprintf(&b, "refused%d,%d\n\n", r.IntN(5), i)
		default:
			fmt.Fprintf(&b, "r%d,%d,%d\n", r.IntN(n), i, i)
		}
	}
	return b.String()
}

// refuseSome refuses the rows that are called so.
func refuseSome(rows []cell.Mutation) (rest []cell.Mutation, err *store.BatchError) {
	for i := range rows {
		if bytes.HasPrefix(rows[i].Row, []byte("refused")) {
			err = err.Add(i, len(rows), errors.New("not this one"))
		} else {
			rest = append(rest, rows[i])
		}
	}
	return rest, err
}

// crash is what a process that is killed leaves: the files at some moment, and
// the rows that were stored by then.
type crash struct {
	state, bad []byte
	rows       [][]cell.Mutation
}

// recorder takes a crash at each moment at which a batch was stored.
type recorder struct {
	StoreTarget
	mu      sync.Mutex
	rows    [][]cell.Mutation
	crashes []crash
}

func (r *recorder) Lane(table string) Lane { return &recordingLane{r.StoreTarget.Lane(table), r} }

type recordingLane struct {
	Lane
	r *recorder
}

func (l *recordingLane) Write(ctx context.Context, rows []cell.Mutation) error {
	rest, refused := refuseSome(rows)
	if len(rest) > 0 {
		if err := l.Lane.Write(ctx, rest); err != nil {
			return err
		}
	}
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.r.rows = append(l.r.rows, cloneRows(rest))
	state, err := os.ReadFile("state")
	if err != nil {
		return err
	}
	bad, err := os.ReadFile("bad")
	if err != nil {
		return err
	}
	l.r.crashes = append(l.r.crashes, crash{state, bad, l.r.rows[:len(l.r.rows):len(l.r.rows)]})
	if refused != nil {
		return refused
	}
	return nil
}

func cloneRows(rows []cell.Mutation) []cell.Mutation {
	var out []cell.Mutation
	for i := range rows {
		m := cell.NewMutation(bytes.Clone(rows[i].Row))
		for _, e := range rows[i].Edits {
			m.Put(bytes.Clone(e.Family), bytes.Clone(e.Qualifier), e.Timestamp, bytes.Clone(e.Value))
		}
		out = append(out, *m)
	}
	return out
}

func crashOptions(packed string) Options {
	o := testOptions("HBASE_ROW_KEY=id,f:a,f:b", "one.csv", packed)
	o.State, o.BadFile, o.clock, o.Format = "state", "bad", ticking(), CSV
	return o
}

// An import that is killed at any moment and resumed leaves the table, the bad
// lines and the figures that one leaves which runs through. What is killed is an
// import that is itself resumed, now and then.
func TestResume_afterAKillAtAnyMoment(t *testing.T) {
	first, second := crashInput(1, 900), crashInput(2, 300)
	inFolder(t, map[string]string{"one.csv": first, "two.csv": packGzip(t, second)})
	o := crashOptions("two.csv")
	whole := &recorder{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}}
	want, wantBad := runRecorded(t, o, whole)
	if want.Rows < 500 || want.Bad < 100 || len(whole.crashes) < 200 {
		t.Fatalf("%+v, %d moments: too little to tell", want, len(whole.crashes))
	}
	checkNothingLost(t, first+second, wantBad)
	wantRows := dump(t, whole.Store, "t")
	states := map[string]bool{}
	for i := 0; i < len(whole.crashes); i += 29 {
		c := whole.crashes[i]
		states[string(c.state)] = true
		again := resumed(t, c)
		got, gotBad := again.finish(t)
		// The second one is killed too, and a third resumes it.
		if len(again.crashes) > 0 && i%2 == 0 {
			c2 := again.crashes[len(again.crashes)/2]
			c2.rows = append(append([][]cell.Mutation{}, c.rows...), c2.rows...)
			again = resumed(t, c2)
			got, gotBad = again.finish(t)
		}
		if got.Rows != want.Rows || got.Bad != want.Bad || got.Timestamp != want.Timestamp || !got.Resumed {
			t.Errorf("killed at moment %d: %+v, want %+v", i, got, want)
		}
		if gotBad != wantBad {
			t.Errorf("killed at moment %d, the bad lines differ: %s", i, firstDifference(gotBad, wantBad))
		}
		if rows := dump(t, again.Store, "t"); rows != wantRows {
			t.Errorf("killed at moment %d, the rows differ: %s", i, firstDifference(rows, wantRows))
		}
		if t.Failed() {
			return
		}
	}
	if len(states) < 5 {
		t.Errorf("only %d different states were resumed", len(states))
	}
}

func resumed(t *testing.T, c crash) *recorder {
	t.Helper()
	r := &recorder{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}}
	for _, batch := range c.rows {
		if len(batch) == 0 {
			continue
		}
		if _, err := r.Store.Apply(context.Background(), "t", batch); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string][]byte{"state": c.state, "bad": append(bytes.Clone(c.bad), strings.Repeat("written after the state was\n", 5000)...)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *recorder) finish(t *testing.T) (Result, string) {
	o := crashOptions("two.csv")
	o.Resume = true
	return runRecorded(t, o, r)
}

func runRecorded(t *testing.T, o Options, r *recorder) (Result, string) {
	t.Helper()
	im, err := New(o, r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := im.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	bad, err := os.ReadFile("bad")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("state"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state stays behind: %v", err)
	}
	return got, string(bad)
}

// checkNothingLost: the bad lines are lines of the input, in its order.
func checkNothingLost(t *testing.T, in, bad string) {
	t.Helper()
	rest := in
	for line := range strings.Lines(bad) {
		_, after, found := strings.Cut(rest, strings.TrimSuffix(line, "\n"))
		if !found {
			t.Fatalf("the bad line %q is not there, or not in order", line)
		}
		rest = after
	}
}

func firstDifference(got, want string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("at byte %d: %q, want %q", i, got[i:min(i+60, len(got))], want[i:min(i+60, len(want))])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}

// What stands in the way for a while is waited for; what stays, ends the import,
// which goes on from there once it is gone.
func TestImport_waitsAndGivesUp(t *testing.T) {
	for name, fault := range map[string]error{"full": store.ErrDiskFull, "busy": fmt.Errorf("so many: %w", store.ErrBusy), "lost": ErrLost} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"x.csv": "r1,1\nr2,2\nr3,3\nr4,4\n"})
			o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
			o.State, o.Lanes = "state", 1
			c := &slowClock{}
			c.into(&o)
			s := newStore(t)
			broken := 5
			target := &faultyTarget{StoreTarget: StoreTarget{Store: s}}
			// The first batch goes through; the second finds the fault, at first
			// for a while, then for good.
			target.before = func(rows []cell.Mutation) error {
				if string(rows[0].Row) == "r3" && broken != 0 {
					broken--
					return fault
				}
				return nil
			}
			run := func() (Result, error) {
				im, err := New(o, target)
				if err != nil {
					t.Fatal(err)
				}
				return im.Run(context.Background())
			}
			if r, err := run(); err != nil || r.Rows != 4 || c.pauses != 5 || c.slept != 31*50*time.Millisecond {
				t.Errorf("%+v, %v after %d pauses of %v", r, err, c.pauses, c.slept)
			}
			broken, c.slept = -1, 0
			r, err := run()
			if !errors.Is(err, fault) || !strings.Contains(err.Error(), "tried again for 1m0s") || r.Rows != 2 || c.slept != o.patience() {
				t.Errorf("%+v, %v after %v", r, err, c.slept)
			}
			if _, err := run(); !errors.Is(err, ErrUnfinished) {
				t.Errorf("begun again: %v", err)
			}
			broken, o.Resume = 0, true
			if r, err := run(); err != nil || r.Rows != 4 || !r.Resumed {
				t.Errorf("resumed: %+v, %v", r, err)
			}
			if got := dump(t, s, "t"); strings.Count(got, "\n") != 4 {
				t.Error(got)
			}
			if _, err := run(); !errors.Is(err, ErrNoState) {
				t.Errorf("resumed when it was done: %v", err)
			}
		})
	}
}

func (o Options) patience() time.Duration {
	o.resolve()
	return o.Patience
}

// slowClock is a clock that pauses and attempts move on.
type slowClock struct {
	mu     sync.Mutex
	now    time.Duration
	slept  time.Duration
	pauses int
}

func (c *slowClock) into(o *Options) {
	o.clock = func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return time.UnixMilli(began).Add(c.now)
	}
	o.sleep = func(_ context.Context, d time.Duration) error {
		c.pass(d)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.slept += d
		c.pauses++
		return nil
	}
}

func (c *slowClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

// Patience is as long as it says by the clock on the wall, whatever the attempts
// take of it: from the first failure on, and with one attempt at its end.
func TestImport_patienceCountsAttempts(t *testing.T) {
	cases := []struct {
		attempt, patience time.Duration
		attempts          int
	}{
		{0, 150 * time.Millisecond, 3},                                         // at 0, 50, 150
		{0, 100 * time.Millisecond, 3},                                         // at 0, 50, 100
		{20 * time.Second, time.Minute, 4},                                     // ends at 20, 40, 60, 81 s
		{2 * time.Minute, time.Minute, 2},                                      // one more try at least
		{time.Second - 50*time.Millisecond, time.Second + time.Millisecond, 3}, // ends at 0, 1, 1.95 s or so
	}
	for _, c := range cases {
		inFolder(t, map[string]string{"x.csv": "r1,1\n"})
		o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
		o.Patience = c.patience
		clock := &slowClock{}
		clock.into(&o)
		attempts := 0
		target := &faultyTarget{StoreTarget: StoreTarget{Store: newStore(t)}, before: func([]cell.Mutation) error {
			attempts++
			clock.pass(c.attempt)
			return ErrLost
		}}
		if _, err := runOnce(o, target); !errors.Is(err, ErrLost) || attempts != c.attempts {
			t.Errorf("attempts of %v, patience of %v: %d attempts, want %d; %v", c.attempt, c.patience, attempts, c.attempts, err)
		}
		if waited, most := clock.now-c.attempt, c.patience+c.attempt; waited < c.patience || waited > most {
			t.Errorf("attempts of %v, patience of %v: it took %v from the first failure on, want up to %v", c.attempt, c.patience, waited, most)
		}
	}
	if len(cases) != 5 {
		t.Error("cases are missing")
	}
}

// Faults of the table end the import at once, rows at fault cost themselves.
func TestImport_refusals(t *testing.T) {
	var batch *store.BatchError
	cases := []struct {
		name    string
		fault   func(rows []cell.Mutation) error
		bad     int64
		failure error
	}{
		{"one row", func(rows []cell.Mutation) error { return batch.Add(0, len(rows), store.ErrCellTooLarge) }, 1, nil},
		{"no family", func(rows []cell.Mutation) error { return batch.Add(0, len(rows), &store.FamilyError{Table: "t"}) }, 0, store.ErrNoSuchFamily},
		{"disabled", func([]cell.Mutation) error { return store.ErrTableDisabled }, 0, store.ErrTableDisabled},
		{"dropped", func([]cell.Mutation) error { return store.ErrTableNotFound }, 0, store.ErrTableNotFound},
		{"damaged", func(rows []cell.Mutation) error { return batch.Add(0, len(rows), store.ErrCorrupt) }, 0, store.ErrCorrupt},
	}
	for _, c := range cases {
		inFolder(t, map[string]string{"x.csv": "r1,1\nr2,2\n"})
		o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
		o.sleep = func(context.Context, time.Duration) error {
			t.Errorf("%s: it was waited for", c.name)
			return nil
		}
		var named []string
		o.Report = func(b Bad) { named = append(named, b.String()) }
		o.Lanes = 1
		im, err := New(o, &faultyTarget{StoreTarget: StoreTarget{Store: newStore(t)}, after: c.fault})
		if err != nil {
			t.Fatal(err)
		}
		r, err := im.Run(context.Background())
		if !errors.Is(err, c.failure) || r.Bad != c.bad || len(named) != int(c.bad) {
			t.Errorf("%s: %+v, %v, %q", c.name, r, err, named)
		}
		if c.bad == 1 && (named[0] != "x.csv:1: refused: cell too large" || r.Rows != 1) {
			t.Errorf("%s: %+v, %q", c.name, r, named)
		}
	}
	if len(cases) != 5 {
		t.Error("cases are missing")
	}
}

// A row that is refused counts where bad lines are limited.
func TestImport_refusedRowsCountAsBad(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "refused1,1\nr2,2\n"})
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	o.MaxBad = 0
	target := &faultyTarget{StoreTarget: StoreTarget{Store: newStore(t)}, after: func(rows []cell.Mutation) error {
		if _, err := refuseSome(rows); err != nil {
			return err
		}
		return nil
	}}
	im, err := New(o, target)
	if err != nil {
		t.Fatal(err)
	}
	var tooMany *TooManyBadError
	if _, err := im.Run(context.Background()); !errors.As(err, &tooMany) {
		t.Errorf("%v", err)
	}
}

// An import that is cancelled ends, and goes on later.
func TestImport_cancelled(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": crashInput(3, 500)})
	o := testOptions("HBASE_ROW_KEY=id,f:a,f:b", "x.csv")
	o.State = "state"
	s := newStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	batches := 0
	var mu sync.Mutex
	target := &faultyTarget{StoreTarget: StoreTarget{Store: s}, after: func([]cell.Mutation) error {
		mu.Lock()
		defer mu.Unlock()
		if batches++; batches == 50 {
			cancel()
		}
		return nil
	}}
	im, err := New(o, target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := im.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Resume = true
	if im, err = New(o, &StoreTarget{Store: s}); err != nil {
		t.Fatal(err)
	}
	r, err := im.Run(context.Background())
	if err != nil || !r.Resumed {
		t.Fatal(r, err)
	}
	o.Resume, o.State = false, ""
	other := newStore(t)
	runImport(t, o, other)
	if got, want := dump(t, s, "t"), dump(t, other, "t"); got != want {
		t.Error(firstDifference(got, want))
	}
}

// After too many bad lines the import goes on where it was, and counts none of
// them twice.
func TestResume_afterTooManyBadLines(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "r1,1\nbad\nr2,2\nworse\nr3,3\n"})
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	o.State, o.BadFile, o.MaxBad = "state", "bad", 1
	var named []string
	o.Report = func(b Bad) { named = append(named, b.String()) }
	s := newStore(t)
	for i, want := range []Result{{Rows: 2, Bad: 1}, {Rows: 2, Bad: 1}, {Rows: 3, Bad: 2}} {
		im, err := New(o, &StoreTarget{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		r, err := im.Run(context.Background())
		if r.Rows != want.Rows || r.Bad != want.Bad || (err == nil) != (i == 2) {
			t.Errorf("run %d: %+v, %v, want %+v", i, r, err, want)
		}
		o.Resume = true
		if i == 1 {
			o.MaxBad = 2
		}
	}
	if got := strings.Join(named, ", "); got != "x.csv:2: no separator, x.csv:4: no separator, x.csv:4: no separator, x.csv:4: no separator" {
		t.Errorf("named: %s", got)
	}
	if bad, err := os.ReadFile("bad"); string(bad) != "bad\nworse\n" {
		t.Errorf("the bad lines are %q, %v", bad, err)
	}
}

// A resumed import is the one that was begun, or is refused by what is different.
func TestResume_refusesWhatIsAnother(t *testing.T) {
	const other = "the import to resume was another one: "
	cases := []struct {
		change func(*Options)
		want   string
	}{
		{func(*Options) {}, ""},
		{func(o *Options) { o.MaxBad, o.BatchRows = 7, 9 }, ""},
		{func(o *Options) { o.Table = "u" }, other + "its table was t, and now is u"},
		{func(o *Options) { o.Columns += ",f:c" }, other + "its mapping of columns was HBASE_ROW_KEY,f:a, and now is HBASE_ROW_KEY,f:a,f:c"},
		{func(o *Options) { o.Separator = ';' }, other + "its separator was , and now is ;"},
		{func(o *Options) { o.Quote = NoQuote }, other + "its quote was , and now is none"},
		{func(o *Options) { o.Header = true }, other + "its header was false, and now is true"},
		{func(o *Options) { o.Format = TSV }, other + "its format was , and now is tsv"},
		{func(o *Options) { o.SkipEmpty = true }, other + "its leaving out of empty fields was false, and now is true"},
		{func(o *Options) { o.Null = "NA" }, other + "its text for what is not there was , and now is NA"},
		{func(o *Options) { o.Timestamp = 5 }, other + "its timestamp was 1700000000000, and now is 5"},
		{func(o *Options) { o.MaxLine = 99 }, other + "its longest line was 16777216, and now is 99"},
		{func(o *Options) { o.BadFile = "bad2" }, other + "its file of bad lines was bad, and now is bad2"},
		{func(o *Options) { o.Files = append(o.Files, "y.csv") }, other + "its number of files was 1, and now is 2"},
		{func(o *Options) { o.Files[0] = "y.csv" }, other + "y.csv is not as it was: it is "},
		{func(*Options) { appendTo("x.csv", "r9,9\n") }, other + "x.csv is not as it was: it has 24 bytes, and had 19"},
		{func(*Options) { touch("x.csv", "BAD\nr2,2\nr3,3\nr4,4\n", true) }, other + "x.csv is not as it was: it begins with other bytes"},
		{func(*Options) { touch("x.csv", "bad\nr2,2\nr3,3\nr4,4\n", false) }, other + "x.csv is not as it was: it was written to since"},
		{func(*Options) { touch("bad", "", false) }, other + "the file of bad lines bad has 0 bytes, and had 4"},
		{func(*Options) { touch("state", "{", false) }, "read the state of the import: state is damaged: unexpected end of JSON input"},
		{func(*Options) { touch("state", `{"version":2}`, false) }, "read the state of the import: state has version 2, want 1"},
		{func(*Options) { touch("state", `{"version":1,"position":{"offset":-1}}`, false) }, "read the state of the import: state is damaged"},
		{func(o *Options) { o.State = "" }, "bad options: nothing says how far the import was: name the state file"},
		{func(o *Options) { o.Restart = true }, "bad options: an import is resumed, or begun anew, not both"},
		{func(o *Options) { o.Resume, o.Restart = false, true }, ""},
	}
	for _, c := range cases {
		inFolder(t, map[string]string{"x.csv": "r1,1\nr2,2\nr3,3\nbad\n", "y.csv": "r,1\n"})
		o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
		o.State, o.BadFile, o.Lanes, o.BatchRows = "state", "bad", 1, 1
		target := &faultyTarget{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}}
		// It ends at the third row, with the bad line behind it.
		target.before = func(rows []cell.Mutation) error {
			if string(rows[0].Row) == "r3" {
				return store.ErrReadOnly
			}
			return nil
		}
		touch("x.csv", "bad\nr2,2\nr3,3\nr4,4\n", false)
		if _, err := runOnce(o, target); !errors.Is(err, store.ErrReadOnly) {
			t.Fatal(err)
		}
		target.before = nil
		o.Resume = true
		c.change(&o)
		got := ""
		if _, err := runOnce(o, target); err != nil {
			got = err.Error()
		}
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if len(cases) != 25 {
		t.Errorf("%d cases, want 25", len(cases))
	}
}

func runOnce(o Options, target Target) (Result, error) {
	im, err := New(o, target)
	if err != nil {
		return Result{}, err
	}
	return im.Run(context.Background())
}

// touch writes a file, keeping its time or moving it on.
func touch(name, text string, keepTime bool) {
	st, err := os.Stat(name)
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		panic(err)
	}
	when := st.ModTime()
	if !keepTime {
		when = when.Add(time.Second)
	}
	if err := os.Chtimes(name, when, when); err != nil {
		panic(err)
	}
}

func appendTo(name, text string) {
	old, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	touch(name, string(old)+text, true)
}

// Standard input is gone through again up to where the import was; where it ends
// before, it was another one.
func TestResume_standardInput(t *testing.T) {
	inFolder(t, nil)
	o := testOptions("HBASE_ROW_KEY,f:a", "-")
	o.Format, o.State, o.MaxBad = CSV, "state", 0
	s := newStore(t)
	const text = "r1,1\nbad\nr2,2\n"
	o.Stdin = strings.NewReader(text)
	if _, err := runOnce(o, &StoreTarget{Store: s}); err == nil {
		t.Fatal("a bad line was tolerated")
	}
	o.Resume, o.MaxBad = true, -1
	o.Stdin = strings.NewReader("r1\n")
	if _, err := runOnce(o, &StoreTarget{Store: s}); !errors.Is(err, ErrChanged) {
		t.Errorf("a shorter input: %v", err)
	}
	o.Stdin = strings.NewReader(text)
	if r, err := runOnce(o, &StoreTarget{Store: s}); err != nil || r.Rows != 2 || r.Bad != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A row that is alone in its lane does not hold up what is on record.
func TestImport_lonelyLane(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "lonely,1\n" + strings.Repeat("busy,2\n", 2000)})
	if hash([]byte("lonely"))%3 == hash([]byte("busy"))%3 {
		t.Fatal("both keys are of one lane")
	}
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	o.State, o.clock, o.BadFile = "state", ticking(), "bad"
	r := &recorder{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}}
	if _, err := runOnce(o, r); err != nil {
		t.Fatal(err)
	}
	if last := string(r.crashes[len(r.crashes)-1].state); strings.Contains(last, `"rows": 0`) {
		t.Errorf("with the last batch the state is %s", last)
	}
}

// Bad lines that wait for the next checkpoint do not fill the memory.
func TestImport_badLinesAreWrittenMeanwhile(t *testing.T) {
	line := strings.Repeat("x", 1<<10)
	const n = 3 * heldBad >> 10
	inFolder(t, map[string]string{"x.csv": "r,1\n" + strings.Repeat(line+"\n", n)})
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	o.BadFile = "bad"
	seen, written := 0, int64(0)
	o.Report = func(Bad) {
		if seen++; seen == n {
			if st, err := os.Stat("bad"); err == nil {
				written = st.Size()
			}
		}
	}
	if _, err := runOnce(o, &StoreTarget{Store: newStore(t)}); err != nil {
		t.Fatal(err)
	}
	if seen != n || written < heldBad {
		t.Errorf("%d bad lines, %d bytes of them written before the last", seen, written)
	}
}
