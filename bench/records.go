package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
)

// Family and columns of the records.
const recordFamily = "f1"

var recordColumns = [...][]byte{[]byte("f1:1"), []byte("f1:2"), []byte("f1:3")}

// Shape of the records' values: a prefix, random bytes, a suffix.
const (
	valuePrefix = "value_"
	valueSuffix = "_endv"
	randomMin   = 304
	randomSpan  = 33 // randomMin to randomMin+randomSpan-1, 320 in the mean
)

const recordsSpec = `records: the rows of the thrift and collect workloads
  row key   RK_<random>_<nanotime>
            random: a number of 64 bits; nanotime: the time of the run's start
            in ns plus the number of the record, from 0
  columns   f1:1 f1:2 f1:3
  value     "value_" + 304 to 336 random bytes (320 in the mean) + "_endv"
            random bytes are printable, of 64 different ones from "0" to "o":
            six bits of entropy each, no repetition that a compressor could use
  size      about 1.0 KB a record
  seeded    the same --seed gives the same records but for the nanotime
  again     a record that is overwritten gets values of the same kind, others
            each time
`

// WriteSpec describes the generators of the workloads, for "--spec".
func WriteSpec(w io.Writer) error {
	_, err := io.WriteString(w, recordsSpec)
	return err
}

// records generates the records of one run. A record depends on its number, the
// seed, the epoch and how often it was overwritten alone, so that it can be made
// again to compare.
type records struct {
	seed  uint64
	epoch int64 // ns; part of the keys
	// version of the values: 0 as they are loaded, then 1 more each time that
	// they are overwritten. Keys stay.
	version uint64
}

const keyPrefix = "RK_"

// key appends the row key of record i.
func (g records) key(b []byte, i int) []byte {
	b = append(b, keyPrefix...)
	b = strconv.AppendUint(b, g.random(i), 10)
	b = append(b, '_')
	return strconv.AppendInt(b, g.epoch+int64(i), 10)
}

func (g records) random(i int) uint64 { return mix(mix(g.seed) + uint64(i)) }

// index is the number of the record that a row key says it is of; false if it
// is not the key of a record below n.
func (g records) index(key []byte, n int) (int, bool) {
	if !bytes.HasPrefix(key, []byte(keyPrefix)) {
		return 0, false
	}
	at := bytes.LastIndexByte(key, '_')
	stamp, err := strconv.ParseInt(string(key[at+1:]), 10, 64)
	if i := stamp - g.epoch; err == nil && i >= 0 && i < int64(n) {
		return int(i), true
	}
	return 0, false
}

// valueLen is the length in bytes of the value of a record's column.
func (g records) valueLen(i, column int) int {
	high, _ := bits.Mul64(g.state(i, column), randomSpan)
	return len(valuePrefix) + randomMin + int(high) + len(valueSuffix)
}

func (g records) state(i, column int) uint64 {
	return mix(g.random(i) ^ uint64(column+1)*0x9e3779b97f4a7c15 + g.version*0xd1342543de82ef95)
}

// value fills b, of valueLen bytes, with the value of a record's column.
func (g records) value(b []byte, i, column int) {
	n := copy(b, valuePrefix)
	copy(b[len(b)-len(valueSuffix):], valueSuffix)
	printable(b[n:len(b)-len(valueSuffix)], g.state(i, column))
}

// printable fills b with random bytes from '0' to 'o', eight at a time.
func printable(b []byte, state uint64) {
	const low6, zero = 0x3f3f3f3f3f3f3f3f, 0x3030303030303030
	for ; len(b) >= 8; b = b[8:] {
		state += 0x9e3779b97f4a7c15
		binary.LittleEndian.PutUint64(b, mix(state)&low6+zero)
	}
	if len(b) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], mix(state+0x9e3779b97f4a7c15)&low6+zero)
		copy(b, last[:])
	}
}

// mix is the finalizer of the splitmix64 generator: a bijection whose output
// bits each depend on all input bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// describe renders a record's key for an error.
func (g records) describe(i int) string { return fmt.Sprintf("record %d, row %s", i, g.key(nil, i)) }
