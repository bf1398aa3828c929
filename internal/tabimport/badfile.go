package tabimport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// badFile takes bad lines as they stand in the input. Its size is part of the
// state, so that what a killed run wrote after its last checkpoint, half a line
// perhaps, is cut off by the run that resumes and written anew. A nil one takes
// nothing.
//
// The first error stays: a line that was not written must not be followed by
// others, nor be passed by the state.
type badFile struct {
	f    file
	size int64
	// unsynced says that bytes were written that may not be on the disk.
	unsynced bool
	err      error
}

// file is what a file of bad lines is written to.
type file interface {
	io.WriteSeeker
	io.ReaderAt
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// openFile opens a file of the system, which it makes where there is none, its
// name on the disk too.
func openFile(name string, flags int) (file, error) {
	f, err := os.OpenFile(name, flags, 0o640)
	if err != nil {
		return nil, err
	}
	if err := syncFolder(filepath.Dir(name)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openBadFile begins the file anew, or goes on at a size.
func (o *Options) openBadFile(size int64, resumed bool) (*badFile, error) {
	if o.BadFile == "" {
		return nil, nil
	}
	how := os.O_RDWR | os.O_CREATE
	if !resumed {
		how |= os.O_TRUNC
		size = 0
	}
	f, err := o.openFile(o.BadFile, how)
	if err != nil {
		return nil, fmt.Errorf("open file of bad lines: %w", err)
	}
	b := &badFile{f: f, size: size}
	if err := b.cut(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

func (b *badFile) cut() error {
	st, err := b.f.Stat()
	if err != nil {
		return fmt.Errorf("open file of bad lines: %w", err)
	}
	if st.Size() < b.size {
		return fmt.Errorf("%w: the file of bad lines %s has %d bytes, and had %d", ErrChanged, b.f.Name(), st.Size(), b.size)
	}
	if err := b.f.Truncate(b.size); err != nil {
		return fmt.Errorf("open file of bad lines: %w", err)
	}
	if _, err := b.f.Seek(b.size, io.SeekStart); err != nil {
		return fmt.Errorf("open file of bad lines: %w", err)
	}
	return nil
}

// begin writes the header, or finds it where an earlier run wrote it. same says
// whether the file has this one.
func (b *badFile) begin(header []byte) (same bool, err error) {
	if b == nil {
		return true, nil
	}
	if b.size == 0 {
		return true, b.append(header)
	}
	if b.err != nil {
		return false, b.err
	}
	there := make([]byte, min(int64(len(header)+1), b.size))
	if _, err := b.f.ReadAt(there, 0); err != nil {
		return false, b.fail("read bad lines", err)
	}
	return bytes.Equal(there, append(bytes.Clone(header), '\n')), nil
}

func (b *badFile) append(line []byte) error {
	if b.err != nil {
		return b.err
	}
	b.unsynced = true
	n, err := b.f.Write(append(line[:len(line):len(line)], '\n'))
	b.size += int64(n)
	if err != nil {
		return b.fail("write bad lines", err)
	}
	return nil
}

func (b *badFile) fail(what string, err error) error {
	if b.err == nil {
		b.err = fmt.Errorf("%s: %w", what, err)
	}
	return b.err
}

// write appends lines durably and answers the size of the file.
func (b *badFile) write(lines []badLine) (size int64, err error) {
	if b == nil {
		return 0, nil
	}
	for i := range lines {
		if err := b.append(lines[i].raw); err != nil {
			return 0, err
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	if b.unsynced {
		if err := b.f.Sync(); err != nil {
			return 0, b.fail("write bad lines", err)
		}
		b.unsynced = false
	}
	return b.size, nil
}

func (b *badFile) close() error {
	if b == nil {
		return nil
	}
	if err := b.f.Close(); err != nil {
		return fmt.Errorf("write bad lines: %w", err)
	}
	return nil
}
