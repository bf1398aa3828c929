package attribute

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// keptOfTable are the attributes of a table that are stored and shown, and have
// no effect here.
func keptOfTable() []string {
	return []string{"COMPACTION_ENABLED", "FLUSH_POLICY", "MEMSTORE_FLUSHSIZE", "NORMALIZATION_ENABLED", "OWNER", "PRIORITY", "REGION_REPLICATION", "SPLIT_POLICY"}
}

// TableNames lists the attributes of tables that can be set, sorted.
func TableNames() []string {
	names := append([]string{"DURABILITY", "MAX_FILESIZE", "READONLY"}, keptOfTable()...)
	slices.Sort(names)
	return names
}

// IsTable says whether a name is that of an attribute of tables.
func IsTable(name string) bool { return slices.Contains(TableNames(), strings.ToUpper(name)) }

// SetTable sets an attribute of a table.
func SetTable(t *cell.TableSchema, name, value string) error {
	key := strings.ToUpper(name)
	switch {
	case key == "DURABILITY":
		d, err := cell.ParseDurability(strings.ToUpper(value))
		if err != nil {
			return bad(key, "want USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL, not %q", clip(value))
		}
		t.Durability = d
	case key == "READONLY":
		v, err := choice(key, value, "TRUE", "FALSE")
		if err != nil {
			return err
		}
		t.ReadOnly = v == "TRUE"
	case key == "MAX_FILESIZE":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			return bad(key, "want a number of bytes, at least 1, not %q", clip(value))
		}
		t.MaxFileSize = n
	case slices.Contains(keptOfTable(), key):
		if len(value) > maxText {
			return bad(key, "%d bytes are more than %d", len(value), maxText)
		}
		more := maps.Clone(t.Attributes)
		if more == nil {
			more = map[string]string{}
		}
		more[key] = value
		t.Attributes = more
	default:
		return unknown("table", name, TableNames())
	}
	return nil
}

// UnsetTable puts an attribute of a table back to its default. One that is not
// set is no error.
func UnsetTable(t *cell.TableSchema, name string) error {
	switch key := strings.ToUpper(name); {
	case key == "DURABILITY":
		t.Durability = cell.UseDefault
	case key == "READONLY":
		t.ReadOnly = false
	case key == "MAX_FILESIZE":
		t.MaxFileSize = 0
	case slices.Contains(keptOfTable(), key):
		more := maps.Clone(t.Attributes)
		delete(more, key)
		t.Attributes = more
	default:
		return unknown("table", name, TableNames())
	}
	return nil
}

// Table gives the attributes of a table that are not at their defaults, sorted.
func Table(t *cell.TableSchema) []Attribute {
	var list []Attribute
	if t.Durability != cell.UseDefault {
		list = append(list, Attribute{"DURABILITY", t.Durability.String()})
	}
	if t.MaxFileSize != 0 {
		list = append(list, Attribute{"MAX_FILESIZE", strconv.FormatInt(t.MaxFileSize, 10)})
	}
	if t.ReadOnly {
		list = append(list, Attribute{"READONLY", "true"})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		list = append(list, Attribute{name, t.Attributes[name]})
	}
	slices.SortFunc(list, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	return list
}
