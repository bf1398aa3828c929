// Package schema says what a stream holds: its fields and their types, which of
// them is the time of the event, how long events are kept, and how all that may
// change while the stream lives.
//
// A Schema is a plain value. Nothing here reads or writes a store, and nothing
// changes a Schema in place: Evolve, Redefine and Absorb answer with another
// one, of a higher version. What they allow is what old blocks can be read
// under: a field may be added (nullable: older events have none), a type may be
// widened, and nothing is ever taken away.
//
// A stream is strict or open. A strict one takes events that fit its fields; an
// open one gets fields, and wider types, as its events bring them.
//
// Events is the form in which events travel between the packages of a stream:
// one vector for each field.
package schema
