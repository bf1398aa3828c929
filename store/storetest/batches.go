package storetest

import (
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func batchTests() []test {
	return []test{
		{"empty_batch", emptyBatch},
		{"refusals_are_by_mutation", refusalsByMutation},
		{"every_mutation_refused", everyMutationRefused},
		{"one_row_several_times_in_order", batchOneRow},
		{"results_by_mutation", resultsByMutation},
		{"results_only_where_asked", resultsWhereAsked},
		{"results_beside_refusals", resultsBesideRefusals},
		{"large_batch", largeBatch},
		{"mutations_are_not_changed", mutationsNotChanged},
		{"MutateRow_gives_the_refusal_itself", mutateRowRefusal},
	}
}

func emptyBatch(e *env) {
	e.usual()
	results, err := e.s.Apply(e.ctx, "t", nil)
	e.must(err)
	if results != nil {
		e.Errorf("got results %v", results)
	}
	_, err = e.s.Apply(e.ctx, "t", []cell.Mutation{})
	e.must(err)
}

// failures writes a BatchError as "index: which refusal".
func failures(err error) string {
	var b *store.BatchError
	if !errors.As(err, &b) {
		return fmt.Sprintf("not a BatchError: %v", err)
	}
	s := fmt.Sprintf("of %d", b.Total)
	for _, f := range b.Failed {
		s += fmt.Sprintf(" %d:%s", f.Index, errorKinds(f.Err))
	}
	return s
}

func refusalsByMutation(e *env) {
	e.usual()
	e.put("n", "f:n", 1, "text")
	_, err := e.s.Apply(e.ctx, "t", values([]*cell.Mutation{
		putOf("a", "f:q", 1, "v"),
		putOf("b", "nope:q", 1, "v"),
		putOf("c", "f:q", 1, "v"),
		putOf("", "f:q", 1, "v"),
		cell.NewMutation([]byte("n")).Increment([]byte("f"), []byte("n"), 1),
		cell.NewMutation([]byte("d")),
		putOf("e", "f:q", 1, string(make([]byte, cell.MaxCell))),
		putOf("f", "f:q", 1, "v"),
	}))
	e.equal(failures(err), "of 8 1:no such column family 3:illegal argument 4:field is not a long 5:illegal argument 6:cell too large")
	e.equal(e.keys(cell.Scan{}), "a c f n")
	e.equal(e.raw("n"), "f:n@1=text")
	// The batch's error matches what its mutations were refused for.
	e.refused(err, store.ErrNoSuchFamily)
	e.refused(err, store.ErrNotCounter)
	e.refused(err, store.ErrCellTooLarge)
	if errors.Is(err, store.ErrTableNotFound) {
		e.Error("the error matches what did not happen")
	}
}

func everyMutationRefused(e *env) {
	e.usual()
	results, err := e.s.Apply(e.ctx, "t", values([]*cell.Mutation{putOf("b", "x:q", 1, "v"), putOf("c", "y:q", 1, "v")}))
	e.equal(failures(err), "of 2 0:no such column family 1:no such column family")
	if results != nil {
		e.Errorf("got results %v", results)
	}
	e.equal(e.scan(cell.Scan{Raw: true}), "")
}

// Mutations of one row in one batch are applied in their order.
func batchOneRow(e *env) {
	e.usual()
	e.apply(putOf("r", "f:q", 1, "a"), putOf("s", "f:q", 1, "x"), putOf("r", "f:q", 1, "b"), putOf("r", "f:p", 2, "c"))
	e.equal(e.all("r"), "f:p@2=c f:q@1=b")
	inc := func() *cell.Mutation { return cell.NewMutation([]byte("n")).Increment([]byte("f"), []byte("n"), 1) }
	e.apply(inc(), inc(), putOf("s", "f:q", 2, "y"), inc(), cell.NewMutation([]byte("n")).Append([]byte("f"), []byte("a"), []byte("x")), cell.NewMutation([]byte("n")).Append([]byte("f"), []byte("a"), []byte("y")))
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("n")}, &r))
	if len(r.Cells) != 2 || string(r.Cells[0].Value) != "xy" || string(r.Cells[1].Value) != "\x00\x00\x00\x00\x00\x00\x00\x03" {
		e.Errorf("after three increments and two appends: %s", text(r.Cells))
	}
	e.apply(putOf("r", "f:d", 5, "x"), cell.NewMutation([]byte("r")).Delete([]byte("f"), []byte("d"), cell.Latest))
	e.equal(e.get("r", only("f:d")), "")
}

func resultsByMutation(e *env) {
	e.usual()
	f := []byte("f")
	batch := []*cell.Mutation{
		putOf("a", "f:q", 1, "v"),
		cell.NewMutation([]byte("b")).Append(f, []byte("x"), []byte("1")).Put(f, []byte("p"), 1, []byte("v")).Append(f, []byte("a"), []byte("2")),
		cell.NewMutation([]byte("c")).Increment(f, []byte("n"), 7),
		cell.NewMutation([]byte("c")).Increment(f, []byte("n"), 1),
	}
	for _, m := range batch {
		m.ReturnResults = true
	}
	results, err := e.s.Apply(e.ctx, "t", values(batch))
	e.must(err)
	if len(results) != 4 {
		e.Fatalf("got %d results for 4 mutations", len(results))
	}
	var got string
	for i, cells := range results {
		got += fmt.Sprintf("%d:", i)
		for _, c := range cells {
			got += fmt.Sprintf(" %s/%s:%s=%s", c.Row, c.Family, c.Qualifier, cell.Printable(c.Value))
		}
		got += " "
	}
	// In the order of the edits, not of the columns.
	e.equal(got, `0: 1: b/f:x=1 b/f:a=2 2: c/f:n=\x00\x00\x00\x00\x00\x00\x00\x07 3: c/f:n=\x00\x00\x00\x00\x00\x00\x00\x08 `)
	// They are the cells that a read gives.
	e.equal(e.get("b", only("f:a")), text(results[1][1:]))
	e.equal(e.get("c"), text(results[3]))
}

func resultsWhereAsked(e *env) {
	e.usual()
	inc := func(ask bool) *cell.Mutation {
		m := cell.NewMutation([]byte("n")).Increment([]byte("f"), []byte("n"), 1)
		m.ReturnResults = ask
		return m
	}
	results, err := e.s.Apply(e.ctx, "t", values([]*cell.Mutation{inc(false), inc(false)}))
	e.must(err)
	if results != nil {
		e.Errorf("nobody asked, but got %d results", len(results))
	}
	results, err = e.s.Apply(e.ctx, "t", values([]*cell.Mutation{inc(false), inc(true), inc(false)}))
	e.must(err)
	if len(results) != 3 || len(results[0]) != 0 || len(results[2]) != 0 || len(results[1]) != 1 || results[1][0].Value[7] != 4 {
		e.Errorf("got results %v", results)
	}
}

func resultsBesideRefusals(e *env) {
	e.usual()
	e.put("bad", "f:n", 1, "text")
	var batch []*cell.Mutation
	for _, row := range []string{"a", "bad", "b"} {
		m := cell.NewMutation([]byte(row)).Increment([]byte("f"), []byte("n"), 2)
		m.ReturnResults = true
		batch = append(batch, m)
	}
	results, err := e.s.Apply(e.ctx, "t", values(batch))
	e.equal(failures(err), "of 3 1:field is not a long")
	if len(results) != 3 || len(results[0]) != 1 || len(results[1]) != 0 || len(results[2]) != 1 {
		e.Errorf("got results %v", results)
	}
}

func largeBatch(e *env) {
	e.usual()
	const n = 5000
	var batch []*cell.Mutation
	for i := range n {
		batch = append(batch, putOf(fmt.Sprintf("%06d", (i*7919)%n), "f:q", 1, "v"))
	}
	batch[1234] = putOf("x", "nope:q", 1, "v")
	_, err := e.s.Apply(e.ctx, "t", values(batch))
	e.equal(failures(err), "of 5000 1234:no such column family")
	if got := len(e.results("t", cell.Scan{})); got != n-1 {
		e.Errorf("%d rows, want %d", got, n-1)
	}
}

// The batch is the caller's: Latest stays Latest in it.
func mutationsNotChanged(e *env) {
	e.usual()
	m := *cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("q"), cell.Latest, []byte("v")).
		Delete([]byte("f"), []byte("p"), cell.Latest).DeleteRow(5).Increment([]byte("f"), []byte("n"), 1)
	batch := []cell.Mutation{m}
	before := fmt.Sprintf("%+v", batch)
	for range 2 {
		_, err := e.s.Apply(e.ctx, "t", batch)
		e.must(err)
		e.equal(fmt.Sprintf("%+v", batch), before)
		e.tick()
	}
}

func mutateRowRefusal(e *env) {
	e.usual()
	_, err := store.MutateRow(e.ctx, e.s, "t", putOf("r", "x:q", 1, "v"))
	var b *store.BatchError
	if errors.As(err, &b) || !errors.Is(err, store.ErrNoSuchFamily) {
		e.Errorf("got %v", err)
	}
}
