package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// readYAML reads a configuration file so that nothing in it is passed over in
// silence: one document, names as keys, each setting once, and every value as it
// is written. YAML's own reading would take no notice of a second document, let
// one of two ways to write a key win, and take 0x10, 1_000 or a date for
// something else.
//
// The error is of a file that is no YAML; what else is wrong is in the result.
func readYAML(name string, text []byte) (*yamlFile, error) {
	f := &yamlFile{name: name, set: map[string]any{}, lines: map[string]int{}}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return f, nil
	} else if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", name, err)
	}
	if err := d.Decode(&second); err == nil {
		f.refuse(second.Content[0], "a second document: one file is one configuration")
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read configuration %s: %w", name, err)
	}
	switch root := doc.Content[0]; {
	case root.Kind == yaml.MappingNode:
		f.section("", root)
	case root.Tag != "!!null":
		f.refuse(root, `want settings, as "memory: 1GiB"`)
	}
	return f, nil
}

// yamlFile is a file while it is read. Keys are whole paths: http.addr may be
// written so, or in a section.
type yamlFile struct {
	name  string
	set   map[string]any // texts; nil and empty maps where there is no value
	lines map[string]int // where each key was set
	wrong []error
}

func (f *yamlFile) refuse(n *yaml.Node, format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Errorf("%s:%d: %s", f.name, n.Line, fmt.Sprintf(format, args...)))
}

func (f *yamlFile) section(prefix string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag != "!!str" || key.Value == "" {
			f.refuse(key, "a key is a name, as memory; this is %q", key.Value)
			continue
		}
		f.entry(prefix+key.Value, key, value)
	}
}

func (f *yamlFile) entry(path string, key, value *yaml.Node) {
	switch value.Kind {
	case yaml.MappingNode:
		if len(value.Content) > 0 {
			f.section(path+".", value)
			return
		}
		f.put(path, key, map[string]any{})
	case yaml.SequenceNode:
		f.refuse(value, "%s: want a single value, or settings below it; this is a list", path)
	case yaml.AliasNode:
		f.refuse(value, "%s: write the value itself: *%s is not read", path, value.Value)
	default:
		if value.Tag == "!!null" {
			f.put(path, key, nil)
			return
		}
		f.put(path, key, value.Value)
	}
}

// put notes a key.
func (f *yamlFile) put(path string, key *yaml.Node, value any) {
	if first, twice := f.lines[path]; twice {
		f.refuse(key, "%s is set already, on line %d", path, first)
		return
	}
	f.lines[path] = key.Line
	f.set[path] = value
}
