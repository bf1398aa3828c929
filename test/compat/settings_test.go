package compat

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// With a transport or protocol set, a client that uses another is closed, and
// one line of the log says what was expected and what came.
func TestC11_StrictModeRefusesTheOthers(t *testing.T) {
	long(t)
	message := plainthrift.Message("getTableNames", 1)
	compact := []byte("\x82\x21\x01\x0dgetTableNames\x00")
	forms := map[string][]byte{
		"buffered binary": message, "framed binary": plainthrift.Frame(message),
		"buffered compact": compact, "framed compact": plainthrift.Frame(compact),
	}
	cases := []struct {
		flags   []string
		answers string // which forms are answered
	}{
		{[]string{"--thrift1-transport", "framed"}, "framed binary, framed compact"},
		{[]string{"--thrift1-transport", "buffered"}, "buffered binary, buffered compact"},
		{[]string{"--thrift1-protocol", "binary"}, "buffered binary, framed binary"},
		{[]string{"--thrift1-protocol", "compact", "--thrift1-transport", "framed"}, "framed compact"},
		{nil, "buffered binary, framed binary, buffered compact, framed compact"},
	}
	tried := 0
	for _, c := range cases {
		server := child.Start(t, t.TempDir(), c.flags...)
		for form, bytes := range forms {
			tried++
			before := len(server.Log())
			answered := isAnswered(t, server.Thrift1, bytes)
			if want := strings.Contains(c.answers, form); answered != want {
				t.Errorf("%v: %s is answered: %v, want %v", c.flags, form, answered, want)
			}
			if !answered && len(server.Log()) <= before {
				t.Errorf("%v: nothing is logged about %s", c.flags, form)
			}
		}
		server.Kill()
	}
	if tried != 20 {
		t.Errorf("%d combinations, want 20", tried)
	}
}

// isAnswered says whether a call is answered with a reply, or else with nothing
// or an exception before the connection is closed.
func isAnswered(t *testing.T, addr string, call []byte) bool {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(call); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := c.Read(buf)
	if n == 0 {
		if err == nil || !isEnd(err) {
			t.Errorf("neither answered nor closed: %v", err)
		}
		return false
	}
	// An exception that says why is followed by the end; a reply is not.
	return !strings.Contains(string(buf[:n]), "expected")
}

func isEnd(err error) bool {
	var timeout net.Error
	return errors.Is(err, io.EOF) || !(errors.As(err, &timeout) && timeout.Timeout())
}

// A connection that is idle stays; a scanner that is idle past its time is
// refused by id, on a connection that lives.
func TestC13_IdleConnectionsAndScanners(t *testing.T) {
	long(t)
	const timeout = 3 * time.Second
	server := child.Start(t, t.TempDir(), "--thrift1-scanner-timeout", timeout.String())
	table(t, server.Thrift1, "c13")
	idle := dial(t, server.Thrift1)
	if _, err := idle.Do("getTableNames"); err != nil {
		t.Fatal(err)
	}
	c := dial(t, server.Thrift1)
	opened, used := useOften(t, c, timeout)
	for tries := 1; !used && tries < 5; tries++ {
		t.Log("the machine stood still for longer than the scanner's time: once more")
		opened, used = useOften(t, c, timeout)
	}
	if !used {
		t.Fatal("the machine is too slow for this test")
	}
	if err := useUntilRefused(c, opened); err != nil {
		t.Error(err)
	}
	for who, c := range map[string]*plainthrift.Client{"the same connection": c, "the idle connection": idle} {
		c.SetDeadline(time.Now().Add(patience))
		if got, err := c.GetRow("c13", "r1"); err != nil || got["cf:a"] != "value of r1" {
			t.Errorf("%s afterwards: %v, %v", who, got, err)
		}
	}
}

// useOften uses a new scanner for longer than its time, with shorter pauses. A
// pause that became longer, since the machine has other things to do, proves
// nothing: the second result is false then.
func useOften(t *testing.T, c *plainthrift.Client, timeout time.Duration) (scanner int64, used bool) {
	t.Helper()
	last := time.Now()
	scanner = openScanner(t, c)
	for range 4 {
		time.Sleep(timeout / 3)
		asked := time.Now()
		rows, err := nextRows(c, scanner)
		if (err != nil || rows != 1) && time.Since(last) >= timeout {
			return scanner, false
		}
		if err != nil || rows != 1 {
			t.Fatalf("a scanner that is used gives %d rows, %v; want 1", rows, err)
		}
		last = asked // the server has counted from then on, or later
	}
	return scanner, true
}

// useUntilRefused asks a scanner after longer and longer pauses, all of them
// longer than its time, until it is refused as it should be.
func useUntilRefused(c *plainthrift.Client, scanner int64) error {
	for pause := 4 * time.Second; pause < patience; pause *= 2 {
		time.Sleep(pause)
		c.SetDeadline(time.Now().Add(patience))
		_, err := c.Do("scannerGetList", plainthrift.I32(int32(scanner)), plainthrift.I32(1))
		var refused *plainthrift.Refused
		if errors.As(err, &refused) && refused.Text == "scanner ID is invalid" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a scanner that was idle too long: %w, want scanner ID is invalid", err)
		}
	}
	return errors.New("an idle scanner is never freed")
}

func openScanner(t *testing.T, c *plainthrift.Client) int64 {
	t.Helper()
	v, err := c.Do("scannerOpen", plainthrift.Bytes("c13"), plainthrift.Bytes(""), plainthrift.List(plainthrift.TypeBytes), plainthrift.NoAttributes())
	if err != nil {
		t.Fatal(err)
	}
	return v.(int64)
}

func nextRows(c *plainthrift.Client, scanner int64) (int, error) {
	v, err := c.Do("scannerGetList", plainthrift.I32(int32(scanner)), plainthrift.I32(1))
	rows, _ := v.([]any)
	return len(rows), err
}
