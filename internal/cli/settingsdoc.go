package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/server"
)

// settingsTable is the table of docs/configuration.md. A test compares the two.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| key | flag | variable | default | meaning |\n|---|---|---|---|---|\n")
	for _, s := range server.Settings() {
		if s.Hidden {
			continue
		}
		fmt.Fprintf(&b, "| `%s` | `--%s` | `%s` | %s | %s |\n", s.Key, s.Flag(), s.Env(), s.Default, s.Usage)
	}
	return b.String()
}

// commandLines lists the commands and flags that help shows, as docs/cli.md
// names them: "cellar stop" and "--timeout". The flags of settings are in
// docs/configuration.md.
func commandLines(root *cobra.Command) []string {
	settings := map[string]bool{"help": true}
	for _, s := range server.Settings() {
		settings[s.Flag()] = true
	}
	var lines []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		lines = append(lines, "`"+c.CommandPath()+"`")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !settings[f.Name] {
				lines = append(lines, "`--"+f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, c := range root.Commands() {
		walk(c)
	}
	return lines
}
