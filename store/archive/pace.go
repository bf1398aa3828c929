package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"time"
)

// Pace bounds how many bytes pass in a second, and tells how far a work is. The
// zero Pace does neither. It is used by one goroutine.
type Pace struct {
	// Rate in bytes a second; 0: unbounded.
	Rate int64
	// Progress is told how many of Total bytes are done. Nil: nobody is.
	Progress func(done, total int64) error
	Total    int64

	done, told int64
	began      time.Time
	ended      error // what Pass answered: the work was ended from outside
}

// tellEvery is how many bytes pass between two calls of Progress.
const tellEvery = 1 << 20

// Pass counts bytes and waits until so many may have passed.
func (p *Pace) Pass(ctx context.Context, n int64) error {
	p.ended = p.pass(ctx, n)
	return p.ended
}

func (p *Pace) pass(ctx context.Context, n int64) error {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	p.done += n
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Progress != nil && (p.done-p.told >= tellEvery || p.done >= p.Total) {
		p.told = p.done
		if err := p.Progress(p.done, p.Total); err != nil {
			return err
		}
	}
	if p.Rate <= 0 {
		return nil
	}
	due := time.Duration(float64(p.done) / float64(p.Rate) * float64(time.Second))
	wait := due - time.Since(p.began)
	if wait < time.Millisecond {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// chunk is how much is read at a time.
const chunk = 256 << 10

// summed copies a reader to a writer and gives the sum of what passed.
func (p *Pace) summed(ctx context.Context, w io.Writer, r io.Reader) (n int64, sum string, err error) {
	h := sha256.New()
	n, err = p.copy(ctx, io.MultiWriter(w, h), r)
	return n, hexSum(h), err
}

func (p *Pace) copy(ctx context.Context, w io.Writer, r io.Reader) (n int64, err error) {
	buf := make([]byte, chunk)
	for {
		k, err := r.Read(buf)
		if k > 0 {
			if _, err := w.Write(buf[:k]); err != nil {
				return n, err
			}
			n += int64(k)
			if err := p.Pass(ctx, int64(k)); err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
