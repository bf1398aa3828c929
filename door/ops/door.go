// Package ops is the door for those who operate a server: metrics, health and
// status over HTTP. It mounts its paths on a mux that another owns; it listens
// on nothing, starts no goroutine, and changes tables only, by the calls below
// /v1/admin.
//
//	GET /metrics        everything that is measured, in Prometheus' text form
//	GET /healthz        200 as long as the process answers
//	GET /readyz         200 when clients may come; 503 with the reason otherwise
//	GET /v1/status      what runs here, as JSON
//	/v1/admin/tables    tables: list, describe, create, alter, drop, ...
//	POST /v1/admin/verify   looks at the whole store
//	POST /v1/admin/backup   copies it, into a folder or, with /tar, as a stream
//	GET /v1/top         the hottest tables, as JSON; ?tables=N says how many
//	GET /debug/pprof/   Go's profiles, only where the options say so
package ops

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cellardb/cellar/store"
)

// Options configure the door.
type Options struct {
	// Gatherer has the metrics. Nil: none are served.
	Gatherer prometheus.Gatherer
	// Ready answers nil when clients may come; the error is the reason why
	// not, and its text is sent to whoever asks. Nil: always ready.
	Ready func() error
	// Status describes the server. Nil: the zero Status.
	Status func(ctx context.Context) Status
	// Admin gives what administers tables; it answers nil while the store is not
	// open. It should be a store.Reader too: then descriptions hold splits. Nil:
	// tables are not administered here.
	Admin func() store.Admin
	// Top gives the n hottest tables. Nil: the path is not served.
	Top func(n int) Top
	// Upkeep verifies the store and backs it up. Nil: the paths are not served.
	Upkeep *Upkeep
	// Pprof serves profiles.
	Pprof bool
	// Logger, nil: silent.
	Logger *slog.Logger
}

// Status is what /v1/status answers.
type Status struct {
	// State is "starting", "ready", "draining" or "failed".
	State   string    `json:"state"`
	Version string    `json:"version"`
	Commit  string    `json:"commit"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// UptimeSeconds since Started.
	UptimeSeconds float64 `json:"uptime_seconds"`
	// Data is the data folder's absolute path.
	Data   string `json:"data"`
	Engine string `json:"engine"`
	// Addresses by the names of the doors.
	Addresses map[string]string `json:"addresses"`
	// Tables of users; nil where the store could not be asked.
	Tables *int `json:"tables"`
	// MemoryBytes is the budget.
	MemoryBytes int64 `json:"memory_bytes"`
	// Memory is how the budget is shared out, and what is used; nil while the
	// store is being opened.
	Memory []MemoryPart `json:"memory"`
	// Pressure; nil while the store is being opened.
	Pressure *Pressure `json:"pressure"`
	// Disk; nil where the engine keeps nothing.
	Disk *Disk `json:"disk"`
}

// Pressure says how hard the server is pressed by its writers, from 0, idle, to
// 1. Value is the one figure, the largest of the parts; from 0.5 on writers are
// slowed.
type Pressure struct {
	Value     float64 `json:"value"`
	Memtables float64 `json:"memtables"`
	L0        float64 `json:"l0"`
	Garbage   float64 `json:"garbage"`
	Disk      float64 `json:"disk"`
	InFlight  float64 `json:"in_flight"`
}

// MemoryPart is a share of the memory budget.
type MemoryPart struct {
	// Part is "block_cache", "memtables", "doors", "tiers" or "slack".
	Part        string `json:"part"`
	BudgetBytes int64  `json:"budget_bytes"`
	UsedBytes   int64  `json:"used_bytes"`
}

// Disk is the disk that the store is on, in bytes.
type Disk struct {
	// FreeBytes and SizeBytes of the file system; both 0 where it cannot say.
	FreeBytes int64 `json:"free_bytes"`
	SizeBytes int64 `json:"size_bytes"`
	// ReserveBytes must be free for writes to be admitted.
	ReserveBytes int64 `json:"reserve_bytes"`
	// StoreBytes is what the store takes.
	StoreBytes int64 `json:"store_bytes"`
	// ReadBytes and WrittenBytes since the start.
	ReadBytes    int64 `json:"read_bytes"`
	WrittenBytes int64 `json:"written_bytes"`
	// Full: writes are refused. Waiting: nothing at all can be written, and the
	// store waits for space.
	Full    bool `json:"full"`
	Waiting bool `json:"waiting"`
}

// readiness is what /readyz answers.
type readiness struct {
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"`
}

// statusTimeout bounds how long a status waits for the store.
const statusTimeout = 5 * time.Second

// Mount puts the door's paths on the mux.
func Mount(mux *http.ServeMux, o Options) {
	d := door{Options: o}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Gatherer != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(d.Gatherer, promhttp.HandlerOpts{
			ErrorHandling: promhttp.ContinueOnError,
			ErrorLog:      errorLog{d.Logger},
		}))
	}
	mux.HandleFunc("GET /healthz", d.health)
	mux.HandleFunc("GET /readyz", d.ready)
	mux.HandleFunc("GET /v1/status", d.status)
	if d.Top != nil {
		mux.HandleFunc("GET /v1/top", d.top)
	}
	if d.Admin != nil {
		d.mountTables(mux)
	}
	if d.Upkeep != nil {
		d.mountUpkeep(mux)
	}
	if d.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
}

type door struct{ Options }

func (d *door) health(w http.ResponseWriter, _ *http.Request) {
	d.reply(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (d *door) ready(w http.ResponseWriter, _ *http.Request) {
	if d.Ready != nil {
		if err := d.Ready(); err != nil {
			d.reply(w, http.StatusServiceUnavailable, readiness{Reason: err.Error()})
			return
		}
	}
	d.reply(w, http.StatusOK, readiness{Ready: true})
}

func (d *door) status(w http.ResponseWriter, r *http.Request) {
	var s Status
	if d.Status != nil {
		ctx, cancel := context.WithTimeout(r.Context(), statusTimeout)
		defer cancel()
		s = d.Status(ctx)
	}
	d.reply(w, http.StatusOK, s)
}

// reply sends JSON that no cache keeps.
func (d *door) reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		d.Logger.Debug("reply not sent", "error", err)
	}
}

// errorLog passes what the metrics handler complains of on to the log.
type errorLog struct{ log *slog.Logger }

func (l errorLog) Println(v ...any) { l.log.Warn("metrics are not whole", "error", v) }
