package filter

// Code says what becomes of a cell and where a scan goes on within the family
// of the cell.
type Code uint8

// Answers of FilterCell; the order is that of HBase's ReturnCode.
const (
	Include               Code = iota // keep the cell, go on with the next one
	IncludeAndNextCol                 // keep it, leave the other versions of its column out
	Skip                              // drop the cell, go on with the next one
	NextCol                           // drop it and the other versions of its column
	NextRow                           // drop it and the rest of the row in this family
	SeekNextUsingHint                 // drop it, go on where NextHint says
	IncludeAndSeekNextRow             // keep it, leave out the rest of the row in this family
)

// Includes says whether the cell is kept.
func (c Code) Includes() bool {
	return c == Include || c == IncludeAndNextCol || c == IncludeAndSeekNextRow
}

// String gives HBase's name of the code.
func (c Code) String() string {
	switch c {
	case Include:
		return "INCLUDE"
	case IncludeAndNextCol:
		return "INCLUDE_AND_NEXT_COL"
	case Skip:
		return "SKIP"
	case NextCol:
		return "NEXT_COL"
	case NextRow:
		return "NEXT_ROW"
	case SeekNextUsingHint:
		return "SEEK_NEXT_USING_HINT"
	case IncludeAndSeekNextRow:
		return "INCLUDE_AND_SEEK_NEXT_ROW"
	}
	return "UNKNOWN"
}
