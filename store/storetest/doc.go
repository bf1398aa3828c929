// Package storetest is the engine contract of package store as tests, for every
// engine to run.
//
// Run holds what each engine must do: one named subtest for each statement of the
// contract and of HBase's data model. RunSemantics holds what of the data model
// is judged by age or by history: time to live, MIN_VERSIONS, KEEP_DELETED_CELLS,
// nonces, the comparisons of checks beyond equality; and filters. RunRandom applies
// random operations to an engine and to package memory and wants equal answers.
//
// Weak wraps an engine so that it gives no more than the contract promises, for
// testing what is built on engines.
//
// Statements that hold only for engines that claim more in their Capabilities are
// tested where they are claimed and skipped elsewhere.
package storetest
