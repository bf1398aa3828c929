package pebble

import (
	"bytes"
	"math"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// readPlan is a read with its names looked up.
type readPlan struct {
	families []familyPlan // by name
	raw      bool
	now      int64 // ms; judges what has expired
	// limit and offset of the cells of each family of a row
	limit, offset int
	filter        *filtering // nil: none
}

// familyPlan is what a read wants of one family.
type familyPlan struct {
	family *family
	// columns, escaped and sorted; nil: all.
	columns [][]byte
	within  cell.TimeRange
	// versions a column: the smaller of what the read and the family allow;
	// with a filter what the family allows, while wanted bounds what passes it.
	versions, wanted int
	minVersions      int
	expired          int64 // puts older than this have outlived the family's TTL
	// ended: the filter wants nothing more of the family, in any row.
	ended bool
	// keep says that a marker masks only reads that see the marker's time.
	keep bool
}

func planRead(t *table, r *cell.Read, raw bool, now int64) (*readPlan, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	for i := range r.Select {
		if t.layout.family(r.Select[i].Family) == nil {
			return nil, &store.FamilyError{Table: t.name, Family: bytes.Clone(r.Select[i].Family)}
		}
	}
	p := &readPlan{raw: raw, now: now, limit: r.StoreLimit, offset: r.StoreOffset}
	p.families = make([]familyPlan, 0, len(t.layout.families))
	for _, f := range t.layout.families {
		if sel, ok := r.Selected(f.name); ok {
			p.families = append(p.families, planFamily(f, sel, r, raw, now))
		}
	}
	return p, nil
}

func planFamily(f *family, sel *cell.FamilySelect, r *cell.Read, raw bool, now int64) familyPlan {
	p := familyPlan{
		family: f, within: r.RangeOf(sel), versions: r.Versions(),
		minVersions: f.schema.MinVersions, expired: math.MinInt64,
		keep: f.schema.KeepDeleted == cell.KeepDeletedTrue || f.schema.KeepDeleted == cell.KeepDeletedTTL,
	}
	p.wanted = p.versions
	if !raw {
		p.versions = min(p.versions, f.schema.MaxVersions)
	}
	if r.Filter != nil {
		p.versions = f.schema.MaxVersions
		if raw {
			p.versions = math.MaxInt
		}
	}
	if f.schema.TTL < cell.Forever {
		p.expired = now - int64(f.schema.TTL)*1000
	}
	if sel != nil && len(sel.Qualifiers) > 0 {
		p.columns = make([][]byte, 0, len(sel.Qualifiers))
		for _, q := range sel.Qualifiers {
			p.columns = append(p.columns, appendEscaped(make([]byte, 0, len(q)), q))
		}
		slices.SortFunc(p.columns, bytes.Compare)
		p.columns = slices.CompactFunc(p.columns, bytes.Equal)
	}
	return p
}
