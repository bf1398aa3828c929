package plainthrift

import "encoding/binary"

// Type is the code of a value on the wire.
type Type byte

// Types of the binary protocol.
const (
	stop       Type = 0
	TypeBool   Type = 2
	TypeByte   Type = 3
	TypeI32    Type = 8
	TypeI64    Type = 10
	TypeBytes  Type = 11
	TypeStruct Type = 12
	TypeMap    Type = 13
	TypeList   Type = 15
)

// Kinds of messages.
const (
	Call      = 1
	Reply     = 2
	Exception = 3
)

// Value is an encoded value and its type.
type Value struct {
	Type Type
	Data []byte
}

// Field is a value in its place in a struct.
type Field struct {
	ID int16
	Value
}

// Bytes encodes a byte string.
func Bytes[T ~string | ~[]byte](b T) Value {
	return Value{TypeBytes, append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)}
}

// Bool encodes a yes or no.
func Bool(b bool) Value {
	if b {
		return Value{TypeBool, []byte{1}}
	}
	return Value{TypeBool, []byte{0}}
}

// I32 encodes a number.
func I32(n int32) Value { return Value{TypeI32, binary.BigEndian.AppendUint32(nil, uint32(n))} }

// I64 encodes a number.
func I64(n int64) Value { return Value{TypeI64, binary.BigEndian.AppendUint64(nil, uint64(n))} }

// Struct encodes a struct; its fields have the ids 1, 2, 3 and so on. A field
// of the zero Value is left out.
func Struct(values ...Value) Value {
	var data []byte
	for i, v := range values {
		if v.Type != stop {
			data = append(binary.BigEndian.AppendUint16(append(data, byte(v.Type)), uint16(i+1)), v.Data...)
		}
	}
	return Value{TypeStruct, append(data, byte(stop))}
}

// List encodes a list of values of one type.
func List(of Type, values ...Value) Value {
	data := binary.BigEndian.AppendUint32([]byte{byte(of)}, uint32(len(values)))
	for _, v := range values {
		data = append(data, v.Data...)
	}
	return Value{TypeList, data}
}

// NoAttributes is the empty map of byte strings that most calls end with.
func NoAttributes() Value {
	return Value{TypeMap, []byte{byte(TypeBytes), byte(TypeBytes), 0, 0, 0, 0}}
}

// Message puts a call together: arguments have the ids 1, 2, 3 and so on.
func Message(method string, seq int32, args ...Value) []byte {
	m := binary.BigEndian.AppendUint32(nil, 0x80010000|Call)
	m = append(m, Bytes(method).Data...)
	m = binary.BigEndian.AppendUint32(m, uint32(seq))
	return append(m, Struct(args...).Data...)
}

// Frame puts the length before a message, as the framed transport wants it.
func Frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}
