package pebble

import (
	"bytes"
	"io"
)

// sampleRows bounds how many rows a rowSample keeps.
const sampleRows = 1024

// rowSample keeps every step-th row of a run of rows, so that the middle one is
// known at the end without keeping all.
type rowSample struct {
	rows [][]byte
	step int
	seen int
}

func (s *rowSample) add(row []byte) {
	s.step = max(s.step, 1)
	if s.seen%s.step == 0 {
		s.rows = append(s.rows, bytes.Clone(row))
	}
	s.seen++
	if len(s.rows) == sampleRows {
		for i := range sampleRows / 2 {
			s.rows[i] = s.rows[2*i]
		}
		s.rows = s.rows[:sampleRows/2]
		s.step *= 2
	}
}

// end gives the middle row once the run ended with io.EOF; nil if there are
// fewer than two.
func (s *rowSample) end(err error) ([]byte, error) {
	switch {
	case err != io.EOF:
		return nil, err
	case len(s.rows) < 2:
		return nil, nil
	}
	return s.rows[len(s.rows)/2], nil
}
