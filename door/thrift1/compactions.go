package thrift1

import (
	"context"
	"log/slog"
	"sync"

	"github.com/cellardb/cellar/cell"
)

// compactions runs what compact and majorCompact ask for, in one goroutine a
// table. What is asked for while one runs is done once after it: a table has one
// running and one waiting at most, however often clients ask.
type compactions struct {
	store compactor
	log   *slog.Logger
	ctx   context.Context
	stop  context.CancelFunc
	tasks sync.WaitGroup
	mu    struct {
		sync.Mutex
		closed bool
		tables map[string]*compaction // those that one runs on
	}
}

// compaction is what is to be done on a table.
type compaction struct {
	keys  cell.Range
	major bool
	next  *compaction
}

// compactor is what compactions need of a store.
type compactor interface {
	Compact(ctx context.Context, table string, r cell.Range, major bool) error
}

func newCompactions(o Options) *compactions {
	c := &compactions{store: o.Store, log: o.Logger}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.mu.tables = map[string]*compaction{}
	return c
}

// start runs a compaction, or leaves it for later if one runs on the table. Two
// that wait become one: of the whole table if their ranges differ, and major if
// either is.
func (c *compactions) start(table string, keys cell.Range, major bool) {
	want := &compaction{keys: keys, major: major}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		return
	}
	running := c.mu.tables[table]
	if running == nil {
		c.mu.tables[table] = want
		c.tasks.Go(func() { c.run(table, want) })
		return
	}
	if waiting := running.next; waiting != nil {
		want.major = want.major || waiting.major
		want.keys = cell.Range{}
	}
	running.next = want
}

func (c *compactions) run(table string, task *compaction) {
	for task != nil {
		if err := c.store.Compact(c.ctx, table, task.keys, task.major); err != nil && c.ctx.Err() == nil {
			c.log.Warn("compaction failed", "table", table, "major", task.major, "error", err)
		}
		c.mu.Lock()
		task = task.next
		if task == nil || c.mu.closed {
			task = nil
			delete(c.mu.tables, table)
		} else {
			c.mu.tables[table] = task
		}
		c.mu.Unlock()
	}
}

// close interrupts what runs and waits for it. A second call does nothing.
func (c *compactions) close() {
	c.mu.Lock()
	c.mu.closed = true
	c.mu.Unlock()
	c.stop()
	c.tasks.Wait()
}
