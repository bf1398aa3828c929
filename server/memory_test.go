package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSplitMemory(t *testing.T) {
	for _, total := range []Bytes{MinMemory, 1 * GiB, 4 * GiB, 1<<40 + 7} {
		for _, cgo := range []bool{true, false} {
			s := splitMemory(total, cgo)
			if sum := s.BlockCache + s.Memtables + s.Doors + s.Tiers + s.Slack; sum != total {
				t.Errorf("the parts of %d are %d together", total, sum)
			}
			if s.BlockCache != total*35/100 || s.Memtables != total/10 || s.Doors != total/10 || s.Tiers != total/10 {
				t.Errorf("split of %d: %+v", total, s)
			}
			inC := Bytes(0)
			if cgo {
				inC = s.BlockCache + s.Memtables
			}
			if s.Go != total-inC {
				t.Errorf("with cgo %v the limit of Go is %d of %d", cgo, s.Go, total)
			}
		}
	}
}

func TestDefaultMemory(t *testing.T) {
	cases := []struct {
		name            string
		ram, limit, out Bytes
	}{
		{"a quarter of a small machine", 8 * GiB, 0, 2 * GiB},
		{"at most 4 GiB of a large one", 64 * GiB, 0, 4 * GiB},
		{"at least 512 MiB", 1 * GiB, 0, MinMemory},
		{"the group's limit if less", 64 * GiB, 4 * GiB, 1 * GiB},
		{"not the group's limit if more", 8 * GiB, 16 * GiB, 2 * GiB},
		{"only the limit known", 0, 8 * GiB, 2 * GiB},
		{"nothing known", 0, 0, MinMemory},
		{"rounded to MiB", 10*GiB + 12345, 0, 2560 * MiB},
	}
	for _, tc := range cases {
		if got := defaultMemory(tc.ram, tc.limit); got != tc.out {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.out)
		}
	}
}

func TestCgroupLimit(t *testing.T) {
	cases := []struct {
		name  string
		files map[string]string
		want  Bytes
	}{
		{"no control groups", nil, 0},
		{"version 2, in its own group", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1073741824\n",
		}, 1 * GiB},
		{"version 2, a parent is tighter", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "536870912\n",
		}, 512 * MiB},
		{"version 2, in a container that sees only its root", map[string]string{
			"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/memory.max": "2147483648\n",
		}, 2 * GiB},
		{"version 1", map[string]string{
			"proc/self/cgroup": "5:cpu:/x\n4:hugetlb,memory:/x\n1:name=systemd:/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes":       "1073741824\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":         "9223372036854771712\n",
			"sys/fs/cgroup/memory/unrelated/memory.limit_in_byt": "1\n",
		}, 1 * GiB},
		{"version 1 without a limit", map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
		{"damaged", map[string]string{
			"proc/self/cgroup": "nonsense\n0::/\n", "sys/fs/cgroup/memory.max": "lots\n",
		}, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tc.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := cgroupLimit(root); got != tc.want {
				t.Errorf("limit %s, want %s", got, tc.want)
			}
		})
	}
}
