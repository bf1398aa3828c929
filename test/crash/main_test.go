package crash

import (
	"flag"
	"os"
	"testing"

	"github.com/cellardb/cellar/test/child"
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	child.RemoveBinary()
	os.Exit(code)
}

// rounds is how often the server is killed: 3 times, in a soak 20 times.
func rounds() int {
	if os.Getenv("CELLAR_SOAK") == "1" {
		return 20
	}
	return 3
}
