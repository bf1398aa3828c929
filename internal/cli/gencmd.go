package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// genCommand writes what is made from the code, for make docs.
func (a *app) genCommand() *cobra.Command {
	c := &cobra.Command{
		Use:    "gen",
		Short:  "Write documentation that is made from the code",
		Hidden: true,
		Example: `  cellar gen settings > docs/settings.md
  cellar gen man dist/man`,
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use: "settings", Short: "Print the table of settings", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				fmt.Fprint(a.out, settingsTable())
				return nil
			},
		},
		&cobra.Command{
			Use: "man DIR", Short: "Write the man pages", Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				if err := os.MkdirAll(args[0], 0o755); err != nil {
					return fmt.Errorf("write man pages: %w", err)
				}
				// The page of a build is the same whenever it is made: cobra takes
				// the date from SOURCE_DATE_EPOCH, and its own line would have today's.
				c.Root().DisableAutoGenTag = true
				return doc.GenManTree(c.Root(), &doc.GenManHeader{
					Section: "1", Source: "Cellar", Manual: "Cellar",
				}, args[0])
			},
		},
	)
	return c
}
