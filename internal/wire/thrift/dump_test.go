package thrift

import (
	"fmt"
	"strings"
)

// dump reads a message's content whatever it is and renders it as text.
func dump(r *Reader, h Header) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s %d ", h.Type, h.Name, h.Seq)
	dumpStruct(r, &s)
	return s.String()
}

func dumpStruct(r *Reader, s *strings.Builder) {
	r.StructBegin()
	s.WriteByte('{')
	for i := 0; ; i++ {
		t, id := r.Field()
		if t == Stop {
			s.WriteByte('}')
			return
		}
		if i > 0 {
			s.WriteByte(' ')
		}
		fmt.Fprintf(s, "%d:%s", id, t)
		if t < Struct {
			s.WriteByte(' ')
		}
		dumpValue(r, t, s)
	}
}

func dumpValue(r *Reader, t Type, s *strings.Builder) {
	switch t {
	case Bool:
		fmt.Fprint(s, r.Bool())
	case Byte:
		fmt.Fprint(s, r.Byte())
	case I16:
		fmt.Fprint(s, r.I16())
	case I32:
		fmt.Fprint(s, r.I32())
	case I64:
		fmt.Fprint(s, r.I64())
	case Double:
		fmt.Fprint(s, r.Double())
	case String:
		fmt.Fprintf(s, "%q", r.Binary())
	case Struct:
		dumpStruct(r, s)
	case List, Set:
		elem, n := r.List()
		s.WriteByte('[')
		for i := 0; i < n && r.Err() == nil; i++ {
			if i > 0 {
				s.WriteByte(' ')
			}
			dumpValue(r, elem, s)
		}
		s.WriteByte(']')
	case Map:
		key, value, n := r.Map()
		s.WriteByte('{')
		for i := 0; i < n && r.Err() == nil; i++ {
			if i > 0 {
				s.WriteByte(' ')
			}
			dumpValue(r, key, s)
			s.WriteByte('=')
			dumpValue(r, value, s)
		}
		s.WriteByte('}')
	}
}
