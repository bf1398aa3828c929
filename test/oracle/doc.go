// Package oracle compares Cellar's engines with a real HBase: its tests run the
// scripts in testdata on each engine and want the answers that are written
// there. Those answers are HBase 2.6.3's own, recorded by `make oracle`; the
// tests need neither Java nor HBase.
//
// docs/internals/oracle.md describes the scripts, how they are recorded, and
// where Cellar answers otherwise on purpose.
package oracle
