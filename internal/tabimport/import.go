package tabimport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// Import is one import. It is run once.
type Import struct {
	o        Options
	mapping  *Mapping
	target   Target
	state    state
	start    mark // where this run begins
	resumed  bool
	progress counters
	size     int64 // of all inputs in bytes, as they lie there; -1: not known
	bad      *badFile

	reporting sync.Mutex
}

// counters are what Progress reads while the import runs.
type counters struct {
	read, rows, bad, waiting atomic.Int64
}

// Progress is how far an import is.
type Progress struct {
	// Bytes of the inputs, packed as they may be, and of how many; -1: nobody
	// knows.
	Bytes, Total int64
	// Rows and Bad lines of this run and of those that it resumes.
	Rows, Bad int64
	// Waiting says that the target does not take rows for now.
	Waiting bool
}

// Result is what an import did, with what the runs did that it resumed.
type Result struct {
	Rows, Bad int64
	// Bytes that this run read, packed as they may be.
	Bytes int64
	// Timestamp in ms that rows without one of their own have.
	Timestamp int64
	Resumed   bool
}

// TooManyBadError says that there were more bad lines than are tolerated.
type TooManyBadError struct{ Bad, Limit int64 }

func (e *TooManyBadError) Error() string {
	if e.Limit == 0 {
		return "a line is bad, and none is tolerated"
	}
	return fmt.Sprintf("%d lines are bad, and %d are tolerated", e.Bad, e.Limit)
}

// New checks options. The error matches ErrOptions or ErrMapping.
func New(o Options, target Target) (*Import, error) {
	o.resolve()
	m, err := ParseMapping(o.Columns)
	if err != nil {
		return nil, err
	}
	if err := o.validate(m); err != nil {
		return nil, err
	}
	if m.HasTTL() && !target.CarriesTTL() {
		return nil, badMapping("%s: this way to the store carries no time to live", ttlName)
	}
	return &Import{o: o, mapping: m, target: target, size: -1}, nil
}

// Progress may be asked for at any time by any goroutine.
func (im *Import) Progress() Progress {
	return Progress{
		Bytes: im.progress.read.Load(), Total: atomic.LoadInt64(&im.size),
		Rows: im.progress.rows.Load(), Bad: im.progress.bad.Load(), Waiting: im.progress.waiting.Load() > 0,
	}
}

// Run imports. That lines were bad is no error unless there were too many. After
// an error the state file, if there is one, says how to go on, but for errors of
// the beginning: ErrUnfinished, ErrNoState, ErrChanged, and what Prepare of the
// target answers.
func (im *Import) Run(ctx context.Context) (Result, error) {
	if err := im.begin(); err != nil {
		return Result{}, err
	}
	if err := im.target.Prepare(ctx, im.o.Table, im.mapping.Families(), im.o.Create); err != nil {
		return im.result(im.start), err
	}
	bad, err := im.o.openBadFile(im.state.BadBytes, im.resumed)
	if err != nil {
		return im.result(im.start), err
	}
	if im.o.State != "" {
		// The timestamp must be on record before the first row is.
		if err := im.state.write(im.o.State); err != nil {
			return im.result(im.start), errors.Join(err, bad.close())
		}
	}
	im.bad = bad
	r := &run{im: im, lanes: im.startLanes(ctx), at: im.start, checked: im.o.clock()}
	err = r.files()
	// However the reading ended, what was read is to be stored.
	if failed := r.lanes.settle(); err == nil {
		err = failed
	}
	r.lanes.stop()
	durable, saved := r.checkpoint()
	if !errors.Is(err, saved) { // of the bad lines it may be the one that ended the reading
		err = errors.Join(err, saved)
	}
	err = errors.Join(err, bad.close())
	if err == nil {
		err = removeState(im.o.State)
	}
	return im.result(durable), err
}

func (im *Import) result(at mark) Result {
	return Result{
		Rows: at.rows, Bad: at.bad, Bytes: im.progress.read.Load(),
		Timestamp: im.state.Settings.Timestamp, Resumed: im.resumed,
	}
}

// begin looks at the files and finds out where to begin.
func (im *Import) begin() error {
	files, err := im.identities()
	if err != nil {
		return err
	}
	im.state = state{Version: stateVersion, Settings: im.settings(), Files: files, Position: position{Line: 1}}
	if err := im.resume(files); err != nil {
		return err
	}
	if im.state.Settings.Timestamp == 0 {
		im.state.Settings.Timestamp = im.o.clock().UnixMilli()
	}
	im.start = mark{at: im.state.Position, rows: im.state.Rows, bad: im.state.Bad}
	im.progress.rows.Store(im.start.rows)
	im.progress.bad.Store(im.start.bad)
	return nil
}

// identities looks at each file once, before anything is written.
func (im *Import) identities() ([]identity, error) {
	files := make([]identity, len(im.o.Files))
	total := int64(0)
	for i, name := range im.o.Files {
		var err error
		if files[i], err = identify(name); err != nil {
			return nil, err
		}
		if files[i].Size < 0 || total < 0 {
			total = -1
			continue
		}
		total += files[i].Size
	}
	atomic.StoreInt64(&im.size, total)
	return files, nil
}

func (im *Import) settings() settings {
	s := settings{
		Target: im.target.Name(), Table: im.o.Table, Columns: im.o.Columns, Format: im.o.Format, Quote: im.o.Quote,
		Header: im.o.Header, SkipEmpty: im.o.SkipEmpty, Null: im.o.Null, BadFile: im.o.BadFile, MaxLine: im.o.MaxLine,
		Timestamp: im.o.Timestamp,
	}
	if im.o.Separator != 0 {
		s.Separator = string(rune(im.o.Separator))
	}
	return s
}

// resume takes the state of an earlier run over.
func (im *Import) resume(files []identity) error {
	if im.o.State == "" || im.o.Restart {
		return nil
	}
	before, err := readState(im.o.State)
	switch {
	case errors.Is(err, fs.ErrNotExist) && im.o.Resume:
		return fmt.Errorf("%w: %s is not there", ErrNoState, im.o.State)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !im.o.Resume:
		return fmt.Errorf("%w: %s says that %d rows of it are stored", ErrUnfinished, im.o.State, before.Rows)
	}
	if err := before.match(im.state.Settings, files); err != nil {
		return err
	}
	im.state, im.resumed = *before, true
	return nil
}

// report tells of a bad line.
func (im *Import) report(b Bad) {
	im.reporting.Lock()
	defer im.reporting.Unlock()
	im.progress.bad.Add(1)
	im.o.Report(b)
}

func (im *Import) tooManyBad() bool {
	return im.o.MaxBad >= 0 && im.progress.bad.Load() > im.o.MaxBad
}

func (im *Import) errTooMany() error {
	return &TooManyBadError{Bad: im.progress.bad.Load(), Limit: im.o.MaxBad}
}

// errInput says that an input could not be read to its end.
var errInput = errors.New("read input")

// run is the reading side of an import.
type run struct {
	im      *Import
	lanes   *lanes
	at      mark // before the next record
	binder  *binder
	checked time.Time // of the last checkpoint
	// checkedSeq is where the reader was then.
	checkedSeq int64
}

// files reads all inputs, from where the import is.
func (r *run) files() error {
	for r.at.at.File < len(r.im.o.Files) {
		if err := r.file(r.im.o.Files[r.at.at.File]); err != nil {
			return err
		}
		r.at.at = position{File: r.at.at.File + 1, Line: 1}
	}
	return nil
}

// file reads one input.
func (r *run) file(name string) error {
	in, err := openInput(name, r.im.o.Stdin, &r.im.progress.read)
	if err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	defer in.Close()
	s, err := r.splitter(name, in)
	if err == nil {
		err = r.head(name, s)
	}
	if err == nil {
		err = skipTo(s.window(), r.at.at)
	}
	if err != nil {
		return r.inputError(name, s, err)
	}
	w := s.window()
	var rec record
	for {
		err := s.next(&rec)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return r.inputError(name, s, err)
		}
		if err := r.record(name, &rec); err != nil {
			return err
		}
		r.at.at.Offset, r.at.at.Line = w.offset, w.line
		r.at.seq++
		if err := r.now(); err != nil {
			return err
		}
	}
}

func (r *run) inputError(name string, s splitter, err error) error {
	if bad := r.im.bad; bad != nil && bad.err != nil {
		return err // it is of the file of bad lines
	}
	if errors.Is(err, ErrMapping) || errors.Is(err, ErrChanged) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if s == nil {
		return fmt.Errorf("%w: %s: %w", errInput, name, err)
	}
	return fmt.Errorf("%w: %s, line %d, byte %d: %w", errInput, name, s.window().line, s.window().offset, err)
}

func (r *run) splitter(name string, in io.Reader) (splitter, error) {
	format, err := r.im.o.formatOf(name)
	if err != nil {
		return nil, err
	}
	w := newWindow(in, 0, 1, r.im.o.MaxLine)
	if format == NDJSON {
		return &ndjson{w: w}, nil
	}
	d := &delimited{w: w}
	d.separator, d.quote = r.im.o.delimiters(format)
	return d, nil
}

// head reads the header, if there is one, and makes the binder.
func (r *run) head(name string, s splitter) (err error) {
	format, err := r.im.o.formatOf(name)
	if err != nil {
		return err
	}
	var header [][]byte
	if format != NDJSON && (r.im.o.Header || r.im.mapping.needsNames()) {
		var rec record
		switch err := s.next(&rec); {
		case err == io.EOF:
			return badMapping("there is no header: the file is empty")
		case err != nil:
			return err
		case rec.fault != "":
			return badMapping("the header is no record: %s", rec.fault)
		}
		header = rec.fields
		if err := r.badHeader(rec.raw); err != nil {
			return err
		}
	}
	r.binder, err = newBinder(r.im.mapping, &r.im.o, format, r.im.state.Settings.Timestamp, header)
	return err
}

// badHeader puts the header at the beginning of the file of bad lines, so that
// it can be imported once it is put right.
func (r *run) badHeader(raw []byte) error {
	if r.im.bad == nil {
		return nil
	}
	same, err := r.im.bad.begin(raw)
	if err != nil {
		return err
	}
	if !same {
		return badMapping("its header is another one than that of the file before: the bad lines of both cannot go into one file")
	}
	return nil
}

// skipTo goes on from where an earlier run was. Where the header was read, that
// is behind it.
func skipTo(w *window, to position) error {
	if to.Offset <= w.offset {
		return nil
	}
	for w.offset < to.Offset {
		n := min(int64(len(w.held())), to.Offset-w.offset)
		w.take(int(n), 0)
		if w.offset < to.Offset && !w.fill() && len(w.held()) == 0 {
			if w.err != nil {
				return w.err
			}
			return fmt.Errorf("%w: the input ends at byte %d, and was read up to byte %d", ErrChanged, w.offset, to.Offset)
		}
	}
	w.line = to.Line
	return nil
}

// record makes a row of a record, or names it.
func (r *run) record(name string, rec *record) error {
	fault := rec.fault
	if fault == "" {
		var key []byte
		if key, fault = r.binder.key(rec); fault == "" {
			lane, into := r.lanes.pick(key)
			if fault = r.binder.bind(rec, key, into); fault == "" {
				return r.added(lane, rec)
			}
		}
	}
	r.im.report(Bad{name, rec.line, rec.lastLine, fault})
	if r.im.tooManyBad() {
		return r.im.errTooMany() // this line is the first of the run that resumes
	}
	r.at.bad++
	if r.im.bad != nil {
		r.lanes.tracker.note(r.at.seq, rec.raw)
	}
	return nil
}

func (r *run) added(lane int, rec *record) error {
	from := origin{seq: r.at.seq, file: r.at.at.File, line: rec.line, lastLine: rec.lastLine}
	if r.im.bad != nil {
		from.raw = rec.raw
	}
	before := r.at
	r.at.rows++
	return r.lanes.added(lane, from, before)
}

// Checkpoints are this far apart, unless there is much to be kept until the next.
const (
	checkpointEvery = time.Second
	lookEvery       = 128 // records, between looks at the clock
	heldBad         = 4 << 20
)

// now makes a checkpoint if it is time.
func (r *run) now() error {
	if r.lanes.ctx.Err() != nil {
		return context.Cause(r.lanes.ctx)
	}
	if r.lanes.tracker.held() > heldBad {
		if err := r.lanes.settle(); err != nil {
			return err
		}
		_, err := r.checkpoint()
		return err
	}
	if r.at.seq%lookEvery != 0 {
		return nil
	}
	now := r.im.o.clock()
	if now.Sub(r.checked) < checkpointEvery {
		return nil
	}
	if err := r.lanes.sendOld(r.checkedSeq); err != nil {
		return err
	}
	r.checked, r.checkedSeq = now, r.at.seq
	_, err := r.checkpoint()
	return err
}

// checkpoint puts on record up to where all rows are durable.
func (r *run) checkpoint() (mark, error) {
	durable, lines := r.lanes.tracker.checkpoint(r.at)
	size, err := r.im.bad.write(lines)
	if err != nil || r.im.o.State == "" {
		return durable, err
	}
	s := r.im.state
	s.Position, s.Rows, s.Bad, s.BadBytes = durable.at, durable.rows, durable.bad, size
	return durable, s.write(r.im.o.State)
}
