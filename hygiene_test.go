package cellar

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// largestFile is the limit in bytes for a file of the repository.
const largestFile = 1 << 20

// foreign are texts that belong to one machine or one way of fetching, not to
// the program. They are put together here so that this file does not hold them.
var foreign = []string{
	"/" + "work/", "/" + "root/", "/" + "home/",
	"proxy." + "golang.org", "sum." + "golang.org", "pypi" + ".org", "python" + "hosted.org",
}

// trackedFiles lists what is in the repository, or would be: the files that git
// knows and those that it does not ignore. Without git, the test is skipped
// where nobody insists.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("list the files of the repository: %v", err)
		}
		t.Skipf("not a git checkout: %v", err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.FromSlash(name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	if len(names) < 50 {
		t.Fatalf("git knows only %d files", len(names))
	}
	return names
}

func TestFilesOfTheRepository(t *testing.T) {
	for _, name := range trackedFiles(t) {
		content, err := os.ReadFile(filepath.FromSlash(name))
		if os.IsNotExist(err) {
			continue // removed while we looked
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range faultsOfFile(name, content) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func faultsOfFile(name string, content []byte) []string {
	var faults []string
	if len(content) > largestFile {
		faults = append(faults, "larger than 1 MiB")
	}
	if kind := binaryKind(content); kind != "" {
		faults = append(faults, "is "+kind)
	}
	if bytes.ContainsRune(content, 0) {
		if !mayBeBinary(name) {
			faults = append(faults, "holds zero bytes, and is no data of a test")
		}
		return faults
	}
	for _, text := range foreign {
		if bytes.Contains(content, []byte(text)) {
			faults = append(faults, "holds "+text)
		}
	}
	return faults
}

// mayBeBinary says whether a file is data: packed examples, and what a test
// reads from its testdata.
func mayBeBinary(name string) bool {
	return strings.Contains("/"+name, "/testdata/") || path.Ext(name) == ".gz"
}

// binaryKind names what is built, not written.
func binaryKind(content []byte) string {
	for magic, kind := range map[string]string{
		"\x7fELF": "an ELF program", "MZ\x90\x00": "a Windows program", "\xcf\xfa\xed\xfe": "a Mach-O program",
		"PK\x03\x04": "an archive", "!<arch>\n": "a library", "\xca\xfe\xba\xbe": "a class file",
	} {
		if bytes.HasPrefix(content, []byte(magic)) {
			return kind
		}
	}
	return ""
}

// The faults that the test above looks for are found.
func TestFaultsOfFile(t *testing.T) {
	cases := []struct {
		name, content string
		faults        int
	}{
		{"a.go", "package a\n", 0},
		{"a.go", "// see /" + "work/x\n", 1},
		{"a.txt", strings.Repeat("x", largestFile+1), 1},
		{"a.txt", strings.Repeat("x", largestFile), 0},
		{"tool", "\x7fELF\x02\x01\x01\x00", 2},
		{"x/testdata/a.bin", "a\x00b", 0},
		{"x/a.bin", "a\x00b", 1},
		{"examples/a.csv.gz", "\x1f\x8b\x08\x00", 0},
	}
	for _, c := range cases {
		if got := faultsOfFile(c.name, []byte(c.content)); len(got) != c.faults {
			t.Errorf("%s: %v, want %d", c.name, got, c.faults)
		}
	}
	if len(cases) != 8 {
		t.Errorf("%d cases, want 8", len(cases))
	}
}

// Go files stay readable in one sitting; tables of test cases may be longer.
func TestGoFilesAreNotTooLong(t *testing.T) {
	for _, f := range goFiles(t) {
		limit := 800
		if f.isTest() {
			limit = 1000
		}
		content, err := fs.ReadFile(os.DirFS("."), f.path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(content, []byte("\n")); n > limit {
			t.Errorf("%s: %d lines, more than %d", f.path, n, limit)
		}
	}
}
