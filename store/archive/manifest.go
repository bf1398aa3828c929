package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// ManifestName is the file that makes a backup of a folder.
	ManifestName = "BACKUP"
	// StoreDir holds the files of the store, in a backup and in a data folder.
	StoreDir = "store"
	// Version is that of the layout of a backup. A newer one is refused.
	Version = 1
	// partial is behind the name of a backup that is being made.
	partial = ".partial"
)

// Limits of what a manifest may say: far beyond any store, and little enough to
// be held in memory.
const (
	maxManifest = 64 << 20
	maxFiles    = 1 << 20
	maxName     = 255
)

// Errors of a backup that cannot be used.
var (
	// ErrNoBackup: there is none, or not a whole one.
	ErrNoBackup = errors.New("not a whole backup")
	// ErrDamaged: a file is not as it was backed up.
	ErrDamaged = errors.New("backup is damaged")
	// ErrNewer: a newer program made it.
	ErrNewer = errors.New("backup is of a newer version")
	// ErrNotRegular: where a file should be there is a link, a pipe, a socket, a
	// device or a folder. It is not opened.
	ErrNotRegular = errors.New("no regular file")
	// ErrExists: something is in the way. The error is a PartialError where that
	// is a backup that was interrupted.
	ErrExists = errors.New("exists already")
)

// Info says what was backed up.
type Info struct {
	// Cellar is the version of the program that made the backup.
	Cellar string `json:"cellar"`
	// Engine and Format are those of the store.
	Engine string `json:"engine"`
	Format int    `json:"format"`
	// Taken is when the backup was asked for: what was acknowledged before is in
	// it.
	Taken time.Time `json:"taken"`
}

// Manifest lists what is in a backup.
type Manifest struct {
	// Backup is the version of the layout.
	Backup int `json:"backup"`
	Info
	// Files by name, below StoreDir.
	Files []File `json:"files"`
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
}

// Bytes adds up the files.
func (m *Manifest) Bytes() (n int64) {
	for i := range m.Files {
		n += m.Files[i].Size
	}
	return n
}

// file finds a file; nil: there is none.
func (m *Manifest) file(name string) *File {
	i, ok := slices.BinarySearchFunc(m.Files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil
	}
	return &m.Files[i]
}

const sumPrefix = "sha256 "

// encode gives the manifest's text: JSON, then a line with the sum of that.
func (m *Manifest) encode() ([]byte, error) {
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	text = append(text, '\n')
	return append(text, sumPrefix+sumOf(text)+"\n"...), nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// parseManifest reads the text of a manifest.
func parseManifest(text []byte) (*Manifest, error) {
	at := bytes.LastIndex(text, []byte(sumPrefix))
	if at < 0 || string(text[at:]) != sumPrefix+sumOf(text[:at])+"\n" {
		return nil, fmt.Errorf("%w: the manifest %s is not as it was written", ErrDamaged, ManifestName)
	}
	var version struct {
		Backup int `json:"backup"`
	}
	if err := json.Unmarshal(text[:at], &version); err != nil {
		return nil, fmt.Errorf("%w: the manifest %s cannot be read: %w", ErrDamaged, ManifestName, err)
	}
	if version.Backup > Version {
		return nil, fmt.Errorf("%w: its layout is %d, and this program reads up to %d: use a newer cellar", ErrNewer, version.Backup, Version)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text[:at], m); err != nil || m.Backup < 1 {
		return nil, fmt.Errorf("%w: the manifest %s cannot be read: %v", ErrDamaged, ManifestName, err)
	}
	return m, m.validate()
}

func (m *Manifest) validate() error {
	if len(m.Files) == 0 || len(m.Files) > maxFiles {
		return fmt.Errorf("%w: the manifest names %d files", ErrDamaged, len(m.Files))
	}
	for i := range m.Files {
		f := &m.Files[i]
		if !plainName(f.Name) || f.Size < 0 || len(f.SHA256) != 2*sha256.Size {
			return fmt.Errorf("%w: the manifest has an entry %q of %d bytes that cannot be", ErrDamaged, f.Name, f.Size)
		}
		if i > 0 && m.Files[i-1].Name >= f.Name {
			return fmt.Errorf("%w: the manifest's files are not in order at %q", ErrDamaged, f.Name)
		}
	}
	return nil
}

// plainName says whether a file of a store may have a name: it leads nowhere.
func plainName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
}
