package pebble

import (
	"context"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

func TestPressureOfAState(t *testing.T) {
	const mt = 16 << 20 // of one memtable; four are allowed
	disk := func(free uint64, full bool) diskState {
		return diskState{known: true, free: free, reserve: 1000, full: full}
	}
	cases := []struct {
		name  string
		state state
		want  store.Pressure
	}{
		{"idle", state{memtables: 256 << 10}, store.Pressure{}},
		{"the one in use is half full", state{memtables: mt, unflushed: mt / 2}, store.Pressure{Memtables: 0.125, Value: 0.125}},
		{"two wait to be flushed", state{memtables: 3 * mt, unflushed: mt}, store.Pressure{Memtables: 0.5, Value: 0.5}},
		{"the log tells of more than they", state{memtables: 2 * mt, unflushed: 3 * mt}, store.Pressure{Memtables: 0.75, Value: 0.75}},
		{"more than there may be", state{memtables: 9 * mt, unflushed: 9 * mt}, store.Pressure{Memtables: 1, Value: 1}},
		{"young ones, that are small", state{memtables: mt * 9 / 10}, store.Pressure{}},
		{"level 0 is half as deep as it may be", state{sublevels: l0Full / 2}, store.Pressure{L0: 0.5, Value: 0.5}},
		{"deeper", state{sublevels: 2 * l0Full}, store.Pressure{L0: 1, Value: 1}},
		{"half as much garbage as live data", state{garbage: 0.5}, store.Pressure{Garbage: 0.25, Value: 0.25}},
		{"as much", state{garbage: 1}, store.Pressure{Garbage: 0.5, Value: 0.5}},
		{"more", state{garbage: 1.25}, store.Pressure{Garbage: 0.75, Value: 0.75}},
		{"twice as much", state{garbage: 2}, store.Pressure{Garbage: 1, Value: 1}},
		{"twice the reserve is free", state{disk: disk(2000, false)}, store.Pressure{}},
		{"one and a half", state{disk: disk(1500, false)}, store.Pressure{Disk: 0.5, Value: 0.5}},
		{"room again, and not yet enough", state{disk: disk(1100, true)}, store.Pressure{Disk: 1, Value: 1}},
		{"nothing is known of the disk", state{disk: diskState{reserve: 1000}}, store.Pressure{}},
		{"the largest counts", state{sublevels: l0Full / 4, garbage: 1, memtables: mt}, store.Pressure{L0: 0.25, Garbage: 0.5, Value: 0.5}},
	}
	for _, c := range cases {
		c.state.memtableBytes = mt
		if got := c.state.pressure(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// In a store with little garbage writers need not care how much live data there
// is beside it.
func TestLittleGarbageDoesNotPress(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		much  bool
		want  float64
	}{{0.4, false, 0.4}, {30, false, 1}, {1.5, true, 1.5}} {
		j := newJanitor(nil)
		j.ratio.Store(math.Float64bits(c.ratio))
		j.much.Store(c.much)
		if got := j.pressing(); got != c.want {
			t.Errorf("ratio %v, much: %v: %v, want %v", c.ratio, c.much, got, c.want)
		}
	}
}

func TestPressureOfAnOpenStore(t *testing.T) {
	s, err := Open(context.Background(), Options{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	if p, known := store.PressureOf(s); !known || p.Value < 0 || p.Value > 1 {
		t.Errorf("the pressure is %+v, known: %v", p, known)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if p := s.Pressure(); p.Value > 1 {
		t.Errorf("of a closed store it is %+v", p)
	}
	if _, open := s.FiguresIfOpen(); open {
		t.Error("a closed store gives figures")
	}
}

// A store that was opened this moment has a pressure, and it is a number: what is
// not one cannot be told in JSON.
func TestPressureBeforeTheFirstLook(t *testing.T) {
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), NoJanitor: true})
	fresh := &Store{opts: s.opts, disk: s.disk}
	if p := fresh.Pressure(); p != (store.Pressure{}) {
		t.Errorf("before the first look the pressure is %+v", p)
	}
}
