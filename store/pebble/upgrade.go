package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// formatStep raises a store by one format. Steps are for ever: a store of any
// earlier format is raised one step after the other.
//
// A crash may end a step anywhere, and the upgrade begins again at the format
// that the format file names: do must be able to run over what it did before.
// Only when it has returned, and what it wrote is synced, is the new number
// written.
type formatStep struct {
	// to is the format that the store has after the step; it had one less.
	to int
	// pebble is Pebble's format of a store of that format.
	pebble pebbledb.FormatMajorVersion
	// what changes, as a sentence without its end; the operator reads it.
	what string
	// do rewrites what has to be rewritten; nil: nothing has. Pebble's format is
	// the new one already.
	do func(ctx context.Context, db *pebbledb.DB) error
}

// formatSteps are all, in order. The first is the format with which stores
// began.
func formatSteps() []formatStep {
	return []formatStep{{to: 1, pebble: pebbleFormat, what: "the first format"}}
}

// StoreFormat is the format of a store: ours, and Pebble's below it.
type StoreFormat struct {
	Format int `json:"format"`
	Pebble int `json:"pebble_format"`
}

// String names both.
func (f StoreFormat) String() string {
	return fmt.Sprintf("format %d (Pebble's %d)", f.Format, f.Pebble)
}

// UpgradePlan says what an upgrade does, or did.
type UpgradePlan struct {
	From StoreFormat `json:"from"`
	To   StoreFormat `json:"to"`
	// Steps say what changes; none: the store has the format already.
	Steps []string `json:"steps"`
}

// checkCurrent refuses a store that has to be upgraded before it is opened.
func checkCurrent(fs vfs.FS, dir string) error {
	has, exists, err := currentFormat(fs, dir)
	if err != nil || !exists {
		return err
	}
	plan := planUpgrade(has, formatSteps())
	if len(plan.Steps) == 0 {
		return nil
	}
	if has.Format == plan.To.Format {
		// A process that ended while it made the store leaves Pebble's first
		// format, and no table: opening it goes on with that.
		names, err := fs.List(dir)
		if err != nil || !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, ".sst") }) {
			return err
		}
	}
	return fmt.Errorf("%w: the store in %s has %s, and this program works with %s: run cellar upgrade", store.ErrOlderFormat, dir, plan.From, plan.To)
}

// currentFormat reads which format a store has.
func currentFormat(fs vfs.FS, dir string) (has StoreFormat, exists bool, err error) {
	path := fs.PathJoin(dir, formatFile)
	data, err := readFile(fs, path)
	if err != nil {
		return has, false, err
	}
	r, err := parseFormat(path, data)
	if err != nil {
		return has, false, err
	}
	desc, err := pebbledb.Peek(dir, fs)
	if err != nil {
		return has, false, openError(err)
	}
	return StoreFormat{Format: r.Format, Pebble: int(desc.FormatMajorVersion)}, desc.Exists, nil
}

// planUpgrade lists what raises a store to the last of the steps.
func planUpgrade(has StoreFormat, steps []formatStep) UpgradePlan {
	last := steps[len(steps)-1]
	plan := UpgradePlan{From: has, To: StoreFormat{Format: last.to, Pebble: int(last.pebble)}, Steps: []string{}}
	for _, s := range steps {
		switch {
		case s.to > has.Format:
			plan.Steps = append(plan.Steps, fmt.Sprintf("format %d to %d: %s", s.to-1, s.to, s.what))
		case s.to == has.Format && has.Pebble < int(s.pebble):
			plan.Steps = append(plan.Steps, fmt.Sprintf("Pebble's format %d to %d: the one that belongs to format %d", has.Pebble, s.pebble, s.to))
		}
	}
	return plan
}

// Upgrade raises the store that the options name, which nobody has open, to the
// newest format. With dryRun it only says what it would do. A store that has the
// format already is left as it is.
//
// There is no way back: take a backup first. An upgrade that is interrupted is
// gone on with by the next.
//
// Errors match store.ErrLocked, store.ErrNewerFormat and store.ErrCorrupt.
func Upgrade(ctx context.Context, opts Options, dryRun bool) (UpgradePlan, error) {
	return upgradeBy(ctx, opts, dryRun, formatSteps())
}

func upgradeBy(ctx context.Context, opts Options, dryRun bool, steps []formatStep) (plan UpgradePlan, err error) {
	o, err := opts.withDefaults()
	if err != nil {
		return plan, err
	}
	if _, err := o.FS.Stat(o.Dir); err != nil {
		return plan, fmt.Errorf("upgrade the store: %w", err)
	}
	lock, err := lockFolder(o.FS, o.Dir)
	if err != nil {
		return plan, err
	}
	defer func() { err = closeWith(lock, err) }()
	has, exists, err := currentFormat(o.FS, o.Dir)
	if err != nil {
		return plan, fmt.Errorf("upgrade the store in %s: %w", o.Dir, err)
	}
	if !exists {
		return plan, fmt.Errorf("upgrade the store: there is none in %s", o.Dir)
	}
	plan = planUpgrade(has, steps)
	if len(plan.Steps) == 0 || dryRun {
		return plan, nil
	}
	if err := checkFiles(o.FS, o.Dir); err != nil {
		return plan, err
	}
	for _, s := range steps {
		if s.to < has.Format {
			continue
		}
		if err := takeStep(ctx, &o, lock, has, s); err != nil {
			return plan, fmt.Errorf("upgrade the store in %s to format %d: %w", o.Dir, s.to, err)
		}
		o.Logger.Info("store is upgraded", slog.Int("format", s.to), slog.Int("pebble_format", int(s.pebble)))
	}
	return plan, nil
}

// takeStep opens the store as it is, raises Pebble's format, and, if the store's
// own is lower, does the step's work and writes the number.
func takeStep(ctx context.Context, o *Options, lock *pebbledb.Lock, has StoreFormat, s formatStep) (err error) {
	db, err := openForUpgrade(o, lock, has)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, db.Close())
		if err == nil && has.Format < s.to {
			err = writeWhole(o.FS, o.Dir, o.FS.PathJoin(o.Dir, formatFile), formatText(s.to))
		}
		if err == nil {
			err = writeSums(o.FS, o.Dir)
		}
	}()
	if db.FormatMajorVersion() < s.pebble {
		if err := db.RatchetFormatMajorVersion(s.pebble); err != nil {
			return storeError(err)
		}
	}
	if s.do == nil || has.Format >= s.to {
		return nil
	}
	if err := s.do(ctx, db); err != nil {
		return storeError(err)
	}
	return storeError(db.Flush())
}

// openForUpgrade opens Pebble at the format that the store has.
func openForUpgrade(o *Options, lock *pebbledb.Lock, has StoreFormat) (db *pebbledb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", store.ErrCorrupt, r)
		}
	}()
	s := &Store{opts: *o, log: o.Logger, fs: &watchedFS{FS: o.FS}, clock: newClock(o.Clock, o.Logger), lock: lock}
	s.damage = newDamageWatch(o.Logger)
	p := s.pebbleOptions()
	p.FormatMajorVersion = pebbledb.FormatMajorVersion(has.Pebble)
	db, err = pebbledb.Open(o.Dir, p)
	return db, openError(err)
}
