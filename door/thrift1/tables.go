package thrift1

import "github.com/cellardb/cellar/internal/wire/thrift"

// op is the kind of operation, which decides how HBase words an error.
type op uint8

const (
	opAdmin op = iota
	opRead
	opRow // one mutation of one row
	opPut // a batch, or a put, which HBase's client sends as a batch of one
)

// throws are the exceptions that a method declares.
type throws uint8

const (
	throwsIO     throws = 1 << iota // field 1, IOError
	throwsIA                        // field 2, IllegalArgument
	throwsExists                    // field 3, AlreadyExists
)

// slot is what an argument is for. Methods number their arguments differently;
// the table below says which number is which.
type slot uint8

const (
	noSlot slot = iota
	inTable
	inRow
	inRows
	inColumn
	inColumns
	inTimestamp
	inVersions
	inMutations
	inBatches
	inNumber // an i64: the amount of an increment
	inValue  // a value to compare with
	inMutation
	inDescriptors
	inIncrement
	inIncrements
	inAppend
	inStart
	inStop
	inScan
	inID
	inCount
	slots
)

// wireTypes says how each argument comes; one that comes otherwise is skipped,
// as one that is unknown.
var wireTypes = [slots]thrift.Type{
	inTable: thrift.String, inRow: thrift.String, inRows: thrift.List, inColumn: thrift.String, inColumns: thrift.List,
	inTimestamp: thrift.I64, inVersions: thrift.I32, inMutations: thrift.List, inBatches: thrift.List,
	inNumber: thrift.I64, inValue: thrift.String, inMutation: thrift.Struct, inDescriptors: thrift.List,
	inIncrement: thrift.Struct, inIncrements: thrift.List, inAppend: thrift.Struct,
	inStart: thrift.String, inStop: thrift.String, inScan: thrift.Struct, inID: thrift.I32, inCount: thrift.I32,
}

// in is the arguments of a method by their numbers; a 0 is none of ours
// (attributes, or a gap).
type in [8]slot

// method is one method of the service Hbase. call works on the arguments and
// writes the reply.
type method struct {
	name   string
	op     op
	throws throws
	in     in
	call   func(*session) error
}

// methods is the service, as its interface definition has it.
func methods() []method {
	const io, ia, exists = throwsIO, throwsIA, throwsExists
	return []method{
		{"enableTable", opAdmin, io, in{1: inTable}, (*session).enableTable},
		{"disableTable", opAdmin, io, in{1: inTable}, (*session).disableTable},
		{"isTableEnabled", opAdmin, io, in{1: inTable}, (*session).isTableEnabled},
		{"compact", opAdmin, io, in{1: inTable}, (*session).compact},
		{"majorCompact", opAdmin, io, in{1: inTable}, (*session).majorCompact},
		{"getTableNames", opAdmin, io, in{}, (*session).getTableNames},
		{"getTableNamesWithIsTableEnabled", opAdmin, io, in{}, (*session).getTableNamesWithIsTableEnabled},
		{"getColumnDescriptors", opAdmin, io, in{1: inTable}, (*session).getColumnDescriptors},
		{"getTableRegions", opAdmin, io, in{1: inTable}, (*session).getTableRegions},
		{"createTable", opAdmin, io | ia | exists, in{1: inTable, 2: inDescriptors}, (*session).createTable},
		{"deleteTable", opAdmin, io, in{1: inTable}, (*session).deleteTable},
		{"getRegionInfo", opAdmin, io, in{1: inRow}, (*session).getRegionInfo},
		{"getThriftServerType", opAdmin, 0, in{}, (*session).getThriftServerType},
		{"getClusterId", opAdmin, 0, in{}, (*session).getClusterID},
		{"grant", opAdmin, io, in{}, (*session).noAccessControl},
		{"revoke", opAdmin, io, in{}, (*session).noAccessControl},

		{"get", opRead, io, in{1: inTable, 2: inRow, 3: inColumn}, (*session).getCells},
		{"getVer", opRead, io, in{1: inTable, 2: inRow, 3: inColumn, 4: inVersions}, (*session).getVersions},
		{"getVerTs", opRead, io, in{1: inTable, 2: inRow, 3: inColumn, 4: inTimestamp, 5: inVersions}, (*session).getVersions},
		{"getRow", opRead, io, in{1: inTable, 2: inRow}, (*session).getRow},
		{"getRowWithColumns", opRead, io, in{1: inTable, 2: inRow, 3: inColumns}, (*session).getRow},
		{"getRowTs", opRead, io, in{1: inTable, 2: inRow, 3: inTimestamp}, (*session).getRow},
		{"getRowWithColumnsTs", opRead, io, in{1: inTable, 2: inRow, 3: inColumns, 4: inTimestamp}, (*session).getRow},
		{"getRows", opRead, io, in{1: inTable, 2: inRows}, (*session).getRows},
		{"getRowsWithColumns", opRead, io, in{1: inTable, 2: inRows, 3: inColumns}, (*session).getRows},
		{"getRowsTs", opRead, io, in{1: inTable, 2: inRows, 3: inTimestamp}, (*session).getRows},
		{"getRowsWithColumnsTs", opRead, io, in{1: inTable, 2: inRows, 3: inColumns, 4: inTimestamp}, (*session).getRows},
		{"getRowOrBefore", opRead, io, in{1: inTable, 2: inRow, 3: inColumn}, (*session).getRowOrBefore},

		{"mutateRow", opPut, io | ia, in{1: inTable, 2: inRow, 3: inMutations}, (*session).mutateRow},
		{"mutateRowTs", opPut, io | ia, in{1: inTable, 2: inRow, 3: inMutations, 4: inTimestamp}, (*session).mutateRow},
		{"mutateRows", opPut, io | ia, in{1: inTable, 2: inBatches}, (*session).mutateRows},
		{"mutateRowsTs", opPut, io | ia, in{1: inTable, 2: inBatches, 3: inTimestamp}, (*session).mutateRows},
		{"atomicIncrement", opRow, io | ia, in{1: inTable, 2: inRow, 3: inColumn, 4: inNumber}, (*session).atomicIncrement},
		{"increment", opRow, io, in{1: inIncrement}, (*session).increment},
		{"incrementRows", opRow, io, in{1: inIncrements}, (*session).increment},
		{"append", opRow, io, in{1: inAppend}, (*session).append},
		{"checkAndPut", opRow, io | ia, in{1: inTable, 2: inRow, 3: inColumn, 5: inValue, 6: inMutation}, (*session).checkAndPut},
		{"deleteAll", opRow, io, in{1: inTable, 2: inRow, 3: inColumn}, (*session).deleteAll},
		{"deleteAllTs", opRow, io, in{1: inTable, 2: inRow, 3: inColumn, 4: inTimestamp}, (*session).deleteAll},
		{"deleteAllRow", opRow, io, in{1: inTable, 2: inRow}, (*session).deleteAllRow},
		{"deleteAllRowTs", opRow, io, in{1: inTable, 2: inRow, 3: inTimestamp}, (*session).deleteAllRow},

		{"scannerOpenWithScan", opRead, io, in{1: inTable, 2: inScan}, (*session).scannerOpenWithScan},
		{"scannerOpen", opRead, io, in{1: inTable, 2: inStart, 3: inColumns}, (*session).scannerOpen},
		{"scannerOpenWithStop", opRead, io, in{1: inTable, 2: inStart, 3: inStop, 4: inColumns}, (*session).scannerOpen},
		{"scannerOpenWithPrefix", opRead, io, in{1: inTable, 2: inStart, 3: inColumns}, (*session).scannerOpenWithPrefix},
		{"scannerOpenTs", opRead, io, in{1: inTable, 2: inStart, 3: inColumns, 4: inTimestamp}, (*session).scannerOpen},
		{"scannerOpenWithStopTs", opRead, io, in{1: inTable, 2: inStart, 3: inStop, 4: inColumns, 5: inTimestamp}, (*session).scannerOpen},
		{"scannerGet", opRead, io | ia, in{1: inID}, (*session).scannerGet},
		{"scannerGetList", opRead, io | ia, in{1: inID, 2: inCount}, (*session).scannerGetList},
		{"scannerClose", opRead, io | ia, in{1: inID}, (*session).scannerClose},
	}
}
