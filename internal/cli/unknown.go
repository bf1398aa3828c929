package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cellardb/cellar/server"
)

// refuseUnknown names every key of a file that is no setting, its line, and
// what it may have meant: a misspelt setting must not be a silent default.
func refuseUnknown(file string, k *koanf.Koanf) error {
	var known []string
	for _, s := range server.Settings() {
		known = append(known, s.Key)
	}
	lines := keyLines(file)
	var wrong []error
	for _, key := range slices.Sorted(slices.Values(k.Keys())) {
		if slices.Contains(known, key) || emptySection(known, key, k.Get(key)) {
			continue
		}
		where := file
		if line := lines[key]; line > 0 {
			where = fmt.Sprintf("%s:%d", file, line)
		}
		wrong = append(wrong, fmt.Errorf("%s: there is no setting %q%s", where, key, suggest(known, key)))
	}
	return errors.Join(wrong...)
}

// emptySection says whether a key is a section of settings with nothing in it,
// as "http:" above lines that are commented out.
func emptySection(known []string, key string, value any) bool {
	if m, ok := value.(map[string]any); value != nil && (!ok || len(m) > 0) {
		return false
	}
	return isSection(known, key)
}

func isSection(known []string, key string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

func suggest(known []string, key string) string {
	if isSection(known, key) {
		return ": it is a section, write its settings below it, indented"
	}
	best, distance := "", len(key)/3+2
	for _, k := range known {
		if d := editDistance(key, k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ": cellar config print shows all of them"
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// editDistance is the number of letters to insert, remove or replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// keyLines gives the line of each key of a YAML file, by its path. It is for
// error messages only: what cannot be read has no lines.
func keyLines(file string) map[string]int {
	lines := map[string]int{}
	text, err := os.ReadFile(file)
	if err != nil {
		return lines
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return lines
	}
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := prefix + n.Content[i].Value
			lines[key] = n.Content[i].Line
			walk(key+".", n.Content[i+1])
		}
	}
	walk("", doc.Content[0])
	return lines
}
