// Package door is what all doors have in common: it listens, accepts, limits,
// drains and shuts down. What is said on a connection is the business of a
// Handler, one package a protocol below this one.
//
// Its contract:
//
//   - A Door owns the goroutine of each of its connections. Shutdown returns
//     after the last of them is gone; a second Shutdown is safe.
//   - Memory for what clients send, and for what they are answered, is taken
//     from a Budget that all doors share, in steps as bytes arrive and never on
//     the word of a length that a client announced. The first FreeBytes of a
//     connection's input and output cost nothing, so that small requests pass
//     when large ones wait.
//   - A request that has begun arrives whole within RequestTimeout or its
//     connection ends. A connection that is idle stays open, unless the options
//     say otherwise.
//   - A connection belongs to the goroutine of its session. What other
//     goroutines do to it is done by the Door: they end it.
//
// It knows no protocol, no store and no process: it must not read flags or the
// environment, and must not log what clients sent.
//
// TLS and authentication will be one package that all doors use. Its place is
// Listen, which would wrap each accepted connection before the Handler sees it,
// and Conn, which would carry who the client is. Nothing of it is built yet:
// doors listen on loopback unless told otherwise.
package door
