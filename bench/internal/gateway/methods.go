package gateway

import (
	"encoding/binary"
	"regexp"
	"slices"

	"github.com/cellardb/cellar/internal/wire/thrift"
)

// methods are the calls that are known. Each writes the success field of its
// result or returns an exception; the Gateway is locked.
var methods = map[string]func(g *Gateway, args map[int16]value, w *thrift.Writer) error{
	"getTableNames": func(g *Gateway, _ map[int16]value, w *thrift.Writer) error {
		w.Field(thrift.List, 0)
		w.List(thrift.String, len(g.mu.tables))
		for name := range g.mu.tables {
			w.String(name)
		}
		return nil
	},
	"createTable": func(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
		name, _ := args[1].(string)
		if g.mu.tables[name] != nil {
			return exception{3, "table name already in use"}
		}
		g.mu.tables[name] = &table{rows: make(map[string]map[string]string), enabled: true}
		return nil
	},
	"isTableEnabled": func(g *Gateway, args map[int16]value, w *thrift.Writer) error {
		t, err := g.table(args)
		if err == nil {
			w.BoolField(0, t.enabled)
		}
		return err
	},
	"disableTable": func(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
		t, err := g.table(args)
		if err == nil && !t.enabled {
			return exception{1, "org.apache.hadoop.hbase.TableNotEnabledException: it is disabled"}
		}
		if err == nil {
			t.enabled = false
		}
		return err
	},
	"majorCompact": func(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
		_, err := g.table(args)
		return err
	},
	"deleteTable": func(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
		t, err := g.table(args)
		if err == nil && t.enabled {
			return exception{1, "org.apache.hadoop.hbase.TableNotDisabledException: it is enabled"}
		}
		name, _ := args[1].(string)
		delete(g.mu.tables, name)
		return err
	},
	"mutateRows":          mutateRows,
	"mutateRowsTs":        mutateRowsTs,
	"incrementRows":       incrementRows,
	"scannerOpenWithScan": scannerOpen,
	"scannerGetList":      scannerGetList,
	"scannerClose": func(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
		id, _ := args[1].(int64)
		if g.mu.scanners[int32(id)] == nil {
			return exception{2, "scanner ID is invalid"}
		}
		delete(g.mu.scanners, int32(id))
		return nil
	},
	"getRow": func(g *Gateway, args map[int16]value, w *thrift.Writer) error {
		t, err := g.table(args)
		if err != nil {
			return err
		}
		key, _ := args[2].(string)
		var keys []string
		if t.rows[key] != nil {
			keys = append(keys, key)
		}
		writeRows(w, t, keys)
		return nil
	},
}

func (g *Gateway) table(args map[int16]value) (*table, error) {
	name, _ := args[1].(string)
	if t := g.mu.tables[name]; t != nil {
		return t, nil
	}
	return nil, exception{1, "org.apache.hadoop.hbase.TableNotFoundException: " + name}
}

func mutateRows(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
	t, err := g.table(args)
	if err != nil {
		return err
	}
	batches, _ := args[2].([]value)
	for _, b := range batches {
		batch, _ := b.(map[int16]value)
		key, _ := batch[1].(string)
		mutations, _ := batch[2].([]value)
		for _, m := range mutations {
			mutation, _ := m.(map[int16]value)
			g.mutate(t, key, mutation)
		}
	}
	return nil
}

// mutateRowsTs refuses a call without its timestamp, and forgets it.
func mutateRowsTs(g *Gateway, args map[int16]value, w *thrift.Writer) error {
	if ts, _ := args[3].(int64); ts <= 0 {
		return exception{2, "no timestamp"}
	}
	return mutateRows(g, args, w)
}

func incrementRows(g *Gateway, args map[int16]value, _ *thrift.Writer) error {
	increments, _ := args[1].([]value)
	for _, i := range increments {
		increment, _ := i.(map[int16]value)
		t, err := g.table(increment)
		if err != nil {
			return err
		}
		key, _ := increment[2].(string)
		column, _ := increment[3].(string)
		amount, _ := increment[4].(int64)
		if old := t.rows[key][column]; len(old) == 8 {
			amount += int64(binary.BigEndian.Uint64([]byte(old)))
		}
		g.mutate(t, key, map[int16]value{2: column, 3: string(binary.BigEndian.AppendUint64(nil, uint64(amount)))})
	}
	return nil
}

func (g *Gateway) mutate(t *table, key string, m map[int16]value) {
	column, _ := m[2].(string)
	v, _ := m[3].(string)
	if logged, ok := m[4].(bool); ok && !logged {
		g.mu.unlogged++
	}
	if isDelete, _ := m[1].(bool); isDelete {
		delete(t.rows[key], column)
		return
	}
	if g.hooks.Store != nil {
		var keep bool
		if v, keep = g.hooks.Store(key, column, v); !keep {
			return
		}
	}
	if t.rows[key] == nil {
		t.rows[key] = make(map[string]string)
		t.keys = nil
	}
	t.rows[key][column] = v
}

func scannerOpen(g *Gateway, args map[int16]value, w *thrift.Writer) error {
	t, err := g.table(args)
	if err != nil {
		return err
	}
	if t.keys == nil {
		for k := range t.rows {
			t.keys = append(t.keys, k)
		}
		slices.Sort(t.keys)
	}
	scan, _ := args[2].(map[int16]value)
	keys := t.keys
	if start, ok := scan[1].(string); ok {
		i, _ := slices.BinarySearch(keys, start)
		keys = keys[i:]
	}
	if stop, ok := scan[2].(string); ok {
		i, _ := slices.BinarySearch(keys, stop)
		keys = keys[:i]
	}
	if text, ok := scan[6].(string); ok {
		if keys, err = matching(keys, text); err != nil {
			return err
		}
	}
	id := g.mu.nextID
	g.mu.nextID++
	g.mu.scanners[id] = &scanner{table: t, keys: keys}
	w.Field(thrift.I32, 0)
	w.I32(id)
	return nil
}

// rowFilter is the one filter that is known.
var rowFilter = regexp.MustCompile(`^RowFilter\(=, 'regexstring:(.*)'\)$`)

// matching gives the keys that a filter keeps.
func matching(keys []string, filter string) ([]string, error) {
	m := rowFilter.FindStringSubmatch(filter)
	if m == nil {
		return nil, exception{1, "java.lang.IllegalArgumentException: unknown filter " + filter}
	}
	pattern, err := regexp.Compile(m[1])
	if err != nil {
		return nil, exception{1, err.Error()}
	}
	var kept []string
	for _, k := range keys {
		if pattern.MatchString(k) {
			kept = append(kept, k)
		}
	}
	return kept, nil
}

func scannerGetList(g *Gateway, args map[int16]value, w *thrift.Writer) error {
	id, _ := args[1].(int64)
	n, _ := args[2].(int64)
	s := g.mu.scanners[int32(id)]
	if s == nil {
		return exception{2, "scanner ID is invalid"}
	}
	n = min(n, int64(len(s.keys)))
	writeRows(w, s.table, s.keys[:n])
	s.keys = s.keys[n:]
	return nil
}

func writeRows(w *thrift.Writer, t *table, keys []string) {
	w.Field(thrift.List, 0)
	list := w.OpenList(thrift.Struct)
	for _, k := range keys {
		w.StructBegin()
		w.Field(thrift.String, 1)
		w.String(k)
		w.Field(thrift.Map, 2)
		w.Map(thrift.String, thrift.Struct, len(t.rows[k]))
		for column, v := range t.rows[k] {
			w.String(column)
			w.StructBegin()
			w.Field(thrift.String, 1)
			w.String(v)
			w.Field(thrift.I64, 2)
			w.I64(1)
			w.StructEnd()
		}
		w.StructEnd()
	}
	w.CloseList(list, len(keys))
}
