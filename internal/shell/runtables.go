package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/attribute"
)

// Run prints the names of tables.
func (c List) Run(ctx context.Context, s *Session) error {
	all, err := s.Gateway.TableNames(ctx)
	if err != nil {
		return err
	}
	s.printf("TABLE\n")
	n := 0
	slices.Sort(all)
	for _, name := range all {
		if c.Pattern == nil || c.Pattern.MatchString(name) {
			s.printf("%s\n", printable([]byte(name)))
			n++
		}
	}
	s.printf("%d row(s)\n", n)
	return nil
}

// Run makes the table: over HTTP where it can, since Thrift 1 carries a part of
// a schema only.
func (c Create) Run(ctx context.Context, s *Session) error {
	var err error
	if s.Admin != nil {
		err = s.Admin.Create(ctx, c.Table, c.Families, c.Set, asSlices(c.Splits))
	} else {
		var families []cell.FamilySchema
		if families, err = c.thriftFamilies(); err != nil {
			if s.NoAdmin != "" {
				err = fmt.Errorf("%w (%s)", err, s.NoAdmin)
			}
			return err
		}
		err = s.Gateway.CreateTable(ctx, c.Table, families)
	}
	if err == nil {
		s.printf("Created table %s\n", c.Table)
	}
	return err
}

// Run changes the table.
func (c Alter) Run(ctx context.Context, s *Session) error {
	admin, err := s.admin("alter")
	if err != nil {
		return err
	}
	if err := admin.Alter(ctx, c.Table, c.Alteration); err != nil {
		return err
	}
	s.printf("Updating all regions with the new schema...\nDone.\n")
	return nil
}

// Run prints the schema.
func (c Describe) Run(ctx context.Context, s *Session) error {
	info, err := c.info(ctx, s)
	if err != nil {
		return err
	}
	state := "ENABLED"
	if !info.Enabled {
		state = "DISABLED"
	}
	s.printf("Table %s is %s\n%s", c.Table, state, c.Table)
	if settings := attribute.Table(&info.Schema); len(settings) > 0 {
		s.printf(", {TABLE_ATTRIBUTES => {%s}}", joinAttributes(settings))
	}
	s.printf("\nCOLUMN FAMILIES DESCRIPTION\n")
	for i := range info.Schema.Families {
		f := &info.Schema.Families[i]
		s.printf("{NAME => %s, %s}\n\n", quote([]byte(f.Name)), joinAttributes(familyAttributes(f, s.Admin != nil)))
	}
	s.printf("%d row(s)\n", len(info.Schema.Families))
	return nil
}

func (c *Describe) info(ctx context.Context, s *Session) (*TableInfo, error) {
	if s.Admin != nil {
		return s.Admin.Describe(ctx, c.Table)
	}
	// First, since a gateway may answer the families of no table with none.
	enabled, err := s.Gateway.IsEnabled(ctx, c.Table)
	if err != nil {
		return nil, err
	}
	families, err := s.Gateway.Families(ctx, c.Table)
	return &TableInfo{Schema: cell.TableSchema{Name: c.Table, Families: families}, Enabled: enabled}, err
}

// familyAttributes leaves out what Thrift 1 does not say: it is not known.
func familyAttributes(f *cell.FamilySchema, whole bool) []attribute.Attribute {
	list := attribute.Family(f)
	if whole {
		return list
	}
	return slices.DeleteFunc(list, func(a attribute.Attribute) bool {
		return !slices.Contains([]string{"VERSIONS", "TTL", "COMPRESSION", "BLOOMFILTER", "IN_MEMORY", "BLOCKCACHE"}, a.Name)
	})
}

func joinAttributes(list []attribute.Attribute) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.Name + " => " + quote([]byte(a.Value))
	}
	return strings.Join(parts, ", ")
}

// Run says whether the table is there.
func (c Exists) Run(ctx context.Context, s *Session) error {
	all, err := s.Gateway.TableNames(ctx)
	if err != nil {
		return err
	}
	does := "does not"
	if slices.Contains(all, cell.CanonicalTableName(c.Table)) {
		does = "does"
	}
	s.printf("Table %s %s exist\n", c.Table, does)
	return nil
}

// Run enables the table. One that is enabled stays so, as in HBase's shell.
func (c Enable) Run(ctx context.Context, s *Session) error {
	on, err := s.Gateway.IsEnabled(ctx, c.Table)
	if err != nil || on {
		return err
	}
	return s.Gateway.EnableTable(ctx, c.Table)
}

// Run disables the table. One that is disabled stays so, as in HBase's shell.
func (c Disable) Run(ctx context.Context, s *Session) error {
	on, err := s.Gateway.IsEnabled(ctx, c.Table)
	if err != nil || !on {
		return err
	}
	return s.Gateway.DisableTable(ctx, c.Table)
}

// Run says whether the table is enabled, or disabled.
func (c IsEnabled) Run(ctx context.Context, s *Session) error {
	on, err := s.Gateway.IsEnabled(ctx, c.Table)
	if err == nil {
		s.printf("%v\n", on != c.Not)
	}
	return err
}

// Run removes the table.
func (c Drop) Run(ctx context.Context, s *Session) error {
	on, err := s.Gateway.IsEnabled(ctx, c.Table)
	if err != nil {
		return err
	}
	if on {
		return fmt.Errorf("table %s is enabled: disable it first, as in disable %s", c.Table, quote([]byte(c.Table)))
	}
	return s.Gateway.DeleteTable(ctx, c.Table)
}

// Run empties the table. Over Thrift 1 alone it would have to be made anew, and
// would lose what Thrift 1 does not say of it.
func (c Truncate) Run(ctx context.Context, s *Session) error {
	admin, err := s.admin("truncate")
	if err != nil {
		return fmt.Errorf("%w; deleteall %s, {ROWPREFIXFILTER => ''} deletes row by row", err, quote([]byte(c.Table)))
	}
	s.printf("Truncating '%s' table (it may take a while):\n", c.Table)
	on, err := s.Gateway.IsEnabled(ctx, c.Table)
	if err != nil {
		return err
	}
	if on {
		s.printf("Disabling table...\n")
		if err := s.Gateway.DisableTable(ctx, c.Table); err != nil {
			return err
		}
	}
	s.printf("Truncating table...\n")
	err = admin.Truncate(ctx, c.Table, c.KeepSplits)
	if err != nil && on {
		err = fmt.Errorf("%w; the table is disabled now: enable %s enables it", err, quote([]byte(c.Table)))
	}
	return err
}

// Run prints where regions begin.
func (c GetSplits) Run(ctx context.Context, s *Session) error {
	starts, err := s.Gateway.RegionStarts(ctx, c.Table)
	if err != nil {
		return err
	}
	if len(starts) == 0 {
		return fmt.Errorf("table %s does not exist", c.Table)
	}
	starts = slices.DeleteFunc(starts, func(k []byte) bool { return len(k) == 0 })
	s.printf("Total number of splits = %d\n", len(starts)+1)
	keys := make([]string, len(starts))
	for i, k := range starts {
		keys[i] = quote(k)
	}
	s.printf("[%s]\n", strings.Join(keys, ", "))
	return nil
}

// Run describes the server.
func (Status) Run(ctx context.Context, s *Session) error {
	all, err := s.Gateway.TableNames(ctx)
	if err != nil {
		return err
	}
	s.printf("Thrift 1 gateway %s answers, %d table(s)\n", s.Gateway.Addr(), len(all))
	if s.Admin != nil {
		text, err := s.Admin.Status(ctx)
		if err != nil {
			return err
		}
		s.printf("%s\n", text)
	}
	return nil
}

// Run prints versions.
func (Version) Run(ctx context.Context, s *Session) error {
	s.printf("shell %s\n", s.Version)
	if s.Admin == nil {
		s.printf("server at %s: Thrift 1 does not say\n", s.Gateway.Addr())
		return nil
	}
	v, err := s.Admin.Version(ctx)
	if err == nil {
		s.printf("server %s\n", v)
	}
	return err
}

// Run names the user.
func (WhoAmI) Run(_ context.Context, s *Session) error {
	s.printf("%s (auth:SIMPLE)\n", s.User)
	return nil
}

// Run leaves.
func (Exit) Run(context.Context, *Session) error { return ErrExit }

// Run prints help.
func (c Help) Run(_ context.Context, s *Session) error {
	if c.Topic != "" {
		s.printf("%s", helpOf(find(c.Topic)))
		return nil
	}
	s.printf("Commands; help 'put' shows one by example.\n")
	group := ""
	for _, spec := range specs() {
		if spec.group != group {
			group = spec.group
			s.printf("\n%s\n", group)
		}
		s.printf("  %-18s %s\n", strings.Join(append([]string{spec.name}, spec.aliases...), ", "), spec.summary)
	}
	s.printf("\n%s", helpNotes)
	return nil
}

const helpNotes = `Text is in quotes: 'as it is', "with escapes such as \x00 and \n". Options are
{NAME => 'value', OTHER => 5}. Numbers may be sums and products: 60*60*24.
# begins a comment. A statement ends with its line, unless a bracket, a quote or
a comma is open, or with a semicolon.
`

func helpOf(c *commandSpec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", c.name, c.summary)
	for _, u := range c.usage {
		fmt.Fprintf(&b, "  %s\n", u)
	}
	for _, line := range helpMore()[c.name] {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	return b.String()
}

// helpMore has what examples do not show.
func helpMore() map[string][]string {
	schema := []string{
		"Attributes of a family: " + strings.Join(attribute.FamilyNames(), ", ") + ".",
		"Attributes of a table: " + strings.Join(attribute.TableNames(), ", ") + ".",
		"Over a Thrift 1 port alone VERSIONS, TTL, COMPRESSION, BLOOMFILTER, IN_MEMORY and\nBLOCKCACHE can be set; the rest, splits and alter need Cellar's HTTP port.",
	}
	read := []string{
		"A column is a family, 'f1', or family:qualifier. Values are shown as numbers where the\ncolumn ends in :toInt, :toLong, :toShort, :toFloat, :toDouble, :toBigDecimal, as truth\nvalues with :toBoolean, as text with :toString.",
	}
	return map[string][]string{
		"create": schema, "alter": schema, "get": read, "scan": read,
		"delete":    {"Over Thrift 1 one version goes only if the column has no older ones."},
		"deleteall": {"All versions up to the timestamp go, that one included; without a timestamp all."},
		"put":       {"The timestamp is in milliseconds since 1970; without it the server's clock counts."},
		"list":      {"The expression must match the whole name."},
	}
}
