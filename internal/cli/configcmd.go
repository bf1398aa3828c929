package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/cellardb/cellar/server"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show and check the configuration",
		Long:  "Shows the settings that a server would run with, or checks a file with settings.",
		Example: `  cellar config print > cellar.yaml     a file with every setting
  cellar config check cellar.yaml`,
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.configPrintCommand(), a.configCheckCommand())
	return c
}

func (a *app) configPrintCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "print",
		Short: "Print the settings that serve would use, and where each comes from",
		Long: `Prints the settings that serve would use with the same flags, file and
environment, where each of them comes from, and how the memory is shared out.
The output is a configuration file.`,
		Example: `  cellar config print
  cellar config print --config /etc/cellar.yaml --memory 8GiB
  CELLAR_HTTP_ADDR=:8600 cellar config print`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := a.load(c)
			if err != nil {
				return err
			}
			return e.print(a.out)
		},
	}
	settingFlags(c.Flags())
	return c
}

func (a *app) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Check a file with settings",
		Long:    "Checks a file by itself, without flags and environment. It says everything that is wrong with it.",
		Example: "  cellar config check /etc/cellar.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := load(layers{file: args[0]}); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s is right\n", args[0])
			return nil
		},
	}
}

// print writes the configuration as a file that reads back as the same one.
func (e *effective) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Settings as cellar serve would use them; behind # is where each comes from.\n")
	section := ""
	for _, s := range server.Settings() {
		from := e.sources[s.Key]
		if s.Hidden && from.kind == fromDefault {
			continue
		}
		name, indent := s.Key, ""
		if head, tail, ok := strings.Cut(s.Key, "."); ok {
			name, indent = tail, "  "
			if head != section {
				fmt.Fprintf(&b, "%s:\n", head)
				section = head
			}
		}
		value, err := yaml.Marshal(s.Plain(&e.config))
		if err != nil {
			return fmt.Errorf("print %s: %w", s.Key, err)
		}
		line := indent + name + ": " + strings.TrimSpace(string(value))
		fmt.Fprintf(&b, "%-44s # %s\n", line, from)
	}
	printSplit(&b, server.SplitMemory(e.config.Memory))
	_, err := io.WriteString(w, b.String())
	return err
}

func printSplit(w io.Writer, s server.Split) {
	row := func(name string, size server.Bytes, note string) {
		fmt.Fprintf(w, "#   %-14s %10s  %3d %%  %s\n", name, size.Human(), (size*100+s.Total/2)/s.Total, note)
	}
	fmt.Fprintf(w, "\n# memory of %s is shared out like this:\n", s.Total.Human())
	row("block cache", s.BlockCache, "blocks of files that were read")
	row("memtables", s.Memtables, "writes that are not in files yet")
	row("doors", s.Doors, "requests and replies in flight")
	row("tiers", s.Tiers, "caches of streams, time series and search")
	row("slack", s.Slack, "everything else; of it 20 % are kept for DuckDB, which is not part of this version yet")
	fmt.Fprintf(w, "# Go's collector keeps its heap below %s (GOMEMLIMIT); %s.\n", s.Go.Human(), s.GoNote())
}
