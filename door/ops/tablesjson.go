package ops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"

	"github.com/cellardb/cellar/internal/attribute"
	"github.com/cellardb/cellar/store"
)

// Create is the body of a POST to /v1/admin/tables/{table}.
type Create struct {
	Families []Family `json:"families"`
	// Attributes of the table, by HBase's names.
	Attributes map[string]Text `json:"attributes,omitempty"`
	// Splits are the keys at which regions begin, any order; bytes that are not
	// printable are written as \xHH.
	Splits []string `json:"splits,omitempty"`
}

// Alter is the body of a POST to /v1/admin/tables/{table}/alter. What it does
// not name stays as it is.
type Alter struct {
	// Families to add or to change.
	Families        []Family        `json:"families,omitempty"`
	DropFamilies    []string        `json:"drop_families,omitempty"`
	Attributes      map[string]Text `json:"attributes,omitempty"`
	UnsetAttributes []string        `json:"unset_attributes,omitempty"`
}

// Truncate is the body of a POST to /v1/admin/tables/{table}/truncate.
type Truncate struct {
	KeepSplits bool `json:"keep_splits"`
}

// Family is a family and its attributes by HBase's names.
type Family struct {
	Name       string          `json:"name"`
	Attributes map[string]Text `json:"attributes,omitempty"`
}

// Table is a table as it is.
type Table struct {
	Name      string `json:"name"`
	Enabled   bool   `json:"enabled"`
	CreatedMS int64  `json:"created_ms"`
	// Families with all their attributes, those at their defaults too.
	Families   []Family        `json:"families"`
	Attributes map[string]Text `json:"attributes"`
	// Splits are the keys at which regions begin, but the first. A list of
	// tables leaves them out.
	Splits []string `json:"splits,omitempty"`
}

// TableList is the answer of GET /v1/admin/tables.
type TableList struct {
	Tables []Table `json:"tables"`
}

// Failure is the body of every answer that is not a success.
type Failure struct {
	// Kind is one word for programs.
	Kind  string `json:"kind"`
	Error string `json:"error"`
}

// Text is a value of an attribute: a string, or a number or truth value, which
// JSON writes without quotes.
type Text string

// UnmarshalJSON takes strings, numbers, true and false.
func (t *Text) UnmarshalJSON(b []byte) error {
	switch c := b[0]; {
	case c == '"':
		var s string
		err := json.Unmarshal(b, &s)
		*t = Text(s)
		return err
	case c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f':
		*t = Text(b)
		return nil
	}
	return errors.New("an attribute is a string, a number, true or false")
}

// requestError is a fault of a request.
type requestError struct {
	code int
	kind string
	text string
}

func (e *requestError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, "IllegalArgument", fmt.Sprintf(format, args...)}
}

// wantJSON refuses what a web page sends, even one whose host's name leads here,
// and a body that is not said to be JSON. Browsers name the page's origin in
// each request that may change something, and nothing else does.
func wantJSON(r *http.Request) error {
	if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
		return &requestError{http.StatusForbidden, "WebPage", "administration is not open to web pages"}
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &requestError{http.StatusUnsupportedMediaType, "NotJSON", "send the header Content-Type: application/json"}
	}
	return nil
}

// decode reads the body: one JSON object without unknown fields. An empty body
// is an empty object.
func decode(r *http.Request, into any) error {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return badRequest("read the body: %v", err)
	}
	if len(text) > maxBody {
		return &requestError{http.StatusRequestEntityTooLarge, "TooLarge", fmt.Sprintf("the body is larger than %d bytes", maxBody)}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badRequest("the body is not the JSON that is wanted: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest("something follows the JSON object")
	}
	return nil
}

func tableOf(info *store.TableInfo, splits []string) Table {
	t := Table{
		Name: info.Schema.Name, Enabled: info.Enabled, CreatedMS: info.Created, Splits: splits,
		Families: make([]Family, 0, len(info.Schema.Families)), Attributes: textMap(attribute.Table(&info.Schema)),
	}
	for i := range info.Schema.Families {
		f := &info.Schema.Families[i]
		t.Families = append(t.Families, Family{Name: f.Name, Attributes: textMap(attribute.Family(f))})
	}
	return t
}

func textMap(list []attribute.Attribute) map[string]Text {
	m := make(map[string]Text, len(list))
	for _, a := range list {
		m[a.Name] = Text(a.Value)
	}
	return m
}

func sortedKeys(m map[string]Text) []string { return slices.Sorted(maps.Keys(m)) }
