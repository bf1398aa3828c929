// Package hostile holds no code but tests: clients that send what no client
// should, hundreds at a time, while honest clients work against the same
// process. The honest ones must notice nothing, and the server's memory must
// not follow what a stranger claims to be about to send.
package hostile
