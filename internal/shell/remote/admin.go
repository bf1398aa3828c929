package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/internal/attribute"
	"github.com/cellardb/cellar/internal/shell"
)

// maxAnswer bounds an answer of the HTTP port, in bytes.
const maxAnswer = 64 << 20

// Admin is Cellar's HTTP port.
type Admin struct {
	addr   string
	client http.Client
}

var _ shell.Admin = (*Admin)(nil)

// NewAdmin is the port at host:port. Nothing is sent before the first call.
func NewAdmin(addr string) *Admin {
	return &Admin{addr: addr, client: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Addr is where the port is.
func (a *Admin) Addr() string { return a.addr }

// HTTPError is an answer that is no success.
type HTTPError struct {
	Code int
	Kind string // one word; empty: what answered is not Cellar
	Text string
}

func (e *HTTPError) Error() string {
	if e.Kind == "" {
		return fmt.Sprintf("the HTTP port answers %d %s: is it Cellar's?", e.Code, http.StatusText(e.Code))
	}
	return e.Text
}

func (a *Admin) call(ctx context.Context, method, path string, body, into any) error {
	var send io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+a.addr+path, send)
	if err != nil {
		return fmt.Errorf("%q is no address: want host:port", a.addr)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("ask Cellar's HTTP port: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of Cellar's HTTP port: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		var f ops.Failure
		_ = json.Unmarshal(text, &f) // what is no Failure leaves it empty
		return &HTTPError{resp.StatusCode, f.Kind, f.Error}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the HTTP port at %s does not answer as Cellar does: %w", a.addr, err)
	}
	return nil
}

func tablePath(table, more string) string {
	return "/v1/admin/tables/" + url.PathEscape(table) + more
}

// Describe gives a table's schema and splits.
func (a *Admin) Describe(ctx context.Context, table string) (*shell.TableInfo, error) {
	var t ops.Table
	if err := a.call(ctx, http.MethodGet, tablePath(table, ""), nil, &t); err != nil {
		return nil, err
	}
	info := &shell.TableInfo{Enabled: t.Enabled, Schema: cell.TableSchema{Name: t.Name}}
	for _, f := range t.Families {
		family := cell.NewFamily(f.Name)
		for name, value := range f.Attributes {
			if err := attribute.SetFamily(&family, name, string(value)); err != nil {
				return nil, fmt.Errorf("the HTTP port says of family %s: %w", f.Name, err)
			}
		}
		info.Schema.Families = append(info.Schema.Families, family)
	}
	for name, value := range t.Attributes {
		if err := attribute.SetTable(&info.Schema, name, string(value)); err != nil {
			return nil, fmt.Errorf("the HTTP port says: %w", err)
		}
	}
	for _, text := range t.Splits {
		split, err := attribute.Unescape(text)
		if err != nil {
			return nil, fmt.Errorf("the HTTP port says of splits: %w", err)
		}
		info.Splits = append(info.Splits, split)
	}
	return info, nil
}

// Create makes a table.
func (a *Admin) Create(ctx context.Context, table string, families []shell.FamilyChange, settings []shell.Setting, splits [][]byte) error {
	c := ops.Create{Families: familiesJSON(families), Attributes: settingsJSON(settings)}
	for _, s := range splits {
		c.Splits = append(c.Splits, attribute.Escape(s))
	}
	return a.call(ctx, http.MethodPost, tablePath(table, ""), c, &ops.Table{})
}

// Alter changes a table.
func (a *Admin) Alter(ctx context.Context, table string, c shell.Alteration) error {
	body := ops.Alter{Families: familiesJSON(c.Families), DropFamilies: c.Drop, Attributes: settingsJSON(c.Set), UnsetAttributes: c.Unset}
	return a.call(ctx, http.MethodPost, tablePath(table, "/alter"), body, &ops.Table{})
}

// Truncate empties a disabled table and enables it.
func (a *Admin) Truncate(ctx context.Context, table string, keepSplits bool) error {
	return a.call(ctx, http.MethodPost, tablePath(table, "/truncate"), ops.Truncate{KeepSplits: keepSplits}, &ops.Table{})
}

func familiesJSON(list []shell.FamilyChange) []ops.Family {
	var out []ops.Family
	for _, f := range list {
		out = append(out, ops.Family{Name: f.Name, Attributes: settingsJSON(f.Set)})
	}
	return out
}

func settingsJSON(list []shell.Setting) map[string]ops.Text {
	m := make(map[string]ops.Text, len(list))
	for _, s := range list {
		m[s.Name] = ops.Text(s.Value)
	}
	return m
}

func (a *Admin) status(ctx context.Context) (*ops.Status, error) {
	st := &ops.Status{}
	if err := a.call(ctx, http.MethodGet, "/v1/status", nil, st); err != nil {
		return nil, err
	}
	if st.State == "" {
		return nil, fmt.Errorf("the HTTP port at %s does not answer as Cellar does", a.addr)
	}
	return st, nil
}

// Status describes the server.
func (a *Admin) Status(ctx context.Context) (string, error) {
	st, err := a.status(ctx)
	if err != nil {
		return "", err
	}
	up := time.Duration(st.UptimeSeconds * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("cellar %s is %s (process id %d, up %s), data in %s (%s)", st.Version, st.State, st.PID, up, st.Data, st.Engine), nil
}

// Version of the server.
func (a *Admin) Version(ctx context.Context) (string, error) {
	st, err := a.status(ctx)
	if err != nil {
		return "", err
	}
	return st.Version + " " + st.Commit, nil
}
