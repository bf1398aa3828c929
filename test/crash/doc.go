// Package crash holds no code but tests: a server that is killed while clients
// write must, when it is started again, have all that it acknowledged, and of
// each row all of a write or nothing.
package crash
