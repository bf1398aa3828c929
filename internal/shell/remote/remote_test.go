package remote

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/internal/attribute"
	"github.com/cellardb/cellar/internal/shell"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other end of a gateway's connections: each request is read and
// answered by the function. What it writes nothing for is not answered; false
// closes the connection.
func peer(t *testing.T, o Options, answer func(h thrift.Header, w *thrift.Writer) bool) *Gateway {
	t.Helper()
	var wg sync.WaitGroup
	o.Dial = func(context.Context, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		wg.Go(func() {
			defer theirs.Close()
			r := thrift.NewReader(theirs, thrift.Limits{})
			for {
				h, err := r.Next()
				if err != nil {
					return
				}
				h.Name = append([]byte(nil), h.Name...)
				r.Skip(thrift.Struct)
				var w thrift.Writer
				w.Reset(thrift.Binary, o.Framed)
				if !answer(h, &w) {
					return
				}
				if w.Len() == 0 {
					continue
				}
				if _, err := theirs.Write(w.Bytes()); err != nil {
					return
				}
			}
		})
		return ours, nil
	}
	g := NewGateway("peer:9090", o)
	t.Cleanup(func() {
		_ = g.Close()
		wg.Wait()
	})
	return g
}

// reply writes a result with what write puts into it.
func reply(h thrift.Header, w *thrift.Writer, write func()) bool {
	w.Message(string(h.Name), thrift.Reply, h.Seq)
	w.StructBegin()
	write()
	w.StructEnd()
	w.MessageEnd()
	return true
}

// What a stranger may answer, and the error that it is.
func TestGateway_strangeAnswers(t *testing.T) {
	exception := func(id int16, message string) func(thrift.Header, *thrift.Writer) bool {
		return func(h thrift.Header, w *thrift.Writer) bool {
			return reply(h, w, func() {
				w.Field(thrift.Struct, id)
				w.StructBegin()
				text(w, 1, message)
				w.StructEnd()
			})
		}
	}
	cases := []struct {
		name   string
		answer func(h thrift.Header, w *thrift.Writer) bool
		want   string
		dead   bool // the connection is given up
	}{
		{"closed", func(thrift.Header, *thrift.Writer) bool { return false }, "thrift gateway peer:9090: isTableEnabled: the gateway closed the connection without a reply", true},
		{"an IOError of Java", exception(1, "java.io.IOException: java.io.IOException: it broke\n\tat org.apache.Thing"), "IOException: it broke", false},
		{"a class alone", exception(1, "org.apache.hadoop.hbase.TableNotFoundException"), "TableNotFoundException: ", false},
		{"no class", exception(3, "table name already in use"), "table name already in use", false},
		{"two lines", exception(2, "org.x.Y: a: b\nc"), "Y: a: b c", false},
		{"an application exception", func(h thrift.Header, w *thrift.Writer) bool {
			(&thrift.AppException{Code: 1, Message: "Invalid method name"}).Write(w, string(h.Name), h.Seq)
			return true
		}, "thrift application exception 1: Invalid method name", false},
		{"another reply", func(h thrift.Header, w *thrift.Writer) bool {
			h.Name = []byte("other")
			return reply(h, w, func() {})
		}, `the reply is of "other" 1, not 1: is this a Thrift 1 gateway?`, true},
		{"another number", func(h thrift.Header, w *thrift.Writer) bool {
			h.Seq = 9
			return reply(h, w, func() {})
		}, `the reply is of "isTableEnabled" 9, not 1`, true},
		{"nothing", func(h thrift.Header, w *thrift.Writer) bool { return reply(h, w, func() {}) }, "the reply holds no result", true},
		{"another type", func(h thrift.Header, w *thrift.Writer) bool {
			return reply(h, w, func() { text(w, 0, "x") })
		}, "is this a Thrift 1 gateway?", true},
		{"a call", func(h thrift.Header, w *thrift.Writer) bool {
			w.Message(string(h.Name), thrift.Call, h.Seq)
			w.StructBegin()
			w.StructEnd()
			w.MessageEnd()
			return true
		}, "came in place of a reply", true},
		{"unknown fields", func(h thrift.Header, w *thrift.Writer) bool {
			return reply(h, w, func() {
				text(w, 7, "x")
				w.BoolField(0, true)
				i64(w, 9, 1)
			})
		}, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := peer(t, Options{}, c.answer)
			on, err := g.IsEnabled(context.Background(), "t")
			got := ""
			if err != nil {
				got = err.Error()
			}
			if on != (c.want == "") || (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
				t.Errorf("%v, %q; want %q", on, got, c.want)
			}
			if (g.conn.c == nil) != c.dead {
				t.Errorf("the connection is given up: %v", g.conn.c == nil)
			}
		})
	}
	if len(cases) != 12 {
		t.Errorf("%d cases", len(cases))
	}
}

// A list that is announced longer than the reply may be is not believed.
func TestGateway_replyThatIsTooLarge(t *testing.T) {
	g := peer(t, Options{MaxReply: 4096, Framed: true}, func(h thrift.Header, w *thrift.Writer) bool {
		return reply(h, w, func() { binary(w, 0, make([]byte, 8192)) })
	})
	if _, err := g.TableNames(context.Background()); !errors.Is(err, thrift.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// A call ends with its context; the next opens another connection.
func TestGateway_cutOff(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	g := peer(t, Options{}, func(h thrift.Header, w *thrift.Writer) bool {
		if calls++; calls == 1 {
			cancel()
			return true // without an answer, and the connection stays
		}
		return reply(h, w, func() { w.BoolField(0, true) })
	})
	if _, err := g.IsEnabled(ctx, "t"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := g.IsEnabled(ctx, "t"); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if on, err := g.IsEnabled(context.Background(), "t"); !on || err != nil {
		t.Errorf("%v, %v", on, err)
	}
}

func TestGateway_cannotConnect(t *testing.T) {
	refused := errors.New("refused")
	g := NewGateway("nowhere:1", Options{Dial: func(context.Context, string) (net.Conn, error) { return nil, refused }})
	if _, err := g.TableNames(context.Background()); !errors.Is(err, refused) || !strings.HasPrefix(err.Error(), "connect to the Thrift gateway: ") {
		t.Errorf("%v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A scanner that is gone already is closed without a word.
func TestScanner_closeOfOneThatIsGone(t *testing.T) {
	g := peer(t, Options{}, func(h thrift.Header, w *thrift.Writer) bool {
		return reply(h, w, func() {
			if string(h.Name) == "scannerOpenWithScan" {
				i32(w, 0, 7)
				return
			}
			w.Field(thrift.Struct, 2)
			w.StructBegin()
			text(w, 1, "scanner ID is invalid")
			w.StructEnd()
		})
	})
	s, err := g.Scan(context.Background(), "t", shell.ScanSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(context.Background(), 1); err == nil || err.Error() != "scanner ID is invalid" {
		t.Errorf("%v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("%v", err)
	}
}

// Cellar's words for rows that are too many, and for none yet.
func TestScanner_asksForLess(t *testing.T) {
	answers := []string{"the reply exceeds 9 bytes: ask for less at a time (3 rows fit)", "no row was found within 1m0s: scanner 7 goes on from there, or scan a smaller range",
		"2 rows were found within 1m0s: ask for less at a time; scanner 7 stands where it stood",
		"67043328 bytes of 53687091: more than all memory in flight: request is too large", "", "", "the reply exceeds 9 bytes: ask for less at a time, with batchSize in the scan"}
	g := peer(t, Options{}, func(h thrift.Header, w *thrift.Writer) bool {
		return reply(h, w, func() {
			if string(h.Name) == "scannerOpenWithScan" {
				i32(w, 0, 7)
				return
			}
			text0 := answers[0]
			answers = answers[1:]
			if text0 == "" {
				w.Field(thrift.List, 0)
				w.List(thrift.Struct, 0)
				return
			}
			w.Field(thrift.Struct, 1)
			w.StructBegin()
			text(w, 1, "java.io.IOException: "+text0)
			w.StructEnd()
		})
	})
	opened, err := g.Scan(context.Background(), "t", shell.ScanSpec{})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*scanner)
	for _, want := range []int{15, 15} {
		if rows, err := s.Next(context.Background(), 1000); len(rows) != 0 || err != nil || s.most != want {
			t.Errorf("%v, %v, %d rows at a time, want %d", rows, err, s.most, want)
		}
	}
	// One row that is too large is an error.
	if _, err := s.Next(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "batchSize") || len(answers) != 0 {
		t.Errorf("%v, %q", err, answers)
	}
}

// A scanner that cannot be closed is an error.
func TestScanner_closeFails(t *testing.T) {
	g := peer(t, Options{}, func(h thrift.Header, w *thrift.Writer) bool {
		return reply(h, w, func() {
			if string(h.Name) == "scannerOpenWithScan" {
				i32(w, 0, 7)
				return
			}
			w.Field(thrift.Struct, 1)
			w.StructBegin()
			text(w, 1, "java.io.IOException: it broke")
			w.StructEnd()
		})
	})
	s, err := g.Scan(context.Background(), "t", shell.ScanSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err == nil || err.Error() != "IOException: it broke" {
		t.Errorf("%v", err)
	}
}

// Columns sort by family, then by qualifier, as bytes: "a-b" comes before
// "a:x" as text, and after it here.
func TestCompareColumns(t *testing.T) {
	sorted := []string{"a:", "a:x", "a:x:y", "a-b:a", "b"}
	for i := range sorted[1:] {
		if compareColumns([]byte(sorted[i]), []byte(sorted[i+1])) >= 0 || compareColumns([]byte(sorted[i+1]), []byte(sorted[i])) <= 0 {
			t.Errorf("%s does not come before %s", sorted[i], sorted[i+1])
		}
	}
}

// admin is Cellar's HTTP port over a store in memory.
func admin(t *testing.T) (*Admin, store.Store) {
	t.Helper()
	st := memory.New(memory.Options{})
	mux := http.NewServeMux()
	ops.Mount(mux, ops.Options{
		Admin: func() store.Admin { return st },
		Status: func(context.Context) ops.Status {
			return ops.Status{State: "ready", Version: "v9", Commit: "abc", Data: "/d", Engine: "memory", PID: 7}
		},
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Close()
		_ = st.Close()
	})
	return NewAdmin(strings.TrimPrefix(s.URL, "http://")), st
}

func TestAdmin(t *testing.T) {
	ctx := context.Background()
	a, st := admin(t)
	families := []shell.FamilyChange{
		{Name: "f", Set: []shell.Setting{{Name: "VERSIONS", Value: "5"}, {Name: "TTL", Value: "60"}, {Name: "KEEP_DELETED_CELLS", Value: "TTL"}, {Name: "DATA_BLOCK_ENCODING", Value: "diff"}}},
		{Name: "g"},
	}
	splits := [][]byte{{0x80, '\\', 'x'}, []byte("a")}
	if err := a.Create(ctx, "t", families, []shell.Setting{{Name: "DURABILITY", Value: "ASYNC_WAL"}, {Name: "OWNER", Value: "\"ada\" <x>"}}, splits); err != nil {
		t.Fatal(err)
	}
	info, err := a.Describe(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	f := info.Schema.Families[0]
	if f.Name != "f" || f.MaxVersions != 5 || f.TTL != 60 || f.KeepDeleted != cell.KeepDeletedTTL || f.Attributes["DATA_BLOCK_ENCODING"] != "DIFF" ||
		!info.Enabled || info.Schema.Durability != cell.AsyncWAL || info.Schema.Attributes["OWNER"] != "\"ada\" <x>" ||
		len(info.Splits) != 2 || string(info.Splits[0]) != "a" || string(info.Splits[1]) != "\x80\\x" {
		t.Errorf("%+v", info)
	}
	alter := shell.Alteration{Families: []shell.FamilyChange{{Name: "h"}}, Drop: []string{"g"}, Unset: []string{"OWNER"}, Set: []shell.Setting{{Name: "READONLY", Value: "true"}}}
	if err := a.Alter(ctx, "t", alter); err != nil {
		t.Fatal(err)
	}
	stored, err := st.Describe(ctx, "t")
	if err != nil || len(stored.Schema.Families) != 2 || stored.Schema.Families[1].Name != "h" || stored.Schema.Families[0].MaxVersions != 5 || !stored.Schema.ReadOnly || stored.Schema.Attributes["OWNER"] != "" {
		t.Errorf("%+v, %v", stored, err)
	}
	var refused *HTTPError
	if err := a.Truncate(ctx, "t", true); !errors.As(err, &refused) || refused.Code != 409 || refused.Kind != "TableNotDisabled" {
		t.Errorf("%v", err)
	}
	if err := a.Create(ctx, "t", families, nil, nil); !errors.As(err, &refused) || refused.Kind != "TableExists" || !strings.Contains(err.Error(), "exists") {
		t.Errorf("%v", err)
	}
	if v, err := a.Version(ctx); v != "v9 abc" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if s, err := a.Status(ctx); !strings.Contains(s, "cellar v9 is ready (process id 7") || err != nil {
		t.Errorf("%q, %v", s, err)
	}
}

// Every attribute that the shell knows goes to the HTTP port and comes back.
func TestAdmin_knowsEveryAttribute(t *testing.T) {
	a, _ := admin(t)
	known := 0
	for _, name := range attribute.FamilyNames() {
		for _, value := range []string{"1", "NONE", "TRUE", "FALSE", "HOT"} {
			probe := cell.NewFamily("f")
			if attribute.SetFamily(&probe, name, value) != nil {
				continue
			}
			known++
			table := "t-" + name + "-" + value
			if err := a.Create(context.Background(), table, []shell.FamilyChange{{Name: "f", Set: []shell.Setting{{Name: name, Value: value}}}}, nil, nil); err != nil {
				t.Errorf("%s => %s: %v", name, value, err)
				continue
			}
			if info, err := a.Describe(context.Background(), table); err != nil || len(info.Schema.Families) != 1 {
				t.Errorf("%s => %s: %v", name, value, err)
			}
		}
	}
	if known < 30 {
		t.Errorf("%d values", known)
	}
}

// What answers and is not Cellar.
func TestAdmin_stranger(t *testing.T) {
	code, body := 200, "<html>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	a := NewAdmin(strings.TrimPrefix(s.URL, "http://"))
	if _, err := a.Describe(context.Background(), "t"); err == nil || !strings.Contains(err.Error(), "does not answer as Cellar does") {
		t.Errorf("%v", err)
	}
	if code, body = 404, "not found"; true {
		if _, err := a.Describe(context.Background(), "t"); err == nil || err.Error() != "the HTTP port answers 404 Not Found: is it Cellar's?" {
			t.Errorf("%v", err)
		}
	}
	if code, body = 200, "{}"; true {
		if _, err := a.Status(context.Background()); err == nil {
			t.Error("an empty status is one")
		}
	}
	for _, body = range []string{`{"families":[{"name":"f","attributes":{"X":1}}]}`, `{"attributes":{"X":"1"}}`, `{"splits":["\\q"]}`} {
		if _, err := a.Describe(context.Background(), "t"); err == nil || !strings.Contains(err.Error(), "the HTTP port says") {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := NewAdmin("a b").Version(context.Background()); err == nil || err.Error() != `"a b" is no address: want host:port` {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.Version(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDescriptorWithoutFields(t *testing.T) {
	g := peer(t, Options{}, func(h thrift.Header, w *thrift.Writer) bool {
		return reply(h, w, func() {
			w.Field(thrift.Map, 0)
			w.Map(thrift.String, thrift.Struct, 2)
			for _, name := range []string{"g:", "f"} {
				w.String(name)
				w.StructBegin()
				text(w, 1, name)
				i32(w, 9, map[string]int{"g:": -1, "f": math.MaxInt32}[name])
				w.StructEnd()
			}
		})
	})
	got, err := g.Families(context.Background(), "t")
	if err != nil || len(got) != 2 || got[0].Name != "f" || got[1].Name != "g" || got[1].TTL != cell.Forever || got[0].BlockCache {
		t.Errorf("%+v, %v", got, err)
	}
}
