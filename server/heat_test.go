package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// heatedStore is an engine of which only the counts matter.
type heatedStore struct {
	store.Store
	heat []store.Heat
	err  error
}

func (s *heatedStore) Heat() ([]store.Heat, error) { return s.heat, s.err }

func TestHeatWindow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := heatWindow{clock: func() time.Time { return now }}
	st := &heatedStore{heat: []store.Heat{
		{Table: "a", RowsWritten: 10, BytesWritten: 1000},
		{Table: "b", RowsRead: 500, BytesRead: 5000},
		{Table: "c"},
	}}
	names := func(top ops.Top) (s string) {
		for _, x := range top.Tables {
			s += x.Table
		}
		return s
	}

	// Nothing to compare with: no rates, what moved most comes first.
	top := w.top(st, 20)
	if top.WindowSeconds != 0 || top.TablesCounted != 3 || names(top) != "bac" || top.Tables[0].RowsReadRate != 0 || top.Tables[0].RowsRead != 500 {
		t.Errorf("at first: %+v", top)
	}

	// Too soon: the figures of before.
	now = now.Add(heatPause - 1)
	st.heat[0].RowsWritten = 1000
	if again := w.top(st, 20); fmt.Sprint(again) != fmt.Sprint(top) {
		t.Errorf("too soon: %+v", again)
	}

	// Two seconds after the first measurement.
	now = now.Add(2*time.Second - heatPause + 1)
	st.heat = []store.Heat{
		{Table: "a", RowsWritten: 110, BytesWritten: 201_000},
		{Table: "b", RowsRead: 502, BytesRead: 5100},
		{Table: "c"},
		{Table: "d", RowsRead: 8, BytesRead: 80},
	}
	top = w.top(st, 3)
	want := "{2 4 [{a 110 201000 0 0 50 100000 0 0} {d 0 0 8 80 0 0 4 40} {b 0 0 502 5100 0 0 1 50}]}"
	if got := fmt.Sprint(top); got != want {
		t.Errorf("two seconds later:\n%s, want\n%s", got, want)
	}

	// A truncated table begins at 0; a dropped one is gone. A row weighs 1 KiB.
	now = now.Add(time.Second)
	st.heat = []store.Heat{
		{Table: "a", RowsWritten: 3, BytesWritten: 30},
		{Table: "d", RowsRead: 8, BytesRead: 80 + 1500},
		{Table: "e", RowsRead: 2, BytesRead: 2},
	}
	top = w.top(st, 20)
	want = "{1 3 [{a 3 30 0 0 3 30 0 0} {e 0 0 2 2 0 0 2 2} {d 0 0 8 1580 0 0 0 1500}]}"
	if got := fmt.Sprint(top); got != want {
		t.Errorf("after truncate and drop:\n%s, want\n%s", got, want)
	}

	st.err = store.ErrClosed
	now = now.Add(time.Second)
	if top := w.top(st, 20); len(top.Tables) != 0 {
		t.Errorf("closed: %+v", top)
	}
}

func TestHeatWindow_ofAnEngineThatDoesNotCount(t *testing.T) {
	w := heatWindow{clock: time.Now}
	if top := w.top(memory.New(memory.Options{}), 20); len(top.Tables) != 0 || top.TablesCounted != 0 {
		t.Errorf("%+v", top)
	}
}

// A server on the embedded engine tells its hot tables over HTTP.
func TestServer_tellsHotTables(t *testing.T) {
	cfg := testConfig(t)
	cfg.Engine = EnginePebble
	s := start(t, cfg, nil)
	for _, name := range []string{"cold", "hot"} {
		schema := cell.TableSchema{Name: name, Families: []cell.FamilySchema{cell.NewFamily("f")}}
		if err := s.store.CreateTable(t.Context(), schema, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.store.Apply(t.Context(), "hot", []cell.Mutation{*cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, []byte("v"))}); err != nil {
		t.Fatal(err)
	}
	var top ops.Top
	if code, body := get(t, s, "/v1/top?tables=1", &top); code != http.StatusOK || len(top.Tables) != 1 ||
		top.Tables[0].Table != "hot" || top.Tables[0].RowsWritten != 1 || top.TablesCounted != 2 {
		t.Errorf("top: %d %s", code, body)
	}
}
