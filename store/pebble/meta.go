package pebble

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Meta keys. All begin with 00, which no cell's key does.
//
//	00 'i'                         the last table id given out, u32
//	00 'n' name                    a namespace, JSON
//	00 't' name                    a table, JSON (tableRecord)
//	00 'r' table id u32, start key a region, JSON (regionRecord)
//	00 'x' table id u32 [family u16] a dropped table or family whose cells may
//	                               still be there
const (
	metaLastID    = 'i'
	metaNamespace = 'n'
	metaTable     = 't'
	metaRegion    = 'r'
	metaDropped   = 'x'
)

func metaKey(kind byte, rest ...[]byte) []byte {
	key := []byte{0, kind}
	for _, r := range rest {
		key = append(key, r...)
	}
	return key
}

func u32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
func u16(v uint16) []byte { return binary.BigEndian.AppendUint16(nil, v) }

// tableRecord is a table as it is stored.
type tableRecord struct {
	ID          uint32            `json:"id"`
	Created     int64             `json:"created_ms"`
	Enabled     bool              `json:"enabled"`
	Families    []familyRecord    `json:"families"`
	LastFamily  uint16            `json:"last_family"`
	Durability  string            `json:"durability,omitempty"`
	ReadOnly    bool              `json:"read_only,omitempty"`
	MaxFileSize int64             `json:"max_file_size,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
}

// familyRecord is a family as it is stored. Ids are never used again within a
// table.
type familyRecord struct {
	ID   uint16 `json:"id"`
	Name string `json:"name"`
	// Markers is set, durably, before the first family marker is written:
	// while it is not, reads of single columns need not look for one.
	Markers bool `json:"markers,omitempty"`
	// CellTTL says that cells with a time to live of their own were written.
	CellTTL     bool              `json:"cell_ttl,omitempty"`
	MaxVersions int               `json:"versions"`
	MinVersions int               `json:"min_versions,omitempty"`
	TTL         int               `json:"ttl_s"`
	KeepDeleted string            `json:"keep_deleted,omitempty"`
	Compression string            `json:"compression,omitempty"`
	BloomFilter string            `json:"bloom_filter,omitempty"`
	InMemory    bool              `json:"in_memory,omitempty"`
	BlockCache  bool              `json:"block_cache,omitempty"`
	BlockSize   int               `json:"block_size,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
}

// regionRecord is a region as it is stored; its start key is in its key, and
// its stop key is the start of the next.
type regionRecord struct {
	ID int64 `json:"id"`
}

// family is a family of an open table. The schema never changes: altering
// makes a new family value that shares markers.
type family struct {
	id      uint16
	name    []byte
	schema  cell.FamilySchema
	markers *atomic.Bool
	ownTTL  *atomic.Bool // some cells have a time to live of their own
}

// layout is a table's schema at one moment, and does not change.
type layout struct {
	schema     cell.TableSchema
	families   []*family // by name
	lastFamily uint16
	created    int64
}

func (l *layout) family(name []byte) *family {
	for _, f := range l.families {
		if string(f.name) == string(name) {
			return f
		}
	}
	return nil
}

// byID finds a family by its id; nil: there is none any more.
func (l *layout) byID(id uint16) *family {
	for _, f := range l.families {
		if f.id == id {
			return f
		}
	}
	return nil
}

// record gives the stored form of a table.
func (l *layout) record(id uint32, enabled bool) tableRecord {
	r := tableRecord{
		ID: id, Created: l.created, Enabled: enabled, LastFamily: l.lastFamily,
		ReadOnly: l.schema.ReadOnly, MaxFileSize: l.schema.MaxFileSize, Attributes: l.schema.Attributes,
	}
	if l.schema.Durability != cell.UseDefault {
		r.Durability = l.schema.Durability.String()
	}
	for _, f := range l.families {
		s := &f.schema
		r.Families = append(r.Families, familyRecord{
			ID: f.id, Name: s.Name, Markers: f.markers.Load(), CellTTL: f.ownTTL.Load(),
			MaxVersions: s.MaxVersions, MinVersions: s.MinVersions, TTL: s.TTL, KeepDeleted: string(s.KeepDeleted),
			Compression: s.Compression, BloomFilter: s.BloomFilter, InMemory: s.InMemory,
			BlockCache: s.BlockCache, BlockSize: s.BlockSize, Attributes: s.Attributes,
		})
	}
	return r
}

// layout reads the stored form back.
func (r *tableRecord) layout(name string) (*layout, error) {
	l := &layout{lastFamily: r.LastFamily, created: r.Created, schema: cell.TableSchema{
		Name: name, ReadOnly: r.ReadOnly, MaxFileSize: r.MaxFileSize, Attributes: r.Attributes,
	}}
	if r.Durability != "" {
		d, err := cell.ParseDurability(r.Durability)
		if err != nil {
			return nil, err
		}
		l.schema.Durability = d
	}
	for _, fr := range r.Families {
		f := &family{id: fr.ID, name: []byte(fr.Name), markers: new(atomic.Bool), ownTTL: new(atomic.Bool), schema: cell.FamilySchema{
			Name: fr.Name, MaxVersions: fr.MaxVersions, MinVersions: fr.MinVersions, TTL: fr.TTL,
			KeepDeleted: cell.KeepDeleted(fr.KeepDeleted), Compression: fr.Compression, BloomFilter: fr.BloomFilter,
			InMemory: fr.InMemory, BlockCache: fr.BlockCache, BlockSize: fr.BlockSize, Attributes: fr.Attributes,
		}}
		f.markers.Store(fr.Markers)
		f.ownTTL.Store(fr.CellTTL)
		l.families = append(l.families, f)
	}
	l.seal()
	return l, nil
}

// seal sorts the families and copies them into the schema.
func (l *layout) seal() {
	slices.SortFunc(l.families, func(a, b *family) int { return strings.Compare(a.schema.Name, b.schema.Name) })
	l.schema.Families = nil
	for _, f := range l.families {
		l.schema.Families = append(l.schema.Families, f.schema)
	}
}

func setJSON(b *pebbledb.Batch, key []byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode meta value %q: %w", key, err)
	}
	return b.Set(key, data, nil)
}

// eachMeta calls f for all meta keys of a kind that begin with rest, in order;
// f gets what follows in the key.
func eachMeta(r iterators, kind byte, rest []byte, f func(rest, value []byte) error) error {
	prefix := metaKey(kind, rest)
	it, err := r.NewIter(&pebbledb.IterOptions{LowerBound: prefix, UpperBound: cell.AfterPrefix(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err == nil {
			err = f(it.Key()[len(prefix):], v)
		}
		if err != nil {
			return closeWith(it, err)
		}
	}
	return it.Close()
}

// closeWith closes c and gives the first error: err, or that of closing.
func closeWith(c io.Closer, err error) error {
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	return err
}

func decodeMeta(what string, key, value []byte, v any) error {
	if err := json.Unmarshal(value, v); err != nil {
		return fmt.Errorf("%w: the record of %s %q cannot be read: %v", store.ErrCorrupt, what, key, err)
	}
	return nil
}
