package intake

import (
	"github.com/cellardb/cellar/stream/schema"
)

// Format says how a body is written.
type Format uint8

// The formats.
const (
	// JSON in any form; which one is found from the bytes. The first that is not
	// blank begins an array or an object. Objects are taken as one a line if the
	// first line is one, or is no JSON; else as one after the other.
	JSON Format = iota
	// NDJSON has a record on each line that is not blank, whatever the line is.
	NDJSON
	// CSV with a header.
	CSV
)

// Options says how to read. The zero value reads JSON of any form.
type Options struct {
	Format Format
	// Arrival, ms since 1970, is the time of events that have none.
	Arrival int64
	// Comma between the values of CSV; 0: a comma.
	Comma byte
	// MaxText bounds one text, bytes; 0: 1 MiB. A longer one rejects its record.
	MaxText int
	// MaxDepth bounds how deep objects lie in an event, which itself is 1; 0: 16.
	// A deeper one rejects its record.
	MaxDepth int
	// MaxErrors bounds the rejected records that are listed, not those that are
	// counted; 0: 100.
	MaxErrors int
	// MaxRecord bounds one record of a Reader, bytes; 0: 16 MiB. A longer line
	// of NDJSON or CSV is rejected, a longer record of another format is an error
	// of the body. A part of a Reader is read from about as many bytes at most.
	// Parse does not look at it: its body is in memory already.
	MaxRecord int
	// MaxMemory bounds what the columns of one result take, bytes, their texts
	// apart; 0: 256 MiB. Parse answers ErrTooLarge, a Reader ends its part early.
	MaxMemory int
}

func (o Options) withDefaults() Options {
	orDefault := func(n *int, usual int) {
		if *n <= 0 {
			*n = usual
		}
	}
	orDefault(&o.MaxText, 1<<20)
	orDefault(&o.MaxDepth, 16)
	orDefault(&o.MaxErrors, 100)
	orDefault(&o.MaxRecord, 16<<20)
	orDefault(&o.MaxMemory, 256<<20)
	if o.Comma == 0 {
		o.Comma = ','
	}
	return o
}

// Result is what was read.
type Result struct {
	// Events that were accepted, for Schema. They are the caller's.
	Events schema.Events
	// Schema is the one that was given, or, for an open stream whose events
	// brought something new, the next version of it.
	Schema *schema.Schema
	// Accepted is the number of events: Events.Rows.
	Accepted int
	// Mended is the number of accepted events whose text was not valid Unicode.
	Mended int
	// Undated is the number of accepted events that took the arrival as their
	// time, in streams that have an event time.
	Undated int
	// Rejected is the number of records that were not taken; Rejects lists the
	// first of them (Options.MaxErrors).
	Rejected int
	Rejects  []schema.Reject
}
