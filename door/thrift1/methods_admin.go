package thrift1

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
)

// after is the reply of a method that returns nothing, once it is done.
func (s *session) after(err error) error {
	if err != nil {
		return err
	}
	return s.void()
}

func (s *session) enableTable() error  { return s.after(s.h.store.EnableTable(s.ctx, s.args.table)) }
func (s *session) disableTable() error { return s.after(s.h.store.DisableTable(s.ctx, s.args.table)) }

func (s *session) isTableEnabled() error {
	info, err := s.h.store.Describe(s.ctx, s.args.table)
	if err != nil {
		return err
	}
	return s.boolean(info.Enabled)
}

// deleteTable has its own words for a missing table.
func (s *session) deleteTable() error {
	err := s.h.store.DropTable(s.ctx, s.args.table)
	if errors.Is(err, store.ErrTableNotFound) && cell.ValidateTableName(s.args.table) == nil {
		return ioError(classIO, "table does not exist")
	}
	return s.after(err)
}

func (s *session) getTableNames() error {
	tables, err := s.h.store.Tables(s.ctx)
	if err != nil {
		return err
	}
	if err := s.replyNames(thrift.List, tables); err != nil {
		return err
	}
	s.writer.List(thrift.String, len(tables))
	for i := range tables {
		s.writer.String(tables[i].Schema.Name)
	}
	return s.done()
}

func (s *session) getTableNamesWithIsTableEnabled() error {
	tables, err := s.h.store.Tables(s.ctx)
	if err != nil {
		return err
	}
	if err := s.replyNames(thrift.Map, tables); err != nil {
		return err
	}
	s.writer.Map(thrift.String, thrift.Bool, len(tables))
	for i := range tables {
		s.writer.String(tables[i].Schema.Name)
		s.writer.Bool(tables[i].Enabled)
	}
	return s.done()
}

// replyNames begins a reply that lists tables.
func (s *session) replyNames(t thrift.Type, tables []store.TableInfo) error {
	size := small
	for i := range tables {
		size += 8 + len(tables[i].Schema.Name)
	}
	if err := s.reply(t); err != nil {
		return err
	}
	return s.reserve(size)
}

// getColumnDescriptors names families with a colon at their end.
func (s *session) getColumnDescriptors() error {
	info, err := s.h.store.Describe(s.ctx, s.args.table)
	if err != nil {
		return err
	}
	if err := s.reply(thrift.Map); err != nil {
		return err
	}
	families := info.Schema.Families
	if err := s.reserve((2*cell.MaxFamily + small) * len(families)); err != nil {
		return err
	}
	s.writer.Map(thrift.String, thrift.Struct, len(families))
	for i := range families {
		s.writer.String(families[i].Name + ":")
		s.writeDescriptor(&families[i])
	}
	return s.done()
}

func (s *session) writeDescriptor(f *cell.FamilySchema) {
	w := &s.writer
	w.StructBegin()
	w.Field(thrift.String, 1)
	w.String(f.Name + ":")
	w.Field(thrift.I32, 2)
	w.I32(int32(f.MaxVersions))
	w.Field(thrift.String, 3)
	w.String(either(f.Compression, "NONE"))
	w.BoolField(4, f.InMemory)
	w.Field(thrift.String, 5)
	w.String(either(f.BloomFilter, "NONE"))
	w.Field(thrift.I32, 6) // bloomFilterVectorSize and bloomFilterNbHashes have no meaning any more
	w.I32(0)
	w.Field(thrift.I32, 7)
	w.I32(0)
	w.BoolField(8, f.BlockCache)
	w.Field(thrift.I32, 9)
	w.I32(int32(f.TTL))
	w.StructEnd()
}

// maxFamilies that a client may give a new table. HBase has no limit, but serves
// no more than a few well.
const maxFamilies = 512

// createTable checks what HBase's gateway checks, in its order, then leaves the
// rest to the store.
func (s *session) createTable() error {
	a := &s.args
	if err := cell.ValidateTableName(a.table); err != nil {
		return err
	}
	if _, err := s.h.store.Describe(s.ctx, a.table); err == nil {
		return store.ErrTableExists
	} else if !errors.Is(err, store.ErrTableNotFound) {
		return err
	}
	if n := len(a.families); n > maxFamilies {
		return illegal("%d column families are too many: a table may have %d", n, maxFamilies)
	}
	schema := cell.TableSchema{Name: a.table}
	seen := make(map[string]bool, len(a.families))
	for i := range a.families {
		f, err := a.families[i].schema()
		if err != nil {
			return err
		}
		if seen[f.Name] {
			return illegal("Family '%s' already exists so cannot be added", f.Name)
		}
		seen[f.Name] = true
		schema.Families = append(schema.Families, f)
	}
	return s.after(s.h.store.CreateTable(s.ctx, schema, nil))
}

// compressions are the names that HBase knows.
const compressions = " none gz lzo snappy lz4 bzip2 zstd lzma "

// schema translates a descriptor.
func (d *descriptor) schema() (cell.FamilySchema, error) {
	compression := strings.ToLower(string(d.compression))
	if compression == "" || strings.Contains(compression, " ") || !strings.Contains(compressions, " "+compression+" ") {
		return cell.FamilySchema{}, illegal("Unsupported compression algorithm name: %s", shorten(compression, maxName))
	}
	switch string(d.bloom) {
	case "NONE", "ROW", "ROWCOL":
	default:
		return cell.FamilySchema{}, illegal("No enum constant org.apache.hadoop.hbase.regionserver.BloomType.%s", shorten(string(d.bloom), maxName))
	}
	if len(d.name) == 0 {
		return cell.FamilySchema{}, errNoColumnName()
	}
	name, _, _ := bytes.Cut(d.name, []byte(":"))
	f := cell.NewFamily(string(name))
	f.MaxVersions, f.InMemory, f.BlockCache = int(d.maxVersions), d.inMemory, d.blockCache
	f.Compression, f.BloomFilter = strings.ToUpper(compression), string(d.bloom)
	if d.ttl > 0 {
		f.TTL = int(d.ttl)
	}
	return f, f.Validate()
}

// errNoColumnName is the gateway's own exception, without a class.
func errNoColumnName() error { return &fault{kind: kindIA, message: "column name is empty"} }

// getTableRegions of a missing table are none.
func (s *session) getTableRegions() error {
	regions, err := s.h.store.Regions(s.ctx, s.args.table)
	if err != nil && !errors.Is(err, store.ErrTableNotFound) {
		return err
	}
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	s.writer.List(thrift.Struct, len(regions))
	for i := range regions {
		if err := s.writeRegion(&regions[i]); err != nil {
			return err
		}
	}
	return s.done()
}

// regionInfoVersion is the version that HBase gives its region descriptors.
const regionInfoVersion = 1

func (s *session) writeRegion(r *store.Region) error {
	name, o := r.Name(), &s.h.opts
	if err := s.reserve(small + len(r.Start) + len(r.Stop) + len(name) + len(o.Host)); err != nil {
		return err
	}
	w := &s.writer
	w.StructBegin()
	w.Field(thrift.String, 1)
	w.Binary(r.Start)
	w.Field(thrift.String, 2)
	w.Binary(r.Stop)
	w.Field(thrift.I64, 3)
	w.I64(r.ID)
	w.Field(thrift.String, 4)
	w.Binary(name)
	w.Field(thrift.Byte, 5)
	w.Byte(regionInfoVersion)
	w.Field(thrift.String, 6)
	w.String(o.Host)
	w.Field(thrift.I32, 7)
	w.I32(int32(o.Port))
	w.StructEnd()
	return nil
}

// getRegionInfo finds the last region whose row in hbase:meta,
// table,start,id..., is not above the given one.
func (s *session) getRegionInfo() error {
	region, err := s.regionBefore(s.args.row)
	if err != nil {
		return err
	}
	if region == nil {
		return ioError(classIO, "Cannot find row in hbase:meta, row=%s", cell.Printable(s.args.row))
	}
	if err := s.reply(thrift.Struct); err != nil {
		return err
	}
	if err := s.writeRegion(region); err != nil {
		return err
	}
	return s.done()
}

func (s *session) regionBefore(key []byte) (*store.Region, error) {
	tables, err := s.h.store.Tables(s.ctx)
	if err != nil {
		return nil, err
	}
	table, start, id := cutMetaRow(key)
	for i := len(tables) - 1; i >= 0; i-- {
		name := tables[i].Schema.Name
		if name > table {
			continue
		}
		regions, err := s.h.store.Regions(s.ctx, name)
		if errors.Is(err, store.ErrTableNotFound) {
			continue // dropped meanwhile
		}
		if err != nil {
			return nil, err
		}
		for j := len(regions) - 1; j >= 0; j-- {
			r := &regions[j]
			c := bytes.Compare(r.Start, start)
			if name < table || c < 0 || c == 0 && strconv.FormatInt(r.ID, 10) <= id {
				return r, nil
			}
		}
	}
	return nil, nil
}

// cutMetaRow takes a row of hbase:meta apart: table,start,id. The start key may
// hold commas. The id is compared as a text, as the bytes of rows are; none lies
// before all regions with that start.
func cutMetaRow(key []byte) (table string, start []byte, id string) {
	first, last := bytes.IndexByte(key, ','), bytes.LastIndexByte(key, ',')
	switch {
	case first < 0:
		return string(key), nil, ""
	case first == last:
		return string(key[:first]), key[first+1:], ""
	}
	id, _, _ = strings.Cut(string(key[last+1:]), ".")
	return string(key[:first]), key[first+1 : last], id
}

func (s *session) compact() error      { return s.startCompaction(false) }
func (s *session) majorCompact() error { return s.startCompaction(true) }

// startCompaction compacts a region, if the argument is the name of one, or a
// table. It does not wait for the end.
func (s *session) startCompaction(major bool) error {
	name := s.args.table
	if region := s.regionNamed(name); region != nil {
		s.h.compactions.start(region.Table, region.Range(), major)
		return s.void()
	}
	if _, err := s.h.store.Describe(s.ctx, name); err != nil {
		return err
	}
	s.h.compactions.start(name, cell.Range{}, major)
	return s.void()
}

func (s *session) regionNamed(name string) *store.Region {
	table, _, ok := strings.Cut(name, ",")
	if !ok {
		return nil
	}
	regions, err := s.h.store.Regions(s.ctx, table)
	if err != nil {
		return nil
	}
	for i := range regions {
		if string(regions[i].Name()) == name {
			return &regions[i]
		}
	}
	return nil
}

// serverTypeOne is TThriftServerType.ONE.
const serverTypeOne = 1

func (s *session) getThriftServerType() error {
	if err := s.reply(thrift.I32); err != nil {
		return err
	}
	s.writer.I32(serverTypeOne)
	return s.done()
}

func (s *session) getClusterID() error {
	if err := s.reply(thrift.String); err != nil {
		return err
	}
	if err := s.reserve(small + len(s.h.opts.ClusterID)); err != nil {
		return err
	}
	s.writer.String(s.h.opts.ClusterID)
	return s.done()
}

func (s *session) noAccessControl() error {
	return ioError(classDoNotRetry, "access control is not enabled")
}
