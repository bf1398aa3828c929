package storetest

import (
	"testing"

	"github.com/cellardb/cellar/store"
)

// Opener opens an engine that is empty: no table, no namespace but the built-in
// ones. Its "now" must be what clock says, in ms; an engine whose clock cannot be
// set must not claim ShiftsTimestamps. The suite closes the engine.
//
// If the store that it returns is a Reopener, the suite also tests what survives
// a restart.
type Opener func(t *testing.T, clock func() int64) store.Store

// Reopener is an engine under test that can be started anew.
type Reopener interface {
	// Reopen closes the store and opens it again on the same data, with the
	// same clock. The old value is not used any more.
	Reopen(t *testing.T) store.Store
}

// group is the tests of one part of the contract.
type group struct {
	name  string
	tests []test
}

// test is one statement of the contract.
type test struct {
	name string
	run  func(e *env)
}

// Run tests the contract. Each subtest has an engine of its own.
func Run(t *testing.T, open Opener) {
	runGroups(t, open, contract())
}

// contract lists the tests of Run.
func contract() []group {
	return []group{
		{"tables", tableTests()},
		{"namespaces", namespaceTests()},
		{"puts", putTests()},
		{"deletes", deleteTests()},
		{"reads", readTests()},
		{"scans", scanTests()},
		{"parts", partTests()},
		{"batches", batchTests()},
		{"counters", counterTests()},
		{"checks", checkTests()},
		{"timestamps", timestampTests()},
		{"regions", regionTests()},
		{"ranges", rangeTests()},
		{"compaction", compactionTests()},
		{"concurrency", concurrencyTests()},
		{"lifecycle", lifecycleTests()},
		{"capabilities", capabilityTests()},
		{"reopen", reopenTests()},
	}
}

func runGroups(t *testing.T, open Opener, groups []group) {
	t.Helper()
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, test := range g.tests {
				t.Run(test.name, func(t *testing.T) { test.run(newEnv(t, open)) })
			}
		})
	}
}
