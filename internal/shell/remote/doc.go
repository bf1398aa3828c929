// Package remote carries the shell's commands out on a server: a Thrift 1
// gateway, Apache's or Cellar's, over TCP, and Cellar's HTTP port.
//
// Contract: calls end when their context does; a connection that a call was cut
// off on is given up and the next call opens another. A connection that was closed
// while it was idle is opened again without a word, if what is sent again cannot
// have been done before, or changes nothing; else the error says that it is not
// known. Replies come from a
// stranger: their size is bounded. Neither type is for concurrent use.
package remote
