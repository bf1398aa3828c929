package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// upkeepOf gives the paths over functions of a test; those that are nil succeed.
func upkeepOf(u Upkeep) http.Handler {
	if u.Verify == nil {
		u.Verify = func(context.Context, store.VerifyOptions) (store.VerifyReport, error) {
			return store.VerifyReport{Files: 3}, nil
		}
	}
	if u.Backup == nil {
		u.Backup = func(context.Context, BackupRequest, func(int64, int64) error) (BackupResult, error) {
			return BackupResult{Files: 2}, nil
		}
	}
	if u.BackupTar == nil {
		u.BackupTar = func(_ context.Context, _ BackupRequest, open func() backupWriter) error {
			_, err := open().Write([]byte("tar"))
			return err
		}
	}
	mux := http.NewServeMux()
	Mount(mux, Options{Upkeep: &u})
	return mux
}

func ask3(h http.Handler, path, body, kind string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/v1/admin/"+path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestUpkeep_dialogue(t *testing.T) {
	bad := Upkeep{
		Verify: func(_ context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
			o.Found(store.Fault{Kind: store.FaultDamage, File: "/x.sst", Offset: 7, What: "it is broken"})
			return store.VerifyReport{Damaged: 1}, o.Progress(10, 10)
		},
		Backup: func(_ context.Context, r BackupRequest, _ func(int64, int64) error) (BackupResult, error) {
			return BackupResult{}, &cell.ArgumentError{Text: "not there: " + r.Dir}
		},
		BackupTar: func(context.Context, BackupRequest, func() backupWriter) error { return store.ErrUnsupported },
	}
	late := Upkeep{Backup: func(_ context.Context, _ BackupRequest, p func(int64, int64) error) (BackupResult, error) {
		return BackupResult{}, errors.Join(p(1, 1), errors.New("the disk is gone"))
	}}
	const isJSON = "application/json"
	cases := []struct {
		name             string
		u                Upkeep
		path, body, kind string
		code             int
		holds            string
	}{
		{"verify", Upkeep{}, "verify", "", isJSON, 200, `{"report":{"files":3,`},
		{"verify with a rate", Upkeep{}, "verify", `{"rate": -1}`, isJSON, 200, `{"report":`},
		{"faults come as they are found", bad, "verify", "{}", isJSON, 200, `{"fault":{"kind":"damage","file":"/x.sst","offset":7,"what":"it is broken"}}` + "\n" + `{"progress":{"done":10,"total":10}}` + "\n" + `{"report":`},
		{"a page in a browser cannot", Upkeep{}, "verify", "{}", "text/plain", 415, "NotJSON"},
		{"nor without a type", Upkeep{}, "backup", `{"dir":"/x"}`, "", 415, "NotJSON"},
		{"nor make a stream", Upkeep{}, "backup/tar", "{}", "application/x-www-form-urlencoded", 415, "NotJSON"},
		{"unknown field", Upkeep{}, "verify", `{"path":"/etc"}`, isJSON, 400, "path"},
		{"backup", Upkeep{}, "backup", `{"dir":"/x"}`, isJSON, 200, `{"backup":{"files":2,`},
		{"backup to nowhere", Upkeep{}, "backup", `{}`, isJSON, 400, "names no folder"},
		{"refused backup", bad, "backup", `{"dir":"/x"}`, isJSON, 400, "not there: /x"},
		{"failure after the first event", late, "backup", `{"dir":"/x"}`, isJSON, 200, `{"failure":{`},
		{"stream", Upkeep{}, "backup/tar", "{}", isJSON, 200, "tar"},
		{"stream of an engine that keeps nothing", bad, "backup/tar", "{}", isJSON, 501, "Unsupported"},
		{"stream into a folder", Upkeep{}, "backup/tar", `{"dir":"/x"}`, isJSON, 400, "neither folder nor base"},
	}
	for _, c := range cases {
		w := ask3(upkeepOf(c.u), c.path, c.body, c.kind)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.holds) {
			t.Errorf("%s: %d %s, want %d %s", c.name, w.Code, w.Body, c.code, c.holds)
		}
	}
	if len(cases) != 14 {
		t.Errorf("%d cases", len(cases))
	}
	// Without the option the paths are not there, and nothing is read by GET.
	if w := ask(Options{}, "POST", "/v1/admin/verify"); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
	w := httptest.NewRecorder()
	upkeepOf(Upkeep{}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/admin/backup/tar", nil))
	if w.Code != 405 {
		t.Errorf("%d", w.Code)
	}
}

// One work at a time: another is told so, whichever it is.
func TestUpkeepIsAlone(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	h := upkeepOf(Upkeep{Verify: func(context.Context, store.VerifyOptions) (store.VerifyReport, error) {
		close(inside)
		<-leave
		return store.VerifyReport{}, nil
	}})
	done := make(chan int)
	go func() { done <- ask3(h, "verify", "{}", "application/json").Code }()
	<-inside
	for path, body := range map[string]string{"verify": "{}", "backup": `{"dir":"/x"}`, "backup/tar": "{}"} {
		if w := ask3(h, path, body, "application/json"); w.Code != 409 || !strings.Contains(w.Body.String(), "under way") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	close(leave)
	if code := <-done; code != 200 {
		t.Errorf("%d", code)
	}
	if w := ask3(h, "backup", `{"dir":"/x"}`, "application/json"); w.Code != 200 {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// limited is a reply of a server that limits how long a request takes.
type limited struct {
	*httptest.ResponseRecorder
	read, write *time.Time
	late        int // writes that came without a new limit
}

func (l *limited) SetReadDeadline(t time.Time) error  { l.read = &t; return nil }
func (l *limited) SetWriteDeadline(t time.Time) error { l.write = &t; return nil }

func (l *limited) Write(p []byte) (int, error) {
	if l.write == nil || time.Until(*l.write) < DefaultStallTimeout/2 {
		l.late++
	}
	l.write = nil
	return l.ResponseRecorder.Write(p)
}

// What takes longer than the server gives a request goes on: the limit of
// reading is lifted, since its end would be taken for the client's, and that of
// writing is put off with every piece.
func TestUpkeepOutlivesTheServersLimits(t *testing.T) {
	h := upkeepOf(Upkeep{
		Verify: func(_ context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
			o.Found(store.Fault{Kind: store.FaultNote})
			return store.VerifyReport{}, nil
		},
		BackupTar: func(_ context.Context, _ BackupRequest, open func() backupWriter) error {
			w := open()
			for range 3 {
				if _, err := w.Write([]byte("tar")); err != nil {
					return err
				}
			}
			return nil
		},
	})
	for _, path := range []string{"verify", "backup/tar"} {
		r := httptest.NewRequest("POST", "/v1/admin/"+path, nil)
		r.Header.Set("Content-Type", "application/json")
		w := &limited{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if w.read == nil || !w.read.IsZero() || w.late > 0 || w.Body.Len() == 0 {
			t.Errorf("%s: read until %v, %d late writes of %d bytes", path, w.read, w.late, w.Body.Len())
		}
	}
}

// A stream that fails in its middle is cut, so that a client sees it fail.
func TestFailedStreamIsCut(t *testing.T) {
	s := httptest.NewServer(upkeepOf(Upkeep{BackupTar: func(_ context.Context, _ BackupRequest, open func() backupWriter) error {
		if _, err := open().Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return errors.New("the disk is gone")
	}}))
	defer s.Close()
	resp, err := s.Client().Post(s.URL+"/v1/admin/backup/tar", "application/json", nil)
	if err != nil {
		return // cut before its head
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("%d bytes came, as if they were all", n)
	}
}

func TestRateOfUpkeep(t *testing.T) {
	for rate, want := range map[int64]int64{0: DefaultRate, -1: 0, LeastRate: LeastRate, 1 << 40: 1 << 40} {
		if got, err := rateOf(rate); got != want || err != nil {
			t.Errorf("rate %d: %d, %v", rate, got, err)
		}
	}
	h := upkeepOf(Upkeep{})
	for _, rate := range []int64{1, LeastRate - 1} {
		for path, body := range map[string]string{"verify": `{"rate":%d}`, "backup": `{"dir":"/x","rate":%d}`, "backup/tar": `{"rate":%d}`} {
			if w := ask3(h, path, fmt.Sprintf(body, rate), "application/json"); w.Code != 400 || !strings.Contains(w.Body.String(), "1048576 (1 MiB)") {
				t.Errorf("%s with a rate of %d: %d %s", path, rate, w.Code, w.Body)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (&pacer{rate: 1}).wait(ctx, 1<<40); !errors.Is(err, context.Canceled) {
		t.Error(fmt.Sprint("a work that waits does not end with its request: ", err))
	}
}
