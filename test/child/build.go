package child

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Root is the folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// InCI says whether the tests run where nothing may be missing: a tool that is
// not there fails its tests in place of skipping them.
func InCI() bool { return os.Getenv("CI") == "true" }

// built is the program, built once for a test binary.
var built struct {
	once sync.Once
	path string
	err  error
}

// Binary builds the program, once, and gives its path. The file is in a
// temporary folder that RemoveBinary removes.
func Binary() (string, error) {
	built.once.Do(func() { built.path, built.err = build() })
	return built.path, built.err
}

func build() (string, error) {
	dir, err := os.MkdirTemp("", "cellar-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "cellar")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/cellar")
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cellar: %w\n%s", err, out)
	}
	return path, nil
}

// RemoveBinary removes what Binary built. TestMain calls it last.
func RemoveBinary() {
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
}
