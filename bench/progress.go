package bench

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress tells a person how far things are: by a bar on a terminal, by a line
// for each phase elsewhere. A nil Progress is silent.
type Progress struct {
	w   io.Writer
	bar bool
}

// NewProgress writes to w; nil is silent.
func NewProgress(w io.Writer) *Progress {
	if w == nil {
		return nil
	}
	f, ok := w.(*os.File)
	return &Progress{w: w, bar: ok && term.IsTerminal(int(f.Fd()))}
}

// Say writes a line. A failing writer is not worth ending a run for.
func (p *Progress) Say(format string, args ...any) {
	if p != nil {
		_, _ = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// progressStep is how often the bar is drawn.
const progressStep = 150 * time.Millisecond

// Phase is one thing that goes on; several goroutines may Add to it.
type Phase struct {
	p       *Progress
	what    string
	total   int
	done    atomic.Int64
	started time.Time
	stop    chan struct{}
	stopped chan struct{}
}

// Begin begins a phase of total units. Every phase must End.
func (p *Progress) Begin(what string, total int) *Phase {
	f := &Phase{p: p, what: what, total: total, started: time.Now()}
	if p == nil || !p.bar {
		return f
	}
	f.stop, f.stopped = make(chan struct{}), make(chan struct{})
	bar := progressbar.NewOptions(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	go func() {
		defer close(f.stopped)
		tick := time.NewTicker(progressStep)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = bar.Set64(min(f.done.Load(), int64(total)-1)) // a bar that cannot be drawn is not worth an error
			case <-f.stop:
				_ = bar.Clear() // as above
				return
			}
		}
	}()
	return f
}

// Add says that n more units are done.
func (f *Phase) Add(n int) { f.done.Add(int64(n)) }

// End ends the phase and writes its line. Calls after the first do nothing.
func (f *Phase) End() {
	if f.p == nil {
		return
	}
	if f.stop != nil {
		close(f.stop)
		<-f.stopped
	}
	took := time.Since(f.started)
	n := f.done.Load()
	f.p.Say("%-32s %9s in %6.2f s  %10s/s", f.what, humanize.Comma(n), took.Seconds(), humanize.Comma(int64(float64(n)/took.Seconds())))
	f.p = nil
}
