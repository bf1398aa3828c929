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
	until    int // bytes; then it takes no more. 0: it goes on
	deadline time.Time
	took     int
}

func (s *slowTaker) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }
func (s *slowTaker) SetReadDeadline(time.Time) error    { return nil }

func (s *slowTaker) Write(p []byte) (int, error) {
	left := time.Until(s.deadline)
	takes := time.Duration(1 << 62)
	if s.speed > 0 && (s.until == 0 || s.took < s.until) {
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
			work := func(tell func() error) error {
				for ended == nil {
					ended = tell()
					time.Sleep(time.Second)
				}
				return ended
			}
			h := upkeepOf(Upkeep{
				Verify: func(_ context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
					return store.VerifyReport{}, work(func() error {
						for range 10 {
							o.Found(store.Fault{Kind: store.FaultNote})
						}
						return o.Progress(1, 2)
					})
				},
				Backup: func(_ context.Context, _ BackupRequest, progress func(done, total int64) error) (BackupResult, error) {
					return BackupResult{}, work(func() error { return progress(1, 2) })
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

// How far a client is behind counts together: one that was slow has less time
// left when it takes nothing more. Where a writer has no deadline, it is found
// out after the write.
func TestBeingBehindAddsUp(t *testing.T) {
	const piece = 256 << 10
	synctest.Test(t, func(t *testing.T) {
		u := &upkeep{door: &door{}}
		u.Upkeep = &Upkeep{StallTimeout: time.Minute}
		w := &slowTaker{ResponseRecorder: httptest.NewRecorder(), speed: slowest / 2, until: 40 * piece}
		l := u.newLongReply(w)
		var err error
		began := time.Now()
		for err == nil {
			_, err = l.Write(make([]byte, piece))
		}
		// 40 pieces take 80 s, of which 40 s count; 20 s are left, and a second for
		// the piece itself.
		if took := time.Since(began); !errors.Is(err, ErrSlowClient) || took != 101*time.Second {
			t.Errorf("it is cut off after %v: %v", took, err)
		}
		l = u.newLongReply(sleeper{httptest.NewRecorder()})
		if _, err := l.Write(make([]byte, piece)); !errors.Is(err, ErrSlowClient) {
			t.Errorf("a writer without deadlines: %v", err)
		}
	})
}

// sleeper is a writer without deadlines, of a client that sleeps.
type sleeper struct{ http.ResponseWriter }

func (s sleeper) Write(p []byte) (int, error) {
	time.Sleep(time.Hour)
	return len(p), nil
}

// Progress is told now and then, and in the end.
func TestProgressIsToldNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := upkeepOf(Upkeep{Backup: func(_ context.Context, _ BackupRequest, progress func(done, total int64) error) (BackupResult, error) {
			for done := range int64(101) {
				if err := progress(done, 100); err != nil {
					return BackupResult{}, err
				}
				time.Sleep(10 * time.Millisecond)
			}
			return BackupResult{}, nil
		}})
		w := ask3(h, "backup", `{"dir":"/x"}`, "application/json")
		if n := strings.Count(w.Body.String(), `"progress"`); n != 6 || !strings.Contains(w.Body.String(), `{"done":100,"total":100}`) {
			t.Errorf("told %d times: %s", n, w.Body)
		}
	})
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
