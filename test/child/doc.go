// Package child builds cellar and runs it as a process of its own, for tests
// that look at the whole program from outside: over its sockets, its metrics,
// its exit status and what is left on the disk when it is killed.
//
// It knows the program as a user does, by its flags and by the file that a
// server leaves in its data folder; it imports nothing of the program. Every
// server that is started is gone when the test ends.
package child
