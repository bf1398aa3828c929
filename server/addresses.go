package server

import (
	"maps"
	"slices"
	"strings"
)

// Names of the doors, as logs, metrics and cellar.run have them.
const (
	DoorThrift1 = "thrift1"
	DoorHTTP    = "http"
)

// AddressList gives the addresses for people: "http 127.0.0.1:8600, thrift1
// 127.0.0.1:9090".
func (r *Running) AddressList() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Addresses)) {
		parts = append(parts, name+" "+r.Addresses[name])
	}
	return strings.Join(parts, ", ")
}
