package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Answers of increments and appends that carry a nonce are kept for 30 minutes
// in the batch that applies them, so that a retry, after a restart too, is
// answered and not applied. Their keys begin with the ten minutes they are of:
// old ones go by one range deletion.
//
//	00 'c' bucket u64, table u32, group u64, nonce u64  ->  time ms u64, cells
//
// A cell is its timestamp u64 and TTL u64, then family, qualifier, value and
// tags, each after its length as a uvarint.
const (
	metaNonce   = 'c'
	nonceLife   = 30 * 60_000
	nonceBucket = 10 * 60_000
)

func nonceBucketKey(bucket int64) []byte {
	return binary.BigEndian.AppendUint64(metaKey(metaNonce), uint64(bucket))
}

func nonceKey(bucket int64, table uint32, n cell.Nonce) []byte {
	key := binary.BigEndian.AppendUint32(nonceBucketKey(bucket), table)
	key = binary.BigEndian.AppendUint64(key, n.Group)
	return binary.BigEndian.AppendUint64(key, n.Value)
}

// counts says whether the mutation must not be applied twice and can be told
// apart. Others do no harm when they are repeated.
func counts(m *cell.Mutation) bool {
	return m.Nonce != (cell.Nonce{}) &&
		slices.ContainsFunc(m.Edits, func(e cell.Edit) bool { return e.Op.ReadsFirst() })
}

// answered finds the answer of the mutation's first try. The row is locked, so
// a first try that is under way has ended.
func (w *writer) answered(m *cell.Mutation) (cells []cell.Cell, retried bool, err error) {
	if !counts(m) {
		return nil, false, nil
	}
	// One bucket ahead, too: the clock may have been set back.
	for b := w.now/nonceBucket + 1; b >= 0 && b >= (w.now-nonceLife)/nonceBucket; b-- {
		v, closer, err := w.batch.Get(nonceKey(b, w.t.id, m.Nonce))
		if errors.Is(err, pebbledb.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, false, storeError(err)
		}
		at, cells, err := decodeAnswer(v, m.Row)
		if cerr := closer.Close(); err == nil {
			err = cerr
		}
		if err != nil || at >= w.now-nonceLife {
			w.repeated = w.repeated || err == nil
			return cells, err == nil, err
		}
	}
	return nil, false, nil
}

// remember adds the mutation's answer to the batch.
func (w *writer) remember(m *cell.Mutation, cells []cell.Cell) error {
	if !counts(m) {
		return nil
	}
	v := binary.BigEndian.AppendUint64(nil, uint64(w.now))
	for i := range cells {
		c := &cells[i]
		v = binary.BigEndian.AppendUint64(v, uint64(c.Timestamp))
		v = binary.BigEndian.AppendUint64(v, uint64(c.TTL))
		for _, part := range [][]byte{c.Family, c.Qualifier, c.Value, c.Tags} {
			v = append(binary.AppendUvarint(v, uint64(len(part))), part...)
		}
	}
	return storeError(w.batch.Set(nonceKey(w.now/nonceBucket, w.t.id, m.Nonce), v, nil))
}

func decodeAnswer(v, row []byte) (at int64, cells []cell.Cell, err error) {
	damaged := fmt.Errorf("%w: the kept answer of an increment ends early", store.ErrCorrupt)
	if len(v) < 8 {
		return 0, nil, damaged
	}
	at, v = int64(binary.BigEndian.Uint64(v)), v[8:]
	for len(v) > 0 {
		if len(v) < 16 {
			return 0, nil, damaged
		}
		c := cell.Cell{
			Row: row, Type: cell.TypePut,
			Timestamp: int64(binary.BigEndian.Uint64(v)), TTL: int64(binary.BigEndian.Uint64(v[8:])),
		}
		v = v[16:]
		for _, part := range []*[]byte{&c.Family, &c.Qualifier, &c.Value, &c.Tags} {
			n, used := binary.Uvarint(v)
			if used <= 0 || n > uint64(len(v)-used) {
				return 0, nil, damaged
			}
			*part = v[used : used+int(n)]
			v = v[used+int(n):]
		}
		cells = append(cells, c.Clone())
	}
	return at, cells, nil
}

// forgetNonces deletes the buckets that no retry is answered from any more.
func (s *Store) forgetNonces() error {
	oldest := (s.clock.now()-nonceLife)/nonceBucket - 1
	if oldest <= 0 || s.forgotten.Swap(oldest) == oldest {
		return nil
	}
	return storeError(s.db.DeleteRange(nonceBucketKey(0), nonceBucketKey(oldest), pebbledb.NoSync))
}
