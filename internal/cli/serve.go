package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/server"
	"github.com/cellardb/cellar/store"
)

// untilStdinFlag is for a parent that must not leave its server behind however
// it ends: the kernel closes the pipe for it.
const untilStdinFlag = "until-stdin-closes"

func (a *app) serveCommand() *cobra.Command {
	var untilStdin bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a server in the foreground",
		Long: `Runs a server until it gets SIGTERM, SIGINT (Ctrl-C) or SIGHUP (its terminal was
closed; not under nohup). It then stops accepting,
finishes the requests that run, and closes the store; a second signal aborts
that. What was acknowledged is kept in either case.

Settings come from flags, from environment variables (CELLAR_THRIFT1_ADDR for
--thrift1-addr), from a YAML file, and from defaults; the first that has one
wins. cellar config print shows the outcome.`,
		Example: `  cellar serve                                    everything default, data in ./cellar-data
  cellar serve --data /srv/cellar --memory 8GiB
  cellar serve --thrift1-addr :9090               reachable from other machines
  cellar serve --engine memory --thrift1-addr 127.0.0.1:0   for tests: nothing is kept
  cellar serve --config /etc/cellar.yaml
  CELLAR_LOG_LEVEL=debug cellar serve`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := a.load(c)
			if err != nil {
				return withHint(err, "cellar config print shows all settings")
			}
			ctx := c.Context()
			if untilStdin {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
				a.onStdinClosed(cancel)
			}
			return serve(ctx, e.config, a.err, notifier{a.environment(notifySocket)})
		},
	}
	settingFlags(c.Flags())
	c.Flags().BoolVar(&untilStdin, untilStdinFlag, false, "stop when standard input is closed")
	_ = c.Flags().MarkHidden(untilStdinFlag)
	return c
}

// onStdinClosed calls f once standard input ends. The goroutine lives as long
// as the process does: a read cannot be called off.
func (a *app) onStdinClosed(f func()) {
	go func() {
		// Whatever comes, and however it ends, the end is what counts.
		_, _ = io.Copy(io.Discard, a.in)
		f()
	}()
}

// serve runs a server until the context ends or a signal comes.
func serve(ctx context.Context, cfg server.Config, errOut io.Writer, manager notifier) error {
	stop, abort, release := signalContexts(ctx)
	defer release()
	log := newLogger(errOut, cfg.Log)
	tell := func(state string) {
		if err := manager.tell(state); err != nil {
			log.Warn("the service manager is not told", "state", state, "error", err)
		}
	}
	s, err := server.New(cfg, server.Options{Logger: log, Build: server.ReadBuild()})
	if err != nil {
		return err
	}
	if err := abortable(abort, func() error { return s.Start(stop) }); err != nil {
		return explainStart(err)
	}
	tell(notifyReady)
	failed := s.Wait(stop)
	tell(notifyStopping)
	return errors.Join(failed, s.Shutdown(abort))
}

// abortable waits for f, but not longer than until abort ends: then f is left to
// the end of the process. An engine that reads its log again may take minutes
// and look at no context.
func abortable(abort context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-abort.Done():
		return fmt.Errorf("start: %w", server.ErrAborted)
	}
}

// signalContexts turns signals to stop into contexts: the first, or the end of
// ctx, ends stop; the one after it ends abort. None is lost in between. release
// ends both and waits for the goroutine behind them.
func signalContexts(ctx context.Context) (stop, abort context.Context, release func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	stop, cancelStop := context.WithCancel(ctx)
	abort, cancelAbort := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-signals:
			cancelStop()
		case <-stop.Done():
		case <-done:
			return
		}
		select {
		case <-signals:
			cancelAbort()
		case <-done:
		}
	})
	return stop, abort, func() {
		signal.Stop(signals)
		close(done)
		watching.Wait()
		cancelStop()
		cancelAbort()
	}
}

// explainStart adds to an error of Start what to do about it.
func explainStart(err error) error {
	var running *server.RunningError
	switch {
	case errors.As(err, &running) && running.Server != nil && running.Server.Tool != "":
		return withHint(err, "wait until it is done, or give this one another folder with --data")
	case errors.As(err, &running):
		return withHint(err, "stop it with cellar stop --data %s, or give this one another folder with --data", running.Data)
	case errors.Is(err, store.ErrLocked):
		return withHint(err, "stop the process that has it open, or take another folder with --data")
	case errors.Is(err, store.ErrNewerFormat):
		return withHint(err, "use the cellar that wrote it, or a newer one")
	case errors.Is(err, store.ErrOlderFormat):
		return withHint(err, "take a backup first")
	case errors.Is(err, store.ErrCorrupt):
		return withHint(err, "restore it from a backup, or start with another folder with --data")
	}
	return err
}
