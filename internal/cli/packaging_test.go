package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/server"
)

// packaged reads a file of the folder packaging.
func packaged(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// parses says whether a command line is one of ours.
func parses(t *testing.T, args []string) {
	t.Helper()
	c, rest, err := (&app{}).root().Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil || !c.Runnable() || !c.HasParent() {
		t.Errorf("cellar %s: %v", strings.Join(args, " "), err)
	}
}

// The configuration that is packaged is right, with what it has commented out
// too.
func TestPackaging_config(t *testing.T) {
	e, err := load(layers{file: "../../packaging/cellar.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if e.config.Data != "/var/lib/cellar" {
		t.Errorf("data %s", e.config.Data)
	}
	text := packaged(t, "cellar.yaml")
	whole := strings.ReplaceAll(text, "# memory: ", "memory: ")
	if whole == text {
		t.Error("the memory is not there, commented out")
	}
	if e, err = load(layers{file: writeFile(t, "c.yaml", whole)}); err != nil || e.config.Memory != 4*server.GiB {
		t.Errorf("with all of it: %v", err)
	}
}

// What the unit says fits the server, its configuration and its user.
func TestPackaging_unit(t *testing.T) {
	unit := map[string]string{}
	for line := range strings.Lines(packaged(t, "cellar.service")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsAny(line[:1], "#[") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if _, twice := unit[key]; !ok || twice {
			t.Errorf("line %q", line)
		}
		unit[key] = value
	}
	for key, want := range map[string]string{
		"Type": "notify", "Restart": "on-failure", "User": "cellar", "StateDirectory": "cellar", "ProtectSystem": "strict",
		"NoNewPrivileges": "true", "CapabilityBoundingSet": "",
	} {
		if got, ok := unit[key]; !ok || got != want {
			t.Errorf("%s=%s, want %s", key, got, want)
		}
	}
	if len(unit) < 30 {
		t.Errorf("%d lines", len(unit))
	}
	command := strings.Fields(unit["ExecStart"])
	if command[0] != "/usr/bin/cellar" || command[1] != "serve" {
		t.Errorf("ExecStart=%s", command)
	}
	parses(t, command[1:])

	e, err := load(layers{file: "../../packaging/cellar.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "/var/lib/" + unit["StateDirectory"]; e.config.Data != want {
		t.Errorf("the data is in %s, the service may write to %s", e.config.Data, want)
	}
	if n, err := strconv.Atoi(unit["TimeoutStopSec"]); err != nil || time.Duration(n)*time.Second < 2*e.config.DrainTimeout {
		t.Errorf("TimeoutStopSec=%s with a drain of %s", unit["TimeoutStopSec"], e.config.DrainTimeout)
	}
	const files = 4096 // that the store has open at most
	if n, err := strconv.Atoi(unit["LimitNOFILE"]); err != nil || n < 2*(files+e.config.Thrift1.MaxConnections+e.config.HTTP.MaxConnections) {
		t.Errorf("LimitNOFILE=%s", unit["LimitNOFILE"])
	}
	if !strings.Contains(packaged(t, "cellar.sysusers"), "\nu "+unit["User"]+" - ") {
		t.Error("the service's user is not made")
	}
}

// What the container file says fits the command line, and the files of a
// release.
func TestPackaging_container(t *testing.T) {
	said := map[string][]string{}
	for line := range strings.Lines(packaged(t, "Containerfile")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		said[word] = append(said[word], rest)
	}
	for word, want := range map[string]string{"FROM": "scratch", "VOLUME": "/data", "STOPSIGNAL": "SIGTERM", "USER": "65532:65532"} {
		if got := strings.Join(said[word], "; "); got != want {
			t.Errorf("%s %s, want %s", word, got, want)
		}
	}

	list := func(text string) (words []string) {
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return words
	}
	if entry := list(said["ENTRYPOINT"][0]); !slices.Equal(entry, []string{"/cellar"}) {
		t.Errorf("entrypoint %v", entry)
	}
	parses(t, list(said["CMD"][0]))
	_, check, _ := strings.Cut(said["HEALTHCHECK"][0], " CMD ")
	probe := list(check)
	if probe[0] != "/cellar" {
		t.Errorf("health check %v", probe)
	}
	parses(t, probe[1:])

	e, err := load(layers{environ: strings.Fields(said["ENV"][0])})
	if err != nil {
		t.Fatal(err)
	}
	_, thrift, _ := net.SplitHostPort(e.config.Thrift1.Addr)
	_, http, _ := net.SplitHostPort(e.config.HTTP.Addr)
	if want := thrift + " " + http; said["EXPOSE"][0] != want || e.config.Data != "/data" {
		t.Errorf("EXPOSE %v with %s and data in %s", said["EXPOSE"], want, e.config.Data)
	}

	release, err := os.ReadFile("../../scripts/release.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"COPY cellar /cellar", "COPY --chown=65532:65532 data /data"} {
		if !slices.Contains(said["COPY"], strings.TrimPrefix(text, "COPY ")) {
			t.Errorf("no %s in %v", text, said["COPY"])
		}
	}
	for _, text := range []string{`mkdir -p "$dir/data"`, `cp "$2" "$dir/cellar"`, "packaging/Containerfile"} {
		if !strings.Contains(string(release), text) {
			t.Errorf("scripts/release.sh has no %s", text)
		}
	}
}

// Scripts run with pipefail: what stops reading a pipe early, as grep -q and head,
// makes a failure of a success where the other end still writes. What waits has a
// bound.
func TestScripts_neitherHangNorLie(t *testing.T) {
	names, err := filepath.Glob("../../scripts/*.sh")
	if err != nil || len(names) < 8 {
		t.Fatalf("%d scripts, %v", len(names), err)
	}
	early := regexp.MustCompile(`[^|]\| *(grep +-[a-zA-Z]*q|grep +-m|sed +\S*q\b|true\b)`)
	endless := regexp.MustCompile(`^\s*(until|while) +(\[|!|true|:|test\b|kill\b)`)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			if early.MatchString(line) {
				t.Errorf("%s:%d reads a part of a pipe: %s", name, n, line)
			}
			if endless.MatchString(line) {
				t.Errorf("%s:%d waits without a bound: %s", name, n, line)
			}
		}
	}
}

// systemd is told when clients may come, and when the server stops.
func TestServe_notifies(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	told := func(want string) {
		t.Helper()
		var message [100]byte
		n, err := socket.Read(message[:])
		if err != nil || string(message[:n]) != want {
			t.Errorf("told %q, %v; want %s", message[:n], err, want)
		}
	}
	data := filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	cfg := server.Config{
		Data: data, Engine: server.EngineMemory, Memory: server.MinMemory,
		Thrift1: server.Thrift1Config{Addr: "127.0.0.1:0"}, HTTP: server.HTTPConfig{Addr: "127.0.0.1:0"},
	}.Resolve()
	var log bytes.Buffer
	go func() { ended <- serve(ctx, cfg, &log, notifier{name}) }()
	told("READY=1")
	if _, err := server.FindRunning(data); err != nil {
		t.Errorf("when ready was told: %v", err)
	}
	cancel()
	told("STOPPING=1")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "service manager") {
		t.Errorf("log: %s", &log)
	}
}

func TestNotifier(t *testing.T) {
	if err := (notifier{}).tell(notifyReady); err != nil {
		t.Errorf("with nobody to tell: %v", err)
	}
	err := notifier{filepath.Join(t.TempDir(), "none")}.tell(notifyReady)
	if err == nil || !strings.HasPrefix(err.Error(), "tell systemd: ") {
		t.Errorf("with nobody there: %v", err)
	}
	if (&app{environ: []string{"NOTIFY_SOCKET=@x"}}).environment(notifySocket) != "@x" {
		t.Error("the variable is not read")
	}
}

// eachCommand calls do for every command that users see.
func eachCommand(root *cobra.Command, do func(*cobra.Command)) (n int) {
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		do(c)
		n += 1 + eachCommand(c, do)
	}
	return n
}

// Help of every command says what it does, and of every flag what it is for.
func TestHelp_isWhole(t *testing.T) {
	commands := eachCommand((&app{}).root(), func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || strings.ToUpper(c.Short[:1]) != c.Short[:1] {
			t.Errorf("%s: the short help is %q", c.CommandPath(), c.Short)
		}
		if c.Example == "" && c.Long == "" {
			t.Errorf("%s has neither an example nor a long help", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if strings.TrimSpace(f.Usage) == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: the help is %q", c.CommandPath(), f.Name, f.Usage)
			}
		})
	})
	if commands < 10 {
		t.Errorf("%d commands", commands)
	}
}

// There is a man page of every command, and the same one whenever it is made.
func TestGen_manPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1767355200")
	made := func() string {
		dir := t.TempDir()
		var errOut bytes.Buffer
		if code := Run(t.Context(), []string{"gen", "man", dir}, nil, &errOut, &errOut); code != exitOK {
			t.Fatalf("status %d: %s", code, &errOut)
		}
		return dir
	}
	first, second := made(), made()
	pages := eachCommand((&app{}).root(), func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Error(err)
			return
		}
		again, err := os.ReadFile(filepath.Join(second, name))
		if err != nil || !bytes.Equal(page, again) {
			t.Errorf("%s is another one the second time: %v", name, err)
		}
		title := strings.ToUpper(strings.TrimSuffix(name, ".1"))
		if !strings.Contains(string(page), title) || !strings.Contains(string(page), "Jan 2026") {
			t.Errorf("%s has not the title %s and its date:\n%.200s", name, title, page)
		}
	})
	if pages < 10 {
		t.Errorf("%d pages", pages)
	}
}
