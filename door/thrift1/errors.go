package thrift1

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
)

// kind is the exception of the interface definition that an error becomes.
type kind uint8

const (
	kindIO     kind = iota // IOError
	kindIA                 // IllegalArgument
	kindExists             // AlreadyExists
	kindApp                // an application exception, which any method may answer
)

// Fields of a result struct that hold exceptions.
const (
	fieldIO     int16 = 1
	fieldIA     int16 = 2
	fieldExists int16 = 3
)

// Java classes that clients look for.
const (
	classDoNotRetry      = "org.apache.hadoop.hbase.DoNotRetryIOException"
	classFamily          = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
	classIllegal         = "java.lang.IllegalArgumentException"
	classIO              = "java.io.IOException"
	classInterrupted     = "java.io.InterruptedIOException"
	classBusy            = "org.apache.hadoop.hbase.RegionTooBusyException"
	classRetriesExhaust  = "org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException"
	classTableNotFound   = "org.apache.hadoop.hbase.TableNotFoundException"
	classTableNotEnabled = "org.apache.hadoop.hbase.TableNotEnabledException"
)

// fault is an error as the client gets it.
type fault struct {
	kind    kind
	message string
	retry   bool // IOError.canRetry: the same call may succeed later
	outcome door.Outcome
}

func (f *fault) Error() string { return f.message }

// field says in which field of the result the exception goes; 0: in none, it is
// an application exception. What a method does not declare goes out as IOError.
func (f *fault) field(declared throws) int16 {
	switch {
	case f.kind == kindExists && declared&throwsExists != 0:
		return fieldExists
	case f.kind == kindIA && declared&throwsIA != 0:
		return fieldIA
	case f.kind != kindApp && declared&throwsIO != 0:
		return fieldIO
	}
	return 0
}

// rule is a line of the table below.
type rule struct {
	err   error
	kind  kind
	class string
	retry bool
	// broken says that the store failed, and not that the call cannot be.
	broken bool
	// text words the error; nil: as it words itself.
	text func(*session, error) string
}

// rules is the table: what an error of the store is to a client. The first line
// that matches counts; an error that none matches is an IOError.
func rules() []rule {
	return []rule{
		{err: cell.ErrNoFamilies, class: classDoNotRetry, text: argumentText},
		{err: filter.ErrIncompatible, class: "org.apache.hadoop.hbase.filter.IncompatibleFilterException", text: argumentText},
		{err: filter.ErrTooSlow, class: classDoNotRetry},
		{err: cell.ErrIllegalArgument, kind: kindIA, class: classIllegal, text: argumentText},
		{err: store.ErrTableNotFound, class: classTableNotFound, text: notFoundText},
		{err: store.ErrTableExists, kind: kindExists, text: func(*session, error) string { return "table name already in use" }},
		{err: store.ErrTableDisabled, class: classTableNotEnabled, text: notEnabledText},
		{err: store.ErrTableNotDisabled, class: "org.apache.hadoop.hbase.TableNotDisabledException", text: tableText},
		{err: store.ErrReadOnly, class: classDoNotRetry, text: readOnlyText},
		{err: store.ErrNamespaceNotFound, class: "org.apache.hadoop.hbase.NamespaceNotFoundException", text: namespaceText},
		{err: store.ErrNoSuchFamily, class: classFamily, text: familyText},
		{err: store.ErrNotCounter, class: classDoNotRetry, text: counterText},
		{err: store.ErrCellTooLarge, kind: kindIA, class: classIllegal, text: tooLargeText},
		{err: store.ErrRowMismatch, class: classDoNotRetry},
		{err: store.ErrUnsupported, class: classDoNotRetry},
		{err: store.ErrNotServingRegion, class: "org.apache.hadoop.hbase.NotServingRegionException", retry: true},
		{err: store.ErrWrongRegion, class: "org.apache.hadoop.hbase.regionserver.WrongRegionException", retry: true},
		{err: store.ErrDiskFull, class: classBusy, retry: true, broken: true},
		{err: store.ErrBusy, class: classBusy, retry: true, broken: true},
		{err: store.ErrClosed, class: "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException", retry: true, broken: true},
		{err: store.ErrCorrupt, class: "org.apache.hadoop.hbase.io.hfile.CorruptHFileException", broken: true},
		{err: errTooManyScanners, class: classBusy, retry: true},
		{err: errReplyTooLarge, class: classDoNotRetry},
		{err: door.ErrTooLarge, class: classDoNotRetry},
		{err: door.ErrNoMemory, class: classBusy, retry: true, broken: true},
		{err: context.Canceled, class: classInterrupted, retry: true, broken: true},
		{err: context.DeadlineExceeded, class: classInterrupted, retry: true, broken: true},
	}
}

var anyOther = rule{class: classIO, retry: true, broken: true}

// illegal is an argument that cannot be; the text is what follows the class.
func illegal(format string, args ...any) *fault {
	return &fault{kind: kindIA, message: classIllegal + ": " + fmt.Sprintf(format, args...), outcome: door.Refused}
}

// ioError is an IOError that the gateway itself raises.
func ioError(class, format string, args ...any) *fault {
	return &fault{kind: kindIO, message: class + ": " + fmt.Sprintf(format, args...), outcome: door.Refused}
}

// errReplyTooLarge is matched by a replyError.
var errReplyTooLarge = errors.New("reply is too large")

// replyError says that a reply would be larger than MaxReply.
type replyError struct {
	Limit int
	hint  string
}

func (e *replyError) Error() string {
	return fmt.Sprintf("the reply exceeds %d bytes: ask for less at a time%s", e.Limit, e.hint)
}

// Is makes errors.Is(err, errReplyTooLarge) true.
func (e *replyError) Is(target error) bool { return target == errReplyTooLarge }

// faultOf translates an error of the store.
func (s *session) faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	var batch *store.BatchError
	if s.op == opPut {
		errors.As(err, &batch)
		return s.batchFault(batch, err)
	}
	return s.plainFault(err)
}

// plainFault is an error as HBase's client throws it where it sends one
// operation.
func (s *session) plainFault(err error) *fault {
	r := s.ruleOf(err)
	f := &fault{kind: r.kind, message: s.word(&r, err), retry: r.retry, outcome: door.Refused}
	if r.broken {
		f.outcome = door.Failed
	}
	return f
}

func (s *session) ruleOf(err error) rule {
	for _, r := range s.h.rules {
		if errors.Is(err, r.err) {
			return s.adapt(r)
		}
	}
	return anyOther
}

// adapt knows what depends on more than the error: a name that cannot be a
// table's is an argument at fault; a cell that is too large is one only where
// HBase's client looks at it.
func (s *session) adapt(r rule) rule {
	switch {
	case r.err == store.ErrTableNotFound && cell.ValidateTableName(s.args.table) != nil:
		return rule{kind: kindIA, class: classIllegal, text: func(s *session, _ error) string {
			return argumentText(s, cell.ValidateTableName(s.args.table))
		}}
	case r.err == store.ErrCellTooLarge && s.op != opPut:
		return rule{class: classDoNotRetry, text: cellText}
	}
	return r
}

func (s *session) word(r *rule, err error) string {
	text := ""
	if r.text != nil {
		text = r.text(s, err)
	} else {
		text = err.Error()
	}
	if r.class == "" {
		return text
	}
	return r.class + ": " + shorten(text, maxText)
}

// Bounds of texts in replies: what a client sent must not come back at full
// length.
const (
	maxText = 2000
	maxName = 200
)

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}

func (s *session) tableName() string { return shorten(s.args.table, maxName) }

func tableText(s *session, _ error) string { return s.tableName() }

func argumentText(_ *session, err error) string {
	var a *cell.ArgumentError
	if errors.As(err, &a) {
		return a.Text
	}
	return err.Error()
}

func familyText(_ *session, err error) string {
	var f *store.FamilyError
	if errors.As(err, &f) {
		return f.Error()
	}
	return err.Error()
}

func counterText(_ *session, err error) string {
	var c *store.CounterError
	if errors.As(err, &c) {
		return c.Error()
	}
	return err.Error()
}

func cellText(_ *session, err error) string {
	var c *store.CellSizeError
	if errors.As(err, &c) {
		return c.Error()
	}
	return err.Error()
}

func tooLargeText(s *session, err error) string {
	return "KeyValue size too large: " + cellText(s, err)
}

func readOnlyText(s *session, _ error) string { return s.tableName() + " is read only" }

func namespaceText(s *session, _ error) string {
	ns, _ := cell.SplitTableName(s.args.table)
	return shorten(ns, maxName)
}

func notEnabledText(s *session, _ error) string {
	if s.op == opAdmin {
		return s.tableName()
	}
	return s.tableName() + " is disabled."
}

// notFoundText says which table is missing. HBase's client looks a table's
// regions up by going backwards from where they would be, and tells whose it came
// upon instead; if there is none, it names the table only.
func notFoundText(s *session, _ error) string {
	if s.op == opAdmin {
		return s.tableName()
	}
	before := s.tableBefore(s.args.table)
	if before == "" {
		return s.tableName()
	}
	return fmt.Sprintf("Table '%s' was not found, got: %s.", s.tableName(), before)
}

// tableBefore is the last table whose name is below the given one, HBase's own
// hbase:namespace among them; empty: there is none.
func (s *session) tableBefore(name string) (before string) {
	if systemTable < name {
		before = systemTable
	}
	tables, err := s.h.store.Tables(s.ctx)
	if err != nil {
		return before
	}
	for i := range tables {
		if t := tables[i].Schema.Name; t < name && t > before {
			before = t
		}
	}
	return before
}

// systemTable is a table that each HBase has.
const systemTable = "hbase:namespace"

// batchFault is an error as HBase's client throws it where it sends a batch: what
// its own checks refuse as it is, what servers refuse as a list of descriptions
// with their numbers. batch is nil where the batch failed as a whole.
func (s *session) batchFault(batch *store.BatchError, err error) *fault {
	failed := []error{err}
	times := max(s.actions, 1)
	if batch != nil && len(batch.Failed) > 0 {
		failed, times = batch.Unwrap(), 1
	}
	whole := &fault{kind: kindIO, outcome: door.Refused}
	var counts counts
	for _, e := range failed {
		f := s.plainFault(e)
		if f.kind == kindIA || errors.Is(e, store.ErrTableDisabled) {
			return f
		}
		counts.add(s.describe(f, e), times)
		whole.retry = whole.retry || f.retry
		whole.outcome = max(whole.outcome, f.outcome)
	}
	whole.message = classRetriesExhaust + ": " + counts.String()
	return whole
}

// describe words an error as it stands in such a list.
func (s *session) describe(f *fault, err error) string {
	if errors.Is(err, store.ErrTableNotFound) {
		return strings.TrimPrefix(f.message, classTableNotFound+": ")
	}
	return f.message
}

// maxDescriptions bounds the list.
const maxDescriptions = 16

// counts is descriptions with their numbers, in the order of their first times.
type counts struct {
	descriptions []string
	times        []int
	total        int
}

func (c *counts) add(description string, times int) {
	c.total += times
	for i, d := range c.descriptions {
		if d == description {
			c.times[i] += times
			return
		}
	}
	if len(c.descriptions) < maxDescriptions {
		c.descriptions, c.times = append(c.descriptions, description), append(c.times, times)
	}
}

func (c *counts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Failed %d action%s: ", c.total, plural(c.total))
	for i, d := range c.descriptions {
		fmt.Fprintf(&b, "%s: %d time%s, ", d, c.times[i], plural(c.times[i]))
	}
	b.WriteString("servers with issues: null")
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
