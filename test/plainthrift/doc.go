// Package plainthrift speaks the strict binary Thrift protocol in the plainest
// way, for tests that look at the server from outside. It shares no line with
// the codec that server and load generators use, so that a fault of that codec
// cannot hide itself here.
//
// A message is put together from its fields by hand and can be sent in pieces,
// torn or damaged; replies come back as generic values. It is for tests: it
// takes the server for honest and does not bound what it reads.
package plainthrift
