package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/cellardb/cellar/server"
)

// farewell says how to go on with a server in the background.
func (b *background) farewell(w io.Writer) {
	fmt.Fprintln(w, "\nThe server goes on in the background.")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if addr := b.Addresses[server.DoorThrift1]; addr != "" {
		line("thrift1", "%s", addr)
		if host, port, err := net.SplitHostPort(addr); err == nil {
			line("", "in Python: happybase.Connection('%s', %s).table('weather').row(b'JFK/2013-07-04T18')", localHost(host), port)
		}
	}
	line("http", "http://%s/v1/status and /metrics", b.Addresses[server.DoorHTTP])
	line("data", "%s", b.Data)
	if log := b.logPath(); log != "" {
		line("log", "%s", log)
	}
	line("look", "%s status --data %s", program(), shellQuote(b.Data))
	line("stop", "%s", b.stopCommand())
	_ = t.Flush() // what cannot be shown cannot be complained of either
}

// stopCommand is what a user types to stop the server.
func (b *background) stopCommand() string {
	return program() + " stop --data " + shellQuote(b.Data)
}

// localHost is a name under which this machine reaches itself where a server
// listens on every interface.
func localHost(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}

// program is what a user types for this program: its name where the shell finds
// it by that, else its path.
func program() string {
	const name = "cellar"
	exe, err := os.Executable()
	if err != nil {
		return name
	}
	if found, err := exec.LookPath(name); err == nil && sameFile(found, exe) {
		return name
	}
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, exe); err == nil && !strings.HasPrefix(rel, "..") {
			if !strings.ContainsRune(rel, filepath.Separator) {
				rel = "." + string(filepath.Separator) + rel
			}
			return shellQuote(rel)
		}
	}
	return shellQuote(exe)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// shellQuote makes one word of a path for a shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
