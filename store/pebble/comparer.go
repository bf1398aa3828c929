package pebble

import (
	"bytes"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
)

// comparerName is part of the format: Pebble refuses a store of another name.
const comparerName = "cellar.v1"

// comparer orders keys by their bytes and splits cell keys after the row, so
// that Bloom filters are of rows.
//
// Keys that begin with 00 and keys that end before the row does (bounds) split
// at their end.
var comparer = func() *pebbledb.Comparer {
	c := *pebbledb.DefaultComparer
	c.Name = comparerName
	c.Split = splitKey
	c.ImmediateSuccessor = immediateSuccessor
	return &c
}()

// splitKey gives the length of a key's prefix: up to the end of the row.
func splitKey(key []byte) int {
	if len(key) <= familyPrefixLen || key[0] == 0 {
		return len(key)
	}
	n := endOfString(key[familyPrefixLen:])
	if n < 0 {
		return len(key)
	}
	return familyPrefixLen + n + 2
}

// immediateSuccessor gives the smallest prefix above a prefix. Whatever is
// appended to a whole row prefix is a suffix, so there the terminator is
// raised; everything else is followed by itself and 00.
func immediateSuccessor(dst, prefix []byte) []byte {
	dst = append(dst, prefix...)
	n := len(prefix)
	if n > familyPrefixLen+1 && prefix[0] != 0 && splitKey(append(bytes.Clone(prefix), 0)) == n {
		dst[len(dst)-1] = escBeyond
		return dst
	}
	return append(dst, 0x00)
}

// keySchema is how Pebble lays keys out in its blocks: prefixes apart from
// suffixes. Its name is part of the format.
var keySchema = colblk.DefaultKeySchema(comparer, 16)

func keySchemas() sstable.KeySchemas { return sstable.MakeKeySchemas(&keySchema) }
