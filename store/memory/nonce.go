package memory

import (
	"slices"

	"github.com/cellardb/cellar/cell"
)

// nonceLife is how long, in ms, the answer to a request is remembered.
const nonceLife = 30 * 60_000

// nonces holds the answers of mutations that a retry must not apply again.
type nonces map[cell.Nonce]answer

type answer struct {
	cells []cell.Cell
	at    int64 // ms
}

// counts says whether the mutation is one that must not be applied twice and
// that can be told apart: others do no harm when repeated.
func counts(m *cell.Mutation) bool {
	return m.Nonce != (cell.Nonce{}) &&
		slices.ContainsFunc(m.Edits, func(e cell.Edit) bool { return e.Op.ReadsFirst() })
}

// find gives the answer of the same mutation's first try.
func (n nonces) find(m *cell.Mutation, now int64) ([]cell.Cell, bool) {
	if !counts(m) {
		return nil, false
	}
	a, ok := n[m.Nonce]
	if !ok || a.at < now-nonceLife {
		return nil, false
	}
	return a.cells, true
}

// keep remembers an answer.
func (n nonces) keep(m *cell.Mutation, cells []cell.Cell, now int64) {
	if counts(m) {
		n[m.Nonce] = answer{cells, now}
	}
}
