package shell

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/attribute"
)

// Commands on schemas.
type (
	// Create makes a table.
	Create struct {
		Table    string
		Families []FamilyChange
		Set      []Setting
		Splits   []Bytes // sorted
	}
	// Alter changes a table.
	Alter struct {
		Table string
		Alteration
	}
)

// maxSplits is how many split points a table may be created with.
const maxSplits = 10_000

func decodeCreate(a *args) (Command, error) {
	if err := a.count(1, math.MaxInt); err != nil {
		return nil, err
	}
	c := Create{}
	var err error
	if c.Table, err = a.table(a.take()); err != nil {
		return nil, err
	}
	for len(a.rest) > 0 {
		if err := a.createPart(&c, a.take()); err != nil {
			return nil, err
		}
	}
	if len(c.Families) == 0 {
		return nil, a.wrong(a.at, "a table has at least one family, %s", usageOf("create"))
	}
	return c, a.schemaOf(&c)
}

// createPart reads one argument: a family's name, or a hash of a family, of the
// table, or of both splits and settings.
func (a *args) createPart(c *Create, v value) error {
	if v.kind != kindHash {
		name, err := a.text(v, "a family")
		c.Families = append(c.Families, FamilyChange{Name: familyName(name)})
		return err
	}
	family, isFamily, err := a.familyHash(v, func(key string, val value) (bool, error) {
		return a.tablePart(c, key, val)
	})
	if err == nil && isFamily {
		c.Families = append(c.Families, family)
	}
	return err
}

// tablePart reads what a hash of create may say of the table.
func (a *args) tablePart(c *Create, key string, v value) (bool, error) {
	switch key {
	case "SPLITS":
		return true, a.splits(c, v)
	case "NUMREGIONS", "SPLITALGO", "SPLITS_FILE":
		return true, a.wrong(v.pos, "%s is not known here: write the keys themselves, as in SPLITS => ['g', 'p']", key)
	}
	if !attribute.IsTable(key) {
		return false, nil
	}
	s, err := a.setting(key, v)
	c.Set = append(c.Set, s)
	return true, err
}

func (a *args) splits(c *Create, v value) error {
	if v.kind != kindArray {
		return a.wrong(v.pos, "SPLITS is an array of keys, as in SPLITS => ['g', 'p']")
	}
	if len(c.Splits)+len(v.list) > maxSplits {
		return a.wrong(v.pos, "%d splits are more than %d", len(c.Splits)+len(v.list), maxSplits)
	}
	for _, k := range v.list {
		b, err := a.text(k, "a split")
		if err != nil {
			return err
		}
		c.Splits = append(c.Splits, b)
	}
	sorted, err := cell.ValidateSplits(asSlices(c.Splits))
	if err != nil {
		return a.wrong(v.pos, "SPLITS: %v", err)
	}
	for i := range sorted {
		c.Splits[i] = sorted[i]
	}
	return nil
}

func asSlices(keys []Bytes) [][]byte {
	out := make([][]byte, len(keys))
	for i := range keys {
		out[i] = keys[i]
	}
	return out
}

// familyHash reads {NAME => 'f1', VERSIONS => 5}. Keys that other takes are not
// the family's. isFamily is false if nothing in it is of a family.
func (a *args) familyHash(h value, other func(key string, v value) (bool, error)) (f FamilyChange, isFamily bool, err error) {
	for _, p := range h.pairs {
		key := strings.ToUpper(string(p.key.text))
		if key == "NAME" {
			name, err := a.text(p.value, "NAME")
			if err != nil {
				return f, false, err
			}
			f.Name, isFamily = familyName(name), true
			continue
		}
		taken, err := other(key, p.value)
		if err != nil {
			return f, false, err
		}
		if taken {
			continue
		}
		s, err := a.setting(key, p.value)
		if err != nil {
			return f, false, err
		}
		// Checked here, so that the error has the place.
		probe := cell.NewFamily("f")
		if err := attribute.SetFamily(&probe, key, s.Value); err != nil {
			return f, false, a.wrong(p.key.pos, "%v", err)
		}
		f.Set = append(f.Set, s)
	}
	if len(f.Set) > 0 && f.Name == "" {
		return f, false, a.wrong(h.pos, "NAME is missing: the family that %s is of, as in {NAME => 'f1', %s => %s}", f.Set[0].Name, f.Set[0].Name, f.Set[0].Value)
	}
	return f, isFamily, nil
}

// setting reads the value of an attribute: a string, number, truth value or
// constant.
func (a *args) setting(key string, v value) (Setting, error) {
	switch v.kind {
	case kindString, kindConstant, kindNumber, kindBool:
		text := string(v.text)
		if v.kind == kindNumber || v.kind == kindBool {
			text = v.String()
		}
		// HBase describes a time to live as '3600 SECONDS (1 HOUR)'.
		if key == "TTL" {
			if seconds, _, ok := strings.Cut(text, " SECONDS"); ok {
				text = seconds
			}
		}
		return Setting{key, text}, nil
	}
	return Setting{}, a.wrong(v.pos, "%s is a string or a number, not %s", key, v.kind)
}

// familyName drops the colon that older commands have after a family.
func familyName(b []byte) string { return strings.TrimSuffix(string(b), ":") }

// schemaOf checks the table that create would make.
func (a *args) schemaOf(c *Create) error {
	_, err := c.schema()
	if err != nil {
		return a.wrong(a.at, "%v", err)
	}
	return nil
}

// schema is the table that create makes.
func (c *Create) schema() (cell.TableSchema, error) {
	s := cell.TableSchema{Name: cell.CanonicalTableName(c.Table)}
	for _, change := range c.Families {
		f := cell.NewFamily(change.Name)
		for _, set := range change.Set {
			if err := attribute.SetFamily(&f, set.Name, set.Value); err != nil {
				return s, err
			}
		}
		s.Families = append(s.Families, f)
	}
	for _, set := range c.Set {
		if err := attribute.SetTable(&s, set.Name, set.Value); err != nil {
			return s, err
		}
	}
	return s, s.Validate()
}

func decodeAlter(a *args) (Command, error) {
	if err := a.count(2, math.MaxInt); err != nil {
		return nil, err
	}
	c := Alter{}
	var err error
	if c.Table, err = a.table(a.take()); err != nil {
		return nil, err
	}
	for len(a.rest) > 0 {
		if err := a.alterPart(&c, a.take()); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (a *args) alterPart(c *Alter, v value) error {
	if v.kind != kindHash {
		name, err := a.text(v, "a family")
		if err != nil {
			return err
		}
		return a.addFamily(c, v.pos, FamilyChange{Name: familyName(name)})
	}
	method, unset, err := a.alterMethod(v)
	if err != nil {
		return err
	}
	if method == "table_att_unset" {
		return a.unset(c, v, unset)
	}
	family, isFamily, err := a.familyHash(v, func(key string, val value) (bool, error) {
		return a.alterKey(c, method, key, val)
	})
	switch {
	case err != nil:
		return err
	case method == "delete" && !isFamily:
		return a.wrong(v.pos, "NAME is missing: METHOD => 'delete' wants the family, as in {NAME => 'f1', METHOD => 'delete'}")
	case method == "delete" && len(family.Set) > 0:
		return a.wrong(v.pos, "%s has no place beside METHOD => 'delete'", family.Set[0].Name)
	case method == "delete":
		c.Drop = append(c.Drop, family.Name)
	case isFamily:
		return a.addFamily(c, v.pos, family)
	}
	return nil
}

func (a *args) addFamily(c *Alter, pos Pos, f FamilyChange) error {
	if err := cell.ValidateFamilyName(f.Name); err != nil {
		return a.wrong(pos, "%v", err)
	}
	if slices.ContainsFunc(c.Families, func(g FamilyChange) bool { return g.Name == f.Name }) {
		return a.wrong(pos, "family %s is altered twice", f.Name)
	}
	c.Families = append(c.Families, f)
	return nil
}

// alterMethod finds METHOD => '...' and, for table_att_unset, the names.
func (a *args) alterMethod(h value) (method string, names value, err error) {
	for _, p := range h.pairs {
		switch strings.ToUpper(string(p.key.text)) {
		case "METHOD":
			b, err := a.text(p.value, "METHOD")
			if err != nil {
				return "", names, err
			}
			method = string(b)
			if !slices.Contains([]string{"delete", "table_att", "table_att_unset"}, method) {
				return "", names, a.wrong(p.value.pos, "METHOD is 'delete', 'table_att' or 'table_att_unset', not %s", clipped(p.value.String()))
			}
		case "NAME":
			names = p.value
		}
	}
	return method, names, nil
}

// alterKey reads a key of alter's hash that is not a family's.
func (a *args) alterKey(c *Alter, method, key string, v value) (bool, error) {
	switch {
	case key == "METHOD":
		return true, nil
	case key == "DELETE": // alter 't1', 'delete' => 'f1'
		name, err := a.text(v, "the family to delete")
		c.Drop = append(c.Drop, familyName(name))
		return true, err
	case method == "delete" || !attribute.IsTable(key) && method != "table_att":
		return false, nil
	}
	s, err := a.setting(key, v)
	if err != nil {
		return true, err
	}
	if err := attribute.SetTable(&cell.TableSchema{}, s.Name, s.Value); err != nil {
		return true, a.wrong(v.pos, "%v", err)
	}
	c.Set = append(c.Set, s)
	return true, nil
}

func (a *args) unset(c *Alter, h, names value) error {
	if len(h.pairs) != 2 || names.kind == kindHash {
		return a.wrong(h.pos, "METHOD => 'table_att_unset' wants NAME and nothing else, as in METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'")
	}
	for _, v := range list(names) {
		name, err := a.text(v, "NAME")
		if err != nil {
			return err
		}
		if err := attribute.UnsetTable(&cell.TableSchema{}, string(name)); err != nil {
			return a.wrong(v.pos, "%v", err)
		}
		c.Unset = append(c.Unset, strings.ToUpper(string(name)))
	}
	return nil
}

// errNeedsAdmin: Thrift 1 cannot say it, and there is no HTTP port that can.
var errNeedsAdmin = errors.New("over Thrift 1 this cannot be said, over Cellar's HTTP port it can: give its address with --http HOST:PORT")

// thriftFamilies is the table as Thrift 1 can create it; an error names the
// first thing that it cannot carry.
func (c *Create) thriftFamilies() ([]cell.FamilySchema, error) {
	if len(c.Splits) > 0 {
		return nil, fmt.Errorf("SPLITS: %w", errNeedsAdmin)
	}
	if len(c.Set) > 0 {
		return nil, fmt.Errorf("%s: %w", c.Set[0].Name, errNeedsAdmin)
	}
	for _, f := range c.Families {
		for _, s := range f.Set {
			if !slices.Contains([]string{"VERSIONS", "TTL", "COMPRESSION", "BLOOMFILTER", "IN_MEMORY", "BLOCKCACHE"}, s.Name) {
				return nil, fmt.Errorf("%s: %w", s.Name, errNeedsAdmin)
			}
		}
	}
	s, err := c.schema()
	return s.Families, err
}

// prefixed says whether a row begins with the prefix.
func prefixed(row, prefix []byte) bool { return bytes.HasPrefix(row, prefix) }
