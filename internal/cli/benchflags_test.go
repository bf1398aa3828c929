package cli

import (
	"testing"

	"github.com/cellardb/cellar/server"
)

// The results of a benchmark name every flag; settings of a server only where
// it is the benchmark's own, with the values that it works with.
func TestBenchConfig_hasEveryFlag(t *testing.T) {
	a := &app{}
	c := a.benchThriftCommand()
	if err := c.Flags().Parse([]string{"--no-verify", "--op=load"}); err != nil {
		t.Fatal(err)
	}
	config := map[string]any{"records": 7}
	addFlags(config, c.Flags())
	if config["records"] != 7 || config["no-verify"] != true || config["json"] != false || config["op"] != "load" {
		t.Errorf("config %v", config)
	}
	for _, name := range []string{"producers", "increments", "temp", "spec", "timeout", "connections", "seed", "addr"} {
		if _, ok := config[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if _, ok := config["memory"]; ok {
		t.Error("memory of a server that is not ours")
	}
	values := effectiveSettings(server.Config{Memory: 1 << 30}.Resolve(), benchServerSettings)
	if len(values) != len(benchServerSettings) || values["memory"] != "1GiB" || values["engine"] != "pebble" {
		t.Errorf("settings %v", values)
	}
}
