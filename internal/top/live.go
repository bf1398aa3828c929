package top

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
)

// Live shows the view on a screen until the user leaves or the context ends.
// The screen is Live's from then on: it is set up and given back.
func Live(ctx context.Context, ask Ask, screen tcell.Screen, interval time.Duration) error {
	if err := screen.Init(); err != nil {
		return fmt.Errorf("set up the terminal: %w", err)
	}
	l := &live{
		screen: screen, ask: ask,
		events: make(chan tcell.Event), answers: make(chan answer),
		model: Model{ASCII: screen.CharacterSet() != "UTF-8"},
	}
	ctx, cancel := context.WithCancel(ctx)
	quit := make(chan struct{})
	l.running.Go(func() { screen.ChannelEvents(l.events, quit) })
	l.loop(ctx, interval)
	cancel()
	close(quit)
	screen.Fini() // ends the wait for an event
	l.running.Wait()
	return nil
}

// live is the view on a terminal: one goroutine has the model and the screen;
// others wait for keys and for the server and hand over what comes.
type live struct {
	screen  tcell.Screen
	ask     Ask
	events  chan tcell.Event
	answers chan answer
	running sync.WaitGroup
	asking  bool // a question is under way: there is never a second
	model   Model
}

type answer struct {
	sample *Sample
	err    error
	at     time.Time
}

func (l *live) loop(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	l.question(ctx)
	for {
		l.draw()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !l.model.Paused() {
				l.question(ctx)
			}
		case a := <-l.answers:
			l.asking = false
			l.take(a)
		case e, ok := <-l.events:
			if !ok || l.event(e) {
				return
			}
		}
	}
}

// question asks the server beside the loop, so that keys are not held up by a
// server that takes its time.
func (l *live) question(ctx context.Context) {
	if l.asking {
		return
	}
	l.asking = true
	l.running.Go(func() {
		s, err := l.ask(ctx)
		select {
		case l.answers <- answer{s, err, time.Now()}:
		case <-ctx.Done():
		}
	})
}

// take adds what the server said. While the view is paused it stays as it is.
func (l *live) take(a answer) {
	switch {
	case l.model.Paused():
	case a.err != nil:
		l.model.Fail(a.err, a.at)
	default:
		l.model.Add(a.sample)
	}
}

func (l *live) event(e tcell.Event) (quit bool) {
	switch e := e.(type) {
	case *tcell.EventResize:
		l.screen.Sync()
	case *tcell.EventKey:
		switch e.Key() {
		case tcell.KeyCtrlC, tcell.KeyEscape:
			return true
		case tcell.KeyRune:
			return l.model.Key(e.Rune())
		}
	}
	return false
}

// looks of the styles. Colours are those of the terminal's own palette.
var looks = [styles]tcell.Style{
	Plain: tcell.StyleDefault,
	Title: tcell.StyleDefault.Bold(true),
	Dim:   tcell.StyleDefault.Dim(true),
	Good:  tcell.StyleDefault.Foreground(tcell.ColorGreen),
	Warn:  tcell.StyleDefault.Foreground(tcell.ColorOlive),
	Bad:   tcell.StyleDefault.Foreground(tcell.ColorMaroon).Bold(true),
}

func (l *live) draw() {
	l.screen.Clear()
	width, height := l.screen.Size()
	for y, line := range l.model.View(width, height) {
		x := 0
		for _, span := range line {
			for _, r := range span.Text {
				l.screen.SetContent(x, y, r, nil, looks[span.Style])
				x++
			}
		}
	}
	l.screen.Show()
}
