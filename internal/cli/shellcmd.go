package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cellardb/cellar/internal/shell"
	"github.com/cellardb/cellar/internal/shell/remote"
	"github.com/cellardb/cellar/server"
)

// shellFlags are the flags of cellar shell.
type shellFlags struct {
	addr, http      string
	statements      []string
	stopAtError     bool
	framed, compact bool
	quiet           bool
}

func (a *app) shellCommand() *cobra.Command {
	var f shellFlags
	c := &cobra.Command{
		Use:   "shell [FILE]",
		Short: "Type commands as in HBase's shell",
		Long: `Takes commands as HBase's shell does: create, put, get, scan, count and so on.
help lists them, help 'put' shows one by example.

It speaks to the server on a data folder of this machine, or with --addr to any
Thrift 1 port, Apache's gateway too. What Thrift 1 cannot say, such as alter and
SPLITS, goes over Cellar's HTTP port: the one of the same server, or the one
given with --http.

On a terminal it keeps a history (Ctrl-R searches it) and completes with Tab.
Commands also come from -e, from a file, or from standard input; after an error
it goes on, unless there is -n, and the exit status is 1 in the end.`,
		Example: `  cellar shell
  cellar shell -e "create 't1', 'f1'" -e "put 't1', 'r1', 'f1:c1', 'value'" -e "scan 't1'"
  cellar shell -n setup.txt                    stop at the first error
  echo "count 't1'" | cellar shell
  cellar shell --addr gateway:9090             Apache's Thrift gateway
  cellar shell --addr cellar:9090 --http cellar:8600`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && len(f.statements) > 0 {
				return &usageError{errors.New("either -e or a file, not both")}
			}
			return a.shell(c, &f, args)
		},
	}
	someSettingFlags(c.Flags(), "data")
	c.Flags().StringVar(&f.addr, "addr", "", "address of a Thrift 1 port, in place of the data folder's server")
	c.Flags().StringVar(&f.http, "http", "", "address of Cellar's HTTP port, for alter, SPLITS and truncate")
	c.Flags().StringArrayVarP(&f.statements, "execute", "e", nil, "run a statement and leave; may be repeated")
	c.Flags().BoolVarP(&f.stopAtError, "noninteractive", "n", false, "stop at the first error")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "do not print how long each command took")
	c.Flags().BoolVar(&f.framed, "framed", false, "use Thrift's framed transport")
	c.Flags().BoolVar(&f.compact, "compact", false, "use Thrift's compact protocol")
	return c
}

// shell runs commands from where they are to come from.
func (a *app) shell(c *cobra.Command, f *shellFlags, args []string) error {
	s, release, err := a.shellSession(c, f)
	if err != nil {
		return err
	}
	defer release()
	ctx := c.Context()
	script := &shell.Script{Session: s, Err: a.err, StopAtError: f.stopAtError}
	switch {
	case len(f.statements) > 0:
		return a.shellStatements(ctx, script, f)
	case len(args) > 0 && args[0] != "-":
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		return shellEnd(script.Run(ctx, args[0], file))
	}
	if tty := a.terminalIn(); tty != nil && len(args) == 0 && !f.stopAtError {
		return a.console(ctx, s, tty)
	}
	return shellEnd(script.Run(ctx, "stdin", a.in))
}

// shellStatements runs those of -e, each a text of its own.
func (a *app) shellStatements(ctx context.Context, script *shell.Script, f *shellFlags) error {
	failed := false
	for i, text := range f.statements {
		err := script.Run(ctx, fmt.Sprintf("-e %d", i+1), strings.NewReader(text))
		switch {
		case errors.Is(err, shell.ErrExit) && !failed:
			return nil
		case errors.Is(err, shell.ErrExit):
			return shell.ErrFailed
		case errors.Is(err, shell.ErrFailed):
			failed = true
			if f.stopAtError {
				return err
			}
		case err != nil:
			return err
		}
	}
	if failed {
		return shell.ErrFailed
	}
	return nil
}

// shellEnd makes an end by exit none at all.
func shellEnd(err error) error {
	if errors.Is(err, shell.ErrExit) {
		return nil
	}
	return err
}

// shellSession finds the server.
func (a *app) shellSession(c *cobra.Command, f *shellFlags) (*shell.Session, func(), error) {
	s := &shell.Session{Out: a.out, Width: width(a.out), Quiet: f.quiet, Version: server.ReadBuild().Version, User: userName()}
	addr, admin := f.addr, f.http
	if addr == "" {
		r, err := a.findRunning(c)
		if err != nil {
			return nil, nil, fmt.Errorf("%w; or name a Thrift 1 port with --addr HOST:PORT", err)
		}
		if addr = r.Addresses[server.DoorThrift1]; addr == "" {
			return nil, nil, errors.New("the server's Thrift 1 door is off: set thrift1.addr, or name another port with --addr HOST:PORT")
		}
		if admin == "" {
			if admin = r.Addresses[server.DoorHTTP]; admin == "" {
				s.NoAdmin = "the server's HTTP door is off: set http.addr"
			}
		}
	}
	for _, name := range []string{addr, admin} {
		if _, _, err := net.SplitHostPort(name); err != nil && name != "" {
			return nil, nil, &usageError{fmt.Errorf("%q is no address: want host:port", name)}
		}
	}
	g := remote.NewGateway(addr, remote.Options{Framed: f.framed, Compact: f.compact})
	s.Gateway = g
	if admin != "" {
		s.Admin = remote.NewAdmin(admin)
	}
	// What a connection says at its end is of no interest.
	return s, func() { _ = g.Close() }, nil
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// terminalIn is the terminal that standard input is; nil: it is none, or output
// does not lead to one.
func (a *app) terminalIn() *os.File {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || width(a.out) == 0 {
		return nil
	}
	return in
}

// console talks with the person at a terminal.
func (a *app) console(ctx context.Context, s *shell.Session, tty *os.File) error {
	interrupts := newInterrupts()
	defer interrupts.close()
	fd := int(tty.Fd())
	c := &shell.Console{
		Session: s,
		History: a.openHistory(),
		Terminal: shell.Terminal{
			ReadWriter: struct {
				io.Reader
				io.Writer
			}{tty, a.out},
			Raw: func() (func() error, error) {
				before, err := term.MakeRaw(fd)
				return func() error { return term.Restore(fd, before) }, err
			},
			Interrupts: interrupts.during,
			Size: func() (int, int) {
				w, h, err := term.GetSize(fd)
				if err != nil {
					return 0, 0
				}
				return w, h
			},
		},
	}
	return c.Run(ctx)
}
