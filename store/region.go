package store

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"strconv"

	"github.com/cellardb/cellar/cell"
)

// Region is a range of a table's rows, as clients see it.
type Region struct {
	Table string
	// Start is inclusive, Stop exclusive; empty is open.
	Start, Stop []byte
	// ID tells regions with one start key apart; it grows. It is the time of
	// the region's creation in ms, or more where that is taken.
	ID int64
}

// Name is the region's name in hbase:meta:
//
//	table , start key , id . md5-hex-of-what-is-before-the-point .
func (r *Region) Name() []byte {
	head := r.head()
	sum := md5.Sum(head)
	name := append(head, '.')
	name = hex.AppendEncode(name, sum[:])
	return append(name, '.')
}

// EncodedName is the MD5 part of the name.
func (r *Region) EncodedName() string {
	sum := md5.Sum(r.head())
	return hex.EncodeToString(sum[:])
}

func (r *Region) head() []byte {
	head := append([]byte(r.Table), ',')
	head = append(append(head, r.Start...), ',')
	return strconv.AppendInt(head, r.ID, 10)
}

// Contains says whether a row is the region's.
func (r *Region) Contains(row []byte) bool {
	return bytes.Compare(row, r.Start) >= 0 && (len(r.Stop) == 0 || bytes.Compare(row, r.Stop) < 0)
}

// Range gives the region's rows as a range.
func (r *Region) Range() cell.Range { return cell.Range{Start: r.Start, Stop: r.Stop} }

// CutRegions gives the regions of a new table: one more than there are split
// points, which are sorted.
func CutRegions(table string, splits [][]byte, id int64) []Region {
	regions := make([]Region, 0, len(splits)+1)
	var start []byte
	for _, s := range splits {
		regions = append(regions, Region{Table: table, Start: start, Stop: bytes.Clone(s), ID: id})
		start = bytes.Clone(s)
	}
	return append(regions, Region{Table: table, Start: start, ID: id})
}
