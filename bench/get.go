package bench

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// getter is one of the goroutines that read random rows, up to Pipeline at a
// time.
type getter struct {
	run    *thriftRun
	c      *thriftclient.Client
	rec    *recorder
	left   *atomic.Int64 // reads that nobody has taken
	faults *getFaults
	phase  *Phase
	random uint64
	key    []byte
}

// getting is a read on its way.
type getting struct {
	index int
	sent  time.Time
}

func (w *getter) work(ctx context.Context) error {
	underWay := make(chan getting, w.run.Pipeline) // a ring; nobody else uses it
	var asked getting
	visit := func(row *thriftclient.Row) error {
		if !w.run.NoVerify {
			w.check(asked.index, row)
		}
		return nil
	}
	for more := true; ; {
		for more && len(underWay) < w.run.Pipeline {
			if more = w.left.Add(-1) >= 0; more {
				a := getting{w.choose(), w.run.clock()}
				underWay <- a
				w.key = w.run.ledger.key(w.key[:0], a.index)
				if err := w.c.SendGetRow(w.run.ledger.table, w.key); err != nil {
					return err
				}
			}
		}
		if len(underWay) == 0 {
			return ctx.Err()
		}
		asked = <-underWay
		found, err := w.c.ReceiveGetRow(visit)
		if err != nil {
			return err
		}
		if !found {
			w.faults.note(&w.faults.missing, w.run.ledger.describe(asked.index)+": getRow finds no row")
		}
		w.rec.done(asked.sent, 1)
		w.phase.Add(1)
	}
}

// choose is a random record's number.
func (w *getter) choose() int {
	w.random += 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(mix(w.random), uint64(len(w.run.ledger.sums)))
	return int(high)
}

func (w *getter) check(index int, row *thriftclient.Row) {
	l := w.run.ledger
	i, _, right := l.check(row)
	if right && i == index {
		return
	}
	what := fmt.Sprintf("getRow of %s: ", l.describe(index))
	if i != index {
		what += "the reply is row " + cell.Printable(row.Key)
	} else {
		what += l.explain(index, row)
	}
	w.faults.note(&w.faults.wrong, what)
}
