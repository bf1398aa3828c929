package hostile

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// patience bounds the wait for what must come: a server cuts a request that
// does not arrive off after half a minute.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	child.RemoveBinary()
	os.Exit(code)
}

func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not one of the quick tests")
	}
}

func dial(t *testing.T, addr string) *plainthrift.Client {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
