// Package cli is the cellar command: it reads flags, files and environment,
// and calls server, bench and the doors' clients. It holds no logic of the
// product.
//
// Contract: Run does one command line, writes results to out and everything
// else to err, never ends the process, and answers the exit status: 0 done, 1
// failed, 2 the command line was wrong. A failure is one line that says what to
// do next where there is something to do.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Exit statuses of Run.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Run does the command line args, which do not include the program's name.
// When the context ends, the command stops in order.
func Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{in: in, out: out, err: errOut, environ: os.Environ()}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(errOut, "cellar: %s\n", message(err))
	var u *usageError
	if !a.began || errors.As(err, &u) {
		return exitUsage
	}
	return exitFailed
}

// app is one run of the command.
type app struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	// began says that the command line was right and its command runs; an
	// error before that is of the command line.
	began bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "cellar",
		Short: "A wide-column event store that HBase's clients use unmodified",
		Long: `Cellar is an HBase-compatible wide-column event store in one binary.

  cellar quickstart            see it work: start a server, load real data, read it back
  cellar serve                 run a server in the foreground
  cellar status                what runs on ./cellar-data
  cellar stop                  stop it in order
  cellar shell                 HBase's shell commands, on this or any Thrift 1 port
  cellar import table T FILE   store CSV, TSV or NDJSON files as rows
  cellar top                   watch it: rates, latency, pressure, memory, disk, hot tables
  cellar verify                check every file of a store
  cellar backup DIR            copy a store while it runs; cellar restore DIR makes one of it
  cellar bench thrift          measure a Thrift server, this one or another`,
		SilenceUsage:  true,
		SilenceErrors: true,
		// No command: help, and not an error.
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			a.began = true
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(unknownFlag)
	root.AddCommand(
		a.quickstartCommand(),
		a.serveCommand(),
		a.statusCommand(),
		a.topCommand(),
		a.stopCommand(),
		a.verifyCommand(),
		a.backupCommand(),
		a.restoreCommand(),
		a.upgradeCommand(),
		a.importCommand(),
		a.configCommand(),
		a.shellCommand(),
		a.benchCommand(),
		a.versionCommand(),
		a.genCommand(),
	)
	return root
}

// noCommand refuses a word that is no command, and says which it may have
// meant.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("there is no command %q: did you mean %q?", args[0], near[0])
	}
	return fmt.Errorf("there is no command %q: cellar --help lists them", args[0])
}

// usageError is a command line that is wrong in a way that only the command
// finds out.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// hintError is a failure with what to do about it.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() + ": " + e.hint }
func (e *hintError) Unwrap() error { return e.err }

// withHint adds what to do next to a failure.
func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hintError{err, fmt.Sprintf(format, args...)}
}

// message puts an error on one line. What errors.Join put on lines of their own
// is separated by semicolons.
func message(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
