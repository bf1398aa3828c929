package pebble

import (
	"encoding/binary"
	"fmt"

	"github.com/cellardb/cellar/store"
)

// A cell's value: one flag byte, then what the flags name, then the bytes.
//
//	| flags u8 | TTL ms u64, if flagTTL | length u32 and tags, if flagTags | value |
const (
	flagTTL  = 1 << 0
	flagTags = 1 << 1
)

// valueLen is the length that appendValue will write.
func valueLen(value []byte, ttl int64, tags []byte) int {
	n := 1 + len(value)
	if ttl > 0 {
		n += 8
	}
	if len(tags) > 0 {
		n += 4 + len(tags)
	}
	return n
}

// putValue writes a cell's value into dst, which has valueLen bytes.
func putValue(dst, value []byte, ttl int64, tags []byte) {
	dst[0] = 0
	at := 1
	if ttl > 0 {
		dst[0] |= flagTTL
		binary.BigEndian.PutUint64(dst[at:], uint64(ttl))
		at += 8
	}
	if len(tags) > 0 {
		dst[0] |= flagTags
		binary.BigEndian.PutUint32(dst[at:], uint32(len(tags)))
		at += 4
		at += copy(dst[at:], tags)
	}
	copy(dst[at:], value)
}

// parseValue takes a stored value apart without copying.
func parseValue(b []byte) (value []byte, ttl int64, tags []byte, err error) {
	if len(b) > 0 && b[0] == 0 {
		return b[1:], 0, nil, nil
	}
	if len(b) == 0 || b[0]&^(flagTTL|flagTags) != 0 {
		return nil, 0, nil, fmt.Errorf("%w: a value begins with flags %x", store.ErrCorrupt, b[:min(1, len(b))])
	}
	flags := b[0]
	b = b[1:]
	if flags&flagTTL != 0 {
		if len(b) < 8 {
			return nil, 0, nil, fmt.Errorf("%w: a value ends inside its time to live", store.ErrCorrupt)
		}
		ttl = int64(binary.BigEndian.Uint64(b))
		b = b[8:]
	}
	if flags&flagTags != 0 {
		if len(b) < 4 || len(b)-4 < int(binary.BigEndian.Uint32(b)) {
			return nil, 0, nil, fmt.Errorf("%w: a value ends inside its tags", store.ErrCorrupt)
		}
		n := int(binary.BigEndian.Uint32(b))
		tags = b[4 : 4+n : 4+n]
		b = b[4+n:]
	}
	return b, ttl, tags, nil
}
