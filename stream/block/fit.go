package block

import "github.com/cellardb/cellar/store"

// Fit says how many rows, of those from from on and before to, make one block:
// at most MaxRows, at most TargetBytes of text or bytes in a column, and about
// MaxBytes in all columns together; but at least one, if there is one. So
// whoever cuts rows into blocks begins at 0 and calls again behind what it was
// told, until nothing is left. A single row whose text is more than MaxBytes
// EncodeChunk refuses.
func Fit(columns []store.Vector, from, to int) int {
	n := min(to-from, MaxRows)
	for i := range columns {
		n = fitText(&columns[i], from, n)
	}
	sum := 0
	for i := range columns {
		sum += plainBytes(&columns[i], from, n)
	}
	if sum > MaxBytes && n > 1 {
		n = max(1, int(int64(n)*MaxBytes/int64(sum)))
	}
	return n
}

// fitText says how many of n rows have TargetBytes of text at most.
func fitText(v *store.Vector, from, n int) int {
	if v.Type != store.ColumnText && v.Type != store.ColumnBytes || plainBytes(v, from, n) <= TargetBytes {
		return n
	}
	sum := 0
	for i := range n {
		if sum += textBytes(v, from+i); sum > TargetBytes {
			return max(i, 1)
		}
	}
	return n
}

// plainBytes is what n rows take in memory. For what EncodeChunk refuses it may
// be anything.
func plainBytes(v *store.Vector, from, n int) int {
	switch v.Type {
	case store.ColumnText, store.ColumnBytes:
	case store.ColumnBool:
		return n
	case store.ColumnInt32, store.ColumnFloat32:
		return 4 * n
	case store.ColumnHugeInt:
		return 16 * n
	default:
		return 8 * n
	}
	if v.Dictionary == nil && len(v.Offsets) > from+n {
		return int(v.Offsets[from+n]) - int(v.Offsets[from])
	}
	sum := 0
	for i := range n {
		sum += textBytes(v, from+i)
	}
	return sum
}

// textBytes is the length of a row's text: 0 for a null of a dictionary vector,
// and where the vector contradicts itself.
func textBytes(v *store.Vector, row int) int {
	if v.Dictionary != nil {
		if row >= len(v.Codes) || v.Nulls != nil && row/64 < len(v.Nulls) && v.Null(row) {
			return 0
		}
		v, row = v.Dictionary, int(v.Codes[row])
	}
	if row+1 >= len(v.Offsets) {
		return 0
	}
	return max(0, int(v.Offsets[row+1])-int(v.Offsets[row]))
}
