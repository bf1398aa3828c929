// Package bench holds the load generators that "cellar bench" runs: workloads
// that others published, against any server that speaks the protocol, Cellar or
// not. docs/bench.md is for users.
//
// Contract: a workload writes generated data, reads it back and compares it
// value by value; it returns one [Result] for each operation, and an error that
// matches [ErrVerify] where what was read is not what was written. It touches
// tables of its own names only, starts no server, reads no environment, and
// everything that it starts has ended when it returns. While it measures it
// holds a lock file, so that two runs on one machine wait for each other.
package bench
