package top

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
)

// fakeServer answers as a test says; it is used inside a bubble only.
type fakeServer struct {
	t  *testing.T
	mu sync.Mutex
	// stuck: it does not answer until the context ends.
	stuck bool
	err   error
	asked int
	// held: an answer comes when something is sent.
	held chan struct{}
}

func (f *fakeServer) set(stuck bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stuck, f.err = stuck, err
}

// asks is how often it was asked.
func (f *fakeServer) asks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *fakeServer) ask(ctx context.Context) (*Sample, error) {
	f.mu.Lock()
	f.asked++
	stuck, err, n, held := f.stuck, f.err, f.asked, f.held
	f.mu.Unlock()
	if held != nil {
		<-held
	}
	if stuck {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	file := "before.prom"
	if n > 1 {
		file = "after.prom"
	}
	return hot(sample(f.t, file, time.Now())), nil
}

// fakeScreen is a terminal that remembers what it shows.
type fakeScreen struct {
	tcell.SimulationScreen
	mu   sync.Mutex
	text string
	back int // how often the terminal was given back
}

// Fini implements tcell.Screen.
func (s *fakeScreen) Fini() {
	s.SimulationScreen.Fini()
	s.back++
}

// Show implements tcell.Screen.
func (s *fakeScreen) Show() {
	s.SimulationScreen.Show()
	cells, width, height := s.GetContents()
	var b strings.Builder
	for y := range height {
		var line strings.Builder
		for x := range width {
			line.WriteString(string(cells[y*width+x].Runes))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = b.String()
}

// shown is what the screen shows once everything has come to rest.
func (s *fakeScreen) shown() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// running runs Live in a bubble of its own time until the test's body returns.
func running(t *testing.T, body func(f *fakeServer, screen *fakeScreen, left chan error, cancel func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{t: t}
		screen := &fakeScreen{SimulationScreen: tcell.NewSimulationScreen("UTF-8")}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		left := make(chan error, 1)
		go func() { left <- Live(ctx, f.ask, screen, time.Second) }()
		synctest.Wait()
		resize(screen, 120, 40)
		body(f, screen, left, cancel)
		cancel()
		synctest.Wait()
	})
}

// awaitLeft waits for the end of the view; an hour of the bubble's time is more
// than enough.
func awaitLeft(t *testing.T, left chan error) {
	t.Helper()
	select {
	case err := <-left:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Hour):
		t.Fatal("the view does not end")
	}
}

func expect(t *testing.T, screen *fakeScreen, when string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := screen.shown(); !strings.Contains(got, text) {
			t.Errorf("%s the screen has no %q:\n%s", when, text, got)
		}
	}
}

// resize does what a terminal does when its window changes.
func resize(screen *fakeScreen, width, height int) {
	screen.SetSize(width, height)
	if err := screen.PostEvent(tcell.NewEventResize(width, height)); err != nil {
		panic(err) // the queue is full: nobody reads it
	}
	synctest.Wait()
}

func key(screen *fakeScreen, r rune) {
	screen.InjectKey(tcell.KeyRune, r, tcell.ModNone)
	synctest.Wait()
}

func TestLive(t *testing.T) {
	running(t, func(f *fakeServer, screen *fakeScreen, left chan error, _ func()) {
		expect(t, screen, "at first", "cellar v1.2.3  ready", "requests -/s", "events")
		time.Sleep(time.Second)
		expect(t, screen, "a second later", "requests 2,008/s", "thrift1 mutateRows      2,000")

		key(screen, 'r')
		if lines := screen.shown(); strings.Index(lines, "counters") > strings.Index(lines, "events") {
			t.Errorf("after r events come first:\n%s", lines)
		}
		key(screen, '?')
		expect(t, screen, "after ?", "Tables are sorted by:")
		key(screen, '?')

		resize(screen, 40, 6)
		expect(t, screen, "on a small screen", "PRESSURE")
		if got := screen.shown(); strings.Count(got, "\n") != 6 {
			t.Errorf("a screen of 6 lines shows\n%s", got)
		}
		resize(screen, 120, 40)
		expect(t, screen, "on a large screen", "and 4 colder tables")

		key(screen, 'q')
		awaitLeft(t, left)
		if screen.back != 1 {
			t.Errorf("the terminal was given back %d times", screen.back)
		}
	})
}

// A server that goes away and comes back is shown so.
func TestLive_serverComesAndGoes(t *testing.T) {
	running(t, func(f *fakeServer, screen *fakeScreen, left chan error, _ func()) {
		f.set(false, errors.New("connection refused"))
		time.Sleep(3 * time.Second)
		expect(t, screen, "after the server has gone", "no answer since", "connection refused", "cellar v1.2.3")
		f.set(false, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := screen.shown(); strings.Contains(got, "no answer") {
			t.Errorf("the server is back:\n%s", got)
		}
		if f.asks() != 5 {
			t.Errorf("asked %d times in 4 s", f.asks())
		}
	})
}

// A server that takes its time holds up no key, and is asked once at a time.
func TestLive_slowServer(t *testing.T) {
	running(t, func(f *fakeServer, screen *fakeScreen, left chan error, _ func()) {
		f.set(true, nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if f.asks() != 2 {
			t.Errorf("asked %d times, want 2", f.asks())
		}
		key(screen, '?')
		expect(t, screen, "though the server is silent", "Tables are sorted by:")
		screen.InjectKey(tcell.KeyCtrlC, 0, tcell.ModNone)
		awaitLeft(t, left)
	})
}

func TestLive_pauseAsksNothing(t *testing.T) {
	running(t, func(f *fakeServer, screen *fakeScreen, left chan error, cancel func()) {
		key(screen, 'p')
		before := f.asks()
		time.Sleep(5 * time.Second)
		expect(t, screen, "after p", "paused")
		if f.asks() != before {
			t.Errorf("asked %d times while paused", f.asks()-before)
		}
		key(screen, 'p')
		time.Sleep(time.Second)
		synctest.Wait()
		if f.asks() != before+1 {
			t.Errorf("asked %d times after the pause", f.asks()-before)
		}
		// The context ends it as q does.
		cancel()
		awaitLeft(t, left)
	})
}

// An answer that comes while the view is paused does not change it.
func TestLive_pauseTakesNoAnswer(t *testing.T) {
	running(t, func(f *fakeServer, screen *fakeScreen, left chan error, cancel func()) {
		held := make(chan struct{})
		f.mu.Lock()
		f.held = held
		f.mu.Unlock()
		time.Sleep(time.Second) // it is asked
		key(screen, 'p')
		close(held)
		expect(t, screen, "while paused", "requests -/s", "paused")
		cancel()
		awaitLeft(t, left)
	})
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{t: t}
		var out strings.Builder
		begin := time.Now()
		if err := Batch(t.Context(), f.ask, &out, 2, 3*time.Second, 100); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 6*time.Second || f.asks() != 3 {
			t.Errorf("%d samples in %s", f.asks(), took)
		}
		// The second view's rates are those of the second interval.
		if got := out.String(); strings.Count(got, "cellar v1.2.3") != 2 || !strings.Contains(got, "requests 669/s") ||
			!strings.Contains(got, "requests 0/s") || strings.ContainsAny(got, "█▁\x1b") {
			t.Errorf("views:\n%s", got)
		}
	})
}

func TestBatch_ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		if err := Batch(t.Context(), (&fakeServer{t: t, err: refused}).ask, &strings.Builder{}, 1, time.Second, 80); !errors.Is(err, refused) {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		f := &fakeServer{t: t}
		if err := Batch(ctx, f.ask, &strings.Builder{}, 0, 4*time.Second, 80); err != nil || f.asks() != 3 {
			t.Errorf("%d samples, %v", f.asks(), err)
		}
		f.set(true, nil)
		if err := Batch(ctx, f.ask, &strings.Builder{}, 0, time.Second, 80); err != nil {
			t.Errorf("ended while asking: %v", err)
		}
		for _, stuck := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			f := &fakeServer{t: t, stuck: stuck}
			if err := Batch(ctx, f.ask, &strings.Builder{}, 5, 4*time.Second, 80); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("views are missing: %v", err)
			}
			cancel()
		}
		broken := errors.New("broken pipe")
		if err := Batch(t.Context(), (&fakeServer{t: t}).ask, failingWriter{broken}, 1, time.Second, 80); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
