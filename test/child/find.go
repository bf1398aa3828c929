package child

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Running says where a server is found.
type Running struct {
	// Thrift1 and HTTP are the addresses on which it listens.
	Thrift1, HTTP string
	PID           int
	Data          string
}

// Find reads which server says that it runs on a data folder. The error is
// os.ErrNotExist where none has said so.
func Find(data string) (Running, error) {
	r := Running{Data: data}
	text, err := os.ReadFile(filepath.Join(data, "cellar.run"))
	if err != nil {
		return r, err
	}
	var file struct {
		PID       int               `json:"pid"`
		Addresses map[string]string `json:"addresses"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return r, fmt.Errorf("cellar.run: %w", err)
	}
	r.PID, r.Thrift1, r.HTTP = file.PID, file.Addresses["thrift1"], file.Addresses["http"]
	if r.Thrift1 == "" || r.HTTP == "" {
		return r, fmt.Errorf("cellar.run names not both doors: %s", text)
	}
	return r, nil
}
