package thrift1

import (
	"unsafe"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// args is a call's arguments, whatever its method: each method knows those that
// it has. All byte strings point into the bytes that came and are valid until the
// call is answered. What a client left out has its zero value, and nil is a byte
// string or list that was left out.
type args struct {
	table      string
	row        []byte
	rows       [][]byte
	column     []byte
	columns    [][]byte
	start      []byte
	stop       []byte
	value      []byte
	timestamp  int64
	timed      bool // there was a timestamp
	versions   int32
	number     int64
	id         int32
	count      int32
	scan       tscan
	mutation   mutation
	families   []descriptor
	increments []increment
	append     tappend
	writes     *writes // of mutateRow and mutateRows
}

// The structs of the interface definition. Names and numbers of their fields are
// HBase's.
type (
	mutation struct {
		isDelete  bool
		column    []byte
		value     []byte
		skipWAL   bool
		hasColumn bool
	}
	tscan struct {
		start, stop []byte
		columns     [][]byte
		filter      []byte
		timestamp   int64
		timed       bool
		batch       int32
		sorted      bool
		reversed    bool
		skipCache   bool
	}
	increment struct {
		table, row, column []byte
		amount             int64
	}
	tappend struct {
		table, row      []byte
		columns, values [][]byte
	}
	descriptor struct {
		name, compression, bloom []byte
		maxVersions, ttl         int32
		inMemory, blockCache     bool
	}
)

// keepName bounds the name of a table that is remembered, keepRow the memory of
// a row.
const (
	keepName = 256
	keepRow  = 64 << 10
)

// forget lets go of a call's arguments, which point into memory that is used
// again, and of what is too large to be held by a client that is idle.
func (s *session) forget() {
	if w := s.args.writes; w != nil {
		w.reset()
		s.h.scratch.Put(w)
	}
	table := s.args.table // most calls are on the table of the call before
	if len(table) > keepName {
		table = ""
	}
	s.args = args{table: table}
	s.get.Row, s.get.Read = nil, cell.Read{}
	s.columns.forget()
	if s.failed || s.rowSize > keepRow {
		s.row = cell.Result{}
	} else {
		clear(s.row.Cells[:cap(s.row.Cells)]) // each may hold other memory
		s.row.Reset()
	}
	s.rowSize = 0
}

// readArgs reads the arguments of the method. An error is one of the bytes, not
// of what they say.
func (s *session) readArgs() error {
	tableRead := false
	r, in := s.reader, &s.method.in
	r.StructBegin()
	for {
		t, id := r.Field()
		if t == thrift.Stop {
			break
		}
		var slot slot
		if id > 0 && int(id) < len(in) {
			slot = in[id]
		}
		if slot == noSlot || wireTypes[slot] != t {
			r.Skip(t)
			continue
		}
		if slot == inTable {
			tableRead = true
		}
		s.readArg(slot)
	}
	if !tableRead {
		s.args.table = ""
	}
	return r.Err()
}

func (s *session) readArg(slot slot) {
	r, a := s.reader, &s.args
	switch slot {
	case inTable:
		a.table = tableName(a.table, r.Binary())
	case inRow:
		a.row = r.Binary()
	case inRows:
		a.rows = s.readStrings()
	case inColumn:
		a.column = r.Binary()
	case inColumns:
		a.columns = s.readStrings()
	case inStart:
		a.start = r.Binary()
	case inStop:
		a.stop = r.Binary()
	case inValue:
		a.value = r.Binary()
	case inTimestamp:
		a.timestamp, a.timed = r.I64(), true
	case inVersions:
		a.versions = r.I32()
	case inNumber:
		a.number = r.I64()
	case inID:
		a.id = r.I32()
	case inCount:
		a.count = r.I32()
	default:
		s.readStruct(slot)
	}
}

func (s *session) readStruct(slot slot) {
	a := &s.args
	switch slot {
	case inMutations:
		s.readMutations()
	case inBatches:
		s.readBatches()
	case inMutation:
		a.mutation = s.readMutation()
	case inScan:
		a.scan = s.readScan()
	case inAppend:
		a.append = s.readAppend()
	case inIncrement:
		a.increments = []increment{s.readIncrement()}
	case inIncrements:
		a.increments = readStructs(s, s.readIncrement)
	case inDescriptors:
		a.families = readStructs(s, s.readDescriptor)
	}
}

// tableName makes a string of a name, or takes the one before if it is the same.
func tableName(before string, name []byte) string {
	if before == string(name) {
		return before
	}
	return cell.CanonicalTableName(string(name))
}

// push appends to a list of what a client sends. The memory that it takes above
// what the bytes themselves take is charged, that of the arrays that it outgrew
// too: slices of them may be in use until the call ends.
func push[T any](r *thrift.Reader, list []T, v T) []T {
	if len(list) == cap(list) {
		size := max(8, 2*cap(list))
		if r.Charge(size*int(unsafe.Sizeof(v))) != nil {
			return list
		}
		list = append(make([]T, 0, size), list...)
	}
	return append(list, v)
}

// readStrings reads list<binary>. It is not nil.
func (s *session) readStrings() [][]byte {
	r := s.reader
	list := [][]byte{}
	elem, n := r.List()
	for i := 0; i < n && r.Err() == nil; i++ {
		if elem != thrift.String {
			r.Skip(elem)
			continue
		}
		list = push(r, list, r.Binary())
	}
	return list
}

// readStructs reads a list of structs.
func readStructs[T any](s *session, read func() T) []T {
	r := s.reader
	list := []T{}
	elem, n := r.List()
	for i := 0; i < n && r.Err() == nil; i++ {
		if elem != thrift.Struct {
			r.Skip(elem)
			continue
		}
		list = push(r, list, read())
	}
	return list
}

func (s *session) readMutation() (m mutation) {
	r := s.reader
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			return m
		case id == 1 && t == thrift.Bool:
			m.isDelete = r.Bool()
		case id == 2 && t == thrift.String:
			m.column, m.hasColumn = r.Binary(), true
		case id == 3 && t == thrift.String:
			m.value = r.Binary()
		case id == 4 && t == thrift.Bool:
			m.skipWAL = !r.Bool()
		default:
			r.Skip(t)
		}
	}
}

func (s *session) readScan() (a tscan) {
	r := s.reader
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			return a
		case id == 1 && t == thrift.String:
			a.start = r.Binary()
		case id == 2 && t == thrift.String:
			a.stop = r.Binary()
		case id == 3 && t == thrift.I64:
			a.timestamp, a.timed = r.I64(), true
		case id == 4 && t == thrift.List:
			a.columns = s.readStrings()
		case id == 6 && t == thrift.String:
			a.filter = r.Binary()
		case id == 7 && t == thrift.I32:
			a.batch = r.I32()
		case id == 8 && t == thrift.Bool:
			a.sorted = r.Bool()
		case id == 9 && t == thrift.Bool:
			a.reversed = r.Bool()
		case id == 10 && t == thrift.Bool:
			a.skipCache = !r.Bool()
		default: // 5, caching, tunes HBase's own client only
			r.Skip(t)
		}
	}
}

func (s *session) readIncrement() (a increment) {
	r := s.reader
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			return a
		case id == 1 && t == thrift.String:
			a.table = r.Binary()
		case id == 2 && t == thrift.String:
			a.row = r.Binary()
		case id == 3 && t == thrift.String:
			a.column = r.Binary()
		case id == 4 && t == thrift.I64:
			a.amount = r.I64()
		default:
			r.Skip(t)
		}
	}
}

func (s *session) readAppend() (a tappend) {
	r := s.reader
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			return a
		case id == 1 && t == thrift.String:
			a.table = r.Binary()
		case id == 2 && t == thrift.String:
			a.row = r.Binary()
		case id == 3 && t == thrift.List:
			a.columns = s.readStrings()
		case id == 4 && t == thrift.List:
			a.values = s.readStrings()
		default:
			r.Skip(t)
		}
	}
}

// readDescriptor begins with the defaults of the interface definition.
func (s *session) readDescriptor() descriptor {
	d := descriptor{maxVersions: 3, compression: []byte("NONE"), bloom: []byte("NONE"), ttl: cell.Forever}
	r := s.reader
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			return d
		case id == 1 && t == thrift.String:
			d.name = r.Binary()
		case id == 2 && t == thrift.I32:
			d.maxVersions = r.I32()
		case id == 3 && t == thrift.String:
			d.compression = r.Binary()
		case id == 4 && t == thrift.Bool:
			d.inMemory = r.Bool()
		case id == 5 && t == thrift.String:
			d.bloom = r.Binary()
		case id == 8 && t == thrift.Bool:
			d.blockCache = r.Bool()
		case id == 9 && t == thrift.I32:
			d.ttl = r.I32()
		default:
			r.Skip(t)
		}
	}
}
