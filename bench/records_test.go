package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecordsKeepToTheirSpec: what WriteSpec prints is what comes out.
func TestRecordsKeepToTheirSpec(t *testing.T) {
	const n = 3000
	g := records{seed: 7, epoch: 1700000000000000000}
	key := regexp.MustCompile(`^RK_[0-9]{1,20}_17000000000000[0-9]{5}$`)
	value := regexp.MustCompile(`^value_[0-o]{304,336}_endv$`)
	lengths, sum, seen := make(map[int]int), 0, make(map[string]bool)
	var symbols [256]int
	for i := range n {
		k := g.key(nil, i)
		if !key.Match(k) || seen[string(k)] {
			t.Fatalf("record %d: key %s", i, k)
		}
		seen[string(k)] = true
		for c := range recordColumns {
			v := make([]byte, g.valueLen(i, c))
			g.value(v, i, c)
			if !value.Match(v) || seen[string(v)] {
				t.Fatalf("record %d, column %d: %s", i, c, v)
			}
			seen[string(v)] = true
			random := len(v) - len("value_") - len("_endv")
			lengths[random]++
			sum += random
			for _, b := range v[len("value_") : len(v)-len("_endv")] {
				symbols[b]++
			}
		}
	}
	if mean := float64(sum) / (3 * n); mean < 319 || mean > 321 || len(lengths) != 33 {
		t.Errorf("mean length %.1f, %d different ones", mean, len(lengths))
	}
	for b := '0'; b <= 'o'; b++ {
		if share := float64(symbols[b]) * 64 / float64(sum); share < 0.97 || share > 1.03 {
			t.Errorf("byte %q: %.3f of its share", b, share)
		}
	}
}

// TestRecordsAreSeeded: the same seed gives the same records, whatever the run;
// another seed gives others. The bytes are pinned, so that runs of different
// versions can be compared.
func TestRecordsAreSeeded(t *testing.T) {
	var got strings.Builder
	for _, g := range []records{{seed: 1, epoch: 1000}, {seed: 2, epoch: 1000}} {
		for _, i := range []int{0, 1, 59999} {
			got.Write(g.key(nil, i))
			for c := range recordColumns {
				v := make([]byte, g.valueLen(i, c))
				g.value(v, i, c)
				got.WriteString("\n\t" + string(v))
			}
			got.WriteByte('\n')
		}
	}
	golden(t, "records.golden", got.String())
}

func TestRecordIndex(t *testing.T) {
	g := records{seed: 3, epoch: 5000}
	for _, i := range []int{0, 1, 999} {
		if got, ok := g.index(g.key(nil, i), 1000); got != i || !ok {
			t.Errorf("record %d: %d, %v", i, got, ok)
		}
	}
	for _, key := range []string{"", "RK_", "RK_1", "RK_1_", "RK_1_4999", "RK_1_6000", "RK_1_x", "XK_1_5000", "row", "RK_1_99999999999999999999"} {
		if got, ok := g.index([]byte(key), 1000); ok {
			t.Errorf("key %q: %d", key, got)
		}
	}
}

func TestSpec(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSpec(&b); err != nil || !strings.Contains(b.String(), "RK_<random>_<nanotime>") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// golden compares text with a file of testdata; UPDATE_GOLDEN=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

func BenchmarkRecord(b *testing.B) {
	g := records{seed: 1, epoch: 1}
	l := newLedger(g, "t", 1000)
	var key []byte
	v := make([]byte, 400)
	b.SetBytes(1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		key = g.key(key[:0], i)
		s := l.begin(key)
		for c := range recordColumns {
			n := g.valueLen(i, c)
			g.value(v[:n], i, c)
			l.column(&s, l.names[c], v[:n])
		}
		l.sums[i%1000] = s.sum()
	}
}
