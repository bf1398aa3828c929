// Package events makes the events of the smart home: thirteen fields of meters
// in houses, as a load for streams. A Generator gives the same events for the
// same options, as JSON or as columns; it reads no clock and keeps no goroutine.
//
// Entropies says how many bits each field holds, so that what a stream takes can
// be told beside what it must.
package events
