package cell

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Forever is the time to live, in seconds, of cells that do not expire.
const Forever = math.MaxInt32

// KeepDeleted says whether masked cells stay readable by time ranges that end
// before their marker.
type KeepDeleted string

// Settings of KEEP_DELETED_CELLS.
const (
	KeepDeletedFalse KeepDeleted = "FALSE"
	KeepDeletedTrue  KeepDeleted = "TRUE"
	KeepDeletedTTL   KeepDeleted = "TTL"
)

// FamilySchema describes one family. NewFamily gives HBase's defaults; a zero
// field is not a default but that value.
type FamilySchema struct {
	Name        string
	MaxVersions int // VERSIONS, at least 1
	MinVersions int // versions kept although expired
	TTL         int // seconds; Forever: cells do not expire
	KeepDeleted KeepDeleted
	// What follows is kept and shown to clients as they set it; an engine may
	// ignore it.
	Compression string // upper case: NONE, GZ, SNAPPY, LZ4, ZSTD, ...
	BloomFilter string // NONE, ROW or ROWCOL
	InMemory    bool
	BlockCache  bool
	BlockSize   int // bytes
	// Attributes are all other settings, by HBase's names.
	Attributes map[string]string
}

// NewFamily is a family with the defaults of HBase 2: one version, no expiry.
func NewFamily(name string) FamilySchema {
	return FamilySchema{
		Name: name, MaxVersions: 1, TTL: Forever, KeepDeleted: KeepDeletedFalse,
		Compression: "NONE", BloomFilter: "ROW", BlockCache: true, BlockSize: 64 << 10,
	}
}

// Validate checks the name and the figures; the texts are HBase's.
func (f *FamilySchema) Validate() error {
	if err := ValidateFamilyName(f.Name); err != nil {
		return err
	}
	switch {
	case f.MaxVersions < 1:
		return illegal("Maximum versions must be positive")
	case f.MinVersions < 0:
		return illegal("MIN_VERSIONS must not be negative: %d", f.MinVersions)
	case f.MinVersions > f.MaxVersions:
		return illegal("MIN_VERSIONS %d must not be above VERSIONS %d", f.MinVersions, f.MaxVersions)
	case f.TTL <= 0:
		return illegal("TTL must be positive: %d", f.TTL)
	}
	switch f.KeepDeleted {
	case KeepDeletedFalse, KeepDeletedTrue, KeepDeletedTTL, "":
	default:
		return illegal("KEEP_DELETED_CELLS must be FALSE, TRUE or TTL: %q", string(f.KeepDeleted))
	}
	return nil
}

// TableSchema describes a table.
type TableSchema struct {
	// Name, with its namespace and a colon in front unless that is "default".
	Name       string
	Families   []FamilySchema // sorted by name when an engine returns them
	Durability Durability     // of mutations that say UseDefault
	ReadOnly   bool
	// MaxFileSize in bytes above which a region is split; 0: the engine's own.
	MaxFileSize int64
	// Attributes are all other settings, by HBase's names.
	Attributes map[string]string
}

// Family finds a family by name; nil: there is none.
func (t *TableSchema) Family(name []byte) *FamilySchema {
	for i := range t.Families {
		if t.Families[i].Name == string(name) {
			return &t.Families[i]
		}
	}
	return nil
}

// Clone copies the schema deeply.
func (t *TableSchema) Clone() TableSchema {
	c := *t
	c.Attributes = cloneMap(t.Attributes)
	c.Families = slices.Clone(t.Families)
	for i := range c.Families {
		c.Families[i].Attributes = cloneMap(c.Families[i].Attributes)
	}
	return c
}

func cloneMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// Sort puts the families in the order of their names, as engines return them.
func (t *TableSchema) Sort() {
	slices.SortFunc(t.Families, func(a, b FamilySchema) int { return strings.Compare(a.Name, b.Name) })
}

// Validate checks the table's name, that there is a family, that none is there
// twice, and each family.
func (t *TableSchema) Validate() error {
	if err := ValidateTableName(t.Name); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range t.Families {
		f := &t.Families[i]
		if seen[f.Name] {
			return illegal("Family '%s' already exists so cannot be added", f.Name)
		}
		seen[f.Name] = true
		if err := f.Validate(); err != nil {
			return err
		}
	}
	if len(t.Families) == 0 {
		return ErrNoFamilies
	}
	return nil
}

// ErrNoFamilies is the refusal of a table without a family. It is apart from
// other illegal arguments because HBase finds it in the master, not in the
// client.
var ErrNoFamilies error = &ArgumentError{Text: "Table should have at least one column family. Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks"}

// DefaultNamespace holds the tables whose names have no namespace;
// SystemNamespace is HBase's own, InternalNamespace is Cellar's.
const (
	DefaultNamespace  = "default"
	SystemNamespace   = "hbase"
	InternalNamespace = "cellar"
)

// SplitTableName gives the namespace and the qualifier of a table's full name.
func SplitTableName(name string) (namespace, qualifier string) {
	if ns, q, ok := strings.Cut(name, ":"); ok {
		return ns, q
	}
	return DefaultNamespace, name
}

// CanonicalTableName drops "default:" from the front of a name.
func CanonicalTableName(name string) string {
	return strings.TrimPrefix(name, DefaultNamespace+":")
}

// IsInternal says whether a table belongs to Cellar or HBase itself: listings
// leave it out.
func IsInternal(table string) bool {
	ns, _ := SplitTableName(table)
	return ns == InternalNamespace || ns == SystemNamespace
}

// ValidateTableName checks a full table name by HBase's rules (TableName).
func ValidateTableName(name string) error {
	if name == "" {
		return illegal("Table qualifier must not be empty")
	}
	if strings.Count(name, ":") > 1 {
		return illegal("Illegal character code:58, <:> at %d. Table names hold one colon at most: %s", strings.LastIndexByte(name, ':'), name)
	}
	ns, qualifier := SplitTableName(name)
	if err := ValidateNamespaceName(ns); err != nil {
		return err
	}
	return validateQualifier(qualifier)
}

func validateQualifier(q string) error {
	if q == "" {
		return illegal("Table qualifier must not be empty")
	}
	if !utf8.ValidString(q) {
		return illegal("Table name is not UTF-8: %q", q)
	}
	if q[0] == '.' || q[0] == '-' {
		return illegal("Illegal first character <%d> at 0. User-space table qualifiers can only start with 'alphanumeric characters' from any language: %s", q[0], q)
	}
	if q == "zookeeper" {
		return illegal("Tables may not be named zookeeper")
	}
	for i, r := range q {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.' {
			continue
		}
		return illegal("Illegal character code:%d, <%c> at %d. User-space table qualifiers may only contain 'alphanumeric characters' and digits: %s", r, r, i, q)
	}
	return nil
}

// ValidateNamespaceName checks a namespace's name: letters, digits, underscore.
func ValidateNamespaceName(ns string) error {
	if ns == "" {
		return illegal("Namespace name must not be empty")
	}
	for i, r := range ns {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			continue
		}
		return illegal("Illegal character <%c> at %d. Namespaces may only contain 'alphanumeric characters' from any language and digits: %s", r, i, ns)
	}
	return nil
}

// ValidateFamilyName checks a family's name by HBase's rules.
func ValidateFamilyName(name string) error {
	switch {
	case name == "":
		return illegal("Column Family name can not be empty")
	case len(name) > MaxFamily:
		return illegal("Column Family name is %d bytes, longer than %d", len(name), MaxFamily)
	case name[0] == '.':
		return illegal("Column Family names cannot start with a period: %s", name)
	case name == "recovered.edits":
		return illegal("Column Family name cannot be: recovered.edits")
	}
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f || c == ':' {
			return illegal("Illegal character <%d>. Column Family names cannot contain control characters or colons: %s", c, Printable([]byte(name)))
		}
	}
	return nil
}

// ValidateSplits checks split points: none empty, none twice. It returns them
// sorted, in a new slice.
func ValidateSplits(splits [][]byte) ([][]byte, error) {
	sorted := slices.Clone(splits)
	slices.SortFunc(sorted, bytes.Compare)
	for i, s := range sorted {
		if len(s) == 0 {
			return nil, illegal("Empty split key must not be passed in the split keys.")
		}
		if len(s) > MaxRow {
			return nil, illegal("Row length %d is > %d", len(s), MaxRow)
		}
		if i > 0 && bytes.Equal(sorted[i-1], s) {
			return nil, illegal("All split keys must be unique, found duplicate: %s", Printable(s))
		}
	}
	return sorted, nil
}
