package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/cellardb/cellar/server"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cellar": func() {
			os.Exit(Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// The command line as users meet it: each file is a script.
//
//	busy VAR         takes a port for the time of the script; its address is $VAR
//	ready DIR        waits until the server on a data folder is ready
//	gone DIR         waits until no server is on the folder, which may be a glob
//	detached DIR     the server on the folder has left this terminal
//	sigkill DIR      kills the server on the folder
//	sigterm DIR      asks it to stop
//	halfframe ADDR   leaves a request at a door that never arrives whole
//	logged FILE TEXT waits until a file holds a text
//	answers ADDR/PATH CODE REGEXP   waits until the HTTP port answers so
//	address VAR DIR DOOR   puts the address of its door into $VAR
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) < 9 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("CELLAR_MEMORY", "512MiB")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"busy":      busy,
			"ready":     ready,
			"gone":      gone,
			"detached":  detached,
			"sigkill":   func(ts *testscript.TestScript, _ bool, args []string) { sendSignal(ts, args, syscall.SIGKILL) },
			"sigterm":   func(ts *testscript.TestScript, _ bool, args []string) { sendSignal(ts, args, syscall.SIGTERM) },
			"address":   address,
			"halfframe": halfFrame,
			"logged":    logged,
			"answers":   answers,
		},
	})
}

func one(ts *testscript.TestScript, args []string) string {
	if len(args) != 1 {
		ts.Fatalf("want one argument, have %q", args)
	}
	return args[0]
}

func busy(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(one(ts, args), l.Addr().String())
}

func ready(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(one(ts, args))
	ts.Defer(func() { killLeft(dir) })
	poll(ts, "no server is ready on "+dir, func() bool {
		r, err := server.FindRunning(dir)
		if err != nil {
			return false
		}
		st, err := askStatus(context.Background(), r.Addresses[server.DoorHTTP])
		return err == nil && st.State == "ready"
	})
}

// killLeft ends a server that a script which failed has left behind.
func killLeft(dir string) {
	if r, err := server.FindRunning(dir); err == nil && r.PID != os.Getpid() {
		syscall.Kill(r.PID, syscall.SIGKILL)
	}
}

func gone(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(one(ts, args))
	if found, err := filepath.Glob(dir); err == nil && len(found) == 1 {
		dir = found[0]
	}
	ts.Defer(func() { killLeft(dir) })
	poll(ts, "a server is still on "+dir, func() bool {
		_, err := server.FindRunning(dir)
		return errors.Is(err, server.ErrNotRunning)
	})
}

func detached(ts *testscript.TestScript, _ bool, args []string) {
	r, err := server.FindRunning(ts.MkAbs(one(ts, args)))
	ts.Check(err)
	sid, err := unix.Getsid(r.PID)
	ts.Check(err)
	if sid != r.PID {
		ts.Fatalf("process %d is in the session %d", r.PID, sid)
	}
}

func sendSignal(ts *testscript.TestScript, args []string, signal syscall.Signal) {
	r, err := server.FindRunning(ts.MkAbs(one(ts, args)))
	ts.Check(err)
	ts.Check(syscall.Kill(r.PID, signal))
}

func address(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("want a variable, a folder and a door, have %q", args)
	}
	r, err := server.FindRunning(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Setenv(args[0], r.Addresses[args[2]])
}

func halfFrame(ts *testscript.TestScript, _ bool, args []string) {
	c, err := net.Dial("tcp", one(ts, args))
	ts.Check(err)
	ts.Defer(func() { c.Close() })
	_, err = c.Write([]byte{0x80, 0x01, 0x00, 0x01, 0, 0, 0, 13, 'g'})
	ts.Check(err)
}

func logged(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("want a file and a text, have %q", args)
	}
	poll(ts, args[0]+" does not hold "+args[1], func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Contains(string(text), args[1])
	})
}

func answers(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("want a path, a code and a regular expression, have %q", args)
	}
	want := regexp.MustCompile(args[2])
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	poll(ts, args[0]+" does not answer "+args[1]+" "+args[2], func() bool {
		resp, err := client.Get("http://" + args[0])
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return err == nil && strconv.Itoa(resp.StatusCode) == args[1] && want.Match(text)
	})
}

func poll(ts *testscript.TestScript, failure string, done func() bool) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	ts.Fatalf("%s", failure)
}

// Every command teaches by example.
func TestHelp_hasExamples(t *testing.T) {
	root := (&app{}).root()
	checked := 0
	for _, c := range root.Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		checked++
		if !strings.Contains(c.Example, "cellar "+c.Name()) {
			t.Errorf("cellar %s has no example of itself", c.Name())
		}
		for _, sub := range c.Commands() {
			if !sub.Hidden && !c.Hidden && !strings.Contains(sub.Example, "cellar "+c.Name()+" "+sub.Name()) {
				t.Errorf("cellar %s %s has no example of itself", c.Name(), sub.Name())
			}
		}
	}
	if checked < 9 {
		t.Errorf("%d commands checked, want 9 or more", checked)
	}
}

// docs/configuration.md has the table that the code gives.
func TestDocs_listEverySetting(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), settingsTable()) {
		t.Errorf("docs/configuration.md has not this table (cellar gen settings):\n%s", settingsTable())
	}
}

// docs/cli.md names every command and flag that help shows.
func TestDocs_listEveryCommand(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, line := range commandLines((&app{}).root()) {
		checked++
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/cli.md does not have %q", line)
		}
	}
	if checked < 30 {
		t.Errorf("%d commands and flags checked", checked)
	}
}
