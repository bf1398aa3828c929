package events

import (
	"strconv"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/stream/schema"
)

// AppendJSON appends the next n events, an object a line.
func (g *Generator) AppendJSON(dst []byte, n int) []byte {
	var e event
	for range n {
		g.next(&e)
		dst = append(dst, `{"event_time":`...)
		dst = strconv.AppendInt(dst, e.time, 10)
		dst = append(dst, `,"house_id":`...)
		dst = strconv.AppendInt(dst, int64(e.house), 10)
		dst = append(dst, `,"device_id":`...)
		dst = strconv.AppendInt(dst, int64(e.device), 10)
		dst = append(dst, `,"metro_area":"`...)
		dst = append(dst, metros[e.home.metro].name...)
		dst = append(dst, `","state":"`...)
		dst = append(dst, metros[e.home.metro].state...)
		dst = append(dst, `","household_type":"`...)
		dst = append(dst, householdTypes[e.home.household]...)
		dst = append(dst, '"')
		for i := range walks {
			dst = append(dst, ',', '"')
			dst = append(dst, walks[i].field...)
			dst = append(dst, '"', ':')
			if e.nulls>>i&1 != 0 {
				dst = append(dst, `null`...)
			} else {
				dst = appendThousandths(dst, e.readings[i])
			}
		}
		dst = append(dst, `,"is_on":`...)
		dst = strconv.AppendBool(dst, e.on)
		dst = append(dst, `,"label":"`...)
		dst = appendLabel(dst, e.label)
		dst = append(dst, '"', '}', '\n')
	}
	return dst
}

// appendThousandths appends a number of thousandths with three decimals.
func appendThousandths(dst []byte, n int32) []byte {
	dst = strconv.AppendInt(dst, int64(n/1000), 10)
	n %= 1000
	return append(dst, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
}

// Fill gives the next n events as columns of Schema: those that AppendJSON would
// have given. It uses the memory that e has, if there is enough.
func (g *Generator) Fill(e *schema.Events, n int) {
	prepare(e, n)
	c := e.Columns
	readings := c[6 : 6+len(walks)]
	on, label := &c[6+len(walks)], &c[7+len(walks)]
	var ev event
	for row := range n {
		g.next(&ev)
		c[0].Int64s[row], c[1].Int32s[row], c[2].Int32s[row] = ev.time, ev.house, ev.device
		for i := range readings {
			if ev.nulls>>i&1 != 0 {
				readings[i].Nulls[row/64] |= 1 << (row % 64)
				readings[i].Float64s[row] = 0
			} else {
				readings[i].Float64s[row] = float64(ev.readings[i]) / 1000
			}
		}
		on.Bools[row] = ev.on
		metro := &metros[ev.home.metro]
		c[3].Bytes = append(c[3].Bytes, metro.name...)
		c[4].Bytes = append(c[4].Bytes, metro.state...)
		c[5].Bytes = append(c[5].Bytes, householdTypes[ev.home.household]...)
		label.Bytes = appendLabel(label.Bytes, ev.label)
		for _, v := range [...]*store.Vector{&c[3], &c[4], &c[5], label} {
			v.Offsets[row+1] = uint32(len(v.Bytes))
		}
	}
}

// prepare gives e the columns of Schema, with room for n rows and no texts.
func prepare(e *schema.Events, n int) {
	e.Rows = n
	fields := Schema().Fields
	if len(e.Columns) != len(fields) {
		e.Columns = make([]store.Vector, len(fields))
	}
	for i, f := range fields {
		v := &e.Columns[i]
		v.Type = f.Type.Column()
		switch f.Type {
		case schema.Long:
			v.Int64s = resized(v.Int64s, n)
		case schema.Int:
			v.Int32s = resized(v.Int32s, n)
		case schema.Bool:
			v.Bools = resized(v.Bools, n)
		case schema.Double:
			v.Float64s = resized(v.Float64s, n)
			v.Nulls = resized(v.Nulls, (n+63)/64)
			clear(v.Nulls)
		case schema.Text:
			v.Offsets = resized(v.Offsets, n+1)
			v.Offsets[0] = 0
			v.Bytes = v.Bytes[:0]
		}
	}
}

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
