package ops

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// A web page cannot administer a server, even one that made its host's name lead
// here: what it sends is JSON of its own origin then.
func TestWebPagesDoNotAdminister(t *testing.T) {
	engine := memory.New(memory.Options{})
	mux := http.NewServeMux()
	Mount(mux, Options{Admin: func() store.Admin { return engine }, Upkeep: &Upkeep{}})
	cases := []struct{ method, path string }{
		{"POST", "/v1/admin/tables/t"}, {"POST", "/v1/admin/tables/t/alter"}, {"POST", "/v1/admin/tables/t/disable"},
		{"POST", "/v1/admin/tables/t/truncate"}, {"DELETE", "/v1/admin/tables/t"},
		{"POST", "/v1/admin/verify"}, {"POST", "/v1/admin/backup"}, {"POST", "/v1/admin/backup/tar"},
	}
	for _, tc := range cases {
		for _, header := range []string{"Origin", "Sec-Fetch-Site"} {
			r := httptest.NewRequest(tc.method, "http://evil.example:8600"+tc.path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set(header, "http://evil.example:8600")
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden {
				t.Errorf("%s %s with %s is answered %d %s", tc.method, tc.path, header, w.Code, w.Body)
			}
		}
	}
	if len(cases) != 8 {
		t.Errorf("%d cases", len(cases))
	}
}
