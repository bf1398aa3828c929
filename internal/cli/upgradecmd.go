package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/server"
)

func (a *app) upgradeCommand() *cobra.Command {
	var dryRun, asJSON bool
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Raise a store to the format of this version",
		Long: `Raises the store of a data folder to the format that this version of cellar works
with. A server refuses a store of an older one and names this command.

No server may run on the folder. There is no way back, so take a backup first; an
upgrade that was interrupted is gone on with by the next.`,
		Example: `  cellar upgrade --dry-run
  cellar backup /srv/backup/before && cellar upgrade --data /srv/cellar`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := a.load(c)
			if err != nil {
				return err
			}
			plan, err := server.UpgradeStore(c.Context(), e.config, dryRun)
			if errors.Is(err, server.ErrRunning) {
				return withHint(err, "stop it with cellar stop --data %s", e.config.Data)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.out, plan)
			}
			a.printPlan(&plan, e.config.Data, dryRun)
			return nil
		},
	}
	someSettingFlags(c.Flags(), "data")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done, and do nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) printPlan(plan *server.UpgradePlan, data string, dryRun bool) {
	if len(plan.Steps) == 0 {
		fmt.Fprintf(a.out, "the store in %s has %s: there is nothing to do\n", data, plan.From)
		return
	}
	did := "upgraded the store in %s from %s to %s\n"
	if dryRun {
		did = "would upgrade the store in %s from %s to %s\n"
	}
	fmt.Fprintf(a.out, did, data, plan.From, plan.To)
	for _, step := range plan.Steps {
		fmt.Fprintf(a.out, "  %s\n", step)
	}
}
