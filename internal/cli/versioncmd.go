package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/server"
)

// versionInfo is what version prints.
type versionInfo struct {
	server.Build
	// Format is the version of the store's format that this build writes.
	Format int `json:"format"`
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print which build this is",
		Example: `  cellar version
  cellar version --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionInfo{server.ReadBuild(), server.FormatVersion}
			if asJSON {
				return printJSON(a.out, v)
			}
			modified := ""
			if v.Modified {
				modified = ", modified"
			}
			cgo := "without cgo"
			if v.Cgo {
				cgo = "with cgo"
			}
			fmt.Fprintf(a.out, "cellar %s (commit %s%s)\nbuilt by %s for %s, %s\nstore format %d\n",
				v.Version, v.Commit, modified, v.Go, v.Platform, cgo, v.Format)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
