package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// A cell's key, whose byte order is HBase's cell order:
//
//	+----------+-----------+----------------+----------------------+-------------+-------+
//	| table u32| family u16| esc(row) 00 01 | esc(qualifier) 00 01 | ^timestamp  | ^type |
//	+----------+-----------+----------------+----------------------+-------------+-------+
//	|<----------- prefix (Split) ---------->|<----------------- suffix ----------------->|
//
// Integers are big-endian. In esc(x) each byte 00 is written 00 FF, so that the
// terminator 00 01 sorts before every byte that may follow a shorter string.
// Table ids begin at 0x01000000, so a key that begins with 00 is never a cell's.
//
// docs/internals/format/store.md has the same, byte by byte, and the meta keys.
const (
	familyPrefixLen = 4 + 2
	cellTailLen     = 8 + 1
	firstTableID    = 0x01000000

	escByte        = 0x00
	escZero        = 0xff // 00 FF: a byte 00
	escEnd         = 0x01 // 00 01: the end
	escBeyond byte = 0x02 // 00 02: after all keys that go on with this string and its end
)

// appendFamilyPrefix begins the keys of one family of one table.
func appendFamilyPrefix(dst []byte, table uint32, family uint16) []byte {
	dst = binary.BigEndian.AppendUint32(dst, table)
	return binary.BigEndian.AppendUint16(dst, family)
}

// appendEscaped writes esc(s), without the terminator.
func appendEscaped(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, escByte)
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		dst = append(dst, escByte, escZero)
		s = s[i+1:]
	}
}

// appendString writes esc(s) and its terminator.
func appendString(dst, s []byte) []byte {
	return append(appendEscaped(dst, s), escByte, escEnd)
}

// appendRowPrefix writes the prefix that all cells of one row and family share.
func appendRowPrefix(dst []byte, table uint32, family uint16, row []byte) []byte {
	return appendString(appendFamilyPrefix(dst, table, family), row)
}

// appendTail ends a cell's key.
func appendTail(dst []byte, timestamp int64, typ cell.Type) []byte {
	dst = binary.BigEndian.AppendUint64(dst, ^uint64(timestamp))
	return append(dst, ^byte(typ))
}

// endOfString finds the terminator in b, which begins inside an escaped string.
// It returns the length of the escaped string without the terminator, or -1.
func endOfString(b []byte) int {
	at := 0
	for {
		i := bytes.IndexByte(b[at:], escByte)
		if i < 0 || at+i+1 >= len(b) {
			return -1
		}
		at += i
		if b[at+1] == escEnd {
			return at
		}
		at += 2
	}
}

// unescape copies esc(s) to dst as s.
func unescape(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, escByte)
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i+1]...)
		s = s[i+2:]
	}
}

// cellKey is a cell's key, taken apart without copying.
type cellKey struct {
	prefix    []byte // table, family, row and its terminator
	qualifier []byte // escaped
	timestamp int64
	typ       cell.Type
}

// parseCellKey takes a key apart whose row prefix is known to have prefixLen
// bytes; 0: it is looked for. A key that is no cell's is damage.
func parseCellKey(key []byte, prefixLen int) (cellKey, error) {
	if prefixLen == 0 {
		prefixLen = splitKey(key)
	}
	rest := key[prefixLen:]
	n := len(rest) - cellTailLen - 2
	if n < 0 || rest[n] != escByte || rest[n+1] != escEnd {
		return cellKey{}, fmt.Errorf("%w: key %x is not a cell's", store.ErrCorrupt, key)
	}
	tail := rest[n+2:]
	k := cellKey{
		prefix:    key[:prefixLen:prefixLen],
		qualifier: rest[:n:n],
		timestamp: int64(^binary.BigEndian.Uint64(tail)),
		typ:       cell.Type(^tail[8]),
	}
	if k.timestamp < 0 || !k.typ.Valid() {
		return cellKey{}, fmt.Errorf("%w: key %x has timestamp %d and type %d", store.ErrCorrupt, key, k.timestamp, k.typ)
	}
	return k, nil
}

// rowOf gives the escaped row of a row prefix.
func rowOf(prefix []byte) []byte { return prefix[familyPrefixLen : len(prefix)-2] }

// familyBounds gives the range of all keys of a family.
func familyBounds(table uint32, family uint16) (lower, upper []byte) {
	lower = appendFamilyPrefix(nil, table, family)
	if family == 0xffff {
		return lower, binary.BigEndian.AppendUint32(nil, table+1)
	}
	return lower, appendFamilyPrefix(nil, table, family+1)
}

// tableBounds gives the range of all keys of a table.
func tableBounds(table uint32) (lower, upper []byte) {
	return binary.BigEndian.AppendUint32(nil, table), binary.BigEndian.AppendUint32(nil, table+1)
}

// rowBounds gives the range of the keys of a family whose rows lie in r.
func rowBounds(table uint32, family uint16, r cell.Range) (lower, upper []byte) {
	lower, upper = familyBounds(table, family)
	if len(r.Start) > 0 {
		lower = appendRowBound(lower, r.Start, r.StartExclusive)
	}
	if len(r.Stop) > 0 {
		upper = appendRowBound(appendFamilyPrefix(nil, table, family), r.Stop, r.StopInclusive)
	}
	return lower, upper
}

// afterRow gives the bound behind all cells of the row with a prefix.
func afterRow(prefix []byte) []byte {
	return append(bytes.Clone(prefix[:len(prefix)-1]), escBeyond)
}

// appendRowBound writes a bound before (or after) all cells of a row. It is a
// key without a suffix, as range deletions and excises want it.
func appendRowBound(dst, row []byte, after bool) []byte {
	if after {
		return append(appendEscaped(dst, row), escByte, escBeyond)
	}
	return append(appendEscaped(dst, row), escByte)
}
