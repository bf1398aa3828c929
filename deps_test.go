package cellar

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers is the order of imports. "a < b" lets b import a, and whatever a may
// import; nothing else is allowed. A star stands for a name: the packages that
// it matches are equals, and none imports another. Packages that are not there
// yet may be named.
const layers = `
	// The data model, the codecs, the client.
	internal/invariants < cell < cell/filter < internal/wire/* < hbase < hbase/hbasetest

	// The contract and its engines.
	cell/filter < store < store/memory, store/pebble
	store/memory < store/storetest // its oracle
	store < store/archive          // backups: files, whatever engine wrote them
	hbase < store/hbase
	store < store/hbase

	// The tiers. No tier imports a tier.
	store < stream/schema < stream/block, stream/intake < stream
	store < stream, tsdb, sql, search
	store < internal/arrowio

	// HBase's names of settings; the language and commands of the shell, and the
	// server that they are carried out on.
	cell, internal/spelling < internal/attribute < door/*
	cell/filter, internal/attribute < internal/shell < internal/shell/remote < internal/cli
	door/*, internal/wire/* < internal/shell/remote

	// The doors. No door imports a door.
	internal/invariants < door
	store, stream, tsdb, sql, search, internal/wire/*, internal/arrowio, door < door/*
	internal/arrowio < sql

	// The load generators: a client like any other.
	internal/wire/* < bench/*
	internal/wire/* < bench/internal/*
	stream/schema < bench/events < bench // made as columns too
	hbase, store, bench/* < bench
	internal/arrowio < bench

	// Files in: through a server as a client, or into a store.
	store, bench/* < internal/tabimport < internal/cli

	// The assembly; engines are named here only.
	door/*, store/memory, store/pebble, store/hbase, store/archive, stream, tsdb, sql, search < server
	server, bench, examples, internal/top < internal/cli < cmd/*
	door/* < internal/top // a view from outside, of what door/ops answers

	// What looks at the program from outside imports nothing of it.
	test/child, test/plainthrift < test/compat, test/hostile, test/crash, test/script
	bench/* < test/crash, test/hostile

	// What compares engines with a real HBase takes them as the server does.
	store/memory, store/pebble < test/oracle
`

// forTests may be imported by the tests of any package, beyond what the
// package itself may import.
const forTests = `internal/leaktest store/memory store/storetest bench/internal/gateway bench/events`

// libraries says which packages may import which module that is not ours;
// "tests" stands for the tests of any package. What is not here may not be
// imported at all.
const libraries = `
	github.com/cockroachdb/pebble/v2          store/pebble
	github.com/prometheus/client_golang       door door/* store/pebble server
	github.com/spf13/cobra                    internal/cli
	github.com/spf13/pflag                    internal/cli
	github.com/knadh/koanf                    internal/cli
	go.yaml.in/yaml/v3                        internal/cli
	github.com/dlclark/regexp2                server test/oracle
	github.com/dustin/go-humanize             server internal/cli internal/top bench
	github.com/guptarohit/asciigraph          bench internal/cli
	github.com/gdamore/tcell/v2               internal/top internal/cli
	github.com/schollz/progressbar/v3         bench internal/cli
	github.com/klauspost/compress             internal/tabimport stream/block
	golang.org/x/sync                         store/pebble server bench
	golang.org/x/sys                          store/pebble server bench internal/cli
	golang.org/x/term                         bench internal/cli internal/shell

	github.com/cockroachdb/datadriven         tests
	github.com/prometheus/client_model        tests internal/top
	github.com/prometheus/common              tests internal/top
	github.com/rogpeppe/go-internal           tests
	go.uber.org/goleak                        tests internal/leaktest
`

func TestImportsFollowTheLayers(t *testing.T) {
	g, err := parseLayers(layers)
	if err != nil {
		t.Fatal(err)
	}
	libs, err := parseLibraries(libraries)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range goFiles(t) {
		if f.dir() != "." && g.node(f.dir()) == "" {
			t.Errorf("%s has no place in the layers of deps_test.go", f.path)
		}
		for _, imported := range f.imports {
			checked++
			if fault := faultOfImport(g, libs, &f, imported); fault != "" {
				t.Errorf("%s imports %s: %s", f.path, imported, fault)
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d imports were looked at: the tree was not found", checked)
	}
}

// faultOfImport says what is wrong with an import; empty: nothing.
func faultOfImport(g graph, libs map[string][]string, f *goFile, imported string) string {
	if imported == "C" {
		return "cgo is for libraries"
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "" // the standard library
	}
	if imported == module || strings.HasPrefix(imported, module+"/") {
		return g.fault(f, strings.TrimPrefix(imported, module+"/"))
	}
	return faultOfLibrary(libs, f, imported)
}

func faultOfLibrary(libs map[string][]string, f *goFile, imported string) string {
	for mod, users := range libs {
		if imported != mod && !strings.HasPrefix(imported, mod+"/") {
			continue
		}
		for _, u := range users {
			if ok, _ := path.Match(u, f.dir()); ok || u == "tests" && f.isTest() {
				return ""
			}
		}
		return "only for " + strings.Join(users, ", ")
	}
	return "this module is not in the list of deps_test.go"
}

// graph has, for each pattern of the layers, the patterns that it may import.
type graph map[string]map[string]bool

// fault says what is wrong with an import of a package of ours.
func (g graph) fault(f *goFile, imported string) string {
	if imported == f.dir() {
		if f.isTest() {
			return "" // an external test of the package
		}
		return "a package cannot import itself"
	}
	if f.isTest() && slices.Contains(strings.Fields(forTests), imported) {
		return ""
	}
	from, to := g.node(f.dir()), g.node(imported)
	switch {
	case from == "":
		return f.dir() + " has no place in the layers of deps_test.go"
	case to == "":
		return imported + " has no place in the layers of deps_test.go"
	case !g[from][to]:
		return "the layers of deps_test.go do not allow it"
	}
	return ""
}

// node finds the pattern that stands for a package: its own name if it is
// there, else the one with a star that matches.
func (g graph) node(pkg string) string {
	if _, ok := g[pkg]; ok {
		return pkg
	}
	for pattern := range g {
		if ok, _ := path.Match(pattern, pkg); ok {
			return pattern
		}
	}
	return ""
}

// parseLayers reads the text of layers and closes it: who may import a may
// import what a may.
func parseLayers(text string) (graph, error) {
	g := graph{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		if line == "" {
			continue
		}
		steps := strings.Split(line, "<")
		if len(steps) < 2 {
			return nil, fmt.Errorf("layers: no < in %q", line)
		}
		for i, step := range steps {
			for name := range strings.SplitSeq(step, ",") {
				name = strings.TrimSpace(name)
				if name == "" {
					return nil, fmt.Errorf("layers: a name is missing in %q", line)
				}
				if g[name] == nil {
					g[name] = map[string]bool{}
				}
				if i > 0 {
					for below := range strings.SplitSeq(steps[i-1], ",") {
						g[name][strings.TrimSpace(below)] = true
					}
				}
			}
		}
	}
	g.close()
	for name, below := range g {
		if below[name] {
			return nil, fmt.Errorf("layers: %s is below itself", name)
		}
	}
	return g, nil
}

func (g graph) close() {
	for changed := true; changed; {
		changed = false
		for _, below := range g {
			for _, b := range slices.Collect(maps.Keys(below)) {
				for c := range g[b] {
					if !below[c] {
						below[c], changed = true, true
					}
				}
			}
		}
	}
}

func parseLibraries(text string) (map[string][]string, error) {
	libs := map[string][]string{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 1 {
			return nil, fmt.Errorf("libraries: nobody may import %s", fields[0])
		}
		if len(fields) > 1 {
			libs[fields[0]] = fields[1:]
		}
	}
	return libs, nil
}

// What the two lists refuse; were the checks to let all pass, this would tell.
func TestLayersRefuse(t *testing.T) {
	g, err := parseLayers(layers)
	if err != nil {
		t.Fatal(err)
	}
	libs, err := parseLibraries(libraries)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		file, imported string
		allowed        bool
	}{
		{"cell/x.go", module + "/store", false},
		{"cell/x.go", "bytes", true},
		{"cell/x.go", "golang.org/x/sys/unix", false},
		{"store/x.go", module + "/cell", true},
		{"store/x.go", module + "/door", false},
		{"store/pebble/x.go", module + "/store", true},
		{"store/pebble/x.go", module + "/cell", true},
		{"store/pebble/x.go", module + "/store/memory", false},
		{"store/pebble/x_test.go", module + "/store/memory", true},
		{"store/pebble/x.go", "github.com/cockroachdb/pebble/v2/vfs", true},
		{"server/x.go", "github.com/cockroachdb/pebble/v2", false},
		{"door/thrift1/x.go", module + "/door", true},
		{"door/thrift1/x.go", module + "/internal/wire/thrift", true},
		{"door/thrift1/x.go", module + "/door/ops", false},
		{"door/thrift1/x.go", module + "/store/pebble", false},
		{"door/thrift1/x_test.go", module + "/store/pebble", false},
		{"door/x.go", module + "/store", false},
		{"bench/x.go", module + "/server", false},
		{"bench/x.go", module + "/bench/thriftclient", true},
		{"server/x.go", module + "/store/pebble", true},
		{"server/x.go", module + "/internal/cli", false},
		{"internal/cli/x.go", module + "/server", true},
		{"cmd/cellar/x.go", module + "/internal/cli", true},
		{"stream/x.go", module + "/sql", false},
		{"test/compat/x_test.go", module + "/server", false},
		{"test/compat/x_test.go", module + "/test/child", true},
		{"cell/x.go", "go.uber.org/goleak", false},
		{"cell/x_test.go", "go.uber.org/goleak", true},
		{"cell/x.go", "example.com/unheard/of", false},
		{"util/x.go", module + "/cell", false},
		{"cell/x.go", "C", false},
	}
	for _, c := range cases {
		fault := faultOfImport(g, libs, &goFile{path: c.file}, c.imported)
		if (fault == "") != c.allowed {
			t.Errorf("%s imports %s: %q, want allowed %v", c.file, c.imported, fault, c.allowed)
		}
	}
	if len(cases) != 31 {
		t.Errorf("%d cases, want 31", len(cases))
	}
}

func TestLayersWithACycleAreRefused(t *testing.T) {
	if _, err := parseLayers("a < b < c\n c < a"); err == nil {
		t.Error("no error")
	}
}
