package cellar

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of the root.
const module = "github.com/cellardb/cellar"

// goFile is a Go file of the tree, whatever its build constraints.
type goFile struct {
	path    string   // slash-separated, from the root
	imports []string // import paths
	pkg     string   // name in its package clause
	doc     string   // comment on the package clause
}

// dir is the folder of the file, which is its package; "." is the root.
func (f *goFile) dir() string { return path.Dir(f.path) }

// isTest says whether the file is compiled for tests only.
func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// goFiles parses all Go files up to their imports.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (d.Name() == "testdata" || strings.ContainsRune("._", rune(d.Name()[0]))) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, summary(filepath.ToSlash(name), f))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files found")
	}
	return files
}

func summary(name string, f *ast.File) goFile {
	g := goFile{path: name, pkg: f.Name.Name}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			panic(err) // the parser has read it
		}
		g.imports = append(g.imports, p)
	}
	if f.Doc != nil {
		g.doc = f.Doc.Text()
	}
	return g
}
