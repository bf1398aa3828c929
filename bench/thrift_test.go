package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/bench/internal/gateway"
	"github.com/cellardb/cellar/cell"
)

// startGateway starts a gateway and gives options of a small run against it.
func startGateway(t *testing.T, h gateway.Hooks) (*gateway.Gateway, Options) {
	t.Helper()
	g, err := gateway.Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g, Options{Addr: g.Addr(), Records: 1000, Connections: 3, Batch: 70, ScanRows: 64, Gets: 200, Repeat: 1,
		Lock: filepath.Join(t.TempDir(), "lock")}
}

func TestThriftWorkload(t *testing.T) {
	ran := 0
	for name, change := range map[string]func(o *Options){
		"private":          func(*Options) {},
		"shared":           func(o *Options) { o.Mode = ModeShared },
		"skip wal":         func(o *Options) { o.Durability = cell.SkipWAL },
		"framed":           func(o *Options) { o.Framed = true },
		"compact":          func(o *Options) { o.Compact = true },
		"compact framed":   func(o *Options) { o.Compact, o.Framed = true, true },
		"pipelined":        func(o *Options) { o.Pipeline = 4 },
		"one connection":   func(o *Options) { o.Connections = 1 },
		"repeated":         func(o *Options) { o.Repeat = 3 },
		"more than enough": func(o *Options) { o.Batch, o.ScanRows = 5000, 5000 },
	} {
		g, o := startGateway(t, gateway.Hooks{})
		change(&o)
		results, err := Thrift(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rounds := int64(max(o.Repeat, 1))
		want := []string{fmt.Sprint("scan rows ", 1000*rounds), fmt.Sprint("get gets ", 200*rounds), fmt.Sprint("load records ", 1000*rounds)}
		var got []string
		for _, r := range results {
			got = append(got, fmt.Sprint(r.Op, " ", r.Unit, " ", r.Count))
			if r.Errors != 0 || r.Rate <= 0 || r.P50 == nil || *r.P99 < *r.P50 || r.WorstSecond != nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if tables := g.Tables(); len(tables) != 0 {
			t.Errorf("%s: left tables %v", name, tables)
		}
		wantUnlogged := 0
		if o.Durability == cell.SkipWAL {
			wantUnlogged = 3000
		}
		if n := g.Unlogged(); n != wantUnlogged {
			t.Errorf("%s: %d mutations without WAL, want %d", name, n, wantUnlogged)
		}
		ran++
	}
	if ran != 10 {
		t.Errorf("%d cases ran", ran)
	}
}

var _ = errors.Is
