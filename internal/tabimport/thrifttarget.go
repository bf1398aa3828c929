package tabimport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
)

// ThriftTarget writes through the HBase Thrift 1 interface of a server, Cellar's
// or Apache's: each lane is a connection.
type ThriftTarget struct {
	Addr string // host:port
	// Options of the connections.
	Options thriftclient.Options
}

// Name is the address.
func (t *ThriftTarget) Name() string { return "thrift " + t.Addr }

// CarriesTTL is false: Thrift 1 has no place for it.
func (t *ThriftTarget) CarriesTTL() bool { return false }

// Prepare looks for the table, or makes it. Which families one has that is there
// is not asked: the first row tells.
func (t *ThriftTarget) Prepare(ctx context.Context, table string, families []string, create bool) error {
	c, err := thriftclient.Dial(ctx, t.Addr, t.Options)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	names, err := c.TableNames()
	if err != nil {
		return fmt.Errorf("find table %s: %w", table, err)
	}
	if slices.Contains(names, cell.CanonicalTableName(table)) {
		return nil
	}
	if !create {
		return fmt.Errorf("find table %s: %w", table, store.ErrTableNotFound)
	}
	made := make([]thriftclient.Family, len(families))
	for i, f := range families {
		made[i] = thriftclient.Family{Name: f, MaxVersions: 1}
	}
	var there *thriftclient.Exception
	err = c.CreateTable(table, made...)
	if err != nil && (!errors.As(err, &there) || there.Kind != thriftclient.AlreadyExists) {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	return nil
}

// Lane opens no connection before the first row.
func (t *ThriftTarget) Lane(table string) Lane {
	return &thriftLane{target: t, table: table}
}

// thriftLane is one connection, made anew where it is lost.
type thriftLane struct {
	target  *ThriftTarget
	table   string
	client  *thriftclient.Client
	batches []*thriftclient.Batch // encoded requests, used again
	groups  []group
	column  []byte
	seq     int32
}

// group is the rows of one request: all have one timestamp, which is of the
// request.
type group struct {
	timestamp int64
	rows      []int
}

// Write sends the rows, one request for each timestamp, and waits for all
// answers. Where a request is refused, its rows are sent one by one to find out
// which of them are at fault.
func (l *thriftLane) Write(ctx context.Context, rows []cell.Mutation) error {
	if len(rows) == 0 {
		return nil
	}
	l.group(rows)
	failed, err := l.exchange(ctx, rows, l.groups)
	if err != nil {
		return err
	}
	var refused *store.BatchError
	for _, g := range failed {
		for _, i := range g.rows {
			alone := []group{{rows[i].Edits[0].Timestamp, []int{i}}}
			answer, err := l.exchange(ctx, rows, alone)
			if err != nil {
				return err
			}
			if len(answer) > 0 {
				refused = refused.Add(i, len(rows), answer[0].err)
			}
		}
	}
	if refused == nil {
		return nil
	}
	slices.SortFunc(refused.Failed, func(a, b store.MutationError) int { return a.Index - b.Index })
	return refused
}

// group sorts the rows by timestamp, in the order in which timestamps come: two
// rows with one key and one timestamp stay in order.
func (l *thriftLane) group(rows []cell.Mutation) {
	l.groups = l.groups[:0]
	place := map[int64]int{}
	for i := range rows {
		ts := rows[i].Edits[0].Timestamp
		at, known := place[ts]
		if !known {
			at = len(l.groups)
			place[ts] = at
			if at < cap(l.groups) {
				l.groups = l.groups[:at+1]
				l.groups[at].timestamp, l.groups[at].rows = ts, l.groups[at].rows[:0]
			} else {
				l.groups = append(l.groups, group{timestamp: ts})
			}
		}
		l.groups[at].rows = append(l.groups[at].rows, i)
	}
}

// refusedGroup is a request that was refused for its rows.
type refusedGroup struct {
	group
	err error
}

// pipelined bounds the requests that are under way on one connection.
const pipelined = 64

// exchange sends a request for each group and receives the answers. An error is
// of the connection, or of the table, or may pass.
func (l *thriftLane) exchange(ctx context.Context, rows []cell.Mutation, groups []group) (failed []refusedGroup, err error) {
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	c := l.client
	defer context.AfterFunc(ctx, func() { c.Close() })()
	var worst error
	for some := range slices.Chunk(groups, pipelined) {
		for i := range some {
			if err := c.SendMutate(l.encode(i, rows, &some[i])); err != nil {
				return nil, l.lose(ctx, err)
			}
		}
		for i := range some {
			err := c.ReceiveMutate()
			kind, err := sortAnswer(err)
			switch kind {
			case answerLost:
				return nil, l.lose(ctx, err)
			case answerFailed:
				worst = err
			case answerRefused:
				failed = append(failed, refusedGroup{some[i], err})
			}
		}
		if worst != nil {
			return nil, worst
		}
	}
	return failed, nil
}

func (l *thriftLane) connect(ctx context.Context) error {
	if l.client != nil {
		return nil
	}
	c, err := thriftclient.Dial(ctx, l.target.Addr, l.target.Options)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	l.client = c
	return nil
}

// lose ends a connection that is of no use any more.
func (l *thriftLane) lose(ctx context.Context, err error) error {
	l.client.Close()
	l.client = nil
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// encode puts the request of a group together.
func (l *thriftLane) encode(i int, rows []cell.Mutation, g *group) *thriftclient.Batch {
	for len(l.batches) <= i {
		l.batches = append(l.batches, thriftclient.NewBatch(l.target.Options))
	}
	b := l.batches[i]
	l.seq++
	b.BeginAt(l.table, true, g.timestamp, l.seq)
	for _, r := range g.rows {
		b.Row(rows[r].Row)
		for k := range rows[r].Edits {
			e := &rows[r].Edits[k]
			l.column = append(append(append(l.column[:0], e.Family...), ':'), e.Qualifier...)
			b.Put(l.column, e.Value)
		}
	}
	return b
}

// Close ends the connection.
func (l *thriftLane) Close() error {
	if l.client == nil {
		return nil
	}
	return l.client.Close()
}

// answer says what comes of a request.
type answer uint8

const (
	answerStored  answer = iota
	answerRefused        // for one of its rows; the others may be stored
	answerFailed         // whatever its rows are
	answerLost           // there is none, and no more will come
)

// sortAnswer translates what a server answers. It says by the names of Java
// classes what it means.
func sortAnswer(err error) (answer, error) {
	var e *thriftclient.Exception
	var app *thrift.AppException
	switch {
	case err == nil:
		return answerStored, nil
	case errors.As(err, &app):
		return answerFailed, err
	case !errors.As(err, &e):
		return answerLost, err
	}
	for _, known := range []struct {
		text string
		is   error
	}{
		{"NoSuchColumnFamilyException", store.ErrNoSuchFamily},
		{"TableNotFoundException", store.ErrTableNotFound},
		{"was not found, got:", store.ErrTableNotFound},
		{"TableNotEnabledException", store.ErrTableDisabled},
		{"is disabled.", store.ErrTableDisabled},
		{"is read only", store.ErrReadOnly},
		{store.ErrDiskFull.Error(), store.ErrDiskFull},
		{"RegionTooBusyException", store.ErrBusy},
	} {
		if strings.Contains(e.Message, known.text) {
			return answerFailed, &answeredError{known.is, err}
		}
	}
	if e.Kind == thriftclient.IllegalArgument || strings.Contains(e.Message, "DoNotRetryIOException") {
		return answerRefused, err
	}
	return answerFailed, &answeredError{store.ErrBusy, err}
}

// answeredError is an answer that stands for an error of the store. It is
// worded as the server words it.
type answeredError struct{ is, err error }

func (e *answeredError) Error() string   { return e.err.Error() }
func (e *answeredError) Unwrap() []error { return []error{e.is, e.err} }
