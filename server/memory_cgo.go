//go:build cgo

package server

// cgoEnabled says that Pebble takes block cache and memtables from C.
const cgoEnabled = true
