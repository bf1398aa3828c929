package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func namespaceTests() []test {
	return []test{
		{"those_of_a_new_store", namespacesAtStart},
		{"create_alter_drop", namespaceLife},
		{"refusals", namespaceRefusals},
		{"properties_are_not_shared_with_the_caller", namespaceNotShared},
	}
}

// namespaces lists "name{key=value}", separated by blanks.
func (e *env) namespaces() string {
	e.Helper()
	list, err := e.s.Namespaces(e.ctx)
	e.must(err)
	var names []string
	for _, ns := range list {
		s := ns.Name
		if len(ns.Properties) > 0 {
			s += fmt.Sprint(ns.Properties)[len("map"):]
		}
		names = append(names, s)
	}
	return strings.Join(names, " ")
}

func namespacesAtStart(e *env) {
	e.equal(e.namespaces(), "default hbase")
	e.create("cellar:t", fam("f", 1))
	e.equal(e.namespaces(), "default hbase")
}

func namespaceLife(e *env) {
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "z", Properties: map[string]string{"k": "v"}}))
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "a_1"}))
	e.equal(e.namespaces(), "a_1 default hbase z[k:v]")
	e.must(e.s.AlterNamespace(e.ctx, store.Namespace{Name: "z", Properties: map[string]string{"l": "w"}}))
	e.equal(e.namespaces(), "a_1 default hbase z[l:w]")
	e.create("z:t", fam("f", 1))
	e.refused(e.s.DropNamespace(e.ctx, "z"), store.ErrNamespaceNotEmpty)
	e.must(e.s.DisableTable(e.ctx, "z:t"))
	e.refused(e.s.DropNamespace(e.ctx, "z"), store.ErrNamespaceNotEmpty)
	e.must(e.s.DropTable(e.ctx, "z:t"))
	e.must(e.s.DropNamespace(e.ctx, "z"))
	e.equal(e.namespaces(), "a_1 default hbase")
	e.refused(e.s.CreateTable(e.ctx, schema("z:t", fam("f", 1)), nil), store.ErrNamespaceNotFound)
}

func namespaceRefusals(e *env) {
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "a"}))
	for _, name := range []string{"a", "default", "hbase", "cellar"} {
		if err := e.s.CreateNamespace(e.ctx, store.Namespace{Name: name}); !errors.Is(err, store.ErrNamespaceExists) {
			e.Errorf("create %s: got %v, want that it exists", name, err)
		}
	}
	for _, name := range []string{"", "a-b", "a:b", "a.b", "a b"} {
		if err := e.s.CreateNamespace(e.ctx, store.Namespace{Name: name}); !isIllegal(err) {
			e.Errorf("create %q: got %v, want an illegal argument", name, err)
		}
	}
	e.refused(e.s.AlterNamespace(e.ctx, store.Namespace{Name: "b"}), store.ErrNamespaceNotFound)
	e.refused(e.s.DropNamespace(e.ctx, "b"), store.ErrNamespaceNotFound)
	for _, name := range []string{cell.DefaultNamespace, cell.SystemNamespace, cell.InternalNamespace} {
		if err := e.s.DropNamespace(e.ctx, name); !isIllegal(err) {
			e.Errorf("drop %s: got %v, want an illegal argument", name, err)
		}
	}
	e.equal(e.namespaces(), "a default hbase")
}

func namespaceNotShared(e *env) {
	p := map[string]string{"k": "v"}
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "a", Properties: p}))
	p["k"] = "changed"
	list, err := e.s.Namespaces(e.ctx)
	e.must(err)
	list[0].Properties["k"] = "changed"
	e.equal(e.namespaces(), "a[k:v] default hbase")
}
