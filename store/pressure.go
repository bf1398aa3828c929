package store

// Pressure says how hard writers press an engine, part by part. Each part is in
// [0,1]: 0 is idle, 0.5 is where writers begin to be slowed, 1 is where the
// engine stops them.
type Pressure struct {
	// Memtables: writes that are not in files yet, over the memory for them.
	Memtables float64
	// L0: files that are not merged yet, over how many reads can bear.
	L0 float64
	// Garbage: what no read can see any more. From 0.5 on there is more of it
	// than live data.
	Garbage float64
	// Disk: how near free space is to the reserve below which writes are
	// refused. 1: they are refused. Nobody is slowed by it.
	Disk float64
	// Value is the one figure: the largest of the parts.
	Value float64
}

// Pressured is an engine that can say how hard it is pressed. The call is
// cheap, does not wait, and may come at any time until the engine is closed and
// after.
type Pressured interface {
	Pressure() Pressure
}

// PressureOf asks an engine for its pressure; one that knows none is idle.
func PressureOf(s Store) (p Pressure, known bool) {
	if e, ok := s.(Pressured); ok {
		return e.Pressure(), true
	}
	return Pressure{}, false
}
