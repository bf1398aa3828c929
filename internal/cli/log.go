package cli

import (
	"io"
	"log/slog"

	"github.com/cellardb/cellar/server"
)

// newLogger writes the log as the (valid) configuration says.
func newLogger(w io.Writer, c server.LogConfig) *slog.Logger {
	var level slog.Level
	// Validate lets only names pass that slog has too.
	_ = level.UnmarshalText([]byte(c.Level))
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
