package tabimport

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// identity tells whether a file is the one that an import began with.
type identity struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute; "-": standard input
	// Size in bytes and ModTime in ns since 1970; -1 of what is no file.
	Size    int64 `json:"size"`
	ModTime int64 `json:"mod_time"`
	// Head is the SHA-256 of the first headBytes.
	Head string `json:"head"`
}

// headBytes is how much of a file is looked at to tell it from others.
const headBytes = 64 << 10

// difference says how the file is another one; empty: it is not.
func (i *identity) difference(then *identity) string {
	switch {
	case i.Path != then.Path:
		return fmt.Sprintf("it is %s, and was %s", i.Path, then.Path)
	case i.Size != then.Size:
		return fmt.Sprintf("it has %d bytes, and had %d", i.Size, then.Size)
	case i.ModTime != then.ModTime:
		return "it was written to since"
	case i.Head != then.Head:
		return "it begins with other bytes"
	}
	return ""
}

// input is one file, open, unpacked.
type input struct {
	io.Reader
	file    io.Closer // nil: standard input, which is not ours to close
	release func()
}

// openInput opens a file and finds out whether it is packed. Bytes as they come
// from the file are counted in read.
func openInput(name string, stdin io.Reader, read *atomic.Int64) (*input, error) {
	in := &input{release: func() {}}
	raw := stdin
	if name != StdinName {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("open input: %w", err)
		}
		in.file, raw = f, f
	}
	head := bufio.NewReaderSize(&countingReader{raw, read}, headBytes)
	if err := in.unpack(head); err != nil {
		return nil, errors.Join(fmt.Errorf("open input %s: %w", name, err), in.Close())
	}
	return in, nil
}

// identify looks at a file. What is no regular file is not opened: a pipe gives
// its bytes once.
func identify(name string) (identity, error) {
	id := identity{Name: name, Path: name, Size: -1, ModTime: -1}
	if name == StdinName {
		return id, nil
	}
	var err error
	if id.Path, err = filepath.Abs(name); err != nil {
		return id, fmt.Errorf("look at input: %w", err)
	}
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return id, fmt.Errorf("look at input: %w", err)
	case st.IsDir():
		return id, fmt.Errorf("look at input: %s is a folder", name)
	case !st.Mode().IsRegular():
		return id, nil
	}
	id.Size, id.ModTime = st.Size(), st.ModTime().UnixNano()
	id.Head, err = headOf(name)
	return id, err
}

// headOf is the checksum of a file's beginning.
func headOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("look at input: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, headBytes)); err != nil {
		return "", fmt.Errorf("look at input: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Beginnings of packed files. That of bzip2 has the size of its blocks at the
// point, and what the first block begins with behind it.
var (
	gzipMagic   = []byte{0x1f, 0x8b}
	zstdMagic   = []byte{0x28, 0xb5, 0x2f, 0xfd}
	bzip2Magic  = []byte("BZh")
	bzip2Block  = []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}
	bzip2Blocks = len(bzip2Magic) + 1 // where the block begins
)

// zstdMemory bounds what a packed file may ask for.
const zstdMemory = 256 << 20

// unpack looks at the beginning, which tells packed files from others: names
// may lie.
func (in *input) unpack(head *bufio.Reader) error {
	begin, err := head.Peek(bzip2Blocks + len(bzip2Block))
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(begin, gzipMagic):
		z, err := gzip.NewReader(head)
		if err != nil {
			return err
		}
		in.Reader = z
	case bytes.HasPrefix(begin, zstdMagic):
		z, err := zstd.NewReader(head, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(zstdMemory))
		if err != nil {
			return err
		}
		in.Reader, in.release = z, z.Close
	case bytes.HasPrefix(begin, bzip2Magic) && len(begin) > bzip2Blocks && bytes.HasPrefix(begin[bzip2Blocks:], bzip2Block):
		in.Reader = bzip2.NewReader(head)
	default:
		in.Reader = head
	}
	return nil
}

// Close ends the reading. A second Close does nothing.
func (in *input) Close() error {
	in.release()
	in.release = func() {}
	if in.file == nil {
		return nil
	}
	err := in.file.Close()
	in.file = nil
	return err
}

// countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
