package shell

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Command is a statement that was understood. Run carries it out; it prints
// what HBase's shell prints.
type Command interface {
	Run(ctx context.Context, s *Session) error
}

// commandSpec is one command of the language.
type commandSpec struct {
	name    string
	aliases []string
	group   string
	summary string
	// usage is how it is written: examples, the shortest first.
	usage  []string
	decode func(a *args) (Command, error)
}

// Groups of commands, in the order of help.
const (
	groupGeneral = "general"
	groupTables  = "tables"
	groupData    = "data"
)

// specs lists the commands in the order of help.
func specs() []commandSpec {
	return slices.Concat(generalSpecs(), tableSpecs(), dataSpecs())
}

// find looks a command up by its name or alias; nil: there is none.
func find(name string) *commandSpec {
	all := specs()
	for i := range all {
		if all[i].name == name || slices.Contains(all[i].aliases, name) {
			return &all[i]
		}
	}
	return nil
}

// usageOf is a command's shortest example.
func usageOf(name string) string {
	if c := find(name); c != nil {
		return "as in " + c.usage[0]
	}
	return ""
}

// Names lists all commands, sorted, aliases too.
func Names() []string {
	var names []string
	for _, c := range specs() {
		names = append(append(names, c.name), c.aliases...)
	}
	slices.Sort(names)
	return names
}

// decode understands a statement.
func decode(s *statement) (Command, error) {
	c := find(s.name)
	if c == nil {
		return nil, unknownCommand(s)
	}
	return c.decode(&args{name: c.name, at: s.pos, rest: s.args})
}

func unknownCommand(s *statement) error {
	best, distance := "", 6
	for _, name := range Names() {
		d := 2 * letters(s.name, name)
		if name[0] != s.name[0] {
			d++ // the first letter is seldom the wrong one
		}
		if d < distance {
			best, distance = name, d
		}
	}
	if best != "" {
		return &Error{Pos: s.pos, Text: "there is no command " + clipped(s.name) + ": did you mean " + best + "?", Command: best}
	}
	return wrong(s.pos, "there is no command %s: help lists them", clipped(s.name))
}

// letters is how many letters differ, by a coarse count; it is for hints only.
func letters(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 9
	}
	prefix := 0
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < len(a)-prefix && suffix < len(b)-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return max(len(a), len(b)) - prefix - suffix
}

func sortedNames(known options) string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func generalSpecs() []commandSpec {
	none := func(c Command) func(*args) (Command, error) {
		return func(a *args) (Command, error) { return c, a.count(0, 0) }
	}
	return []commandSpec{
		{"help", nil, groupGeneral, "this list, or one command by example", []string{"help 'put'", "help"}, decodeHelp},
		{"status", nil, groupGeneral, "how the server is", []string{"status"}, none(Status{})},
		{"version", nil, groupGeneral, "versions of shell and server", []string{"version"}, none(Version{})},
		{"whoami", nil, groupGeneral, "the user of this machine who types", []string{"whoami"}, none(WhoAmI{})},
		{"exit", []string{"quit"}, groupGeneral, "leave the shell", []string{"exit"}, none(Exit{})},
	}
}

// Help prints how to write commands.
type Help struct{ Topic string }

// Status asks the server how it is.
type Status struct{}

// Version asks for versions.
type Version struct{}

// WhoAmI names the user.
type WhoAmI struct{}

// Exit leaves the shell.
type Exit struct{}

func decodeHelp(a *args) (Command, error) {
	if err := a.count(0, 1); err != nil {
		return nil, err
	}
	if len(a.rest) == 0 {
		return Help{}, nil
	}
	v := a.take()
	topic, err := a.text(v, "what help is about")
	if err != nil {
		return nil, err
	}
	if c := find(string(topic)); c != nil {
		return Help{c.name}, nil
	}
	return nil, a.wrong(v.pos, "there is no command %s: help lists them", clipped(string(topic)))
}

func tableSpecs() []commandSpec {
	one := func(make func(table string) Command) func(*args) (Command, error) {
		return func(a *args) (Command, error) {
			if err := a.count(1, 1); err != nil {
				return nil, err
			}
			t, err := a.table(a.take())
			return make(t), err
		}
	}
	return []commandSpec{
		{"list", nil, groupTables, "tables, by a regular expression if one is given", []string{"list", "list 'weather.*'"}, decodeList},
		{"create", nil, groupTables, "make a table", []string{
			"create 't1', 'f1'",
			"create 't1', 'f1', 'f2'",
			"create 't1', {NAME => 'f1', VERSIONS => 5, TTL => 3600}, {NAME => 'f2', TTL => FOREVER}",
			"create 't1', 'f1', SPLITS => ['g', 'p', \"\\x80\"]",
			"create 't1', 'f1', {DURABILITY => 'ASYNC_WAL', SPLITS => ['m']}",
		}, decodeCreate},
		{"alter", nil, groupTables, "change a table's families and settings", []string{
			"alter 't1', NAME => 'f1', VERSIONS => 5",
			"alter 't1', 'f3'",
			"alter 't1', 'delete' => 'f1'",
			"alter 't1', {NAME => 'f1', VERSIONS => 5}, {NAME => 'f2', METHOD => 'delete'}",
			"alter 't1', DURABILITY => 'SYNC_WAL'",
			"alter 't1', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'",
		}, decodeAlter},
		{"describe", []string{"desc"}, groupTables, "a table's families and settings", []string{"describe 't1'", "desc 't1'"}, one(func(t string) Command { return Describe{t} })},
		{"exists", nil, groupTables, "whether a table is there", []string{"exists 't1'"}, one(func(t string) Command { return Exists{t} })},
		{"enable", nil, groupTables, "enable a table", []string{"enable 't1'"}, one(func(t string) Command { return Enable{t} })},
		{"disable", nil, groupTables, "disable a table, as drop needs it", []string{"disable 't1'"}, one(func(t string) Command { return Disable{t} })},
		{"is_enabled", nil, groupTables, "whether a table is enabled", []string{"is_enabled 't1'"}, one(func(t string) Command { return IsEnabled{Table: t} })},
		{"is_disabled", nil, groupTables, "whether a table is disabled", []string{"is_disabled 't1'"}, one(func(t string) Command { return IsEnabled{Table: t, Not: true} })},
		{"drop", nil, groupTables, "remove a disabled table", []string{"drop 't1'"}, one(func(t string) Command { return Drop{t} })},
		{"truncate", nil, groupTables, "remove all rows of a table, and its splits", []string{"truncate 't1'"}, one(func(t string) Command { return Truncate{Table: t} })},
		{"truncate_preserve", nil, groupTables, "remove all rows of a table, and keep its splits", []string{"truncate_preserve 't1'"}, one(func(t string) Command { return Truncate{Table: t, KeepSplits: true} })},
		{"get_splits", nil, groupTables, "the keys at which a table's regions begin", []string{"get_splits 't1'"}, one(func(t string) Command { return GetSplits{t} })},
	}
}

// Commands on whole tables.
type (
	// List prints the tables whose names match; nil: all.
	List struct{ Pattern *regexp.Regexp }
	// Describe prints a table's schema.
	Describe struct{ Table string }
	// Exists says whether a table is there.
	Exists struct{ Table string }
	// Enable enables a table.
	Enable struct{ Table string }
	// Disable disables a table.
	Disable struct{ Table string }
	// IsEnabled says whether a table is enabled, or not.
	IsEnabled struct {
		Table string
		Not   bool
	}
	// Drop removes a disabled table.
	Drop struct{ Table string }
	// Truncate empties a table.
	Truncate struct {
		Table      string
		KeepSplits bool
	}
	// GetSplits prints where regions begin.
	GetSplits struct{ Table string }
)

func decodeList(a *args) (Command, error) {
	if err := a.count(0, 1); err != nil {
		return nil, err
	}
	if len(a.rest) == 0 {
		return List{}, nil
	}
	v := a.take()
	text, err := a.text(v, "the regular expression")
	if err != nil {
		return nil, err
	}
	// The whole name must match, as in HBase.
	re, err := regexp.Compile("^(?:" + string(text) + ")$")
	if err != nil {
		return nil, a.wrong(v.pos, "%s is no regular expression: %v", clipped(v.String()), err)
	}
	return List{re}, nil
}

func dataSpecs() []commandSpec {
	return []commandSpec{
		{"put", nil, groupData, "write a value", []string{
			"put 't1', 'r1', 'f1:c1', 'value'",
			"put 't1', 'r1', 'f1:c1', 'value', 1356998400000",
			"put 't1', \"r\\x00\\x01\", 'f1:c1', \"\\x80\"",
		}, decodePut},
		{"get", nil, groupData, "read a row", []string{
			"get 't1', 'r1'",
			"get 't1', 'r1', 'f1:c1', 'f2'",
			"get 't1', 'r1', {COLUMN => 'f1:c1', VERSIONS => 3}",
			"get 't1', 'r1', {COLUMN => ['f1:c1', 'f1:n:toLong'], TIMERANGE => [0, 1356998400000]}",
			"get 't1', 'r1', {TIMESTAMP => 1356998400000}",
			"get 't1', 'r1', {FILTER => \"ValueFilter(=, 'binary:value')\"}",
		}, decodeGet},
		{"get_counter", nil, groupData, "read a counter", []string{"get_counter 't1', 'r1', 'f1:n'"}, decodeGetCounter},
		{"scan", nil, groupData, "read rows", []string{
			"scan 't1'",
			"scan 't1', {LIMIT => 10}",
			"scan 't1', {STARTROW => 'a', STOPROW => 'b', COLUMNS => ['f1:c1', 'f2']}",
			"scan 't1', {ROWPREFIXFILTER => 'JFK/', REVERSED => true, LIMIT => 1}",
			"scan 't1', {FILTER => \"PrefixFilter('r') AND ValueFilter(>=, 'binary:5')\"}",
			"scan 't1', {TIMERANGE => [1356998400000, 1356998500000], VERSIONS => 3}",
		}, decodeScan},
		{"count", nil, groupData, "count rows", []string{
			"count 't1'",
			"count 't1', INTERVAL => 100000",
			"count 't1', {STARTROW => 'a', STOPROW => 'b', CACHE => 5000}",
		}, decodeCount},
		{"incr", nil, groupData, "add to a counter", []string{"incr 't1', 'r1', 'f1:n'", "incr 't1', 'r1', 'f1:n', 10"}, decodeIncr},
		{"append", nil, groupData, "add bytes to the end of a value", []string{"append 't1', 'r1', 'f1:c1', 'more'"}, decodeAppend},
		{"delete", nil, groupData, "remove one version of a column", []string{"delete 't1', 'r1', 'f1:c1'", "delete 't1', 'r1', 'f1:c1', 1356998400000"}, decodeDelete},
		{"deleteall", nil, groupData, "remove a row, a family of it, or all versions of a column", []string{
			"deleteall 't1', 'r1'",
			"deleteall 't1', 'r1', 'f1:c1'",
			"deleteall 't1', 'r1', 'f1:c1', 1356998400000",
			"deleteall 't1', {ROWPREFIXFILTER => 'JFK/'}",
		}, decodeDeleteAll},
	}
}

// Commands on cells.
type (
	// Put writes one value.
	Put struct {
		Table              string
		Row, Column, Value Bytes
		At                 Timestamp
	}
	// GetCounter reads a counter.
	GetCounter struct {
		Table       string
		Row, Column Bytes
	}
	// Incr adds to a counter.
	Incr struct {
		Table       string
		Row, Column Bytes
		Amount      int64
	}
	// Append adds to the end of a value.
	Append struct {
		Table              string
		Row, Column, Value Bytes
	}
	// Delete removes one version.
	Delete struct {
		Table       string
		Row, Column Bytes
		At          Timestamp
	}
	// DeleteAll removes a row (no column), a family, or all versions of a
	// column, up to a timestamp; or all rows that begin with a prefix.
	DeleteAll struct {
		Table       string
		Row, Column Bytes
		UpTo        Timestamp
		ByPrefix    bool
		Prefix      Bytes
	}
)

// cellArgs takes table, row and column.
func (a *args) cellArgs() (table string, row, column Bytes, err error) {
	if table, err = a.table(a.take()); err != nil {
		return
	}
	if row, err = a.row(a.take()); err != nil {
		return
	}
	column, err = a.column(a.take())
	return
}

// attributesCannot is why options of mutations are refused.
func attributesCannot() map[string]string {
	const why = "Thrift 1 cannot send it"
	return map[string]string{"ATTRIBUTES": why, "VISIBILITY": why, "TTL": why + ": set the family's TTL with alter", "ACL": why, "DURABILITY": why}
}

func decodePut(a *args) (Command, error) {
	if err := a.options(a.hash(), nil, attributesCannot()); err != nil {
		return nil, err
	}
	if err := a.count(4, 5); err != nil {
		return nil, err
	}
	var p Put
	var err error
	if p.Table, p.Row, p.Column, err = a.cellArgs(); err != nil {
		return nil, err
	}
	if p.Value, err = a.text(a.take(), "the value"); err != nil {
		return nil, err
	}
	if len(a.rest) > 0 {
		p.At, err = a.timestamp(a.take())
	}
	return p, err
}

func decodeGetCounter(a *args) (Command, error) {
	if err := a.count(3, 3); err != nil {
		return nil, err
	}
	t, r, c, err := a.cellArgs()
	return GetCounter{t, r, c}, err
}

func decodeIncr(a *args) (Command, error) {
	if err := a.options(a.hash(), nil, attributesCannot()); err != nil {
		return nil, err
	}
	if err := a.count(3, 4); err != nil {
		return nil, err
	}
	t, r, c, err := a.cellArgs()
	amount := int64(1)
	if err == nil && len(a.rest) > 0 {
		amount, err = a.integer(a.take(), "the amount", math.MinInt64, math.MaxInt64)
	}
	return Incr{t, r, c, amount}, err
}

func decodeAppend(a *args) (Command, error) {
	if err := a.options(a.hash(), nil, attributesCannot()); err != nil {
		return nil, err
	}
	if err := a.count(4, 4); err != nil {
		return nil, err
	}
	t, r, c, err := a.cellArgs()
	if err != nil {
		return nil, err
	}
	v, err := a.text(a.take(), "the value")
	return Append{t, r, c, v}, err
}

func decodeDelete(a *args) (Command, error) {
	if err := a.options(a.hash(), nil, attributesCannot()); err != nil {
		return nil, err
	}
	if err := a.count(3, 4); err != nil {
		return nil, err
	}
	t, r, c, err := a.cellArgs()
	d := Delete{Table: t, Row: r, Column: c}
	if err == nil && len(a.rest) > 0 {
		d.At, err = a.timestamp(a.take())
	}
	return d, err
}

func decodeDeleteAll(a *args) (Command, error) {
	d := DeleteAll{}
	hash := a.hash()
	err := a.options(hash, options{
		"ROWPREFIXFILTER": func(v value) error {
			b, err := a.text(v, "ROWPREFIXFILTER")
			d.ByPrefix, d.Prefix = true, b
			return err
		},
		"CACHE": func(v value) error {
			_, err := a.integer(v, "CACHE", 1, math.MaxInt32)
			return err
		},
	}, attributesCannot())
	if err != nil {
		return nil, err
	}
	if d.ByPrefix {
		if err := a.count(1, 1); err != nil {
			return nil, err
		}
		d.Table, err = a.table(a.take())
		return d, err
	}
	if err := a.count(2, 4); err != nil {
		return nil, err
	}
	return a.deleteAll(d)
}

func (a *args) deleteAll(d DeleteAll) (Command, error) {
	var err error
	if d.Table, err = a.table(a.take()); err != nil {
		return nil, err
	}
	if d.Row, err = a.row(a.take()); err != nil {
		return nil, err
	}
	if len(a.rest) > 0 {
		// An empty column or nil is the whole row, as in HBase: so it can be
		// given a timestamp.
		if v := a.take(); v.kind != kindNil && !(v.kind == kindString && len(v.text) == 0) {
			if d.Column, err = a.family(v); err != nil {
				return nil, err
			}
		}
	}
	if len(a.rest) > 0 {
		d.UpTo, err = a.timestamp(a.take())
	}
	return d, err
}
