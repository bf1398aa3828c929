//go:build unix

package pebble

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// What a handle says is held against the file before there is room made for it.
func TestHandlesThatLeadOutOfTheFile(t *testing.T) {
	fs := closedStore(t)
	i := slices.IndexFunc(names(t, fs), func(n string) bool { return strings.HasSuffix(n, ".sst") })
	name := names(t, fs)[i]
	size := int64(len(content(t, fs, name)))
	cases := []struct {
		name           string
		offset, length uint64
		bad            bool
	}{
		{"the whole file but a trailer", 0, uint64(size) - block.TrailerLen, false},
		{"a byte more", 0, uint64(size) - block.TrailerLen + 1, true},
		{"behind the end", uint64(size), 1, true},
		{"an exabyte", 0, 1 << 60, true},
		{"so long that it is short with its trailer", 0, math.MaxUint64 - 4, true},
		{"that its end wraps around", math.MaxUint64 - 10, 20, true},
	}
	for _, c := range cases {
		var faults []string
		v := &verifier{ctx: context.Background(), fs: fs, dir: "data", o: store.VerifyOptions{Found: func(f store.Fault) { faults = append(faults, f.What) }}}
		f, err := fs.Open("data/" + name)
		if err != nil {
			t.Fatal(err)
		}
		readable, err := sstable.NewSimpleReadable(f)
		if err != nil {
			t.Fatal(err)
		}
		c1 := &tableCheck{v: v, name: name}
		if c1.r, err = sstable.NewReader(v.ctx, readable, sstable.ReaderOptions{Comparer: comparer, KeySchemas: keySchemas()}); err != nil {
			t.Fatal(err)
		}
		_, _, err = c1.sums(f, size, []namedBlock{{block.Handle{Offset: c.offset, Length: c.length}, "data"}})
		if err != nil || c1.led != c.bad || (c.bad && !c1.bad) {
			t.Errorf("%s: leads out: %v, %v", c.name, c1.led, err)
		}
		if said := strings.Contains(strings.Join(faults, "; "), "in a file of"); said != c.bad {
			t.Errorf("%s: faults %q", c.name, faults)
		}
		if err := c1.r.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(cases) != 6 {
		t.Errorf("%d cases", len(cases))
	}
}

// Keys are not read through Pebble where it would make room for what a handle
// says.
func TestKeysAreNotReadWhereAHandleLeadsAstray(t *testing.T) {
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem()})
	everyKind(t, s)
	var faults []string
	v := &verifier{ctx: context.Background(), fs: s.fs, dir: "data", live: s, o: store.VerifyOptions{Found: func(f store.Fault) { faults = append(faults, f.What) }}}
	v.astray = true
	if err := v.runOn(s.db, names(t, s.fs)); err != nil {
		t.Fatal(err)
	}
	if v.report.Cells != 0 || len(faults) != 1 || !strings.Contains(faults[0], "keys and values were not read") {
		t.Errorf("%d cells were read; faults %q", v.report.Cells, faults)
	}
}

// A pipe that has the name of a file of the store is named and not opened, by
// verify and by a copy of the closed store; one with another name is noted.
func TestPipesInAStoreAreNotOpened(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"999999.log", "999999.sst", "999999.blob", "MANIFEST-999999", "OPTIONS-999999", "marker.manifest.999999.MANIFEST-000001", sumsFile, "holiday.jpg"} {
		dir := filepath.Join(t.TempDir(), "data")
		s, err := Open(ctx, Options{Dir: dir, NoJanitor: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if name == sumsFile {
			if err := vfs.Default.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no pipes here: ", err)
		}
		var named []string
		report, err := Verify(ctx, Options{Dir: dir}, store.VerifyOptions{Found: func(f store.Fault) {
			if f.File == path {
				named = append(named, fmt.Sprintf("%s %s", f.Kind, f.What))
			}
		}})
		isPart := name != "holiday.jpg"
		if err != nil || len(named) != 1 || report.Sound() == isPart || isPart != strings.Contains(named[0], "it is a named pipe") {
			t.Errorf("%s: %v, %+v, %v", name, named, report, err)
		}
		err = CheckpointClosed(ctx, Options{Dir: dir}, filepath.Join(t.TempDir(), "copy"))
		if errors.Is(err, store.ErrCorrupt) != isPart || isPart && !strings.Contains(err.Error(), name+" is a named pipe") {
			t.Errorf("%s: a copy ends with %v", name, err)
		}
	}
}
