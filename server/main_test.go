package server

import (
	"testing"

	"github.com/dlclark/regexp2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(clockless{m}) }

// clockless stops the clock of the engine for regular expressions that
// backtrack, which goes on in a goroutine for a while after the last match.
type clockless struct{ *testing.M }

func (m clockless) Run() int {
	code := m.M.Run()
	regexp2.StopTimeoutClock()
	return code
}
