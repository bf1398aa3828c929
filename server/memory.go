package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MinMemory is the least budget that a server works with.
const MinMemory = 512 * MiB

// maxDefaultMemory caps what a server takes without being told to.
const maxDefaultMemory = 4 * GiB

// Split is how the memory budget is shared out, in bytes.
type Split struct {
	Total      Bytes
	BlockCache Bytes // blocks of files that were read
	Memtables  Bytes // writes that are not in files yet
	Doors      Bytes // requests and replies in flight
	Tiers      Bytes // caches of streams, time series, search
	Slack      Bytes // everything else in the process
	// Go is the soft limit that the garbage collector is given. Memory that
	// is allocated in C is not seen by it and not part of this figure.
	Go Bytes
}

// SplitMemory shares a budget out: 35 % block cache, 10 % memtables, 10 %
// doors, 10 % tiers; the rest is slack. Of that slack 20 % of the budget are
// meant for DuckDB, once there is SQL.
//
// With cgo Pebble allocates block cache and memtables in C, so they are not
// part of the collector's limit; without it they are.
func SplitMemory(total Bytes) Split { return splitMemory(total, cgoEnabled) }

func splitMemory(total Bytes, cgo bool) Split {
	s := Split{
		Total:      total,
		BlockCache: total * 35 / 100,
		Memtables:  total * 10 / 100,
		Doors:      total * 10 / 100,
		Tiers:      total * 10 / 100,
	}
	s.Slack = total - s.BlockCache - s.Memtables - s.Doors - s.Tiers
	s.Go = s.Doors + s.Tiers + s.Slack
	if !cgo {
		s.Go += s.BlockCache + s.Memtables
	}
	return s
}

// DefaultMemory is the budget of a server that was not given one: the smaller
// of 4 GiB and a quarter of the machine's memory, or of the control group's
// limit where that is less; at least MinMemory.
func DefaultMemory() Bytes {
	return defaultMemory(physicalMemory(), cgroupLimit("/"))
}

// defaultMemory decides by two sizes of which zero is "not known".
func defaultMemory(ram, limit Bytes) Bytes {
	have := ram
	if limit > 0 && (have == 0 || limit < have) {
		have = limit
	}
	if have == 0 {
		return MinMemory
	}
	// Rounded to MiB, so that it prints short.
	quarter := have / 4 / MiB * MiB
	return max(min(quarter, maxDefaultMemory), MinMemory)
}

// cgroupLimit finds the lowest memory limit of the control groups that the
// process is in, below the file system root given; zero: none.
func cgroupLimit(root string) Bytes {
	membership, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	var lowest Bytes
	for line := range strings.Lines(string(membership)) {
		// hierarchy-id : controllers : path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var mount, file string
		switch {
		case parts[1] == "":
			mount, file = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		if b := lowestLimit(filepath.Join(root, mount), parts[2], file); b > 0 && (lowest == 0 || b < lowest) {
			lowest = b
		}
	}
	return lowest
}

// lowestLimit walks from a group up to the mount point. In a container the
// group's path is often the host's and not there: its parents still count.
func lowestLimit(mount, group, file string) Bytes {
	var lowest Bytes
	for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
		if b := readLimit(filepath.Join(mount, dir, file)); b > 0 && (lowest == 0 || b < lowest) {
			lowest = b
		}
		if dir == "/" {
			return lowest
		}
	}
}

// noLimit is above every real limit; the kernel writes such a number for none.
const noLimit = 1 << 60

func readLimit(name string) Bytes {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n >= noLimit {
		return 0
	}
	return Bytes(n)
}

// parts gives the shares by the names that metrics have for them.
func (s *Split) parts() map[string]Bytes {
	return map[string]Bytes{
		"block_cache": s.BlockCache, "memtables": s.Memtables, "doors": s.Doors, "tiers": s.Tiers, "slack": s.Slack,
	}
}

// GoNote says what Go's limit covers.
func (s *Split) GoNote() string {
	if s.Go == s.Total {
		return "this build has no cgo, so all parts are in it"
	}
	return "block cache and memtables are C memory and not in it"
}
