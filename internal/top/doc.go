// Package top is the live view of a running server behind cellar top: it asks
// the HTTP port for what is measured, works out rates, and shows them.
//
// Contract: a Model is pure. Samples and keys go in, lines of text come out; it
// has no clock, no terminal and no network, and the same samples give the same
// lines. Source asks, Live and Batch show; both end when their context does and
// leave no goroutine. A server that does not answer is shown as such and asked
// again, never an end of the view.
package top
