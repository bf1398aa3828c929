// Package compat holds no code but tests: real clients, as their users use
// them, against a server that runs as a process of its own.
//
// happybase_check.py walks the Thrift 1 door through happybase, the Python
// client; what it wants was answered by a real HBase gateway. The tests in Go
// beside it send what that client never would: pipelined and torn messages.
package compat
