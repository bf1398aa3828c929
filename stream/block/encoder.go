package block

import "github.com/cellardb/cellar/store"

// encoder holds what encoding needs besides its result: memory that is used
// again and again. It belongs to one goroutine at a time.
type encoder struct {
	nulls, set64 []uint64
	lists        [][]int64 // scratch, used as a stack
	used         int
	vals         []int64
	int32s       []int32
	huge         []store.HugeInt
	float32s     []float32
	float64s     []float64
	boolean      []bool
	packed       []byte
	deflated     []byte
	narrow       []byte
	slots        []uint32
	text         textEncoder
}

// list takes n numbers of scratch; give returns the one taken last.
func (e *encoder) list(n int) []int64 {
	if e.used == len(e.lists) {
		e.lists = append(e.lists, nil)
	}
	l := resize(e.lists[e.used], n)
	e.lists[e.used] = l
	e.used++
	return l
}

func (e *encoder) give() { e.used-- }
