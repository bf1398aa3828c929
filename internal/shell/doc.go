// Package shell is the language and the commands of cellar shell: HBase shell's
// as people type it, over a Thrift 1 gateway.
//
// Text becomes statements (lexer, parser), a statement becomes a [Command]
// (Decode), and a command runs on a [Session], which has a [Gateway] and, where
// the server is Cellar's, an [Admin] for what Thrift 1 cannot say. The language
// is the part of Ruby that HBase's users need to write commands: strings,
// numbers, constants, arrays, hashes; nothing of it is evaluated beyond sums and
// products of numbers.
//
// Contract: input is hostile. Whatever the text, parsing ends, in time and
// memory proportional to its length, with statements or with an [Error] that
// says where and how to write it. Nothing is sent to a server before a statement
// is whole and its command and all its arguments are understood. Package shell
// opens no connection and no file; package remote and the command line do.
package shell
