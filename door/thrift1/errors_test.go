package thrift1

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// failing is a store that answers every read, write and change with an error.
type failing struct {
	store.Store
	err error
}

func (f *failing) Get(context.Context, string, *cell.Get, *cell.Result) error { return f.err }

func (f *failing) Scan(context.Context, string, *cell.Scan) (store.Scanner, error) {
	return nil, f.err
}

func (f *failing) Apply(context.Context, string, []cell.Mutation) ([][]cell.Cell, error) {
	return nil, f.err
}

func (f *failing) CheckAndMutate(context.Context, string, *cell.Check, *cell.Mutation) (bool, []cell.Cell, error) {
	return false, nil, f.err
}

func (f *failing) Describe(context.Context, string) (store.TableInfo, error) {
	return store.TableInfo{}, f.err
}
func (f *failing) CreateTable(context.Context, cell.TableSchema, [][]byte) error { return f.err }
func (f *failing) DropTable(context.Context, string) error                       { return f.err }
func (f *failing) EnableTable(context.Context, string) error                     { return f.err }
func (f *failing) DisableTable(context.Context, string) error                    { return f.err }

// Calls that reach each of the store's methods, on table "t".
var (
	callGet       = step{method: "getRow", args: fields{1: "t", 2: "r"}}
	callScan      = step{method: "getRowOrBefore", args: fields{1: "t", 2: "r", 3: "cf"}}
	callPut       = step{method: "mutateRow", args: fields{1: "t", 2: "r", 3: list{put("cf:a", "1")}}}
	callDelete    = step{method: "mutateRow", args: fields{1: "t", 2: "r", 3: list{del("cf:a")}}}
	callBatch     = step{method: "mutateRows", args: fields{1: "t", 2: list{batch("r1", put("cf:a", "1")), batch("r2", put("cf:a", "1"))}}}
	callDeleteAll = step{method: "deleteAll", args: fields{1: "t", 2: "r", 3: "cf:a"}}
	callIncrement = step{method: "atomicIncrement", args: fields{1: "t", 2: "r", 3: "cf:a", 4: int64(1)}}
	callAppend    = step{method: "append", args: fields{1: fields{1: "t", 2: "r", 3: list{"cf:a"}, 4: list{"x"}}}}
	callCheck     = step{method: "checkAndPut", args: fields{1: "t", 2: "r", 3: "cf:a", 5: "x", 6: put("cf:a", "1")}}
	callEnabled   = step{method: "isTableEnabled", args: fields{1: "t"}}
	callEnable    = step{method: "enableTable", args: fields{1: "t"}}
	callDrop      = step{method: "deleteTable", args: fields{1: "t"}}
)

// Every error of the store, as each kind of call answers it, whole.
func TestEveryFailureIsAnswered(t *testing.T) {
	family := &store.FamilyError{Table: "t", Family: []byte("no")}
	large := &store.CellSizeError{Row: []byte("r"), Family: []byte("cf"), Qualifier: []byte("a"), Size: 12, Limit: 10}
	const (
		hbase   = "org.apache.hadoop.hbase."
		retries = hbase + "client.RetriesExhaustedWithDetailsException: "
		issues  = ", servers with issues: null"
		noRetry = false
		retry   = true
	)
	io := func(retry bool, message string) error { return &ioErr{message, retry} }
	ia := func(message string) error { return &illegalArgument{message} }
	n := 0
	for _, c := range []struct {
		err  error
		call step
		want error
	}{
		{store.ErrTableNotFound, callGet, io(noRetry, hbase+"TableNotFoundException: Table 't' was not found, got: s.")},
		{store.ErrTableNotFound, callScan, io(noRetry, hbase+"TableNotFoundException: Table 't' was not found, got: s.")},
		{store.ErrTableNotFound, callPut, io(noRetry, retries+"Failed 1 action: Table 't' was not found, got: s.: 1 time"+issues)},
		{store.ErrTableNotFound, callBatch, io(noRetry, retries+"Failed 2 actions: Table 't' was not found, got: s.: 2 times"+issues)},
		{store.ErrTableNotFound, callDelete, io(noRetry, hbase+"TableNotFoundException: Table 't' was not found, got: s.")},
		{store.ErrTableNotFound, callDeleteAll, io(noRetry, hbase+"TableNotFoundException: Table 't' was not found, got: s.")},
		{store.ErrTableNotFound, callIncrement, io(noRetry, hbase+"TableNotFoundException: Table 't' was not found, got: s.")},
		{store.ErrTableNotFound, callCheck, io(noRetry, hbase+"TableNotFoundException: Table 't' was not found, got: s.")},
		{store.ErrTableNotFound, callEnabled, io(noRetry, hbase+"TableNotFoundException: t")},
		{store.ErrTableNotFound, callEnable, io(noRetry, hbase+"TableNotFoundException: t")},
		{store.ErrTableNotFound, callDrop, io(noRetry, "java.io.IOException: table does not exist")},
		{store.ErrTableDisabled, callGet, io(noRetry, hbase+"TableNotEnabledException: t is disabled.")},
		{store.ErrTableDisabled, callPut, io(noRetry, hbase+"TableNotEnabledException: t is disabled.")},
		{store.ErrTableDisabled, callBatch, io(noRetry, hbase+"TableNotEnabledException: t is disabled.")},
		{store.ErrTableDisabled, callEnable, io(noRetry, hbase+"TableNotEnabledException: t")},
		{store.ErrTableNotDisabled, callDrop, io(noRetry, hbase+"TableNotDisabledException: t")},
		{store.ErrReadOnly, callPut, io(noRetry, retries+"Failed 1 action: "+hbase+"DoNotRetryIOException: t is read only: 1 time"+issues)},
		{store.ErrReadOnly, callIncrement, io(noRetry, hbase+"DoNotRetryIOException: t is read only")},
		{family, callGet, io(noRetry, hbase+"regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't'")},
		{family, callDelete, io(noRetry, hbase+"regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't'")},
		{family, callPut, io(noRetry, retries+"Failed 1 action: "+hbase+"regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't': 1 time"+issues)},
		{new(store.BatchError).Add(0, 2, family).Add(1, 2, family), callBatch, io(noRetry, retries+"Failed 2 actions: "+hbase+"regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't': 2 times"+issues)},
		{new(store.BatchError).Add(0, 2, family).Add(1, 2, store.ErrBusy), callBatch, io(retry, retries+"Failed 2 actions: "+hbase+"regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't': 1 time, "+hbase+"RegionTooBusyException: engine is busy: 1 time"+issues)},
		{new(store.BatchError).Add(1, 2, cell.ValidateRow(nil)), callBatch, ia("java.lang.IllegalArgumentException: Row length is 0")},
		{new(store.BatchError).Add(0, 1, family), callDeleteAll, io(noRetry, hbase+"regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't'")},
		{&store.CounterError{Width: 5}, callIncrement, io(noRetry, hbase+"DoNotRetryIOException: Field is not a long, it's 5 bytes wide")},
		{large, callPut, ia("java.lang.IllegalArgumentException: KeyValue size too large: Cell[r/cf:a] with size 12 exceeds limit of 10 bytes")},
		{new(store.BatchError).Add(1, 2, large), callBatch, ia("java.lang.IllegalArgumentException: KeyValue size too large: Cell[r/cf:a] with size 12 exceeds limit of 10 bytes")},
		{large, callAppend, io(noRetry, hbase+"DoNotRetryIOException: Cell[r/cf:a] with size 12 exceeds limit of 10 bytes")},
		{large, callCheck, io(noRetry, hbase+"DoNotRetryIOException: Cell[r/cf:a] with size 12 exceeds limit of 10 bytes")},
		{fmt.Errorf("row r: %w", cell.ValidateRow(nil)), callIncrement, ia("java.lang.IllegalArgumentException: Row length is 0")},
		{cell.ValidateRow(nil), callDeleteAll, io(noRetry, "java.lang.IllegalArgumentException: Row length is 0")},
		{store.ErrRowMismatch, callCheck, io(noRetry, hbase+"DoNotRetryIOException: the row of the action does not match the checked one")},
		{store.ErrUnsupported, callGet, io(noRetry, hbase+"DoNotRetryIOException: not supported by this engine")},
		{store.ErrNotServingRegion, callGet, io(retry, hbase+"NotServingRegionException: region is not served here")},
		{store.ErrWrongRegion, callGet, io(retry, hbase+"regionserver.WrongRegionException: row is not in the region")},
		{store.ErrDiskFull, callDelete, io(retry, hbase+"RegionTooBusyException: disk is full")},
		{store.ErrDiskFull, callPut, io(retry, retries+"Failed 1 action: "+hbase+"RegionTooBusyException: disk is full: 1 time"+issues)},
		{store.ErrBusy, callGet, io(retry, hbase+"RegionTooBusyException: engine is busy")},
		{store.ErrClosed, callGet, io(retry, hbase+"regionserver.RegionServerStoppedException: store is closed")},
		{fmt.Errorf("file 7: %w", store.ErrCorrupt), callGet, io(noRetry, hbase+"io.hfile.CorruptHFileException: file 7: store is damaged")},
		{context.Canceled, callGet, io(retry, "java.io.InterruptedIOException: context canceled")},
		{context.DeadlineExceeded, callGet, io(retry, "java.io.InterruptedIOException: context deadline exceeded")},
		{door.ErrNoMemory, callGet, io(retry, hbase+"RegionTooBusyException: no memory in flight became free in time")},
		{door.ErrOverBudget, callGet, io(noRetry, hbase+"DoNotRetryIOException: more than all memory in flight: request is too large")},
		{filter.ErrIncompatible, callScan, io(noRetry, hbase+"filter.IncompatibleFilterException: Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow")},
		{filter.ErrTooSlow, callScan, io(noRetry, hbase+"DoNotRetryIOException: regular expression took too long")},
		{errors.New("out of luck"), callGet, io(retry, "java.io.IOException: out of luck")},
	} {
		inner := memory.New(memory.Options{})
		(&testDoor{t: t, store: inner}).table("s", "cf")
		(&testDoor{t: t, store: inner}).table("u", "cf")
		d := openDoor(t, Options{Store: &failing{inner, c.err}}, door.Options{})
		p := d.dial(forms[n%len(forms)])
		_, err := p.try(c.call.method, c.call.args)
		if fmt.Sprintf("%T %+v", err, err) != fmt.Sprintf("%T %+v", c.want, c.want) {
			t.Errorf("%v in %s:\n got %T %v\nwant %T %v", c.err, c.call.method, err, err, c.want, c.want)
		}
		if g, ok := err.(*ioErr); ok && g.retry != c.want.(*ioErr).retry {
			t.Errorf("%v in %s: canRetry is %v", c.err, c.call.method, g.retry)
		}
		p.expect("getThriftServerType", nil, "1") // the connection lives on
		n++
	}
	if n != 48 {
		t.Errorf("%d failures were tried", n)
	}
}

// Each line of the table of errors is tried above.
func TestEveryRuleIsTried(t *testing.T) {
	if n := len(rules()); n != 27 {
		t.Errorf("there are %d rules: add a failure for the new one above", n)
	}
}

// What the real gateway answers with silence.
func TestWhatTheRealGatewayClosesOnIsAnswered(t *testing.T) {
	const class = "java.lang.IllegalArgumentException: "
	walk(t, tenRows, []step{
		{"getRow", fields{1: "t", 2: ""}, "IOError: " + class + "Row length is 0"},
		{"getRow", fields{1: "t"}, "IOError: " + class + "Row length is 0"},
		{"getRows", fields{1: "t", 2: list{"r1", ""}}, "IOError: " + class + "Row length is 0"},
		{"getRow", fields{1: "a b", 2: "r"}, "IOError: " + class + "Illegal character code:32, < > at 1. User-space table qualifiers may only contain 'alphanumeric characters' and digits: a b"},
		{"getRow", fields{2: "r"}, "IOError: " + class + "Table qualifier must not be empty"},
		{"getRowTs", fields{1: "t", 2: "r", 3: int64(-1)}, "IOError: " + class + "Timestamp cannot be negative. minStamp:0, maxStamp:-1"},
		{"get", fields{1: "t", 2: "r"}, "IOError: " + class + "column is not set"},
		{"getVer", fields{1: "t", 2: "r", 3: "cf:a", 4: int32(0)}, "IOError: java.io.IOException: maxVersions must be positive"},
		{"getVer", fields{1: "t", 2: "r", 3: "cf:a", 4: int32(-1)}, "IOError: java.io.IOException: maxVersions must be positive"},
		{"mutateRow", fields{1: "t", 2: "", 3: list{put("cf:a", "1")}}, "IllegalArgument: " + class + "Row length is 0"},
		{"mutateRow", fields{1: "t", 3: list{put("cf:a", "1")}}, "IllegalArgument: " + class + "Row length is 0"},
		{"mutateRow", fields{1: "t", 2: "", 3: list{del("cf:a")}}, "IllegalArgument: " + class + "Row length is 0"},
		{"mutateRows", fields{1: "t", 2: list{fields{2: list{put("cf:a", "1")}}}}, "IllegalArgument: " + class + "Row length is 0"},
		{"mutateRow", fields{1: "a b", 2: "r", 3: list{put("cf:a", "1")}}, "IllegalArgument: " + class + "Illegal character code:32, < > at 1. User-space table qualifiers may only contain 'alphanumeric characters' and digits: a b"},
		{"mutateRowTs", fields{1: "t", 2: "r", 3: list{put("cf:a", "1")}, 4: int64(-5)}, "IllegalArgument: " + class + "Timestamp cannot be negative. ts=-5"},
		{"atomicIncrement", fields{1: "t", 2: "r", 4: int64(1)}, "IllegalArgument: " + class + "column is not set"},
		{"deleteAllRow", fields{1: "t", 2: ""}, "IOError: " + class + "Row length is 0"},
		{"deleteAll", fields{1: "t", 2: "r"}, "IOError: " + class + "column is not set"},
		{"scannerOpenTs", fields{1: "t", 2: "", 4: int64(-1)}, "IOError: " + class + "Timestamp cannot be negative. minStamp:0, maxStamp:-1"},
		{"getTableNames", nil, "[t]"},
	})
}

// What a client sent comes back in an error at a bounded length.
func TestErrorsAreShort(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	p := d.dial(forms[0])
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = 'x'
	}
	n := 0
	for _, s := range []step{
		{method: "getRow", args: fields{1: string(long), 2: "r"}},
		{method: "getRow", args: fields{1: string(long) + " ", 2: "r"}},
		{method: "isTableEnabled", args: fields{1: string(long)}},
		{method: "mutateRow", args: fields{1: string(long), 2: "r", 3: list{put("cf:a", "1")}}},
		{method: "mutateRow", args: fields{1: "t", 2: string(long), 3: list{put("cf:a", "1")}}},
		{method: "mutateRows", args: fields{1: "t", 2: list{batch(string(long), put(string(long), "1"))}}},
		{method: "createTable", args: create(string(long)+":t", fields{1: "f"})},
		{method: "createTable", args: create("t", fields{1: "f", 3: string(long)})},
		{method: "createTable", args: create("t", fields{1: "f", 5: string(long)})},
		{method: "createTable", args: create("t", fields{1: string(long)})},
		{method: "getRegionInfo", args: fields{1: string(long)}},
		{method: "scannerOpenWithScan", args: fields{1: "t", 2: fields{6: string(long)}}},
		{method: "scannerOpenWithScan", args: fields{1: "t", 2: fields{1: string(long)}}},
	} {
		_, err := p.try(s.method, s.args)
		if err == nil || len(err.Error()) > maxText+200 {
			t.Errorf("%s: an error of %d bytes", s.method, len(fmt.Sprint(err)))
		}
		n++
	}
	if n != 13 {
		t.Errorf("%d calls were tried", n)
	}
}
