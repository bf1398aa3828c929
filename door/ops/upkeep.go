package ops

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cellardb/cellar/store"
)

// Upkeep is what the door asks of the server for [Mount] to serve
//
//	POST /v1/admin/verify       looks at the whole store
//	POST /v1/admin/backup       makes a backup in a folder of the server's machine
//	POST /v1/admin/backup/tar   makes one as a tar stream, which is the reply
//
// A client that does not take its reply is cut off (longReply). One of them is served at a time; another is answered 409. The first two reply
// with a line of JSON, an [Event], for everything that happens; the last line
// has the outcome. Like all that changes something they want the header
// Content-Type: application/json.
type Upkeep struct {
	// Verify looks at the store.
	Verify func(ctx context.Context, o store.VerifyOptions) (store.VerifyReport, error)
	// Backup makes a backup in the folder that the request names.
	Backup func(ctx context.Context, r BackupRequest, progress func(done, total int64) error) (BackupResult, error)
	// BackupTar makes a backup and hands it to open, which is asked for where it
	// goes once nothing stands in the way any more.
	BackupTar func(ctx context.Context, r BackupRequest, open func() backupWriter) error
	// StallTimeout is how far a client may stay behind the least speed at which
	// it has to take a reply (slowest). Zero: DefaultStallTimeout.
	StallTimeout time.Duration
}

// backupWriter is where a tar stream goes.
type backupWriter = interface{ Write([]byte) (int, error) }

// BackupRequest is the body of a request for a backup.
type BackupRequest struct {
	// Dir is the folder to make: absolute, not there yet, and outside the data
	// folder. A tar stream has none.
	Dir string `json:"dir,omitempty"`
	// Base is an earlier backup in a folder, whose files are linked where the
	// store's cannot be.
	Base string `json:"base,omitempty"`
	// Discard removes what an interrupted backup to the same folder left.
	Discard bool `json:"discard,omitempty"`
	// Rate bounds the bytes that are read in a second, LeastRate or more; 0:
	// DefaultRate, below 0: unbounded.
	Rate int64 `json:"rate,omitempty"`
}

// VerifyRequest is the body of a request to look at the store.
type VerifyRequest struct {
	// Rate is as for a backup.
	Rate int64 `json:"rate,omitempty"`
}

// BackupResult says what a backup holds, and what it cost, in bytes.
type BackupResult struct {
	Files  int   `json:"files"`
	Bytes  int64 `json:"bytes"`
	Linked int64 `json:"linked_bytes"`
	Copied int64 `json:"copied_bytes"`
}

// Event is one line of a reply. One of its fields is there.
type Event struct {
	Progress *Progress           `json:"progress,omitempty"`
	Fault    *store.Fault        `json:"fault,omitempty"`
	Report   *store.VerifyReport `json:"report,omitempty"`
	Backup   *BackupResult       `json:"backup,omitempty"`
	Failure  *Failure            `json:"failure,omitempty"`
}

// Progress says how far a work is, in bytes.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// upkeep serves verify and backup for [Mount].
type upkeep struct {
	*door
	busy sync.Mutex // held by the work that is under way
}

func (d *door) mountUpkeep(mux *http.ServeMux) {
	u := &upkeep{door: d}
	if u.Upkeep.StallTimeout <= 0 {
		u.Upkeep.StallTimeout = DefaultStallTimeout
	}
	mux.HandleFunc("POST /v1/admin/verify", u.alone(u.verify))
	mux.HandleFunc("POST /v1/admin/backup", u.alone(u.backup))
	mux.HandleFunc("POST /v1/admin/backup/tar", u.alone(u.backupTar))
}

// work is what a request asks for, once it was read whole.
type work func(w http.ResponseWriter) error

// alone serves one request at a time. Requests are read before: one that comes
// slowly keeps nobody waiting.
func (u *upkeep) alone(read func(r *http.Request) (work, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := wantJSON(r)
		var do work
		if err == nil {
			do, err = read(r)
		}
		if err == nil && !u.busy.TryLock() {
			err = &requestError{http.StatusConflict, "Busy", "another backup or verify is under way"}
		} else if err == nil {
			defer u.busy.Unlock()
			err = do(w)
		}
		if err == nil {
			return
		}
		code, body := answer(err)
		u.reply(w, code, body)
	}
}

func (u *upkeep) verify(r *http.Request) (work, error) {
	var req VerifyRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	rate, err := rateOf(req.Rate)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) error {
		s := u.newStream(r.Context(), w)
		defer s.stop()
		pace := pacer{rate: rate}
		report, err := u.Upkeep.Verify(s.ctx, store.VerifyOptions{
			Found: func(f store.Fault) { s.send(Event{Fault: &f}) },
			Progress: func(done, total int64) error {
				s.progress(done, total)
				return pace.wait(s.ctx, done)
			},
		})
		return s.end(Event{Report: &report}, err)
	}, nil
}

func (u *upkeep) backup(r *http.Request) (work, error) {
	var req BackupRequest
	err := decode(r, &req)
	if err == nil && req.Dir == "" {
		err = badRequest(`the body names no folder: {"dir": "/path/of/a/new/folder"}`)
	}
	if err == nil {
		req.Rate, err = rateOf(req.Rate)
	}
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) error {
		s := u.newStream(r.Context(), w)
		defer s.stop()
		result, err := u.Upkeep.Backup(s.ctx, req, func(done, total int64) error {
			s.progress(done, total)
			return s.ctx.Err()
		})
		return s.end(Event{Backup: &result}, err)
	}, nil
}

// backupTar replies with the stream itself. What fails after its begin cuts the
// connection, so that nobody takes the stream for whole; it has no manifest
// then, either.
func (u *upkeep) backupTar(r *http.Request) (work, error) {
	var req BackupRequest
	err := decode(r, &req)
	if err == nil && (req.Dir != "" || req.Base != "") {
		err = badRequest("a stream has neither folder nor base")
	}
	if err == nil {
		req.Rate, err = rateOf(req.Rate)
	}
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) error {
		begun := false
		err := u.Upkeep.BackupTar(r.Context(), req, func() backupWriter {
			begun = true
			w.Header().Set("Content-Type", "application/x-tar")
			w.Header().Set("Cache-Control", "no-store")
			return u.newLongReply(w)
		})
		if err != nil && begun {
			u.Logger.Warn("backup stream is cut", "error", err)
			panic(http.ErrAbortHandler)
		}
		return err
	}, nil
}

const (
	// DefaultRate is how many bytes a backup or verify of a running server reads
	// in a second unless it is told: a disk that is written to beside keeps up.
	DefaultRate = 64 << 20
	// LeastRate is the least that may be asked for: a work holds files of the
	// store, and keeps others from theirs, until its end.
	LeastRate = 1 << 20
)

// rateOf gives the rate that a request asks for; 0: unbounded.
func rateOf(rate int64) (int64, error) {
	switch {
	case rate == 0:
		return DefaultRate, nil
	case rate < 0:
		return 0, nil
	case rate < LeastRate:
		return 0, badRequest("a rate of %d bytes a second is below the least, %d (1 MiB): files of the store are held until the end", rate, LeastRate)
	}
	return rate, nil
}

// pacer holds a work to a rate in bytes a second; 0: unbounded.
type pacer struct {
	rate  int64
	began time.Time
}

func (p *pacer) wait(ctx context.Context, done int64) error {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	if p.rate <= 0 {
		return ctx.Err()
	}
	due := time.Duration(float64(done) / float64(p.rate) * float64(time.Second))
	t := time.NewTimer(due - time.Since(p.began))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream sends events. Its context, of the work, ends when nobody takes them any
// more.
type stream struct {
	ctx    context.Context // of one request
	stop   context.CancelFunc
	u      *upkeep
	out    *longReply
	last   time.Time // when progress was sent
	begun  bool
	failed error // why an event could not be sent
}

func (u *upkeep) newStream(ctx context.Context, w http.ResponseWriter) *stream {
	s := &stream{u: u, out: u.newLongReply(w)}
	s.ctx, s.stop = context.WithCancel(ctx)
	return s
}

func (s *stream) send(e Event) {
	if s.ctx.Err() != nil {
		return // nobody is there
	}
	if !s.begun {
		s.begun = true
		s.out.w.Header().Set("Content-Type", "application/x-ndjson")
		s.out.w.Header().Set("Cache-Control", "no-store")
	}
	err := json.NewEncoder(s.out).Encode(e)
	if err == nil {
		err = s.out.flush()
	}
	if err != nil {
		s.failed = err
		s.stop()
	}
}

// tellEvery is the time between two reports of progress.
const tellEvery = 200 * time.Millisecond

func (s *stream) progress(done, total int64) {
	if now := time.Now(); done >= total || now.Sub(s.last) >= tellEvery {
		s.last = now
		s.send(Event{Progress: &Progress{done, total}})
	}
}

// end sends the outcome. A failure before anything was sent has a status of its
// own.
func (s *stream) end(outcome Event, err error) error {
	if err == nil {
		s.send(outcome)
		return nil
	}
	if errors.Is(s.failed, ErrSlowClient) {
		s.u.Logger.Warn("upkeep is ended", "error", s.failed)
		panic(http.ErrAbortHandler) // nothing more can be said to that client
	}
	if !s.begun {
		return err
	}
	_, failure := answer(err)
	s.send(Event{Failure: &failure})
	if !errors.Is(err, context.Canceled) {
		s.u.Logger.Warn("upkeep failed", "error", err)
	}
	return nil
}
