package tabimport

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// badFile takes bad lines as they stand in the input. Its size is part of the
// state, so that what a killed run wrote after its last checkpoint is not there
// twice. A nil one takes nothing.
type badFile struct {
	f    *os.File
	size int64
}

// openBadFile begins the file anew, or goes on at a size.
func openBadFile(name string, size int64, resumed bool) (*badFile, error) {
	if name == "" {
		return nil, nil
	}
	how := os.O_RDWR | os.O_CREATE
	if !resumed {
		how |= os.O_TRUNC
		size = 0
	}
	f, err := os.OpenFile(name, how, 0o640)
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

// begin writes the header, if nothing was written before it.
func (b *badFile) begin(header []byte) error {
	if b == nil || b.size > 0 {
		return nil
	}
	return b.append(header)
}

func (b *badFile) append(line []byte) error {
	n, err := b.f.Write(append(line[:len(line):len(line)], '\n'))
	b.size += int64(n)
	if err != nil {
		return fmt.Errorf("write bad lines: %w", err)
	}
	return nil
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
	if len(lines) > 0 {
		if err := b.f.Sync(); err != nil {
			return 0, fmt.Errorf("write bad lines: %w", err)
		}
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
