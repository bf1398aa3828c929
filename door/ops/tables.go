package ops

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/attribute"
	"github.com/cellardb/cellar/store"
)

// adminTimeout bounds how long an administrative call waits for the store.
const adminTimeout = 4 * time.Minute

// Limits of a table that is created or altered here. The body of a request is
// at most maxBody bytes.
const (
	maxBody     = 4 << 20
	maxFamilies = 512
	maxSplits   = 10_000
)

// tables administers tables for [Mount]. What changes one is JSON and says so
// in its Content-Type: a page in somebody's browser cannot send that here.
type tables struct {
	*door
	// alter holds a change of a schema together: it is read, changed, written.
	alter sync.Mutex
}

func (d *door) mountTables(mux *http.ServeMux) {
	t := &tables{door: d}
	const one = "/v1/admin/tables/{table}"
	mux.HandleFunc("GET /v1/admin/tables", t.call(t.list))
	mux.HandleFunc("GET "+one, t.call(t.describe))
	mux.HandleFunc("POST "+one, t.change(t.create))
	mux.HandleFunc("DELETE "+one, t.change(t.drop))
	mux.HandleFunc("POST "+one+"/alter", t.change(t.alterTable))
	mux.HandleFunc("POST "+one+"/enable", t.change(t.enable))
	mux.HandleFunc("POST "+one+"/disable", t.change(t.disable))
	mux.HandleFunc("POST "+one+"/truncate", t.change(t.truncate))
}

// handler does one call and gives the status and body of its reply.
type handler func(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error)

// call answers a request by a handler.
func (t *tables) call(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		admin := t.Admin()
		if admin == nil {
			t.refuse(w, &requestError{http.StatusServiceUnavailable, "NotReady", "the store is not open: ask /readyz"})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), adminTimeout)
		defer cancel()
		code, body, err := h(ctx, admin, r)
		if err != nil {
			t.refuse(w, err)
			return
		}
		t.reply(w, code, body)
	}
}

// change is call for what changes a table.
func (t *tables) change(h handler) http.HandlerFunc {
	return t.call(func(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
		if err := wantJSON(r); err != nil {
			return 0, nil, err
		}
		table := cell.CanonicalTableName(r.PathValue("table"))
		if err := cell.ValidateTableName(table); err != nil {
			return 0, nil, err
		}
		if cell.IsInternal(table) {
			return 0, nil, &requestError{http.StatusForbidden, "Internal", "table " + table + " is the server's own: it cannot be changed"}
		}
		return h(ctx, admin, r)
	})
}

func (t *tables) refuse(w http.ResponseWriter, err error) {
	code, body := answer(err)
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	if code >= http.StatusInternalServerError {
		t.Logger.Warn("administrative call failed", "error", err)
	}
	t.reply(w, code, body)
}

func (t *tables) list(ctx context.Context, admin store.Admin, _ *http.Request) (int, any, error) {
	infos, err := admin.Tables(ctx)
	if err != nil {
		return 0, nil, err
	}
	list := TableList{Tables: make([]Table, 0, len(infos))}
	for i := range infos {
		list.Tables = append(list.Tables, tableOf(&infos[i], nil))
	}
	return http.StatusOK, list, nil
}

func (t *tables) describe(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	return description(ctx, admin, cell.CanonicalTableName(r.PathValue("table")), http.StatusOK)
}

// description answers with a table as it is now.
func description(ctx context.Context, admin store.Admin, table string, code int) (int, any, error) {
	info, err := admin.Describe(ctx, table)
	if err != nil {
		return 0, nil, err
	}
	var splits []string
	if reader, ok := admin.(store.Reader); ok {
		regions, err := reader.Regions(ctx, table)
		if err != nil {
			return 0, nil, err
		}
		for _, r := range regions[min(1, len(regions)):] {
			splits = append(splits, attribute.Escape(r.Start))
		}
	}
	return code, tableOf(&info, splits), nil
}

func (t *tables) create(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	var c Create
	if err := decode(r, &c); err != nil {
		return 0, nil, err
	}
	schema, splits, err := c.schema(cell.CanonicalTableName(r.PathValue("table")))
	if err != nil {
		return 0, nil, err
	}
	if err := admin.CreateTable(ctx, schema, splits); err != nil {
		return 0, nil, err
	}
	return description(ctx, admin, schema.Name, http.StatusCreated)
}

func (t *tables) alterTable(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	var a Alter
	if err := decode(r, &a); err != nil {
		return 0, nil, err
	}
	t.alter.Lock()
	defer t.alter.Unlock()
	info, err := admin.Describe(ctx, cell.CanonicalTableName(r.PathValue("table")))
	if err != nil {
		return 0, nil, err
	}
	schema := info.Schema.Clone()
	if err := a.apply(&schema); err != nil {
		return 0, nil, err
	}
	if err := admin.AlterTable(ctx, schema); err != nil {
		return 0, nil, err
	}
	return description(ctx, admin, schema.Name, http.StatusOK)
}

func (t *tables) drop(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	table := cell.CanonicalTableName(r.PathValue("table"))
	if err := decode(r, &struct{}{}); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]string{"dropped": table}, admin.DropTable(ctx, table)
}

func (t *tables) enable(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	return t.switchTable(ctx, admin, r, admin.EnableTable)
}

func (t *tables) disable(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	return t.switchTable(ctx, admin, r, admin.DisableTable)
}

func (t *tables) switchTable(ctx context.Context, admin store.Admin, r *http.Request, do func(context.Context, string) error) (int, any, error) {
	if err := decode(r, &struct{}{}); err != nil {
		return 0, nil, err
	}
	table := cell.CanonicalTableName(r.PathValue("table"))
	if err := do(ctx, table); err != nil {
		return 0, nil, err
	}
	return description(ctx, admin, table, http.StatusOK)
}

func (t *tables) truncate(ctx context.Context, admin store.Admin, r *http.Request) (int, any, error) {
	var o Truncate
	if err := decode(r, &o); err != nil {
		return 0, nil, err
	}
	table := cell.CanonicalTableName(r.PathValue("table"))
	if err := admin.TruncateTable(ctx, table, o.KeepSplits); err != nil {
		return 0, nil, err
	}
	return description(ctx, admin, table, http.StatusOK)
}

// schema makes the schema and the split points of a new table.
func (c *Create) schema(table string) (cell.TableSchema, [][]byte, error) {
	s := cell.TableSchema{Name: table}
	if len(c.Families) > maxFamilies || len(c.Splits) > maxSplits {
		return s, nil, badRequest("a table has at most %d families and %d splits", maxFamilies, maxSplits)
	}
	for _, f := range c.Families {
		family := cell.NewFamily(f.Name)
		if err := setFamily(&family, f.Attributes); err != nil {
			return s, nil, err
		}
		s.Families = append(s.Families, family)
	}
	if err := setTable(&s, c.Attributes); err != nil {
		return s, nil, err
	}
	if err := s.Validate(); err != nil {
		return s, nil, err
	}
	splits := make([][]byte, 0, len(c.Splits))
	for i, text := range c.Splits {
		b, err := attribute.Unescape(text)
		if err != nil {
			return s, nil, badRequest("splits[%d]: %v", i, err)
		}
		splits = append(splits, b)
	}
	splits, err := cell.ValidateSplits(splits)
	return s, splits, err
}

// apply changes a schema. A family that is not there is added, with HBase's
// defaults for what is not said of it.
func (a *Alter) apply(s *cell.TableSchema) error {
	if len(a.Families)+len(a.DropFamilies)+len(a.Attributes)+len(a.UnsetAttributes) == 0 {
		return badRequest("nothing to alter: name families, drop_families, attributes or unset_attributes")
	}
	for _, name := range a.DropFamilies {
		at := slices.IndexFunc(s.Families, func(f cell.FamilySchema) bool { return f.Name == name })
		if at < 0 {
			return &store.FamilyError{Table: s.Name, Family: []byte(name)}
		}
		s.Families = slices.Delete(s.Families, at, at+1)
	}
	seen := map[string]bool{}
	for _, f := range a.Families {
		if seen[f.Name] {
			return badRequest("family %q is altered twice", f.Name)
		}
		seen[f.Name] = true
		family := s.Family([]byte(f.Name))
		if family == nil {
			s.Families = append(s.Families, cell.NewFamily(f.Name))
			family = &s.Families[len(s.Families)-1]
		}
		if err := setFamily(family, f.Attributes); err != nil {
			return err
		}
	}
	if len(s.Families) > maxFamilies {
		return badRequest("a table has at most %d families", maxFamilies)
	}
	for _, name := range a.UnsetAttributes {
		if err := attribute.UnsetTable(s, name); err != nil {
			return err
		}
	}
	if err := setTable(s, a.Attributes); err != nil {
		return err
	}
	s.Sort()
	return s.Validate()
}

func setFamily(f *cell.FamilySchema, attributes map[string]Text) error {
	for _, name := range sortedKeys(attributes) {
		if err := attribute.SetFamily(f, name, string(attributes[name])); err != nil {
			return &requestError{http.StatusBadRequest, "IllegalArgument", "family " + f.Name + ": " + err.Error()}
		}
	}
	return nil
}

func setTable(s *cell.TableSchema, attributes map[string]Text) error {
	for _, name := range sortedKeys(attributes) {
		if err := attribute.SetTable(s, name, string(attributes[name])); err != nil {
			return err
		}
	}
	return nil
}

// storeErrors maps what the store refuses to statuses. The first that matches
// counts; what is not here is 500.
func storeErrors() []storeError {
	return []storeError{
		{store.ErrTableNotFound, http.StatusNotFound, "TableNotFound"},
		{store.ErrNamespaceNotFound, http.StatusNotFound, "NamespaceNotFound"},
		{store.ErrNoSuchFamily, http.StatusNotFound, "NoSuchColumnFamily"},
		{store.ErrTableExists, http.StatusConflict, "TableExists"},
		{store.ErrTableNotDisabled, http.StatusConflict, "TableNotDisabled"},
		{store.ErrTableDisabled, http.StatusConflict, "TableNotEnabled"},
		{store.ErrReadOnly, http.StatusForbidden, "ReadOnly"},
		{cell.ErrIllegalArgument, http.StatusBadRequest, "IllegalArgument"},
		{store.ErrUnsupported, http.StatusNotImplemented, "Unsupported"},
		{store.ErrDiskFull, http.StatusInsufficientStorage, "DiskFull"},
		{store.ErrBusy, http.StatusServiceUnavailable, "Busy"},
		{store.ErrClosed, http.StatusServiceUnavailable, "Closed"},
		{store.ErrCorrupt, http.StatusInternalServerError, "Corrupt"},
		{context.DeadlineExceeded, http.StatusGatewayTimeout, "Timeout"},
		{context.Canceled, http.StatusServiceUnavailable, "Cancelled"},
	}
}

type storeError struct {
	err  error
	code int
	kind string
}

// answer gives the status and body for an error.
func answer(err error) (int, Failure) {
	var r *requestError
	if errors.As(err, &r) {
		return r.code, Failure{Kind: r.kind, Error: r.text}
	}
	var a *attribute.Error
	if errors.As(err, &a) {
		return http.StatusBadRequest, Failure{Kind: "IllegalArgument", Error: err.Error()}
	}
	for _, e := range storeErrors() {
		if errors.Is(err, e.err) {
			return e.code, Failure{Kind: e.kind, Error: err.Error()}
		}
	}
	return http.StatusInternalServerError, Failure{Kind: "Internal", Error: err.Error()}
}
