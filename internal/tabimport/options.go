package tabimport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/cellardb/cellar/cell"
)

// Format is how a file holds a table.
type Format string

// Formats.
const (
	CSV    Format = "csv"
	TSV    Format = "tsv"
	NDJSON Format = "ndjson"
)

// StdinName as the name of a file is standard input.
const StdinName = "-"

// NoQuote as Options.Quote says that fields are never quoted.
const NoQuote = "none"

// Options say what is imported and how.
type Options struct {
	Table string
	// Files, in the order in which they are read; StdinName once at most.
	Files []string
	// Stdin is read where a file is called StdinName.
	Stdin io.Reader
	// Format of all files; empty: of each by its name, FILE.csv, .tsv, .tab,
	// .txt, .ndjson, .jsonl or .json, with .gz, .zst or .bz2 behind it or not.
	Format Format
	// Columns is the mapping; see Mapping.
	Columns string
	// Separator between fields; 0: a comma in CSV, a tab in TSV.
	Separator byte
	// Quote around fields; empty: the double quote in CSV, none in TSV; NoQuote:
	// none; else one byte.
	Quote string
	// Header says that the first line of each file holds names. A mapping that
	// uses names implies it.
	Header bool
	// Timestamp in ms of rows that have none of their own; 0: the time at which
	// the import begins, also of one that is resumed.
	Timestamp int64
	// SkipEmpty leaves empty fields out. Otherwise they are empty values.
	SkipEmpty bool
	// Null is a text that stands for a field that is not there, as "NA"; empty:
	// there is none.
	Null string
	// MaxLine bounds one record in bytes; 0: 16 MiB.
	MaxLine int
	// MaxBad ends the import when there are more bad lines; negative: never.
	MaxBad int64
	// BadFile takes the bad lines as they stand in the input; empty: nobody
	// does. It is begun anew unless the import resumes.
	BadFile string
	// State is the file that holds how far the import is; empty: it cannot be
	// resumed. The file is removed at the end.
	State string
	// Resume goes on where the state says. It is an error if there is no state.
	// Without it a state that is there is an error, ErrUnfinished, but for
	// Restart, which throws it away.
	Resume, Restart bool
	// Create makes the table, with the families of the mapping, if it is not
	// there.
	Create bool
	// Lanes is how many batches are written at a time; 0: 8.
	Lanes int
	// BatchRows is the size of a batch; 0: 300. A batch of large rows, or of
	// rows of many columns, is cut at 1 MiB of memory.
	BatchRows int
	// Patience is how long a batch is tried again while the target is busy,
	// full, or not to be reached, from its first failure on, the time that the
	// attempts themselves take included; 0: a minute.
	Patience time.Duration
	// Report is told of each bad line, by one goroutine at a time; nil: nobody.
	Report func(Bad)
	// Logger, nil: silent.
	Logger *slog.Logger

	// clock, sleep and openFile are the tests'. The clock is asked by any
	// goroutine.
	clock    func() time.Time
	sleep    func(context.Context, time.Duration) error
	openFile func(name string, flags int) (file, error)
}

// Bad is a line that became no row.
type Bad struct {
	File string
	// Line and LastLine are the physical lines that it stands on, from 1.
	Line, LastLine int64
	Reason         string
}

// String is FILE:LINE: REASON.
func (b *Bad) String() string {
	if b.LastLine > b.Line {
		return fmt.Sprintf("%s:%d-%d: %s", b.File, b.Line, b.LastLine, b.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.Reason)
}

// Defaults of Options.
const (
	defaultMaxLine   = 16 << 20
	defaultLanes     = 8
	defaultBatchRows = 300
	defaultPatience  = time.Minute
	batchBytes       = 1 << 20
)

// ErrOptions is matched by what is wrong with options.
var ErrOptions = errors.New("bad options")

func badOption(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...)
}

func (o *Options) resolve() {
	setDefault(&o.MaxLine, defaultMaxLine)
	setDefault(&o.Lanes, defaultLanes)
	setDefault(&o.BatchRows, defaultBatchRows)
	setDefault(&o.Patience, defaultPatience)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Report == nil {
		o.Report = func(Bad) {}
	}
	if o.clock == nil {
		o.clock = time.Now
	}
	if o.sleep == nil {
		o.sleep = sleep
	}
	if o.openFile == nil {
		o.openFile = openFile
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// validate checks resolved options with their mapping.
func (o *Options) validate(m *Mapping) error {
	if err := cell.ValidateTableName(o.Table); err != nil {
		return badOption("table %q: %w", o.Table, err)
	}
	if len(o.Files) == 0 {
		return badOption("no file is named: - is standard input")
	}
	seen := map[string]bool{}
	var first Format
	for i, name := range o.Files {
		if seen[name] {
			return badOption("%s is named twice", name)
		}
		seen[name] = true
		// Both are emptied before the inputs are read.
		for _, out := range []string{o.BadFile, o.State} {
			if out != "" && name != StdinName && sameFile(out, name) {
				return badOption("%s is an input, and would be overwritten: name another file", out)
			}
		}
		format, err := o.formatOf(name)
		if err != nil {
			return err
		}
		if err := o.validateFormat(m, name, format); err != nil {
			return err
		}
		if i == 0 {
			first = format
		}
		if o.BadFile != "" && format != first {
			return badOption("the bad lines of %s (%s) and %s (%s) cannot go into one file: import them one after the other", o.Files[0], first, name, format)
		}
	}
	if len(o.Quote) != 1 && o.Quote != "" && o.Quote != NoQuote {
		return badOption("quote %q: want one byte, or %q", o.Quote, NoQuote)
	}
	if o.Separator == '\n' || o.Separator == '\r' || o.Quote == "\n" || o.Quote == "\r" {
		return badOption("separator and quote cannot be a line end")
	}
	for _, f := range []Format{CSV, TSV} {
		if separator, quote := o.delimiters(f); separator == quote {
			return badOption("separator and quote are both %q: set the quote to another sign, or to %q", string(rune(quote)), NoQuote)
		}
	}
	return o.validateFigures()
}

// sameFile says whether two names are of one file that is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (o *Options) validateFormat(m *Mapping, name string, format Format) error {
	switch format {
	case CSV, TSV:
		return nil
	case NDJSON:
	default:
		return badOption("format %q: want %s, %s or %s", format, CSV, TSV, NDJSON)
	}
	if !m.ByName {
		return badMapping("%s is NDJSON, whose fields have names and no order: write %s=NAME,f:a=NAME", name, rowKeyName)
	}
	for _, f := range m.fields {
		if f.place >= 0 {
			return badMapping("#%d: fields of NDJSON (%s) have no order, use their names", f.place+1, name)
		}
	}
	return nil
}

func (o *Options) validateFigures() error {
	switch {
	case o.Timestamp < 0:
		return badOption("timestamp %d is negative", o.Timestamp)
	case o.Timestamp == cell.Latest:
		return badOption("timestamp %d stands for the server's time, which is another at each try", o.Timestamp)
	case o.MaxLine < 1:
		return badOption("a longest line of %d bytes", o.MaxLine)
	case o.Lanes < 1 || o.Lanes > 1024:
		return badOption("%d connections: want 1 to 1024", o.Lanes)
	case o.BatchRows < 1:
		return badOption("batches of %d rows", o.BatchRows)
	case o.Resume && o.State == "":
		return badOption("nothing says how far the import was: name the state file")
	case o.Resume && o.Restart:
		return badOption("an import is resumed, or begun anew, not both")
	}
	return nil
}

// formatOf finds a file's format.
func (o *Options) formatOf(name string) (Format, error) {
	if o.Format != "" {
		return o.Format, nil
	}
	plain := strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		plain = strings.TrimSuffix(plain, packed)
	}
	for _, known := range []struct {
		ending string
		format Format
	}{
		{".csv", CSV}, {".tsv", TSV}, {".tab", TSV}, {".txt", TSV},
		{".ndjson", NDJSON}, {".jsonl", NDJSON}, {".json", NDJSON},
	} {
		if strings.HasSuffix(plain, known.ending) {
			return known.format, nil
		}
	}
	if name == StdinName {
		name = "standard input"
	}
	return "", badOption("the name of %s does not say its format: set it to %s, %s or %s", name, CSV, TSV, NDJSON)
}

// delimiters gives separator and quote for a format; quote 0: none.
func (o *Options) delimiters(f Format) (separator, quote byte) {
	separator, quote = ',', '"'
	if f == TSV {
		separator, quote = '\t', 0
	}
	if o.Separator != 0 {
		separator = o.Separator
	}
	switch {
	case o.Quote == NoQuote:
		quote = 0
	case o.Quote != "":
		quote = o.Quote[0]
	}
	return separator, quote
}
