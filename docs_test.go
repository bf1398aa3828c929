package cellar

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var linkInMarkdown = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links from one document to another file of the repository lead somewhere.
func TestLinksOfDocuments(t *testing.T) {
	links := 0
	for _, name := range trackedFiles(t) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range linkInMarkdown.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.FromSlash(path.Join(path.Dir(name), target))); err != nil {
				t.Errorf("%s links to %s: %v", name, target, err)
			}
		}
	}
	if links < 10 {
		t.Errorf("only %d links were found", links)
	}
}

// Every page is found from the index of its folder.
func TestEveryDocumentIsInAnIndex(t *testing.T) {
	linked := map[string]bool{}
	var pages []string
	for _, name := range trackedFiles(t) {
		if path.Ext(name) != ".md" || !strings.HasPrefix(name, "docs/") {
			continue
		}
		if path.Base(name) != "README.md" {
			pages = append(pages, name)
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range linkInMarkdown.FindAllStringSubmatch(string(text), -1) {
			linked[path.Join(path.Dir(name), match[1])] = true
		}
	}
	for _, page := range pages {
		if !linked[page] {
			t.Errorf("no README.md below docs links to %s", page)
		}
	}
	if len(pages) < 5 {
		t.Errorf("only %d pages were found", len(pages))
	}
}

// pathInText is a file of the repository, named between backquotes.
var pathInText = regexp.MustCompile("`((?:cell|store|door|server|internal|bench|cmd|test|docs|scripts)/[a-z0-9_/.]+\\.(?:go|py|md|sh|txt))`")

// Files that the architecture names are there.
func TestFilesThatTheArchitectureNames(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	names := pathInText.FindAllStringSubmatch(string(text), -1)
	for _, m := range names {
		if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
			t.Errorf("ARCHITECTURE.md names %v", err)
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d names were found", len(names))
	}
}
