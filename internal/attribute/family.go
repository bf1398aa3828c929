package attribute

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// maxText is the longest value in bytes of an attribute that is kept as text.
const maxText = 1024

// setter puts a value into a family. The name is for its errors.
type setter func(f *cell.FamilySchema, name, value string) error

// familySetters has every attribute of a family.
func familySetters() map[string]setter {
	return map[string]setter{
		"VERSIONS":           number(1, math.MaxInt32, func(f *cell.FamilySchema) *int { return &f.MaxVersions }),
		"MIN_VERSIONS":       number(0, math.MaxInt32, func(f *cell.FamilySchema) *int { return &f.MinVersions }),
		"BLOCKSIZE":          number(1, math.MaxInt32, func(f *cell.FamilySchema) *int { return &f.BlockSize }),
		"TTL":                setTTL,
		"KEEP_DELETED_CELLS": setKeepDeleted,
		"COMPRESSION":        oneOf(func(f *cell.FamilySchema) *string { return &f.Compression }, "NONE", "GZ", "LZO", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA"),
		"BLOOMFILTER":        oneOf(func(f *cell.FamilySchema) *string { return &f.BloomFilter }, "NONE", "ROW", "ROWCOL"),
		"IN_MEMORY":          boolean(func(f *cell.FamilySchema) *bool { return &f.InMemory }),
		"BLOCKCACHE":         boolean(func(f *cell.FamilySchema) *bool { return &f.BlockCache }),

		"DATA_BLOCK_ENCODING":          kept("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"),
		"INDEX_BLOCK_ENCODING":         kept("NONE", "PREFIX_TREE"),
		"REPLICATION_SCOPE":            kept("0", "1"),
		"COMPRESSION_COMPACT":          kept("NONE", "GZ", "LZO", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA"),
		"IN_MEMORY_COMPACTION":         kept("NONE", "BASIC", "EAGER", "ADAPTIVE"),
		"STORAGE_POLICY":               kept("HOT", "WARM", "COLD", "ONE_SSD", "ALL_SSD", "LAZY_PERSIST"),
		"CACHE_DATA_ON_WRITE":          kept("TRUE", "FALSE"),
		"CACHE_INDEX_ON_WRITE":         kept("TRUE", "FALSE"),
		"CACHE_BLOOMS_ON_WRITE":        kept("TRUE", "FALSE"),
		"EVICT_BLOCKS_ON_CLOSE":        kept("TRUE", "FALSE"),
		"PREFETCH_BLOCKS_ON_OPEN":      kept("TRUE", "FALSE"),
		"NEW_VERSION_BEHAVIOR":         onlyFalse("Cellar orders versions by timestamp alone"),
		"IS_MOB":                       onlyFalse("Cellar keeps large cells like any other"),
		"ENCRYPTION":                   refused("Cellar does not encrypt families: encrypt the disk beneath its data folder"),
		"ENCRYPTION_KEY":               refused("Cellar does not encrypt families: encrypt the disk beneath its data folder"),
		"MOB_THRESHOLD":                refused("Cellar keeps large cells like any other"),
		"MOB_COMPACT_PARTITION_POLICY": refused("Cellar keeps large cells like any other"),
		"DFS_REPLICATION":              refused("Cellar keeps its files on the disk of its machine"),
		"CONFIGURATION":                refused("Cellar has no settings of HBase's for a single family"),
		"METADATA":                     refused("Cellar keeps none for a family"),
	}
}

// FamilyNames lists the attributes of families that can be set, sorted.
func FamilyNames() []string {
	var names []string
	for name := range familySetters() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// SetFamily sets an attribute of a family. The name and enumerated values may
// be in either case.
func SetFamily(f *cell.FamilySchema, name, value string) error {
	set, ok := familySetters()[strings.ToUpper(name)]
	if !ok {
		return unknown("family", name, FamilyNames())
	}
	return set(f, strings.ToUpper(name), value)
}

// Family gives the attributes of a family as HBase's shell describes them, the
// name left out.
func Family(f *cell.FamilySchema) []Attribute {
	keep := string(f.KeepDeleted)
	if keep == "" {
		keep = string(cell.KeepDeletedFalse)
	}
	list := []Attribute{
		{"VERSIONS", strconv.Itoa(f.MaxVersions)},
		{"KEEP_DELETED_CELLS", keep},
		{"DATA_BLOCK_ENCODING", extra(f, "DATA_BLOCK_ENCODING", "NONE")},
		{"TTL", ttlText(f.TTL)},
		{"MIN_VERSIONS", strconv.Itoa(f.MinVersions)},
		{"REPLICATION_SCOPE", extra(f, "REPLICATION_SCOPE", "0")},
		{"BLOOMFILTER", f.BloomFilter},
		{"IN_MEMORY", strconv.FormatBool(f.InMemory)},
		{"COMPRESSION", f.Compression},
		{"BLOCKCACHE", strconv.FormatBool(f.BlockCache)},
		{"BLOCKSIZE", strconv.Itoa(f.BlockSize)},
	}
	for _, name := range slices.Sorted(maps.Keys(f.Attributes)) {
		if name != "DATA_BLOCK_ENCODING" && name != "REPLICATION_SCOPE" {
			list = append(list, Attribute{name, f.Attributes[name]})
		}
	}
	return list
}

func extra(f *cell.FamilySchema, name, otherwise string) string {
	if v, ok := f.Attributes[name]; ok {
		return v
	}
	return otherwise
}

func ttlText(seconds int) string {
	if seconds == cell.Forever {
		return "FOREVER"
	}
	return strconv.Itoa(seconds)
}

func number(low, high int, field func(*cell.FamilySchema) *int) setter {
	return func(f *cell.FamilySchema, name, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high {
			return bad(name, "want a number from %d to %d, not %q", low, high, clip(value))
		}
		*field(f) = n
		return nil
	}
}

func setTTL(f *cell.FamilySchema, name, value string) error {
	if strings.EqualFold(value, "FOREVER") {
		f.TTL = cell.Forever
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > cell.Forever {
		return bad(name, "want seconds, at least 1, or FOREVER, not %q", clip(value))
	}
	f.TTL = n
	return nil
}

func setKeepDeleted(f *cell.FamilySchema, name, value string) error {
	v, err := choice(name, value, "FALSE", "TRUE", "TTL")
	if err == nil {
		f.KeepDeleted = cell.KeepDeleted(v)
	}
	return err
}

func boolean(field func(*cell.FamilySchema) *bool) setter {
	return func(f *cell.FamilySchema, name, value string) error {
		v, err := choice(name, value, "TRUE", "FALSE")
		if err == nil {
			*field(f) = v == "TRUE"
		}
		return err
	}
}

func oneOf(field func(*cell.FamilySchema) *string, values ...string) setter {
	return func(f *cell.FamilySchema, name, value string) error {
		v, err := choice(name, value, values...)
		if err == nil {
			*field(f) = v
		}
		return err
	}
}

// kept is an attribute that is stored and shown, and has no effect here.
func kept(values ...string) setter {
	return func(f *cell.FamilySchema, name, value string) error {
		v, err := choice(name, value, values...)
		if err != nil {
			return err
		}
		more := maps.Clone(f.Attributes)
		if more == nil {
			more = map[string]string{}
		}
		more[name] = v
		f.Attributes = more
		return nil
	}
}

// onlyFalse is an attribute whose effect Cellar does not have: saying so
// changes nothing.
func onlyFalse(why string) setter {
	return func(_ *cell.FamilySchema, name, value string) error {
		v, err := choice(name, value, "TRUE", "FALSE")
		if err == nil && v == "TRUE" {
			return bad(name, "%s", why)
		}
		return err
	}
}

func refused(why string) setter {
	return func(_ *cell.FamilySchema, name, _ string) error { return bad(name, "%s", why) }
}

func choice(name, value string, values ...string) (string, error) {
	upper := strings.ToUpper(value)
	if len(value) > maxText || !slices.Contains(values, upper) {
		return "", bad(name, "want %s, not %q", strings.Join(values, ", "), clip(value))
	}
	return upper, nil
}

func clip(value string) string {
	if len(value) > 64 {
		return value[:64] + "..."
	}
	return value
}
