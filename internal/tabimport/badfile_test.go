package tabimport

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// shortFile is a file whose disk is full once: the n-th write takes a part of its
// bytes and fails, those after it succeed. A negative n is a Sync.
type shortFile struct {
	file
	broken *int
}

var errFull = errors.New("no space left on device")

func (f *shortFile) Write(p []byte) (int, error) {
	if *f.broken--; *f.broken != 0 {
		return f.file.Write(p)
	}
	n, err := f.file.Write(p[:len(p)/2])
	return n, errors.Join(errFull, err)
}

func (f *shortFile) Sync() error {
	if *f.broken >= 0 {
		return f.file.Sync()
	}
	if *f.broken++; *f.broken == 0 {
		*f.broken = 1 << 30 // once
		return errFull
	}
	return f.file.Sync()
}

// onShortFile makes the file of bad lines one whose disk is full once.
func onShortFile(o *Options, broken *int) {
	o.openFile = func(name string, flags int) (file, error) {
		f, err := openFile(name, flags)
		return &shortFile{file: f, broken: broken}, err
	}
}

// A bad line that cannot be kept ends the import, and the run that resumes has
// the file as it would be had nothing happened: whichever write fails, the
// header's too, and though the writes behind it succeed.
func TestBadFile_failedWriteLosesNothing(t *testing.T) {
	text := crashInput(7, 60)
	inFolder(t, map[string]string{"x.csv": text})
	o := testOptions("HBASE_ROW_KEY=id,f:a,f:b", "x.csv")
	o.State, o.BadFile, o.clock = "state", "bad", ticking()
	want, wantBad := runRecorded(t, o, &recorder{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}})
	lines := strings.Count(wantBad, "\n") // some lines are of two
	failed := 0
	for n := -4; n <= lines; n++ {
		if n == 0 {
			continue
		}
		o := o
		broken := n
		onShortFile(&o, &broken)
		r := &recorder{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}}
		_, err := runOnce(o, r)
		if err == nil {
			continue // it has not so many writes
		}
		failed++
		if !errors.Is(err, errFull) || strings.Count(err.Error(), errFull.Error()) != 1 || strings.Contains(err.Error(), "read input") {
			t.Errorf("write %d: %v", n, err)
		}
		o.Resume = true
		got, gotBad := runRecorded(t, o, r)
		if gotBad != wantBad || got.Bad != want.Bad || got.Rows != want.Rows {
			t.Errorf("write %d: %+v, want %+v; the bad lines differ: %s", n, got, want, firstDifference(gotBad, wantBad))
		}
	}
	if failed < lines/2 || failed < 10 {
		t.Errorf("%d writes were tried of %d lines", failed, lines)
	}
}

// lyingFile keeps what was not synced from the disk.
type lyingFile struct {
	file
	name   string
	synced int64
}

func (f *lyingFile) Sync() error {
	st, err := f.Stat()
	if err == nil {
		f.synced = st.Size()
	}
	return err
}

// What the state says of the file of bad lines is on the disk: a machine that
// goes down must not leave a file that is shorter, though it holds the header
// alone.
func TestBadFile_isSyncedBeforeTheStateSaysSo(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "id,a\n" + strings.Repeat("r,1\n", 300) + "bad\n" + strings.Repeat("r,1\n", 300)})
	o := testOptions("HBASE_ROW_KEY=id,f:a", "x.csv")
	o.State, o.BadFile, o.clock, o.Lanes = "state", "bad", ticking(), 1
	var bad *lyingFile
	o.openFile = func(name string, flags int) (file, error) {
		f, err := openFile(name, flags)
		bad = &lyingFile{file: f, name: name}
		return bad, err
	}
	sizes := map[int64]bool{}
	target := &faultyTarget{StoreTarget: StoreTarget{Store: newStore(t), Label: "x"}}
	// The only lane looks: the reader writes the state, so what it holds was
	// synced before at the least.
	im, err := New(o, target)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{im: im}
	if err := im.begin(); err != nil {
		t.Fatal(err)
	}
	if im.bad, err = im.o.openBadFile(0, false); err != nil {
		t.Fatal(err)
	}
	r.at, r.lanes = im.start, im.startLanes(context.Background())
	check := func() {
		t.Helper()
		if _, err := r.checkpoint(); err != nil {
			t.Fatal(err)
		}
		s, err := readState("state")
		if err != nil {
			t.Fatal(err)
		}
		if s.BadBytes > bad.synced {
			t.Errorf("the state says %d bytes, %d are on the disk", s.BadBytes, bad.synced)
		}
		sizes[s.BadBytes] = true
	}
	check()
	if err := r.badHeader([]byte("id,a")); err != nil {
		t.Fatal(err)
	}
	check()
	r.lanes.tracker.note(-1, []byte("bad"))
	check()
	r.lanes.stop()
	if err := im.bad.close(); err != nil || len(sizes) != 3 || !sizes[0] || !sizes[5] || !sizes[9] {
		t.Errorf("%v, sizes %v", err, sizes)
	}
}

// A run that resumes in a later file holds its header against the one that the
// bad lines have.
func TestBadFile_otherHeaderAfterAResume(t *testing.T) {
	inFolder(t, map[string]string{"one.csv": "id,a\nbad,1,2\nr1,1\n", "two.csv": "a,id\n1,2,bad\n1,r2\n"})
	o := testOptions("HBASE_ROW_KEY=id,f:a", "one.csv", "two.csv")
	o.State, o.BadFile = "state", "bad"
	for i := range 3 {
		_, err := runOnce(o, &StoreTarget{Store: newStore(t), Label: "x"})
		if !errors.Is(err, ErrMapping) || !strings.Contains(err.Error(), "two.csv: ") || !strings.Contains(err.Error(), "its header is another one") {
			t.Errorf("run %d: %v", i, err)
		}
		o.Resume = true
	}
	if bad, err := os.ReadFile("bad"); string(bad) != "id,a\nbad,1,2\n" {
		t.Errorf("the bad lines are %q, %v", bad, err)
	}
}

// Lines of two formats do not go into one file.
func TestBadFile_oneFormat(t *testing.T) {
	inFolder(t, nil)
	o := testOptions("HBASE_ROW_KEY=id,f:a", "x.csv", "y.ndjson")
	if _, err := New(o, &StoreTarget{}); err != nil {
		t.Errorf("without a file of bad lines: %v", err)
	}
	o.BadFile = "bad"
	if _, err := New(o, &StoreTarget{}); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "x.csv (csv) and y.ndjson (ndjson)") {
		t.Errorf("%v", err)
	}
}

// A line that is too long costs itself: it is named, counted, and kept shortened,
// with a note; the next one is imported.
func TestBadFile_longLines(t *testing.T) {
	euro := strings.Repeat("€", 4000) // 12,000 bytes: the cut is inside of one
	cases := []struct{ name, file, columns, line, kept string }{
		{"csv", "x.csv", "HBASE_ROW_KEY,f:a", "long," + strings.Repeat("x", 20_000), "long," + strings.Repeat("x", 4091) + "... (cut here: the line has 20005 bytes)"},
		{"with a carriage return", "x.csv", "HBASE_ROW_KEY,f:a", strings.Repeat("y", 30_000) + "\r", strings.Repeat("y", 4096) + "... (cut here: the line has 30001 bytes)"},
		{"ndjson", "x.ndjson", "HBASE_ROW_KEY=id,f:a", `{"ids":"` + euro + `"}`, `{"ids":"` + strings.Repeat("€", 1362) + "... (cut here: the line has 12010 bytes)"},
		{"no characters", "x.csv", "HBASE_ROW_KEY,f:a", strings.Repeat("\x80", 9000), strings.Repeat("\x80", 4096) + "... (cut here: the line has 9000 bytes)"},
	}
	for _, c := range cases {
		good := "r1,1\n%s\nr2,2\n"
		if strings.HasSuffix(c.file, "json") {
			good = `{"id":"r1","a":1}` + "\n%s\n" + `{"id":"r2","a":2}` + "\n"
		}
		inFolder(t, map[string]string{c.file: fmt.Sprintf(good, c.line)})
		o := testOptions(c.columns, c.file)
		o.BadFile, o.MaxLine = "bad", 8192
		s := newStore(t)
		got := runImport(t, o, s)
		want := "\"r1\" f:a=\"1\"\n\"r2\" f:a=\"2\"\n" + c.file + ":2: longer than the limit of 8192 bytes\n"
		if got != want {
			t.Errorf("%s: got %s want %s", c.name, got, want)
		}
		if bad, err := os.ReadFile("bad"); string(bad) != c.kept+"\n" {
			t.Errorf("%s: kept is %.60q...%q, %v", c.name, bad, bad[max(0, len(bad)-60):], err)
		}
	}
	if len(cases) != 4 {
		t.Error("cases are missing")
	}
}

// A stream that breaks in the middle of a record makes no bad line of its first
// half, and no record of its second one: the run that resumes, once the stream is
// whole, finds all of it.
func TestResume_afterABrokenStream(t *testing.T) {
	cases := map[string]string{
		"a plain line":         "r1,1\n",
		"a long line":          strings.Repeat("l", 40_000) + "\n",
		"quotes over lines":    "r2,\"two\nlines\n and a third\"\n",
		"a quote out of place": "r3,x\"y\n",
	}
	for name, line := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat("r0,0\n", 40) + strings.Repeat(line, 3) + "last,1\n"
			inFolder(t, map[string]string{"x.csv": ""})
			o := testOptions("HBASE_ROW_KEY,f:a", "-")
			o.Format, o.State, o.BadFile, o.MaxLine, o.clock = CSV, "state", "bad", 16<<10, ticking()
			o.Timestamp = began
			o.Stdin = strings.NewReader(text)
			target := &StoreTarget{Store: newStore(t), Label: "x"}
			want, err := runOnce(o, target)
			if err != nil {
				t.Fatal(err)
			}
			wantRows := dump(t, target.Store, "t")
			wantBad, err := os.ReadFile("bad")
			if err != nil {
				t.Fatal(err)
			}
			broke := 0
			for cut := 1; cut < len(text); cut += 1 + cut/15 {
				o := o
				o.Stdin = &brokenReader{text: text[:cut]}
				target := &StoreTarget{Store: newStore(t), Label: "x"}
				if _, err := runOnce(o, target); !errors.Is(err, gzip.ErrChecksum) {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				broke++
				o.Resume, o.Stdin = true, strings.NewReader(text)
				got, err := runOnce(o, target)
				if err != nil || got.Rows != want.Rows || got.Bad != want.Bad {
					t.Fatalf("cut at %d: %+v, %v, want %+v", cut, got, err, want)
				}
				bad, err := os.ReadFile("bad")
				if err != nil || string(bad) != string(wantBad) || dump(t, target.Store, "t") != wantRows {
					t.Fatalf("cut at %d: %v, bad lines %s", cut, err, firstDifference(string(bad), string(wantBad)))
				}
			}
			if broke < 40 {
				t.Errorf("it broke at %d places", broke)
			}
		})
	}
}

// brokenReader gives a text and then fails.
type brokenReader struct{ text string }

func (r *brokenReader) Read(p []byte) (int, error) {
	n := copy(p, r.text)
	if r.text = r.text[n:]; r.text == "" {
		return n, gzip.ErrChecksum
	}
	return n, nil
}

// A file of bad lines that cannot be opened ends the import before a row is
// stored.
func TestBadFile_cannotBeOpened(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "r,1\n"})
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	o.BadFile = "none/bad"
	s := newStore(t)
	if _, err := runOnce(o, &StoreTarget{Store: s}); !errors.Is(err, fs.ErrNotExist) || dump(t, s, "t") != "" {
		t.Errorf("%v", err)
	}
}
