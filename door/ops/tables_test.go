package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/attribute"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// administer gives a function that sends calls to a door over a new store.
func administer(t *testing.T) (func(method, path, body string) (int, string), store.Store) {
	t.Helper()
	st := memory.New(memory.Options{})
	t.Cleanup(func() { _ = st.Close() })
	mux := http.NewServeMux()
	Mount(mux, Options{Admin: func() store.Admin { return st }})
	return func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, "/v1/admin/tables"+path, strings.NewReader(body))
		if method != http.MethodGet {
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s answers what is no JSON: %s", method, path, w.Body)
		}
		return w.Code, compact(w.Body.String())
	}, st
}

func compact(s string) string { return strings.Join(strings.Fields(s), " ") }

// A dialogue: every call, and every refusal. What is held is a part of the body
// without its line breaks.
func TestTables_dialogue(t *testing.T) {
	call, _ := administer(t)
	const twoFamilies = `{"families": [{"name": "f", "attributes": {"VERSIONS": 5, "ttl": "3600", "IN_MEMORY": true}}, {"name": "g"}],
		"attributes": {"DURABILITY": "async_wal"}, "splits": ["m", "b\\x00", "\\x5C"]}`
	steps := []struct {
		method, path, body string
		code               int
		holds              string
	}{
		{"GET", "", "", 200, `{ "tables": [] }`},
		{"GET", "/t", "", 404, `"kind": "TableNotFound"`},
		{"POST", "/t", twoFamilies, 201, `"splits": [ "\\x5C", "b\\x00", "m" ]`},
		{"POST", "/t", twoFamilies, 409, `"kind": "TableExists"`},
		{"GET", "/t", "", 200, `"TTL": "3600", "VERSIONS": "5" } }, { "name": "g"`},
		{"GET", "/t", "", 200, `"attributes": { "DURABILITY": "ASYNC_WAL" }`},
		{"GET", "/default:t", "", 200, `"name": "t", "enabled": true`},
		{"GET", "", "", 200, `"name": "t"`},

		{"POST", "/u", `{"families": []}`, 400, `Table should have at least one column family`},
		{"POST", "/u", ``, 400, `Table should have at least one column family`},
		{"POST", "/u", `{"familes": []}`, 400, `unknown field \"familes\"`},
		{"POST", "/u", `{"families": [{"name": "f"}]} x`, 400, `something follows`},
		{"POST", "/u", `{"families": [{"name": "f"}]} {}`, 400, `something follows`},
		{"POST", "/u", `[1]`, 400, `the body is not the JSON that is wanted`},
		{"POST", "/u", `{"families": [{"name": "f", "attributes": {"VERSOINS": 5}}]}`, 400, `family f: VERSOINS: a family has no attribute of this name: did you mean VERSIONS?`},
		{"POST", "/u", `{"families": [{"name": "f", "attributes": {"VERSIONS": null}}]}`, 400, `an attribute is a string, a number, true or false`},
		{"POST", "/u", `{"families": [{"name": "f", "attributes": {"VERSIONS": [5]}}]}`, 400, `an attribute is a string, a number, true or false`},
		{"POST", "/u", `{"families": [{"name": "f", "attributes": {"VERSIONS": 0}}]}`, 400, `family f: VERSIONS: want a number from 1 to 2147483647, not \"0\"`},
		{"POST", "/u", `{"families": [{"name": "f", "attributes": {"MIN_VERSIONS": 2}}]}`, 400, `MIN_VERSIONS 2 must not be above VERSIONS 1`},
		{"POST", "/u", `{"families": [{"name": "f"}, {"name": "f"}]}`, 400, `Family 'f' already exists`},
		{"POST", "/u", `{"families": [{"name": "f:"}]}`, 400, `Illegal character <58>`},
		{"POST", "/u", `{"families": [{"name": "f"}], "attributes": {"OWNR": "me"}}`, 400, `OWNR: a table has no attribute of this name: did you mean OWNER?`},
		{"POST", "/u", `{"families": [{"name": "f"}], "splits": ["a", "a"]}`, 400, `All split keys must be unique`},
		{"POST", "/u", `{"families": [{"name": "f"}], "splits": [""]}`, 400, `Empty split key`},
		{"POST", "/u", `{"families": [{"name": "f"}], "splits": ["a\\q"]}`, 400, `splits[0]: a backslash begins no`},
		{"POST", "/-u", `{"families": [{"name": "f"}]}`, 400, `Illegal first character`},
		{"POST", "/nosuch:u", `{"families": [{"name": "f"}]}`, 404, `"kind": "NamespaceNotFound"`},
		{"POST", "/hbase:u", `{"families": [{"name": "f"}]}`, 403, `"kind": "Internal"`},
		{"DELETE", "/cellar:u", ``, 403, `"kind": "Internal"`},
		{"GET", "/u", "", 404, `"kind": "TableNotFound"`}, // nothing of all this was made

		{"POST", "/t/alter", `{}`, 400, `nothing to alter`},
		{"POST", "/t/alter", `{"families": [{"name": "g", "attributes": {"VERSIONS": "7"}}, {"name": "a"}], "drop_families": ["f"]}`, 200, `"families": [ { "name": "a"`},
		{"GET", "/t", "", 200, `"VERSIONS": "7"`},
		{"POST", "/t/alter", `{"drop_families": ["f"]}`, 404, `"kind": "NoSuchColumnFamily"`},
		{"POST", "/t/alter", `{"drop_families": ["a", "g"]}`, 400, `at least one column family`},
		{"POST", "/t/alter", `{"families": [{"name": "g"}, {"name": "g"}]}`, 400, `altered twice`},
		{"POST", "/t/alter", `{"unset_attributes": ["DURABILITY"]}`, 200, `"attributes": {},`},
		{"POST", "/t/alter", `{"unset_attributes": ["X"]}`, 400, `X: a table has no attribute`},
		{"POST", "/t/alter", `{"attributes": {"MAX_FILESIZE": 1000000}}`, 200, `"MAX_FILESIZE": "1000000"`},
		{"POST", "/nope/alter", `{"drop_families": ["f"]}`, 404, `"kind": "TableNotFound"`},

		{"DELETE", "/t", "", 409, `"kind": "TableNotDisabled"`},
		{"POST", "/t/truncate", "", 409, `"kind": "TableNotDisabled"`},
		{"POST", "/t/enable", "", 409, `"kind": "TableNotDisabled"`},
		{"POST", "/t/disable", "", 200, `"enabled": false`},
		{"POST", "/t/disable", "{}", 409, `"kind": "TableNotEnabled"`},
		{"POST", "/t/truncate", `{"keep_splits": true, "x": 1}`, 400, `unknown field`},
		{"POST", "/t/truncate", `{"keep_splits": true}`, 200, `"splits": [ "\\x5C", "b\\x00", "m" ]`},
		{"POST", "/t/disable", "", 200, `"enabled": false`},
		{"POST", "/t/enable", "", 200, `"enabled": true`},
		{"POST", "/t/disable", "", 200, `"enabled": false`},
		{"POST", "/t/truncate", ``, 200, `"attributes": { "MAX_FILESIZE": "1000000" } }`},
		{"POST", "/t/disable", "", 200, `"enabled": false`},
		{"DELETE", "/t", `{"really": true}`, 400, `unknown field`},
		{"DELETE", "/t", "", 200, `{ "dropped": "t" }`},
		{"DELETE", "/t", "", 404, `"kind": "TableNotFound"`},
	}
	for i, s := range steps {
		code, body := call(s.method, s.path, s.body)
		if code != s.code || !strings.Contains(body, s.holds) {
			t.Errorf("step %d: %s %s %s\nanswers %d %s\nwant    %d %s", i, s.method, s.path, s.body, code, body, s.code, s.holds)
		}
	}
	if len(steps) != 55 {
		t.Errorf("%d steps", len(steps))
	}
}

// A page in a browser can send a form to a server on the same machine, but no
// JSON: so only JSON changes anything.
func TestTables_changesWantJSON(t *testing.T) {
	st := memory.New(memory.Options{})
	defer st.Close()
	schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}
	if err := st.CreateTable(context.Background(), schema, nil); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	Mount(mux, Options{Admin: func() store.Admin { return st }})
	checked := 0
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"} {
		for _, call := range []string{"POST /v1/admin/tables/u", "DELETE /v1/admin/tables/t", "POST /v1/admin/tables/t/alter",
			"POST /v1/admin/tables/t/disable", "POST /v1/admin/tables/t/enable", "POST /v1/admin/tables/t/truncate"} {
			method, path, _ := strings.Cut(call, " ")
			r := httptest.NewRequest(method, path, strings.NewReader(`{"families":[{"name":"f"}]}`))
			if kind != "" {
				r.Header.Set("Content-Type", kind)
			}
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if checked++; w.Code != http.StatusUnsupportedMediaType {
				t.Errorf("%s as %q answers %d", call, kind, w.Code)
			}
		}
	}
	if checked != 30 {
		t.Errorf("%d calls", checked)
	}
}

func TestTables_limits(t *testing.T) {
	call, _ := administer(t)
	if code, body := call("POST", "/t", `{"splits": ["`+strings.Repeat("x", maxBody)+`"]}`); code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d %s", code, body)
	}
	var families []string
	for i := range maxFamilies + 1 {
		families = append(families, fmt.Sprintf(`{"name": "f%d"}`, i))
	}
	if code, body := call("POST", "/t", `{"families": [`+strings.Join(families, ",")+`]}`); code != 400 || !strings.Contains(body, "at most 512 families") {
		t.Errorf("many families: %d %s", code, body)
	}
}

// Alterations at one time are all there afterwards.
func TestTables_alterationsDoNotUndoOneAnother(t *testing.T) {
	call, st := administer(t)
	call("POST", "/t", `{"families": [{"name": "f"}]}`)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() { call("POST", "/t/alter", fmt.Sprintf(`{"families": [{"name": "f%d"}]}`, i)) })
	}
	wg.Wait()
	info, err := st.Describe(context.Background(), "t")
	if err != nil || len(info.Schema.Families) != 17 {
		t.Errorf("%d families, %v", len(info.Schema.Families), err)
	}
}

func TestTables_whileTheStoreIsNotOpen(t *testing.T) {
	w := ask(Options{Admin: func() store.Admin { return nil }}, "GET", "/v1/admin/tables")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "NotReady") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(Options{}, "GET", "/v1/admin/tables"); w.Code != http.StatusNotFound {
		t.Errorf("not administered here: %d", w.Code)
	}
}

// Every error of a store has its status, however it is wrapped.
func TestTables_errors(t *testing.T) {
	cases := []struct {
		err  error
		code int
		kind string
	}{
		{store.ErrTableNotFound, 404, "TableNotFound"},
		{store.ErrNamespaceNotFound, 404, "NamespaceNotFound"},
		{&store.FamilyError{Table: "t", Family: []byte("f")}, 404, "NoSuchColumnFamily"},
		{store.ErrTableExists, 409, "TableExists"},
		{store.ErrTableNotDisabled, 409, "TableNotDisabled"},
		{store.ErrTableDisabled, 409, "TableNotEnabled"},
		{store.ErrReadOnly, 403, "ReadOnly"},
		{cell.ErrNoFamilies, 400, "IllegalArgument"},
		{attribute.SetFamily(&cell.FamilySchema{}, "X", ""), 400, "IllegalArgument"},
		{store.ErrUnsupported, 501, "Unsupported"},
		{store.ErrDiskFull, 507, "DiskFull"},
		{store.ErrBusy, 503, "Busy"},
		{store.ErrClosed, 503, "Closed"},
		{store.ErrCorrupt, 500, "Corrupt"},
		{context.DeadlineExceeded, 504, "Timeout"},
		{context.Canceled, 503, "Cancelled"},
		{errors.New("something else"), 500, "Internal"},
	}
	for _, c := range cases {
		code, body := answer(fmt.Errorf("wrapped: %w", c.err))
		if code != c.code || body.Kind != c.kind || !strings.Contains(body.Error, c.err.Error()) {
			t.Errorf("%v answers %d %+v, want %d %s", c.err, code, body, c.code, c.kind)
		}
	}
	if len(cases) != 17 {
		t.Errorf("%d cases", len(cases))
	}
}
