package door

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// lines is a protocol for tests: a request is a line, the reply is the line.
// Some lines mean something.
type lines struct {
	started chan string   // gets the lines "wait"
	proceed chan struct{} // lets them go on
	closed  int
}

func newLines() *lines {
	return &lines{started: make(chan string, 16), proceed: make(chan struct{})}
}

func (h *lines) Serve(ctx context.Context, c *Conn) error {
	var have []byte
	charged := 0
	piece := make([]byte, 1024)
	for {
		line, rest, whole := bytes.Cut(have, []byte("\n"))
		if !whole {
			n, err := c.Read(piece)
			if err != nil {
				return err
			}
			for len(have)+n > charged { // doubled as bytes arrive
				step := max(charged, 4<<10)
				if err := c.Grow(step); err != nil {
					return err
				}
				charged += step
			}
			have = append(have, piece[:n]...)
			continue
		}
		switch string(line) {
		case "bad":
			c.Out.Buf = append(c.Out.Buf, "what?\n"...)
			return ErrBadBytes
		case "panic":
			c.Out.Buf = append(c.Out.Buf, "half a reply"...)
			panic("fault")
		case "huge":
			if err := c.Out.Reserve(32 << 20); err != nil {
				return err
			}
			c.Out.Buf = append(c.Out.Buf, make([]byte, 32<<20)...)
		case "wait":
			h.started <- string(line)
			select {
			case <-h.proceed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		c.Out.Buf = append(append(c.Out.Buf, line...), '\n')
		if have = rest; len(have) == 0 {
			_ = c.Grow(-charged)
			charged = 0
		}
		if err := c.EndRequest(len(have) > 0); err != nil {
			return err
		}
	}
}

func (h *lines) Close(context.Context) error {
	h.closed++
	return nil
}

func open(t *testing.T, opts Options, h Handler) *Door {
	t.Helper()
	opts.Name, opts.Addr = "lines", "127.0.0.1:0"
	d, err := Listen(t.Context(), opts, h)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, d)
	return d
}

func serve(t *testing.T, d *Door) {
	served := make(chan error, 1)
	go func() { served <- d.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = d.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

type client struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, d *Door) *client {
	t.Helper()
	nc, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return wrap(t, nc)
}

func wrap(t *testing.T, nc net.Conn) *client {
	t.Cleanup(func() { nc.Close() })
	return &client{t, nc, bufio.NewReader(nc)}
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, s); err != nil {
		c.t.Fatalf("send %q: %v", s, err)
	}
}

func (c *client) expect(line string) {
	c.t.Helper()
	got, err := c.r.ReadString('\n')
	if got != line+"\n" || err != nil {
		c.t.Fatalf("got %q, %v; want %q", got, err, line)
	}
}

// expectEnd waits for the door to close.
func (c *client) expectEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); len(rest) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Fatalf("got %q, %v; want the end", rest, err)
	}
}

// until waits for a figure that another goroutine sets.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestDoorServesManyRequestsOnManyConnections(t *testing.T) {
	h := newLines()
	d := open(t, Options{}, h)
	var wg sync.WaitGroup
	for range 10 {
		c := dial(t, d)
		wg.Go(func() {
			for range 100 {
				c.send("one\ntwo\n")
				c.expect("one")
				c.expect("two")
			}
			c.Close()
		})
	}
	wg.Wait()
	until(t, "all sessions over", func() bool { return d.Figures().Open == 0 })
	f := d.Figures()
	if f.Accepted != 10 || f.Received != 8000 || f.Sent != 8000 || f.Closed["client"] != 10 || f.InFlight != 0 {
		t.Errorf("figures: %+v", f)
	}
}

func TestListenNamesABusyPort(t *testing.T) {
	d := open(t, Options{}, newLines())
	_, err := Listen(t.Context(), Options{Name: "other", Addr: d.Addr().String()}, newLines())
	if !errors.Is(err, ErrAddrInUse) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("%v, want ErrAddrInUse", err)
	}
	want := "door other: address " + d.Addr().String() + " is in use: stop the process that listens there, or give this door another address"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	_, err = Listen(t.Context(), Options{Name: "other", Addr: "192.0.2.1:1"}, newLines())
	if err == nil || errors.Is(err, ErrAddrInUse) || !strings.Contains(err.Error(), "door other: cannot listen on 192.0.2.1:1") {
		t.Errorf("an address that is not ours: %v", err)
	}
}

func TestOptionsValidateNamesTheField(t *testing.T) {
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Addr: ":1"}, "Name must not be empty"},
		{Options{Name: "x"}, `Addr ""`},
		{Options{Name: "x", Addr: "host"}, `Addr "host"`},
		{Options{Name: "x", Addr: ":1", MaxConnections: -1}, "MaxConnections -1"},
		{Options{Name: "x", Addr: ":1", MaxRequest: -2}, "MaxRequest -2"},
		{Options{Name: "x", Addr: ":1", RequestTimeout: -time.Second}, "RequestTimeout -1s"},
		{Options{Name: "x", Addr: ":1", FirstByteTimeout: -time.Second}, "FirstByteTimeout -1s"},
		{Options{Name: "x", Addr: ":1", WriteTimeout: -time.Second}, "WriteTimeout -1s"},
		{Options{Name: "x", Addr: ":1", IdleTimeout: -time.Second}, "IdleTimeout -1s"},
	} {
		if err := c.opts.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want it to hold %q", c.opts, err, c.want)
		}
	}
	if err := (&Options{Name: "x", Addr: "127.0.0.1:0"}).Validate(); err != nil {
		t.Errorf("the least that is needed: %v", err)
	}
}

func TestDoorClosesWhatIsTooMany(t *testing.T) {
	d := open(t, Options{MaxConnections: 2}, newLines())
	a, b := dial(t, d), dial(t, d)
	a.send("a\n")
	a.expect("a")
	b.send("b\n")
	b.expect("b")
	dial(t, d).expectEnd()
	if f := d.Figures(); f.Refused != 1 || f.Open != 2 {
		t.Errorf("figures: %+v", f)
	}
	a.Close()
	until(t, "room for another", func() bool { return d.Figures().Open == 1 })
	c := dial(t, d)
	c.send("c\n")
	c.expect("c")
}

func TestDoorAnswersBadBytesThenCloses(t *testing.T) {
	d := open(t, Options{}, newLines())
	c := dial(t, d)
	c.send("bad\n" + strings.Repeat("more that nobody reads\n", 1000))
	c.expect("what?")
	// The end is clean: unread bytes must not make it a reset, which may cost a
	// client the reply.
	if rest, err := io.ReadAll(c.r); len(rest) > 0 || err != nil {
		t.Errorf("got %q, %v; want a clean end", rest, err)
	}
	until(t, "counted", func() bool { return d.Figures().Closed["bad_bytes"] == 1 })
}

// lastReply reads a little, answers much, and ends.
type lastReply struct {
	size int
	why  error
}

func (h lastReply) Serve(_ context.Context, c *Conn) error {
	if _, err := c.Read(make([]byte, 10)); err != nil {
		return err
	}
	if err := c.Out.Reserve(h.size); err != nil {
		return err
	}
	c.Out.Buf = append(c.Out.Buf, make([]byte, h.size)...)
	return h.why
}

// A reply that the system has not sent yet when the door ends the connection
// arrives all the same, though the client has sent more than the door has read.
func TestTheLastReplyArrivesWhole(t *testing.T) {
	const size = 4 << 20
	n := 0
	for _, why := range []error{ErrShutdown, ErrNoMemory, ErrBadBytes, ErrTooLarge, ErrTimeout, errors.New("fault")} {
		d := open(t, Options{}, lastReply{size, why})
		c := dial(t, d)
		if err := c.Conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
			t.Fatal(err)
		}
		c.send(strings.Repeat("x", 100_000))
		got := 0
		piece := make([]byte, 4<<10)
		for {
			k, err := c.Conn.Read(piece)
			if got += k; err != nil {
				if got != size || err != io.EOF {
					t.Errorf("%v: got %d bytes of %d, then %v", why, got, size, err)
				}
				break
			}
		}
		c.Conn.Close()
		n++
	}
	if n != 6 {
		t.Errorf("%d ends were tried", n)
	}
}

// A client that takes nothing of the last reply does not hold up Shutdown beyond
// its context.
func TestShutdownEndsLingering(t *testing.T) {
	const size = 128 << 10
	d := open(t, Options{}, lastReply{size, ErrShutdown})
	c := dial(t, d)
	if err := c.Conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	c.send(strings.Repeat("x", 100_000))
	until(t, "the reply is written", func() bool { return d.Figures().Sent == size })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestDoorSurvivesAPanic(t *testing.T) {
	d := open(t, Options{}, newLines())
	other := dial(t, d)
	c := dial(t, d)
	c.send("panic\n")
	c.expectEnd()
	other.send("alive\n")
	other.expect("alive")
	until(t, "counted", func() bool { return d.Figures().Closed["error"] == 1 })
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	h := newLines()
	d := open(t, Options{}, h)
	idle, busy, half := dial(t, d), dial(t, d), dial(t, d)
	idle.send("x\n")
	idle.expect("x")
	half.send("begun")
	busy.send("wait\nand one that came too late\n")
	<-h.started
	until(t, "half a request is read", func() bool { return d.Figures().Received == 2+5+32 })

	down := make(chan error, 2)
	go func() { down <- d.Shutdown(t.Context()) }()
	idle.expectEnd()
	if _, err := net.Dial("tcp", d.Addr().String()); err == nil {
		t.Error("the door still accepts")
	}
	go func() { down <- d.Shutdown(t.Context()) }() // a second one waits as well
	select {
	case err := <-down:
		t.Fatalf("Shutdown returned (%v) before the requests were done", err)
	default:
	}
	half.send(" and done\n")
	half.expect("begun and done")
	half.expectEnd()
	h.proceed <- struct{}{}
	busy.expect("wait")
	busy.expectEnd()
	for range 2 {
		if err := <-down; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	}
	if h.closed != 1 {
		t.Errorf("the handler was closed %d times", h.closed)
	}
	if f := d.Figures(); f.Closed["shutdown"] != 3 || f.Open != 0 {
		t.Errorf("figures: %+v", f)
	}
}

func TestShutdownCutsOffWhatDoesNotFinish(t *testing.T) {
	h := newLines()
	d := open(t, Options{}, h)
	busy, half := dial(t, d), dial(t, d)
	busy.send("wait\n")
	half.send("begun")
	<-h.started
	until(t, "half a request is read", func() bool { return d.Figures().Received == 10 })
	ctx, cancel := context.WithCancelCause(t.Context())
	impatient := errors.New("second signal")
	cancel(impatient)
	err := d.Shutdown(ctx)
	if !errors.Is(err, impatient) || !strings.Contains(err.Error(), "door lines: 2 connections cut off") {
		t.Errorf("Shutdown: %v", err)
	}
	if f := d.Figures(); f.Closed["shutdown"] != 2 || f.Open != 0 || f.InFlight != 0 {
		t.Errorf("figures: %+v", f)
	}
}

// pipes is a listener whose connections have no network behind them, so that
// time can be faked. It begins with some failures.
type pipes struct {
	failures []error
	conns    chan net.Conn
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	if len(p.failures) > 0 {
		err := p.failures[0]
		p.failures = p.failures[1:]
		return nil, err
	}
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(t *testing.T) *client {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return wrap(t, ours)
}

// inBubble runs a door under a clock of its own.
func inBubble(t *testing.T, opts Options, run func(t *testing.T, d *Door, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn)}
		opts.Name = "lines"
		d := newDoor(t.Context(), opts, newLines(), p)
		serve(t, d)
		run(t, d, p)
	})
}

func TestRequestsThatDripAreEnded(t *testing.T) {
	inBubble(t, Options{RequestTimeout: 10 * time.Second}, func(t *testing.T, d *Door, p *pipes) {
		c := p.dial(t)
		start := time.Now()
		for range 9 { // a byte a second: each read succeeds, the request does not
			c.send("x")
			time.Sleep(time.Second)
		}
		c.expectEnd()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("ended after %s, want the request's 10 s", took)
		}
		synctest.Wait()
		if f := d.Figures(); f.Closed["timeout"] != 1 {
			t.Errorf("figures: %+v", f)
		}
	})
}

func TestTheClockOfARequestStartsWithIt(t *testing.T) {
	inBubble(t, Options{RequestTimeout: 10 * time.Second}, func(t *testing.T, d *Door, p *pipes) {
		c := p.dial(t)
		for range 5 {
			c.send("a")
			time.Sleep(9 * time.Second)
			c.send("b\nc") // the next one begins with the end of this one
			c.expect("ab")
			time.Sleep(9 * time.Second)
			c.send("d\n")
			c.expect("cd")
		}
	})
}

// A request that has begun behind another one is as begun as any.
func TestTheClockOfABufferedRequestRuns(t *testing.T) {
	inBubble(t, Options{RequestTimeout: 10 * time.Second}, func(t *testing.T, d *Door, p *pipes) {
		c := p.dial(t)
		c.send("a\nb")
		c.expect("a")
		start := time.Now()
		c.expectEnd()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("ended after %s", took)
		}
	})
}

func TestC13_IdleDoesNotCloseAHealthyConnection(t *testing.T) {
	inBubble(t, Options{RequestTimeout: time.Second}, func(t *testing.T, d *Door, p *pipes) {
		c, silent := p.dial(t), p.dial(t)
		c.send("hal")
		synctest.Wait() // the request's clock ran and must be taken off
		c.send("f\n")
		c.expect("half")
		time.Sleep(1000 * time.Hour)
		c.send("alive\n")
		c.expect("alive")
		silent.send("me too\n")
		silent.expect("me too")
	})
}

func TestIdleAndFirstByteTimeouts(t *testing.T) {
	opts := Options{IdleTimeout: time.Minute, FirstByteTimeout: time.Second}
	inBubble(t, opts, func(t *testing.T, d *Door, p *pipes) {
		c, silent := p.dial(t), p.dial(t)
		start := time.Now()
		c.send("x\n")
		c.expect("x")
		silent.expectEnd()
		if took := time.Since(start); took != time.Second {
			t.Errorf("the silent one ended after %s", took)
		}
		c.expectEnd()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the idle one ended after %s", took)
		}
		synctest.Wait()
		if f := d.Figures(); f.Closed["timeout"] != 2 {
			t.Errorf("figures: %+v", f)
		}
	})
}

func TestRepliesThatNobodyReadsAreEnded(t *testing.T) {
	inBubble(t, Options{WriteTimeout: 10 * time.Second}, func(t *testing.T, d *Door, p *pipes) {
		c := p.dial(t)
		start := time.Now()
		c.send("huge\n")
		synctest.Wait()
		if used := d.Figures().InFlight; used < 32<<20-FreeBytes {
			t.Errorf("a reply of 32 MiB holds %d bytes of the budget", used)
		}
		for d.Figures().Closed["timeout"] == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took < 10*time.Second || took > 16*time.Second {
			t.Errorf("ended after %s, want 10 s to 15 s", took)
		}
		if f := d.Figures(); f.InFlight != 0 {
			t.Errorf("%d bytes of the budget are lost", f.InFlight)
		}
	})
}

// A client that reads slowly, but reads, is not cut off.
func TestSlowReadersAreServed(t *testing.T) {
	inBubble(t, Options{WriteTimeout: 10 * time.Second}, func(t *testing.T, d *Door, p *pipes) {
		c := p.dial(t)
		c.send("huge\n")
		for range 64 {
			time.Sleep(8 * time.Second)
			if _, err := io.CopyN(io.Discard, c.r, 512<<10); err != nil {
				t.Fatal(err)
			}
		}
		c.expect("huge")
	})
}

func TestAcceptErrorsThatPassAreWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn)}
		for range 12 {
			p.failures = append(p.failures, &net.OpError{Op: "accept", Err: syscall.EMFILE})
		}
		d := newDoor(t.Context(), Options{Name: "lines"}, newLines(), p)
		serve(t, d)
		start := time.Now()
		c := p.dial(t)
		// 5 ms doubled up to 1 s: 5+10+...+640 ms, then 4 times a second.
		if took := time.Since(start); took != 1275*time.Millisecond+4*time.Second {
			t.Errorf("accepted after %s", took)
		}
		c.send("x\n")
		c.expect("x")
		if f := d.Figures(); f.AcceptErrors != 12 {
			t.Errorf("figures: %+v", f)
		}
	})
}

func TestAcceptErrorsThatStayEndServe(t *testing.T) {
	broken := errors.New("listener is broken")
	p := &pipes{conns: make(chan net.Conn), failures: []error{broken}}
	d := newDoor(t.Context(), Options{Name: "lines"}, newLines(), p)
	if err := d.Serve(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "door lines") {
		t.Errorf("Serve: %v", err)
	}
	if err := d.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Eighty clients send what fills the budget and then nothing. Small
// requests do not notice; a large one costs two seconds, and them their
// connections.
func TestHalfSentRequestsDoNotStarveOthers(t *testing.T) {
	opts := Options{InFlight: NewBudget(3 << 20), RequestTimeout: time.Hour, MaxConnections: 300}
	inBubble(t, opts, func(t *testing.T, d *Door, p *pipes) {
		part := strings.Repeat("x", 256<<10)
		for range 80 {
			c := p.dial(t)
			go func() {
				_, _ = io.WriteString(c.Conn, part) // blocks when the door does not read
			}()
		}
		synctest.Wait()
		if f := d.Figures(); f.InFlight > 3<<20 || f.InFlight < 3<<19 {
			t.Errorf("in flight: %d", f.InFlight)
		}
		good := p.dial(t)
		start := time.Now()
		for range 100 {
			good.send("small\n")
			good.expect("small")
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("small requests waited %s", took)
		}
		go func() { _, _ = io.WriteString(good.Conn, part+"\n") }()
		good.expect(part)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("a large request waited %s", took)
		}
		synctest.Wait()
		if f := d.Figures(); f.Closed["timeout"] == 0 {
			t.Errorf("figures: %+v", f)
		}
	})
}

// Who waits for memory for too long is told so; the wait is not the client's
// fault, so its request's clock does not run.
func TestMemoryThatNeverComes(t *testing.T) {
	b := NewBudget(1 << 20)
	inBubble(t, Options{InFlight: b, RequestTimeout: 10 * time.Second}, func(t *testing.T, d *Door, p *pipes) {
		b.TryAcquire(1 << 20)
		start := time.Now()
		c := p.dial(t)
		go func() { _, _ = io.WriteString(c.Conn, strings.Repeat("x", 100<<10)) }()
		c.expectEnd()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("given up after %s", took)
		}
		synctest.Wait()
		if f := d.Figures(); f.Closed["error"] != 1 {
			t.Errorf("figures: %+v", f)
		}

		c = p.dial(t)
		part := strings.Repeat("x", 50<<10)
		go func() { _, _ = io.WriteString(c.Conn, part+part) }()
		time.Sleep(9 * time.Second) // waits for memory
		b.Release(1 << 20)
		time.Sleep(9 * time.Second) // waits for the client
		c.send("\n")
		c.expect(part + part)
	})
}

// A connection that ends while it waits for memory, and is given it all the same,
// gives it back: else the fast lane would be taken for ever.
func TestMemoryThatComesTooLate(t *testing.T) {
	b := NewBudget(1 << 20)
	inBubble(t, Options{InFlight: b}, func(t *testing.T, d *Door, p *pipes) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		c := d.newConn(t.Context(), theirs)
		c.clocked = true // in the middle of a request
		b.TryAcquire(1 << 20)
		got := make(chan error)
		go func() { got <- c.Grow(FreeBytes + 600<<10) }()
		synctest.Wait()
		if b.Waiting() != 1 {
			t.Fatalf("%d wait", b.Waiting())
		}
		c.end(ErrStalled)
		b.Release(1 << 20)
		if err := <-got; !errors.Is(err, ErrStalled) {
			t.Errorf("it was given memory: %v", err)
		}
		if held := c.lease.Held(); held != 0 {
			t.Errorf("what it was refused, it holds: %d bytes", held)
		}
		c.close()
		if used, held := b.Used(), c.lease.Held(); used != 0 || held != 0 {
			t.Errorf("%d bytes are taken, of which it holds %d", used, held)
		}
		// The lane is free.
		l := b.lease(nobody)
		if !l.TryGrow(1 << 20) {
			t.Error("the next one finds no room")
		}
		l.Shrink(1 << 20)
	})
}

func TestOutputIsChargedToTheBudget(t *testing.T) {
	inBubble(t, Options{InFlight: NewBudget(1 << 20)}, func(t *testing.T, d *Door, p *pipes) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		c := d.newConn(t.Context(), theirs)
		defer c.close()
		for _, n := range []int{1, 8 << 10, 64 << 10, 100 << 10, 400 << 10} {
			if err := c.Out.Reserve(n); err != nil {
				t.Fatalf("reserve %d: %v", n, err)
			}
			if free := cap(c.Out.Buf) - len(c.Out.Buf); free < n {
				t.Errorf("reserved %d, got %d", n, free)
			}
			c.Out.Buf = append(c.Out.Buf, make([]byte, n/2)...)
		}
		if used := d.Figures().InFlight; used != int64(cap(c.Out.Buf)-FreeBytes) {
			t.Errorf("%d charged for a buffer of %d", used, cap(c.Out.Buf))
		}
		had := len(c.Out.Buf)
		if err := c.Out.Reserve(2 << 20); !errors.Is(err, ErrTooLarge) || len(c.Out.Buf) != had {
			t.Errorf("reserve more than the budget: %v, %d bytes left of %d", err, len(c.Out.Buf), had)
		}
		go io.Copy(io.Discard, ours)
		if err := c.Out.Flush(); err != nil {
			t.Fatal(err)
		}
		if used := d.Figures().InFlight; used != 0 || len(c.Out.Buf) != 0 {
			t.Errorf("after Flush %d are charged, %d bytes wait", used, len(c.Out.Buf))
		}
	})
}
