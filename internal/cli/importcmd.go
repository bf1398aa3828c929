package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/internal/tabimport"
	"github.com/cellardb/cellar/server"
	"github.com/cellardb/cellar/store"
)

func (a *app) importCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "Store what is in files",
		Long: `Stores what is in files: through a server that runs (--addr, any HBase Thrift 1
server), or in the store of a data folder on which none runs (--data).`,
		Example: `  cellar import table weather weather.csv.gz --create --columns "HBASE_ROW_KEY=origin+'/'+time_hour,w:*"`,
		Args:    noCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.importTableCommand())
	return c
}

// importFlags are those of import table that need reading.
type importFlags struct {
	tabimport.Options
	addr            string
	framed, compact bool
	format          string
	separator       string
	state           string
	skipBad         bool
	maxBad          int64
	maxLine         string
	defines         []string
}

// importServerSettings are the settings of a store that is opened.
var importServerSettings = []string{"data", "memory", "wal.sync"}

func (a *app) importTableCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "table TABLE FILE...",
		Short: "Store the lines of CSV, TSV and NDJSON files as rows",
		Long: `Stores each line of the files as a row. The files may be plain or packed by gzip,
zstd or bzip2; - is standard input. --columns says what becomes of the fields, in the
order of the fields as in HBase's ImportTsv:

  HBASE_ROW_KEY,f:a,f:b,HBASE_TS_KEY     an empty entry leaves a field out

or by the names that the first line of a CSV file, or a JSON object, has for them:

  HBASE_ROW_KEY=station+'/'+hour         the key: two fields with a slash between
  w:temp=temperature                     a column from a field
  w:temp                                 the same as w:temp=temp
  w:*                                    all other fields, by their names
  w:third=#3                             the third field of a line

Lines that cannot be rows are named and counted, the others are stored; the exit
status is 1 if there are any, unless --skip-bad-lines or --max-bad tolerates them.

All rows get one timestamp, that of the start, unless a field has it. How far the
import is stands in a file beside the first input, FILE.cellar-import, until it is
done: after a crash, of the machine too, the same command with --resume stores the rest.`,
		Example: `  cellar import table weather examples/weather.csv.gz --create --null NA \
    --columns "HBASE_ROW_KEY=origin+'/'+time_hour,w:*"
  cellar import table t data.tsv --columns HBASE_ROW_KEY,f:a,f:b       as with ImportTsv
  cellar import table t *.csv --columns HBASE_ROW_KEY,f:a,HBASE_TS_KEY --header --bad-file left.txt
  cellar import table t events.ndjson.zst --columns 'HBASE_ROW_KEY=device.id+"_"+time,e:*' --resume
  pg_dump ... | cellar import table t - --format tsv --columns HBASE_ROW_KEY,f:a
  cellar import table t big.csv.gz --columns HBASE_ROW_KEY,f:a --data /srv/cellar   no server runs there`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return a.importTable(c, args, &f) },
	}
	f.add(c.Flags())
	return c
}

func (f *importFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "addr", "127.0.0.1:9090", "Thrift 1 address of the server that the rows go through")
	someSettingFlags(flags, importServerSettings...)
	flags.StringVar(&f.Columns, "columns", "", "what becomes of the fields, as above")
	flags.StringArrayVarP(&f.defines, "define", "D", nil, "importtsv.KEY=VALUE as ImportTsv takes it: columns, separator, timestamp, skip.bad.lines, skip.empty.columns")
	flags.StringVar(&f.format, "format", "", "of all files: csv, tsv or ndjson (by their names)")
	flags.StringVar(&f.separator, "separator", "", `between fields, one byte; \t and \x01 are understood (a comma; a tab in TSV)`)
	flags.StringVar(&f.Quote, "quote", "", `around fields, one byte, or none (" in CSV, none in TSV)`)
	flags.BoolVar(&f.Header, "header", false, "the first line of each file holds names; mappings by name imply it")
	flags.Int64Var(&f.Timestamp, "timestamp", 0, "of rows without one of their own, in ms since 1970 (now)")
	flags.BoolVar(&f.SkipEmpty, "skip-empty", false, "store no column for an empty field")
	flags.StringVar(&f.Null, "null", "", "store no column for a field that is just this, as NA")
	flags.BoolVar(&f.Create, "create", false, "make the table if it is not there, with the families of the columns")
	flags.BoolVar(&f.skipBad, "skip-bad-lines", false, "bad lines are no failure, however many")
	flags.Int64Var(&f.maxBad, "max-bad", 0, "as many bad lines are no failure; one more ends the import")
	flags.StringVar(&f.BadFile, "bad-file", "", "write the bad lines there as they are, to be put right and imported again")
	flags.StringVar(&f.maxLine, "max-line", "", "longest line, with line ends in quotes (16MiB)")
	flags.StringVar(&f.state, "state", "", "file that says how far the import is; none: it cannot be resumed (FILE.cellar-import of the first)")
	flags.BoolVar(&f.Resume, "resume", false, "go on where the import was when it ended early")
	flags.BoolVar(&f.Restart, "restart", false, "forget how far an earlier import was")
	flags.IntVar(&f.Lanes, "connections", 0, "batches that are written at a time (8)")
	flags.IntVar(&f.BatchRows, "batch", 0, "rows in a batch (300)")
	flags.DurationVar(&f.Patience, "patience", 0, "how long to try again, by the clock, while the server is busy, full or away (1m)")
	flags.BoolVar(&f.framed, "framed", false, "framed transport in place of buffered")
	flags.BoolVar(&f.compact, "compact", false, "compact protocol in place of binary")
}

// importTable runs an import.
func (a *app) importTable(c *cobra.Command, args []string, f *importFlags) (err error) {
	ctx, stop := interruptible(c.Context())
	defer stop()
	// A second signal ends the process: a read of standard input cannot be
	// called off.
	defer context.AfterFunc(ctx, stop)()
	f.Table, f.Files, f.Stdin = args[0], args[1:], a.in
	if err := f.read(c.Flags()); err != nil {
		return &usageError{err}
	}
	target, done, err := a.importTarget(ctx, c, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	p := &importProgress{w: a.err, total: -1}
	f.Report = p.bad
	im, err := tabimport.New(f.Options, target)
	if err != nil {
		return &usageError{err}
	}
	p.begin(im)
	begin := time.Now()
	r, err := im.Run(ctx)
	p.end()
	took := time.Since(begin)
	if r.Rows > 0 || r.Bad > 0 || err == nil {
		fmt.Fprintln(a.out, importSummary(f, &r, took))
	}
	if err != nil {
		return f.explain(err)
	}
	return f.verdict(r.Bad)
}

// read reads the flags that are texts, and looks at how they go together.
func (f *importFlags) read(flags *pflag.FlagSet) error {
	if err := f.readDefines(flags); err != nil {
		return err
	}
	if f.Columns == "" {
		return errors.New("--columns must say what becomes of the fields, as HBASE_ROW_KEY,f:a,f:b")
	}
	if flags.Changed("addr") && flags.Changed("data") {
		return errors.New("--addr and --data exclude each other: the rows go through a server, or into a folder")
	}
	f.Format = tabimport.Format(f.format)
	var longest server.Bytes
	if f.maxLine != "" {
		if err := longest.UnmarshalText([]byte(f.maxLine)); err != nil || longest < 1 || longest > server.GiB {
			return fmt.Errorf("--max-line %q: want a size up to 1GiB, as 16MiB", f.maxLine)
		}
	}
	f.MaxLine = int(longest)
	var err error
	if f.Separator, err = oneByte(f.separator); err != nil {
		return err
	}
	f.MaxBad = -1
	if flags.Changed("max-bad") && !f.skipBad {
		f.MaxBad = f.maxBad
	}
	switch {
	case f.state == "none":
		f.State = ""
	case f.state != "":
		f.State = f.state
	case f.Files[0] != tabimport.StdinName:
		f.State = filepath.Clean(f.Files[0]) + ".cellar-import"
	}
	return nil
}

// readDefines takes ImportTsv's own way to say things. Flags win over it.
func (f *importFlags) readDefines(flags *pflag.FlagSet) error {
	for _, d := range f.defines {
		key, value, _ := strings.Cut(d, "=")
		names := map[string]string{
			"importtsv.columns": "columns", "importtsv.separator": "separator", "importtsv.timestamp": "timestamp",
			"importtsv.skip.empty.columns": "skip-empty", "importtsv.skip.bad.lines": "skip-bad-lines", "create.table": "create",
		}
		name := names[key]
		if name == "" {
			return fmt.Errorf("-D %s is not understood: there are importtsv.columns, importtsv.separator, importtsv.timestamp, importtsv.skip.empty.columns, importtsv.skip.bad.lines, create.table", key)
		}
		if key == "create.table" {
			value = map[string]string{"yes": "true", "no": "false"}[value]
		}
		if flags.Changed(name) {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("-D %s: %w", d, err)
		}
		if key == "importtsv.skip.bad.lines" && value == "false" {
			if err := flags.Set("max-bad", "0"); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneByte reads a separator; "" is 0.
func oneByte(text string) (byte, error) {
	switch {
	case text == "":
		return 0, nil
	case text == `\t`:
		return '\t', nil
	case len(text) == 1:
		return text[0], nil
	case len(text) == 4 && strings.HasPrefix(text, `\x`):
		var b byte
		if _, err := fmt.Sscanf(text[2:], "%02x", &b); err == nil && b != 0 {
			return b, nil
		}
	}
	return 0, fmt.Errorf(`--separator %q: want one byte, \t, or \x and two hexadecimal digits`, text)
}

// importTarget is where the rows go, and what is to be done at the end.
func (a *app) importTarget(ctx context.Context, c *cobra.Command, f *importFlags) (tabimport.Target, func() error, error) {
	if !c.Flags().Changed("data") {
		o := thriftclient.Options{Framed: f.framed, Compact: f.compact}
		return &tabimport.ThriftTarget{Addr: f.addr, Options: o}, func() error { return nil }, nil
	}
	e, err := a.load(c)
	if err != nil {
		return nil, nil, err
	}
	s, err := server.OpenStore(ctx, e.config, server.OfflineOptions{Tool: "import", Create: f.Create, Logger: newLogger(a.err, server.LogConfig{Level: "warn", Format: "text"})})
	var running *server.RunningError
	switch {
	case errors.As(err, &running) && running.Server != nil && running.Server.Tool == "":
		return nil, nil, withHint(err, "import through it with --addr in place of --data")
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, withHint(err, "--create makes it")
	case err != nil:
		return nil, nil, explainStart(err)
	}
	path, err := filepath.Abs(e.config.Data)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return &tabimport.StoreTarget{Store: s, Label: path}, s.Close, nil
}

// explain adds to an error what to do about it.
func (f *importFlags) explain(err error) error {
	var tooMany *tabimport.TooManyBadError
	switch {
	case errors.Is(err, tabimport.ErrUnfinished):
		return withHint(err, "--resume goes on with it, --restart begins anew")
	case errors.Is(err, tabimport.ErrChanged), errors.Is(err, tabimport.ErrNoState):
		return withHint(err, "--restart begins anew; rows that are stored already are stored once more, with a newer timestamp")
	case errors.Is(err, tabimport.ErrMapping), errors.Is(err, tabimport.ErrOptions):
		return &usageError{err}
	case errors.Is(err, store.ErrTableNotFound):
		err = withHint(err, "--create makes it, with the families of --columns")
	case errors.Is(err, store.ErrNoSuchFamily):
		err = withHint(err, "add the family to the table, or change --columns")
	case errors.Is(err, store.ErrDiskFull):
		err = withHint(err, "make room")
	case errors.As(err, &tooMany):
		if f.State != "" {
			return withHint(err, "--resume with a larger --max-bad, or --skip-bad-lines, goes on")
		}
		return err
	case errors.Is(err, context.Canceled):
		err = interrupted(err)
	}
	if f.State == "" {
		return err
	}
	switch _, missing := os.Stat(f.State); {
	case errors.Is(missing, fs.ErrNotExist):
		return err // it ended before there was anything to go on with
	case missing != nil:
		return fmt.Errorf("%w; and nobody knows how far it is: look at the state of the import: %w", err, missing)
	}
	return withHint(err, "then the same command with --resume stores the rest")
}

// interrupted words the end by a signal. What else went wrong at the end, as a
// state that could not be written, is said too.
func interrupted(err error) error {
	all := []error{errors.New("the import was interrupted")}
	if parts, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range parts.Unwrap() {
			if !errors.Is(e, context.Canceled) {
				all = append(all, e)
			}
		}
	}
	return errors.Join(all...)
}

// verdict says whether so many bad lines are a failure.
func (f *importFlags) verdict(bad int64) error {
	if bad == 0 || f.skipBad || f.MaxBad >= 0 {
		return nil // what exceeds MaxBad has ended the import
	}
	where := "see above"
	if f.BadFile != "" {
		where = "they are in " + f.BadFile
	}
	return withHint(fmt.Errorf("%s of the lines became no row", comma(int(bad))), "%s; --skip-bad-lines does not mind", where)
}

func importSummary(f *importFlags, r *tabimport.Result, took time.Duration) string {
	s := "imported " + rate(int(r.Rows), "rows", took) + " into table " + f.Table
	if r.Resumed {
		s = fmt.Sprintf("imported %s rows into table %s, the last part in %.2f s", comma(int(r.Rows)), f.Table, took.Seconds())
	}
	if r.Bad > 0 {
		s += fmt.Sprintf("; %s bad lines", comma(int(r.Bad)))
	}
	return s
}
