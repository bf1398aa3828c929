package ops

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/store"
)

// slowTaker is the connection of a client that takes so many bytes a second; 0:
// none. It keeps the deadline that it is given.
type slowTaker struct {
	*httptest.ResponseRecorder
	speed    int
	deadline time.Time
	took     int
}

func (s *slowTaker) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }
func (s *slowTaker) SetReadDeadline(time.Time) error    { return nil }

func (s *slowTaker) Write(p []byte) (int, error) {
	left := time.Until(s.deadline)
	takes := time.Duration(1 << 62)
	if s.speed > 0 {
		takes = time.Duration(len(p)) * time.Second / time.Duration(s.speed)
	}
	if takes > left {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(takes)
	s.took += len(p)
	return len(p), nil
}

func (s *slowTaker) FlushError() error { return nil }

// call asks for a work of a client that takes its reply slowly, and gives the
// time until it ended and whether it was cut off.
func call(h http.Handler, path string, w http.ResponseWriter) (took time.Duration, cut bool) {
	began := time.Now()
	defer func() {
		took = time.Since(began)
		if r := recover(); r != nil {
			cut = true
		}
	}()
	r := httptest.NewRequest("POST", "/v1/admin/"+path, nil)
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	return took, cut
}

// A client that takes nothing, or too little, is cut off, and what it held is
// free for the next; one that is slow enough to be waited for is not.
func TestClientThatDoesNotTakeItsReply(t *testing.T) {
	const piece = 256 << 10
	cases := []struct {
		name    string
		speed   int
		timeout time.Duration // 0: the default
		pause   time.Duration // of the server, between two pieces
		pieces  int
		after   time.Duration // at which it is cut off; 0: it is not
	}{
		{"takes nothing", 0, 0, 0, 1000, time.Minute},
		{"takes nothing, of a server that says so", 0, time.Second, 0, 1000, time.Second},
		{"takes a byte a second", 1, 0, 0, 1000, time.Minute + piece*time.Second/slowest},
		{"takes half of what it must", slowest / 2, 0, 0, 1000, 2 * time.Minute},
		{"takes what it must, for an hour", slowest, 0, 0, 3600, 0},
		{"is slow in a server that is slower", slowest, 0, time.Hour, 10, 0},
		{"is fast", 100 << 20, 0, 0, 10, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				ended := error(nil)
				u := Upkeep{StallTimeout: c.timeout, BackupTar: func(_ context.Context, _ BackupRequest, open func() backupWriter) error {
					w := open()
					for range c.pieces {
						if _, ended = w.Write(make([]byte, piece)); ended != nil {
							return ended
						}
						time.Sleep(c.pause)
					}
					return nil
				}}
				mux := http.NewServeMux()
				Mount(mux, Options{Upkeep: &u, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				w := &slowTaker{ResponseRecorder: httptest.NewRecorder(), speed: c.speed}
				took, cut := call(mux, "backup/tar", w)
				switch {
				case c.after == 0:
					if cut || ended != nil || w.took != c.pieces*piece {
						t.Errorf("it is cut off after %v and %d bytes: %v", took, w.took, ended)
					}
				// Each piece may be waited for as long as it takes at the least speed.
				case !cut || took < c.after-2*time.Second || took > c.after+2*time.Second:
					t.Errorf("cut off: %v, after %v, want %v", cut, took, c.after)
				case !errors.Is(ended, ErrSlowClient) || !strings.Contains(log.String(), "does not take the reply"):
					t.Errorf("the work ends with %v, and the log says %s", ended, log.String())
				}
				// Nobody is kept waiting after it.
				u.BackupTar = func(_ context.Context, _ BackupRequest, open func() backupWriter) error {
					_, err := open().Write([]byte("tar"))
					return err
				}
				next := httptest.NewRecorder()
				if _, cut := call(mux, "backup/tar", next); cut || next.Code != 200 {
					t.Errorf("the next one is answered %d", next.Code)
				}
			})
		})
	}
	if len(cases) != 7 {
		t.Errorf("%d cases", len(cases))
	}
}

// Who does not take the lines of a work ends it: nobody would hear of its end.
func TestEventsThatAreNotTaken(t *testing.T) {
	for _, path := range []string{"verify", "backup"} {
		synctest.Test(t, func(t *testing.T) {
			var ended error
			work := func(ctx context.Context, tell func() error) error {
				for ended == nil {
					ended = errors.Join(tell(), ctx.Err())
					time.Sleep(time.Second)
				}
				return ended
			}
			h := upkeepOf(Upkeep{
				Verify: func(ctx context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
					return store.VerifyReport{}, work(ctx, func() error { return o.Progress(1, 2) })
				},
				Backup: func(ctx context.Context, _ BackupRequest, progress func(done, total int64) error) (BackupResult, error) {
					return BackupResult{}, work(ctx, func() error { return progress(1, 2) })
				},
			})
			began := time.Now()
			cut := func() (cut bool) {
				defer func() { cut = recover() != nil }()
				r := httptest.NewRequest("POST", "/v1/admin/"+path, strings.NewReader(`{"dir":"/x"}`))
				if path == "verify" {
					r.Body = http.NoBody
				}
				r.Header.Set("Content-Type", "application/json")
				h.ServeHTTP(&slowTaker{ResponseRecorder: httptest.NewRecorder()}, r)
				return false
			}()
			if took := time.Since(began); !cut || !errors.Is(ended, context.Canceled) || took > 2*time.Minute {
				t.Errorf("%s: cut off: %v, after %v; the work ends with %v", path, cut, took, ended)
			}
		})
	}
}

// slowBody is a request that never comes whole until it is let.
type slowBody struct{ begun, let chan struct{} }

func (b slowBody) Read([]byte) (int, error) {
	close(b.begun)
	<-b.let
	return 0, errors.New("the client went away")
}

// A request that comes slowly keeps nobody waiting.
func TestRequestThatComesSlowlyHoldsNothing(t *testing.T) {
	h := upkeepOf(Upkeep{})
	body := slowBody{make(chan struct{}), make(chan struct{})}
	done := make(chan int)
	go func() {
		r := httptest.NewRequest("POST", "/v1/admin/backup/tar", body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		done <- w.Code
	}()
	<-body.begun
	if w := ask3(h, "verify", "{}", "application/json"); w.Code != 200 {
		t.Errorf("another one is answered %d %s", w.Code, w.Body)
	}
	close(body.let)
	if code := <-done; code != 400 {
		t.Errorf("it is answered %d", code)
	}
}
