package memory

import (
	"bytes"
	"maps"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// cloneScan copies a scan and all that it points to.
func cloneScan(scan *cell.Scan) *cell.Scan {
	c := *scan
	c.Start = bytes.Clone(scan.Start)
	c.Stop = bytes.Clone(scan.Stop)
	c.Select = slices.Clone(scan.Select)
	for i := range c.Select {
		sel := &c.Select[i]
		sel.Family = bytes.Clone(sel.Family)
		sel.Qualifiers = slices.Clone(sel.Qualifiers)
		for j := range sel.Qualifiers {
			sel.Qualifiers[j] = bytes.Clone(sel.Qualifiers[j])
		}
		if sel.Within != nil {
			within := *sel.Within
			sel.Within = &within
		}
	}
	return &c
}

func cloneInfo(info store.TableInfo) store.TableInfo {
	info.Schema = info.Schema.Clone()
	return info
}

func cloneNamespace(ns store.Namespace) store.Namespace {
	ns.Properties = maps.Clone(ns.Properties)
	return ns
}

func cloneRegions(regions []store.Region) []store.Region {
	clones := slices.Clone(regions)
	for i := range clones {
		clones[i].Start = bytes.Clone(clones[i].Start)
		clones[i].Stop = bytes.Clone(clones[i].Stop)
	}
	return clones
}

func cloneRange(r cell.Range) cell.Range {
	r.Start = bytes.Clone(r.Start)
	r.Stop = bytes.Clone(r.Stop)
	return r
}
