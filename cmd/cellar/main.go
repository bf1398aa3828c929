// Command cellar is the Cellar server and its tools; see cellar --help. All of
// it is in package internal/cli; nothing is decided here.
package main

import (
	"context"
	"os"

	"github.com/cellardb/cellar/internal/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
