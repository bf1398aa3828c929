package cell

import "fmt"

// Op is what one edit of a mutation does to its column or family.
type Op uint8

// Operations. Those that store a cell as it is carry the number of its Type.
const (
	// OpPut writes a value.
	OpPut = Op(TypePut)
	// OpDelete removes one version: the one at Timestamp; with Latest the
	// newest visible one (none there: a marker at the server's now is kept, as
	// HBase does).
	OpDelete = Op(TypeDelete)
	// OpDeleteFamilyVersion removes all cells of a family at Timestamp.
	OpDeleteFamilyVersion = Op(TypeDeleteFamilyVersion)
	// OpDeleteColumn removes all versions of a column up to Timestamp.
	OpDeleteColumn = Op(TypeDeleteColumn)
	// OpDeleteFamily removes all cells of a family up to Timestamp. With a nil
	// Family it does so in each family of the table: a row delete.
	OpDeleteFamily = Op(TypeDeleteFamily)
	// OpIncrement adds Amount to the column, an 8-byte big-endian number; a
	// missing cell counts as 0, and the sum wraps.
	OpIncrement Op = 100
	// OpAppend adds Value at the end of the column's newest value; a missing
	// cell counts as empty.
	OpAppend Op = 101
)

// Stores says which type of cell the operation stores.
func (o Op) Stores() Type {
	if o == OpIncrement || o == OpAppend {
		return TypePut
	}
	return Type(o)
}

// IsDelete says whether the operation stores a marker.
func (o Op) IsDelete() bool { return o.Stores().IsMarker() }

// ReadsFirst says whether the operation needs the old value.
func (o Op) ReadsFirst() bool { return o == OpIncrement || o == OpAppend }

// String names the operation as an HBase user would.
func (o Op) String() string {
	switch o {
	case OpIncrement:
		return "Increment"
	case OpAppend:
		return "Append"
	}
	return Type(o).String()
}

// Edit is one change to one column or family of the mutation's row.
type Edit struct {
	Op        Op
	Family    []byte
	Qualifier []byte // ignored by the family deletes
	// Timestamp in ms; Latest: the server's clock. Note that 0 is a timestamp
	// like any other. Increments and appends ignore it: their new cell is at
	// max(now, old timestamp + 1).
	Timestamp int64
	Value     []byte // OpPut, OpAppend
	Amount    int64  // OpIncrement
	Tags      []byte // as in Cell; nil: none
}

// Nonce identifies a request for the server, so that a retry of an increment or
// append that was applied is answered with the first result. The zero Nonce is
// none.
type Nonce struct{ Group, Value uint64 }

// Mutation is a change of one row; all its edits become visible together, in
// all families. Edits with Latest all get one timestamp. At one timestamp a
// delete masks a put, wherever in Edits either stands (as HBase's
// RowMutations).
type Mutation struct {
	Row        []byte
	Edits      []Edit
	Durability Durability
	// TTL is the time to live in ms of the cells that it writes; 0 is none.
	TTL   int64
	Nonce Nonce
	// ReturnResults asks for the new cells of increments and appends.
	ReturnResults bool
	// Within bounds where increments and appends look for the old value; the
	// zero value is no bound.
	Within TimeRange
}

// NewMutation begins a mutation of one row.
func NewMutation(row []byte) *Mutation { return &Mutation{Row: row} }

// Put adds a value at a timestamp in ms (or Latest).
func (m *Mutation) Put(family, qualifier []byte, timestamp int64, value []byte) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpPut, Family: family, Qualifier: qualifier, Timestamp: timestamp, Value: value})
	return m
}

// Delete adds the removal of one version of a column: the one at the timestamp,
// or with Latest the newest.
func (m *Mutation) Delete(family, qualifier []byte, timestamp int64) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpDelete, Family: family, Qualifier: qualifier, Timestamp: timestamp})
	return m
}

// DeleteColumn adds the removal of all versions of a column up to a timestamp.
func (m *Mutation) DeleteColumn(family, qualifier []byte, timestamp int64) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpDeleteColumn, Family: family, Qualifier: qualifier, Timestamp: timestamp})
	return m
}

// DeleteFamily adds the removal of all cells of a family up to a timestamp.
func (m *Mutation) DeleteFamily(family []byte, timestamp int64) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpDeleteFamily, Family: family, Timestamp: timestamp})
	return m
}

// DeleteFamilyVersion adds the removal of all cells of a family at a timestamp.
func (m *Mutation) DeleteFamilyVersion(family []byte, timestamp int64) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpDeleteFamilyVersion, Family: family, Timestamp: timestamp})
	return m
}

// DeleteRow adds the removal of all cells of the row up to a timestamp.
func (m *Mutation) DeleteRow(timestamp int64) *Mutation { return m.DeleteFamily(nil, timestamp) }

// Increment adds an increment of a column.
func (m *Mutation) Increment(family, qualifier []byte, amount int64) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpIncrement, Family: family, Qualifier: qualifier, Timestamp: Latest, Amount: amount})
	return m
}

// Append adds an append to a column.
func (m *Mutation) Append(family, qualifier, value []byte) *Mutation {
	m.Edits = append(m.Edits, Edit{Op: OpAppend, Family: family, Qualifier: qualifier, Timestamp: Latest, Value: value})
	return m
}

// Limits of HBase's data model, in bytes.
const (
	MaxRow    = 32767
	MaxFamily = 127
	// MaxCell is the default limit of hbase.server.keyvalue.maxsize, compared
	// with Cell.Size.
	MaxCell = 10 << 20
)

// Validate says what an engine must refuse whatever the table's schema is: an
// empty or too long row, no edits, an unknown operation, a negative timestamp.
// The error matches ErrIllegalArgument and names the row.
func (m *Mutation) Validate() error {
	if err := ValidateRow(m.Row); err != nil {
		return err
	}
	if len(m.Edits) == 0 {
		return illegal("No columns to insert: the mutation of row %q has no edits", Printable(m.Row))
	}
	if m.TTL < 0 {
		return illegal("row %q: negative time to live %d", Printable(m.Row), m.TTL)
	}
	for i := range m.Edits {
		if err := m.Edits[i].validate(); err != nil {
			return fmt.Errorf("row %q, edit %d: %w", Printable(m.Row), i, err)
		}
	}
	return nil
}

func (e *Edit) validate() error {
	if !e.Op.ReadsFirst() && !Type(e.Op).Valid() {
		return illegal("unknown operation %d", e.Op)
	}
	if e.Timestamp < 0 {
		return illegal("Timestamp cannot be negative. ts=%d", e.Timestamp)
	}
	if e.Family == nil && e.Op != OpDeleteFamily {
		return illegal("%s needs a family", e.Op)
	}
	return nil
}

// ValidateRow checks a row key against HBase's limits; the texts are HBase's.
func ValidateRow(row []byte) error {
	switch {
	case len(row) == 0:
		return illegal("Row length is 0")
	case len(row) > MaxRow:
		return illegal("Row length %d is > %d", len(row), MaxRow)
	}
	return nil
}
