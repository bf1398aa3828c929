// Package cellar is the root of an HBase-compatible wide-column event store.
// It holds no code of the program, only tests of the tree as a whole: which
// package may import which, that each says what it is, and what must not be in
// the repository. The command is in cmd/cellar; ARCHITECTURE.md is the map.
package cellar
