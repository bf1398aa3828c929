// Package examples holds the data of the examples, so that a binary has it with
// it and works offline from any folder. README.md in this folder says where it
// comes from. The package holds bytes and nothing else.
package examples

import (
	"bytes"
	_ "embed" // for weather
	"io"
)

//go:embed weather.csv.gz
var weather []byte

// Weather gives weather.csv.gz, compressed as it is.
func Weather() io.Reader { return bytes.NewReader(weather) }
