package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/server"
	"github.com/cellardb/cellar/store/archive"
)

func (a *app) backupCommand() *cobra.Command {
	var u upkeepFlags
	var base string
	var discard, asJSON bool
	c := &cobra.Command{
		Use:   "backup DIR|-",
		Short: "Back a store up, while it is used",
		Long: `Makes a backup of a store: everything that was acknowledged before the command
asked for it, in a new folder DIR or, with -, as a tar stream on standard output.

If a server runs on the data folder it does the work, beside its clients; else
the closed store is copied. With --addr the folder is one of the server's
machine, named by an absolute path; the stream comes to this one.

On the file system of the store the files of a backup are links: it takes no time
and no space but for what the store changes later. A link is as safe as the disk
that both are on, so take backups to another disk, too: there, with --base and
the last backup, only what is new is copied.

What an interrupted backup leaves is called DIR.partial; --discard removes it.`,
		Example: `  cellar backup /srv/backup/monday
  cellar backup /mnt/other/tuesday --base /mnt/other/monday
  cellar backup - | zstd > cellar.tar.zst
  cellar backup - --addr 10.0.0.7:8600 --rate 20MiB > cellar.tar
  cellar backup /srv/backup/closed --data /srv/cellar   no server runs on it`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			rate, err := u.bytes(c.Flags())
			if err != nil {
				return err
			}
			at, err := u.find(a, c)
			if err != nil {
				return err
			}
			b := &backingUp{a: a, base: base, discard: discard, json: asJSON, rate: rate, meter: newMeter(a.err, "backup")}
			if args[0] != "-" {
				return b.folder(c, at, args[0])
			}
			if base != "" || discard || asJSON {
				return &usageError{errors.New("--base, --discard and --json are for a folder, not for a stream")}
			}
			return b.stream(c, at)
		},
	}
	u.add(c.Flags())
	c.Flags().StringVar(&base, "base", "", "an earlier backup: what it has already is linked, not copied")
	c.Flags().BoolVar(&discard, "discard", false, "remove what an interrupted backup to DIR left")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// backingUp is one run of the command.
type backingUp struct {
	a       *app
	base    string
	discard bool
	json    bool
	rate    int64
	meter   *meter
}

func (b *backingUp) folder(c *cobra.Command, at place, dir string) error {
	begin := time.Now()
	result, err := b.toFolder(c, at, &dir)
	b.meter.clear()
	if err != nil {
		var left *archive.PartialError
		if errors.As(err, &left) {
			return withHint(err, "if no backup to it is under way, remove it, or repeat this with --discard")
		}
		return err
	}
	if b.json {
		return printJSON(b.a.out, struct {
			Dir string `json:"dir"`
			ops.BackupResult
		}{dir, result})
	}
	fmt.Fprintf(b.a.out, "backed up to %s: %d files of %s (%s linked, %s copied) in %s\n",
		dir, result.Files, human(result.Bytes), human(result.Linked), human(result.Copied), time.Since(begin).Round(time.Millisecond))
	return nil
}

func (b *backingUp) toFolder(c *cobra.Command, at place, dir *string) (ops.BackupResult, error) {
	for _, path := range []*string{dir, &b.base} {
		if *path == "" {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return ops.BackupResult{}, err
		}
		if c.Flags().Changed("addr") && whole != *path {
			return ops.BackupResult{}, &usageError{fmt.Errorf("%s is on the server's machine: name it by its absolute path", *path)}
		}
		*path = whole
	}
	if at.addr == "" {
		result, err := server.BackupStore(c.Context(), at.config, server.ReadBuild(), server.BackupTarget{
			Dir: *dir, Base: b.base, Discard: b.discard, Rate: max(b.rate, 0), Progress: b.meter.at,
		})
		return ops.BackupResult(result), err
	}
	e, err := follow(c.Context(), at.addr, "/v1/admin/backup", ops.BackupRequest{Dir: *dir, Base: b.base, Discard: b.discard, Rate: b.rate}, func(e ops.Event) {
		if e.Progress != nil {
			_ = b.meter.at(e.Progress.Done, e.Progress.Total) // a bar that cannot be drawn is not worth an error
		}
	})
	if err != nil {
		return ops.BackupResult{}, err
	}
	if e.Backup == nil {
		return ops.BackupResult{}, errors.New("the server's reply has no result")
	}
	return *e.Backup, nil
}

// stream writes a tar to standard output.
func (b *backingUp) stream(c *cobra.Command, at place) error {
	if width(b.a.out) > 0 {
		return &usageError{errors.New("a tar stream is not for a terminal: send it to a file, as cellar backup - > cellar.tar")}
	}
	begin := time.Now()
	counted := &countingWriter{w: b.a.out, meter: b.meter}
	err := b.toStream(c, at, counted)
	b.meter.clear()
	if err != nil {
		return withHint(err, "what was written is not whole: remove it")
	}
	fmt.Fprintf(b.a.err, "backed up to a stream of %s in %s\n", human(counted.n), time.Since(begin).Round(time.Millisecond))
	return nil
}

func (b *backingUp) toStream(c *cobra.Command, at place, to io.Writer) error {
	if at.addr == "" {
		_, err := server.BackupStore(c.Context(), at.config, server.ReadBuild(), server.BackupTarget{Out: to, Rate: max(b.rate, 0)})
		return err
	}
	r, err := post(c.Context(), at.addr, "/v1/admin/backup/tar", ops.BackupRequest{Rate: b.rate})
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(to, r); err != nil {
		return fmt.Errorf("the stream ended before the backup did: %w", err)
	}
	return nil
}

// countingWriter counts what passes, and tells the meter.
type countingWriter struct {
	w     io.Writer
	meter *meter
	n     int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	_ = w.meter.at(w.n, 0) // a bar that cannot be drawn is not worth an error
	return n, err
}

func (a *app) restoreCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "restore DIR|FILE.tar|-",
		Short: "Make a store from a backup",
		Long: `Makes the store of a data folder from a backup: a folder, a tar file, or, with -,
a tar stream on standard input. The data folder must be empty, or not be there,
and no server may run on it.

Every file's SHA-256 is checked, and the store is verified, before the store
appears in the folder: whatever goes wrong before leaves none.`,
		Example: `  cellar restore /srv/backup/monday --data /srv/cellar-2
  cellar restore cellar.tar
  zstd -dc cellar.tar.zst | cellar restore - --data /srv/cellar`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := a.load(c)
			if err != nil {
				return err
			}
			return a.restore(c, e.config, args[0], asJSON)
		},
	}
	someSettingFlags(c.Flags(), "data")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) restore(c *cobra.Command, cfg server.Config, source string, asJSON bool) error {
	m := newMeter(a.err, "restore")
	from := server.RestoreSource{Progress: m.at}
	if source == "-" {
		from.Tar = a.in
	} else if info, err := os.Stat(source); err != nil {
		return fmt.Errorf("find the backup: %w", err)
	} else if info.IsDir() {
		from.Dir = source
	} else {
		f, err := os.Open(source)
		if err != nil {
			return fmt.Errorf("open the backup: %w", err)
		}
		defer f.Close()
		from.Tar = f
	}
	begin := time.Now()
	done, err := server.Restore(c.Context(), cfg, from)
	m.clear()
	switch {
	case errors.Is(err, server.ErrNotEmpty):
		return withHint(err, "a backup is restored into a folder of its own: name one with --data")
	case errors.Is(err, server.ErrRunning):
		return withHint(err, "stop it, or name another folder with --data")
	case err != nil:
		return err
	}
	if asJSON {
		return printJSON(a.out, done)
	}
	fmt.Fprintf(a.out, "restored to %s: %d files of %s, %d tables, %s cells, as of %s, in %s\n",
		cfg.Data, len(done.Manifest.Files), human(done.Manifest.Bytes()), done.Report.Tables, comma(int(done.Report.Cells)),
		done.Manifest.Taken.Format(time.DateTime+" MST"), time.Since(begin).Round(time.Millisecond))
	return nil
}
