// Package intake reads events from text into columns: JSON (one object, an
// array, a line each, or one after the other; also WSO2's event shape) and CSV
// with a header. It holds no store, socket or clock.
//
// Parse reads a whole body, Reader a long one in parts. What is wrong with one
// record rejects that record by index, line, field and reason, and the others
// are taken; what is wrong with the body (it ends in the middle, it is no JSON)
// is an error, and then nothing of that call is to be stored.
//
// # Which values fit which fields
//
// One rule for all formats:
//
//   - A number fits a field of a numeric type that has room for it: an integer
//     field takes 5, 5.0 and 1e3, not 5.5. A float or double takes any number
//     within its range, rounded to the nearest.
//   - Text that is exactly a number, as JSON writes it, is that number for every
//     numeric field: "5.0" fits a float, "text", "007" and "" do not. Text that
//     is true or false, in any case, fits a bool.
//   - A text field takes text. Numbers and booleans do not fit one of a strict
//     stream; in CSV and in WSO2's shape, where every value is text, they do.
//   - A bytes field takes text in base64.
//   - A time takes a number since 1970, by its digits before the point: up to 11
//     are seconds, up to 14 ms, up to 17 µs, more ns; or text of such a number;
//     or ISO 8601 text, 2026-01-31T12:00:00.250+01:00: a blank may stand for T, seconds
//     and fraction may be missing, without an offset it is UTC, a date alone is
//     its midnight. What is finer than a millisecond is cut off. This holds for
//     the stream's event time too where its type is long.
//   - null is as if the field were not there. It is, for a field that is not
//     nullable, a reason to reject; except that an event without its time takes
//     the arrival if the time is nullable. So does one whose time is 0. Such
//     events are counted, and marked where there is a field schema.Undated.
//   - NaN and the infinities are no JSON and fit nothing, as text too.
//
// An object within an event is joined by dots: {"a":{"b":1}} is field a.b, and
// {"a":null} is an event without it. A key
// that comes twice counts as it came last. A key that the stream does not have
// rejects the record, if the stream is strict.
//
// # Open streams
//
// A key that is not there, with a value that is not null, adds a nullable field:
// text, bool, long for integers (hugeint from 64 to 128 bits, text beyond),
// double for other numbers, text for arrays, as their JSON. A value that does
// not fit widens its field to schema.Widen of both types, so that no digit is
// lost: numbers in a text field stay as they were written, and where integers
// that a double cannot hold meet fractions, the field becomes text. Fields of the
// primary key and the event time keep their type.
//
// # Text
//
// Text that is not valid Unicode (bytes that are no UTF-8, half a surrogate pair)
// gets U+FFFD in its place, a character for each byte or half, and the event is
// counted as mended.
package intake
