package top

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Ask asks a server once; Source.Sample is one.
type Ask func(ctx context.Context) (*Sample, error)

// Batch writes n views as plain text, the interval apart; 0: until the context
// ends, which is an error only where some of the n are missing. Rates need two
// samples, so the first view comes after one interval.
func Batch(ctx context.Context, ask Ask, w io.Writer, n int, interval time.Duration, width int) error {
	m := &Model{ASCII: true}
	for i := 0; ; i++ {
		s, err := ask(ctx)
		if err != nil {
			return ended(ctx, n, err)
		}
		m.Add(s)
		if i > 0 {
			if err := writePlain(w, m, width); err != nil {
				return err
			}
		}
		if n > 0 && i == n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ended(ctx, n, nil)
		case <-time.After(interval):
		}
	}
}

func writePlain(w io.Writer, m *Model, width int) error {
	for _, l := range m.View(width, 0) {
		if _, err := fmt.Fprintln(w, l); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// ended gives the error of a batch of n views: where the context has ended, why,
// or nothing if it was to end so.
func ended(ctx context.Context, n int, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case n == 0:
		return nil
	}
	return context.Cause(ctx)
}
