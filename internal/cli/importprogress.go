package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/cellardb/cellar/internal/tabimport"
)

// importProgress shows how far an import is, by a bar on a terminal, and names
// bad lines.
type importProgress struct {
	w     io.Writer
	total int64

	mu struct {
		sync.Mutex
		bar   *progressbar.ProgressBar
		named int
	}
	stop    chan struct{}
	stopped sync.WaitGroup
}

const (
	importStep = 200 * time.Millisecond
	// namedBad is how many bad lines are named.
	namedBad = 20
)

// begin shows a bar if there is somebody to see it.
func (p *importProgress) begin(im *tabimport.Import) {
	p.stop = make(chan struct{})
	if terminal(p.w) == nil {
		return
	}
	p.stopped.Go(func() {
		tick := time.NewTicker(importStep)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.draw(im.Progress())
			case <-p.stop:
				return
			}
		}
	})
}

func (p *importProgress) draw(now tabimport.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.bar == nil {
		if now.Total == 0 && now.Bytes == 0 {
			return // the inputs were not looked at yet
		}
		p.mu.bar = progressbar.NewOptions64(now.Total, progressbar.OptionSetWriter(p.w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	text := humanize.Comma(now.Rows) + " rows"
	if now.Bad > 0 {
		text += ", " + humanize.Comma(now.Bad) + " bad lines"
	}
	if now.Waiting {
		text += ", waiting for the server"
	}
	p.mu.bar.Describe(text)
	shown := now.Bytes
	if now.Total > 0 {
		shown = min(shown, now.Total-1)
	}
	_ = p.mu.bar.Set64(shown) // a bar that cannot be drawn is not worth an error
}

// bad names a bad line, as long as there are few.
func (p *importProgress) bad(b tabimport.Bad) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.named++
	if p.mu.named > namedBad+1 {
		return
	}
	if p.mu.bar != nil {
		_ = p.mu.bar.Clear() // as above
	}
	if p.mu.named > namedBad {
		fmt.Fprintln(p.w, "more bad lines are counted and not named: --bad-file keeps them")
		return
	}
	fmt.Fprintln(p.w, b.String())
}

func (p *importProgress) end() {
	close(p.stop)
	p.stopped.Wait()
	if p.mu.bar != nil {
		_ = p.mu.bar.Clear() // as above
	}
}
