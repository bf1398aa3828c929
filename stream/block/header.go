package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cellardb/cellar/store"
)

const (
	// MaxSources is the most blocks that a merge makes into one.
	MaxSources = 4096
	// MaxSourceBytes is the longest row key of a source.
	MaxSourceBytes = 1 << 10
)

// ErrBadHeader is AppendHeader's refusal of a header that contradicts itself.
var ErrBadHeader = errors.New("block header contradicts itself")

// Span is a row of event ids: Count of them, from First on, in one run and
// shard.
type Span struct {
	Run          uint32
	Shard        uint16
	First, Count uint64
}

// AppendSpan appends a span, joined with the last one where it goes on with it.
func AppendSpan(spans []Span, s Span) []Span {
	if s.Count == 0 {
		return spans
	}
	if n := len(spans); n > 0 {
		last := &spans[n-1]
		if last.Run == s.Run && last.Shard == s.Shard && last.First+last.Count == s.First {
			last.Count += s.Count
			return spans
		}
	}
	return append(spans, s)
}

// Header says what a block holds. It is read to choose blocks, without their
// chunks.
type Header struct {
	// Rows is the number of events, MaxRows at most.
	Rows int
	// Packed: the block is one packed cell, not a chunk a column.
	Packed bool
	// SchemaVersion is that of the stream's schema whose fields Columns are.
	SchemaVersion uint32
	// Spans are the ids of the events in the order of the rows; their counts
	// sum up to Rows.
	Spans []Span
	// Least and greatest event time and arrival time, inclusive, ms. All 0 in
	// a block without rows.
	MinTime, MaxTime       int64
	MinArrival, MaxArrival int64
	// Columns has the statistics of each field.
	Columns []ColumnStats
	// Sources are the row keys of the blocks that this one replaces.
	Sources [][]byte
}

// Kinds of bounds in the bytes.
const (
	boundNone  = 0
	boundFalse = 1
	boundTrue  = 2
	boundInt   = 3 // varint
	boundHuge  = 4 // high u64, low u64
	boundFloat = 5 // bits u64
	boundText  = 6 // length, bytes
	boundBlob  = 7 // length, bytes
)

const headerPacked = 1 // bit of the flags

// AppendHeader appends h to dst. It refuses what ParseHeader would not accept
// (ErrBadHeader), and bounds of another type than ColumnStats lists.
func AppendHeader(dst []byte, h *Header) ([]byte, error) {
	if err := h.check(); err != nil {
		return dst, err
	}
	begin := len(dst)
	flags := byte(0)
	if h.Packed {
		flags |= headerPacked
	}
	out := append(dst, version, flags)
	out = binary.AppendUvarint(out, uint64(h.Rows))
	out = binary.AppendUvarint(out, uint64(h.SchemaVersion))
	out = appendVarint(out, h.MinArrival)
	for _, t := range []int64{h.MaxArrival, h.MinTime, h.MaxTime} {
		out = appendVarint(out, t-h.MinArrival) // may wrap; so does the sum
	}
	out = appendSpans(out, h.Spans)
	out = binary.AppendUvarint(out, uint64(len(h.Columns)))
	for i := range h.Columns {
		var err error
		if out, err = appendStats(out, &h.Columns[i]); err != nil {
			return dst, fmt.Errorf("column %d: %w", i, err)
		}
	}
	out = binary.AppendUvarint(out, uint64(len(h.Sources)))
	for _, key := range h.Sources {
		out = append(binary.AppendUvarint(out, uint64(len(key))), key...)
	}
	return seal(out, begin), nil
}

func appendSpans(dst []byte, spans []Span) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(spans)))
	var last Span
	for _, s := range spans {
		dst = appendVarint(dst, int64(s.Run)-int64(last.Run))
		dst = appendVarint(dst, int64(s.Shard)-int64(last.Shard))
		dst = appendVarint(dst, int64(s.First-(last.First+last.Count)))
		dst = binary.AppendUvarint(dst, s.Count)
		last = s
	}
	return dst
}

func appendStats(dst []byte, s *ColumnStats) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(s.Nulls))
	dst = binary.AppendUvarint(dst, uint64(s.Bytes))
	dst, err := appendBound(dst, s.Min)
	if err != nil {
		return dst, err
	}
	return appendBound(dst, s.Max)
}

func appendBound(dst []byte, b any) ([]byte, error) {
	switch b := b.(type) {
	case nil:
		return append(dst, boundNone), nil
	case bool:
		if b {
			return append(dst, boundTrue), nil
		}
		return append(dst, boundFalse), nil
	case int64:
		return appendVarint(append(dst, boundInt), b), nil
	case store.HugeInt:
		dst = binary.LittleEndian.AppendUint64(append(dst, boundHuge), uint64(b.High))
		return binary.LittleEndian.AppendUint64(dst, b.Low), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(dst, boundFloat), math.Float64bits(b)), nil
	case string:
		return append(binary.AppendUvarint(append(dst, boundText), uint64(len(b))), b...), nil
	case []byte:
		return append(binary.AppendUvarint(append(dst, boundBlob), uint64(len(b))), b...), nil
	}
	return dst, fmt.Errorf("%w: a bound is a %T", ErrBadHeader, b)
}

// check finds what the two directions agree is wrong.
func (h *Header) check() error {
	switch {
	case h.Rows < 0 || h.Rows > MaxRows:
		return fmt.Errorf("%w: %d rows", ErrBadHeader, h.Rows)
	case len(h.Columns) > MaxColumns:
		return fmt.Errorf("%w: %d columns, more than %d", ErrBadHeader, len(h.Columns), MaxColumns)
	case len(h.Sources) > MaxSources:
		return fmt.Errorf("%w: %d sources, more than %d", ErrBadHeader, len(h.Sources), MaxSources)
	case h.MinTime > h.MaxTime || h.MinArrival > h.MaxArrival:
		return fmt.Errorf("%w: times end before they begin", ErrBadHeader)
	}
	for i := range h.Columns {
		if s := &h.Columns[i]; s.Nulls < 0 || s.Nulls > h.Rows || s.Bytes < 0 {
			return fmt.Errorf("%w: column %d has %d nulls and %d bytes", ErrBadHeader, i, s.Nulls, s.Bytes)
		}
		for _, b := range []any{h.Columns[i].Min, h.Columns[i].Max} {
			if n := boundSize(b); n > boundBytes {
				return fmt.Errorf("%w: a bound of column %d has %d bytes, more than %d", ErrBadHeader, i, n, boundBytes)
			}
		}
	}
	for _, key := range h.Sources {
		if len(key) > MaxSourceBytes {
			return fmt.Errorf("%w: the key of a source has %d bytes, more than %d", ErrBadHeader, len(key), MaxSourceBytes)
		}
	}
	return checkSpans(h.Spans, h.Rows)
}

// boundSize is the length of a bound that has one.
func boundSize(b any) int {
	switch b := b.(type) {
	case string:
		return len(b)
	case []byte:
		return len(b)
	}
	return 0
}

func checkSpans(spans []Span, rows int) error {
	sum := uint64(0)
	for i, s := range spans {
		if s.Count < 1 || s.Count > MaxRows || s.First > math.MaxUint64-s.Count {
			return fmt.Errorf("%w: span %d is %d ids from %d on", ErrBadHeader, i, s.Count, s.First)
		}
		if sum += s.Count; sum > uint64(rows) {
			break
		}
	}
	if sum != uint64(rows) {
		return fmt.Errorf("%w: ids of %d events or more, and %d rows", ErrBadHeader, sum, rows)
	}
	return nil
}

// ParseHeader reads a header. It shares no memory with b. Errors match
// store.ErrCorrupt or store.ErrNewerFormat.
func ParseHeader(b []byte) (*Header, error) {
	c, err := open(b, "block header")
	if err != nil {
		return nil, err
	}
	h := &Header{}
	flags := c.byte()
	if flags&^headerPacked != 0 {
		c.fail("unknown flags")
	}
	h.Packed = flags&headerPacked != 0
	h.Rows = c.count(MaxRows, "more rows than a block may have")
	h.SchemaVersion = uint32(c.count(math.MaxUint32, "a schema version has more than 32 bits"))
	h.MinArrival = c.varint()
	for _, t := range []*int64{&h.MaxArrival, &h.MinTime, &h.MaxTime} {
		*t = h.MinArrival + c.varint()
	}
	h.Spans = readSpans(&c, h.Rows)
	h.Columns = make([]ColumnStats, c.count(min(MaxColumns, c.left()/4), "more columns than there are bytes for"))
	for i := range h.Columns {
		readStats(&c, &h.Columns[i])
	}
	h.Sources = readSources(&c)
	if err := c.end(); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, &CorruptError{What: err.Error(), Offset: c.off}
	}
	return h, nil
}

func readSpans(c *cursor, rows int) []Span {
	spans := make([]Span, c.count(min(rows, c.left()/4), "more spans than rows, or than there are bytes for"))
	var last Span
	for i := range spans {
		run, shard := int64(last.Run)+c.varint(), int64(last.Shard)+c.varint()
		if run < 0 || run > math.MaxUint32 || shard < 0 || shard > math.MaxUint16 {
			c.fail("a run or a shard is out of range")
		}
		last = Span{Run: uint32(run), Shard: uint16(shard), First: last.First + last.Count + uint64(c.varint()), Count: c.uvarint()}
		spans[i] = last
	}
	return spans
}

func readStats(c *cursor, s *ColumnStats) {
	s.Nulls = c.count(MaxRows, "more nulls than rows")
	s.Bytes = c.count(math.MaxInt32, "a chunk is impossibly large")
	s.Min = readBound(c)
	s.Max = readBound(c)
}

func readBound(c *cursor) any {
	switch kind := c.byte(); kind {
	case boundNone:
		return nil
	case boundFalse, boundTrue:
		return kind == boundTrue
	case boundInt:
		return c.varint()
	case boundHuge:
		return store.HugeInt{High: int64(c.uint64()), Low: c.uint64()}
	case boundFloat:
		return math.Float64frombits(c.uint64())
	case boundText:
		return string(c.take(c.count(boundBytes, "a bound is too long")))
	case boundBlob:
		return append([]byte{}, c.take(c.count(boundBytes, "a bound is too long"))...)
	}
	c.fail("a bound is of an unknown kind")
	return nil
}

func readSources(c *cursor) [][]byte {
	n := c.count(min(MaxSources, c.left()), "more sources than there are bytes for")
	if n == 0 {
		return nil
	}
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = append([]byte{}, c.take(c.count(MaxSourceBytes, "the key of a source is too long"))...)
	}
	return keys
}
