package cellar

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Every package says what it is: one file of it has a comment on the package
// clause that begins "Package NAME" (of a program "Command NAME") and goes on
// for more than one line, since the contract is part of it.
func TestPackagesHaveAComment(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range goFiles(t) {
		list := comments[f.dir()]
		if f.doc != "" && !strings.HasSuffix(f.pkg, "_test") {
			list = append(list, f.doc)
			if fault := faultOfComment(&f); fault != "" {
				t.Errorf("%s: %s", f.path, fault)
			}
		}
		comments[f.dir()] = list
	}
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if n := len(comments[dir]); n != 1 {
			t.Errorf("package in %s: %d files have a package comment, want 1", dir, n)
		}
	}
}

func faultOfComment(f *goFile) string {
	begin := "Package " + f.pkg + " "
	if f.pkg == "main" {
		begin = "Command "
	}
	if !strings.HasPrefix(f.doc, begin) {
		return "the package comment begins not with " + begin
	}
	if strings.Count(f.doc, "\n") < 2 {
		return "the package comment is one line: say what the package promises"
	}
	return ""
}
