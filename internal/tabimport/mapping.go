package tabimport

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// Names that ImportTsv has for what is no column.
const (
	rowKeyName     = "HBASE_ROW_KEY"
	timestampName  = "HBASE_TS_KEY"
	ttlName        = "HBASE_CELL_TTL"
	attributesName = "HBASE_ATTRIBUTES_KEY"
	visibilityName = "HBASE_CELL_VISIBILITY"
)

// ErrMapping is matched by what is wrong with a mapping.
var ErrMapping = errors.New("bad mapping of columns")

func badMapping(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMapping}, args...)...)
}

// Mapping says which field becomes what of a row.
//
// By position, as ImportTsv has it, the n-th entry is for the n-th field:
//
//	HBASE_ROW_KEY,f:a,f:b,HBASE_TS_KEY
//
// An empty entry leaves a field out. By name, each entry says where it comes
// from, in any order; a source is fields and quoted texts joined by plus signs:
//
//	HBASE_ROW_KEY=station+'/'+hour,w:temp=temperature,w:humid,w:*
//
// f:q alone is f:q=q; f:* is every field that no entry names, under its name; a
// field is a name of the header, "a name" in double quotes where it has signs in
// it, or #3, the third.
type Mapping struct {
	// ByName says which of the two it is.
	ByName bool
	key    source
	// ts and ttl are nil where the mapping has none.
	ts, ttl source
	cells   []target
	// rest is the family of f:*; nil: none.
	rest []byte
	// fields are all fields that are used, each once.
	fields []field
	// places is the number of entries of a mapping by position.
	places int
}

// field is a field of the input: a name, or a place from 0.
type field struct {
	name  string
	place int // -1: by name
}

// target is a column and where its value comes from.
type target struct {
	family, qualifier []byte
	from              source
}

// source is what a value is joined from.
type source []part

// part is a fixed text, or a field: an index into Mapping.fields.
type part struct {
	text  string
	field int // -1: the text
}

// ParseMapping reads a mapping. The error matches ErrMapping.
func ParseMapping(spec string) (*Mapping, error) {
	entries, err := cutEntries(spec)
	if err != nil {
		return nil, err
	}
	m := &Mapping{}
	for _, e := range entries {
		m.ByName = m.ByName || e.from != ""
	}
	m.places = len(entries)
	for i, e := range entries {
		if err := m.add(i, e); err != nil {
			return nil, err
		}
	}
	switch {
	case m.key == nil:
		return nil, badMapping("it needs %s, the field that becomes the row key", rowKeyName)
	case len(m.cells) == 0 && m.rest == nil:
		return nil, badMapping("it needs at least one column besides %s", rowKeyName)
	}
	return m, nil
}

// entry is one entry of a mapping as it is written.
type entry struct{ to, from string }

// cutEntries cuts a mapping at the commas outside quotes, and each entry at its
// equals sign.
func cutEntries(spec string) ([]entry, error) {
	var entries []entry
	var quote byte
	begin, equals := 0, -1
	for i := 0; i <= len(spec); i++ {
		switch {
		case i == len(spec) && quote != 0:
			return nil, badMapping("a quote %c is not closed in %q", quote, spec)
		case i == len(spec) || quote == 0 && spec[i] == ',':
			e := entry{to: strings.TrimSpace(spec[begin:i])}
			if equals >= 0 {
				e = entry{strings.TrimSpace(spec[begin:equals]), strings.TrimSpace(spec[equals+1 : i])}
				if e.from == "" {
					return nil, badMapping("%s= says no field", e.to)
				}
			}
			entries = append(entries, e)
			begin, equals = i+1, -1
		case quote != 0 && spec[i] == quote:
			quote = 0
		case quote == 0 && equals >= 0 && (spec[i] == '\'' || spec[i] == '"'):
			quote = spec[i]
		case quote == 0 && equals < 0 && spec[i] == '=':
			equals = i
		}
	}
	return entries, nil
}

// add takes an entry in.
func (m *Mapping) add(place int, e entry) error {
	if e.to == "" && !m.ByName {
		return nil // a field that is left out
	}
	family, qualifier, hasQualifier := strings.Cut(e.to, ":")
	if m.ByName && e.from == "" {
		switch {
		case hasQualifier && qualifier == "*":
			return m.addRest(family)
		case !hasQualifier || qualifier == "":
			return badMapping("%q does not say which field it comes from: write %s=NAME", e.to, e.to)
		}
		e.from = `"` + qualifier + `"`
	}
	from, err := m.source(place, e.from)
	if err != nil {
		return err
	}
	switch e.to {
	case rowKeyName:
		return once(&m.key, from, e.to)
	case timestampName:
		return once(&m.ts, from, e.to)
	case ttlName:
		return once(&m.ttl, from, e.to)
	case attributesName:
		return badMapping("%s is not supported: Cellar keeps no attributes of operations", e.to)
	case visibilityName:
		return badMapping("%s is not supported: Cellar has no visibility labels", e.to)
	}
	if err := validateFamily(family); err != nil {
		return err
	}
	m.cells = append(m.cells, target{[]byte(family), []byte(qualifier), from})
	return nil
}

func validateFamily(name string) error {
	if strings.HasPrefix(name, "HBASE_") {
		return badMapping("%s is none of ImportTsv's names: want %s, %s, %s or family:qualifier", name, rowKeyName, timestampName, ttlName)
	}
	if err := cell.ValidateFamilyName(name); err != nil {
		return badMapping("%w", err)
	}
	return nil
}

func (m *Mapping) addRest(family string) error {
	if m.rest != nil {
		return badMapping("%s:* and %s:* both want the other fields", m.rest, family)
	}
	m.rest = []byte(family)
	return validateFamily(family)
}

func once(s *source, from source, name string) error {
	if *s != nil {
		return badMapping("%s is there twice", name)
	}
	*s = from
	return nil
}

// source reads what an entry comes from.
func (m *Mapping) source(place int, text string) (source, error) {
	if !m.ByName {
		return source{{field: m.use(field{place: place})}}, nil
	}
	var s source
	for rest := text; ; {
		p, after, err := m.part(strings.TrimLeft(rest, " "))
		if err != nil {
			return nil, err
		}
		s = append(s, p)
		after = strings.TrimLeft(after, " ")
		if after == "" {
			return s, nil
		}
		if after[0] != '+' {
			return nil, badMapping("%q: want a plus sign before %q", text, after)
		}
		rest = after[1:]
	}
}

// part reads one part of a source and gives what comes after it.
func (m *Mapping) part(s string) (p part, rest string, err error) {
	if s == "" {
		return p, "", badMapping("a field is missing beside a plus sign")
	}
	if q := s[0]; q == '\'' || q == '"' {
		text, rest, closed := strings.Cut(s[1:], s[:1])
		if !closed {
			return p, "", badMapping("a quote %c is not closed in %q", q, s)
		}
		if q == '\'' {
			return part{text: text, field: -1}, rest, nil
		}
		return part{field: m.use(field{text, -1})}, rest, nil
	}
	name, rest := s, ""
	if i := strings.IndexByte(s, '+'); i >= 0 {
		name, rest = s[:i], s[i:]
	}
	name = strings.TrimSpace(name)
	if name == "" {
		return p, "", badMapping("a field is missing beside a plus sign")
	}
	if number, ok := strings.CutPrefix(name, "#"); ok {
		place, err := placeOf(number)
		if err != nil {
			return p, "", err
		}
		return part{field: m.use(field{place: place})}, rest, nil
	}
	return part{field: m.use(field{name, -1})}, rest, nil
}

// maxPlace bounds the numbers of fields.
const maxPlace = 1 << 16

func placeOf(number string) (int, error) {
	n := 0
	for _, c := range []byte(number) {
		if c < '0' || c > '9' || n > maxPlace {
			return 0, badMapping("#%s is no field: the first one is #1", number)
		}
		n = 10*n + int(c-'0')
	}
	if n < 1 || n > maxPlace {
		return 0, badMapping("#%s is no field: the first one is #1", number)
	}
	return n - 1, nil
}

// use gives the index of a field that the mapping uses.
func (m *Mapping) use(f field) int {
	for i := range m.fields {
		if m.fields[i] == f {
			return i
		}
	}
	m.fields = append(m.fields, f)
	return len(m.fields) - 1
}

// Families are the families that the mapping writes to, each once.
func (m *Mapping) Families() []string {
	var families []string
	seen := map[string]bool{}
	add := func(f []byte) {
		if f != nil && !seen[string(f)] {
			seen[string(f)] = true
			families = append(families, string(f))
		}
	}
	for i := range m.cells {
		add(m.cells[i].family)
	}
	add(m.rest)
	return families
}

// HasTTL says whether rows carry a time to live.
func (m *Mapping) HasTTL() bool { return m.ttl != nil }

// needsNames says whether fields are called by names.
func (m *Mapping) needsNames() bool {
	if m.rest != nil {
		return true
	}
	for _, f := range m.fields {
		if f.place < 0 {
			return true
		}
	}
	return false
}
