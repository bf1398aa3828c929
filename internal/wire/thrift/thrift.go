// Package thrift is Cellar's codec for Apache Thrift messages: the binary
// protocol (written strictly, read in both forms) and the compact one, plain or
// in frames. A door and a client share it; it knows nothing of any service.
//
// A [Writer] appends messages to one buffer. A [Reader] takes messages apart
// while they arrive, in one pass, and finds out by itself which protocol and
// transport its peer speaks. Neither uses reflection, generated code, a
// goroutine or a clock.
//
// Contract of the Reader, whatever its peer sends: memory grows by what has
// arrived, at most doubling, never by an announced length; every step of growth
// is asked for first; nesting is bounded; a fault is one of the errors of this
// package and ends the conversation, since nobody knows where the next message
// would begin. Byte slices that it returns alias the memory of the message and
// are valid until the following [Reader.Next] or [Reader.Release].
//
// The bytes are drawn in docs/internals/format/thrift-wire.md.
package thrift

import "fmt"

// Protocol is the way in which values become bytes.
type Protocol uint8

// The two protocols.
const (
	Binary Protocol = iota
	Compact
)

// String gives the name that clients use for it.
func (p Protocol) String() string {
	switch p {
	case Binary:
		return "binary"
	case Compact:
		return "compact"
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

// Type is the kind of a value. The numbers are those of the binary protocol.
type Type uint8

// Types. Stop ends a struct. Strings and byte strings are one type.
const (
	Stop   Type = 0
	Bool   Type = 2
	Byte   Type = 3
	Double Type = 4
	I16    Type = 6
	I32    Type = 8
	I64    Type = 10
	String Type = 11
	Struct Type = 12
	Map    Type = 13
	Set    Type = 14
	List   Type = 15
)

// String names the type as an interface definition does.
func (t Type) String() string {
	switch t {
	case Stop:
		return "stop"
	case Bool:
		return "bool"
	case Byte:
		return "byte"
	case Double:
		return "double"
	case I16:
		return "i16"
	case I32:
		return "i32"
	case I64:
		return "i64"
	case String:
		return "string"
	case Struct:
		return "struct"
	case Map:
		return "map"
	case Set:
		return "set"
	case List:
		return "list"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// MessageType says what a message is for.
type MessageType uint8

// Message types. An Exception holds an application exception (see
// [AppException]); what a method declares to throw is a field of its Reply.
const (
	Call      MessageType = 1
	Reply     MessageType = 2
	Exception MessageType = 3
	Oneway    MessageType = 4
)

// String names the message type.
func (t MessageType) String() string {
	switch t {
	case Call:
		return "call"
	case Reply:
		return "reply"
	case Exception:
		return "exception"
	case Oneway:
		return "oneway"
	}
	return fmt.Sprintf("message type %d", uint8(t))
}

// Header is the beginning of a message, and how it came.
type Header struct {
	Protocol Protocol
	// Framed says whether each message is preceded by its length.
	Framed bool
	// Name of the method; valid until the following Next.
	Name []byte
	Type MessageType
	// Seq is the caller's number for the call; its reply bears the same.
	Seq int32
}

// Bytes that begin a message.
const (
	binaryVersion  = 0x80010000 // first four bytes of a strict binary message, less the message type
	binaryFirst    = 0x80
	binarySecond   = 0x01
	compactFirst   = 0x82 // the compact protocol's id
	compactVersion = 1    // low five bits of its second byte
	compactTypeBit = 5    // where the message type is in its second byte
)

// Types as the compact protocol numbers them. A boolean field carries its value
// in its type.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactI16    = 4
	compactI32    = 5
	compactI64    = 6
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
)

// toCompact maps types to the compact protocol's numbers; Bool as an element.
var toCompact = [16]byte{
	Stop: 0, Bool: compactTrue, Byte: compactByte, Double: compactDouble, I16: compactI16, I32: compactI32,
	I64: compactI64, String: compactBinary, Struct: compactStruct, Map: compactMap, Set: compactSet, List: compactList,
}

// fromCompact maps them back; unknown numbers to Stop.
var fromCompact = [16]Type{
	compactTrue: Bool, compactFalse: Bool, compactByte: Byte, compactI16: I16, compactI32: I32, compactI64: I64,
	compactDouble: Double, compactBinary: String, compactList: List, compactSet: Set, compactMap: Map, compactStruct: Struct,
}

// minimalSize is the fewest bytes that a value of each type takes in the binary
// protocol; 0 is no type. In the compact protocol it is 1, and 8 for a Double.
var minimalSize = [16]int{
	Bool: 1, Byte: 1, Double: 8, I16: 2, I32: 4, I64: 8, String: 4, Struct: 1, Map: 6, Set: 5, List: 5,
}

// fixedSize is the size of those types that take the same number of bytes
// whatever the value is, by protocol.
var fixedSize = [2][16]int{
	Binary:  {Bool: 1, Byte: 1, Double: 8, I16: 2, I32: 4, I64: 8},
	Compact: {Bool: 1, Byte: 1, Double: 8},
}

func validType(t Type) bool { return t < 16 && minimalSize[t] != 0 }

func minimal(p Protocol, t Type) int {
	if p == Compact && t != Double {
		return 1
	}
	return minimalSize[t]
}
