package intake

import "math"

// daysBefore has the days of a year of 365 days before each month.
var daysBefore = [...]int64{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// isoTime reads ISO 8601 text as ms since 1970: see the rules of the package.
func isoTime(s []byte) (ms int64, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := twoOrMore(s[0:4])
	month, ok2 := twoOrMore(s[5:7])
	day, ok3 := twoOrMore(s[8:10])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	ms = daysSince1970(year, month, day) * 86_400_000
	if s = s[10:]; len(s) == 0 {
		return ms, true
	}
	if s[0]|0x20 != 't' && s[0] != ' ' {
		return 0, false
	}
	clock, rest, ok := isoClock(s[1:])
	if !ok {
		return 0, false
	}
	offset, ok := isoOffset(rest)
	return ms + clock - offset, ok
}

// isoClock reads hh:mm[:ss[.fraction]] as ms, and gives what follows.
func isoClock(s []byte) (ms int64, rest []byte, ok bool) {
	if len(s) < 5 || s[2] != ':' {
		return 0, nil, false
	}
	hour, ok1 := twoOrMore(s[0:2])
	minute, ok2 := twoOrMore(s[3:5])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, nil, false
	}
	ms = (hour*60 + minute) * 60_000
	s = s[5:]
	if len(s) == 0 || s[0] != ':' {
		return ms, s, true
	}
	if len(s) < 3 {
		return 0, nil, false
	}
	second, ok := twoOrMore(s[1:3])
	if !ok || second > 59 {
		return 0, nil, false
	}
	ms += second * 1000
	s = s[3:]
	if len(s) == 0 || s[0] != '.' && s[0] != ',' {
		return ms, s, true
	}
	digits, weight := 0, int64(100)
	for s = s[1:]; digits < len(s) && s[digits]-'0' <= 9; digits++ {
		ms += int64(s[digits]-'0') * weight
		weight /= 10
	}
	return ms, s[digits:], digits > 0
}

// isoOffset reads Z, +hh:mm, +hhmm, +hh or nothing, as ms.
func isoOffset(s []byte) (ms int64, ok bool) {
	if len(s) == 0 || len(s) == 1 && s[0]|0x20 == 'z' {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := s[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = []byte{digits[0], digits[1], digits[3], digits[4]}
	}
	if len(digits) != 4 && len(digits) != 2 {
		return 0, false
	}
	n, ok := twoOrMore(digits)
	if !ok {
		return 0, false
	}
	if len(digits) == 2 {
		n *= 100
	}
	if n/100 > 23 || n%100 > 59 {
		return 0, false
	}
	ms = (n/100*60 + n%100) * 60_000
	if s[0] == '-' {
		ms = -ms
	}
	return ms, true
}

// twoOrMore reads digits, and nothing else.
func twoOrMore(s []byte) (n int64, ok bool) {
	for _, c := range s {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func isLeap(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int64) int64 {
	if month == 2 && isLeap(year) {
		return 29
	}
	return daysBefore[month] - daysBefore[month-1]
}

// daysSince1970 counts the days of the Gregorian calendar, years 0 to 9999.
func daysSince1970(year, month, day int64) int64 {
	y := year + 399 // as many leap years before it, and none negative
	days := 365*(year-1970) + (y/4 - y/100 + y/400) - (1970+399)/4 + (1970+399)/100 - (1970+399)/400
	days += daysBefore[month-1] + day - 1
	if month > 2 && isLeap(year) {
		days++
	}
	return days
}

// epochTime reads a number since 1970 as ms, by the digits before its point.
func epochTime(n *number, raw []byte) (ms int64, ok bool) {
	if whole, ok := n.long(); ok {
		return scaledTime(whole), true
	}
	f := n.float(raw)
	if !(f > -9e18 && f < 9e18) {
		return 0, false
	}
	if whole := int64(math.Floor(f)); magnitude(whole) >= secondsEnd {
		return scaledTime(whole), true
	}
	// Seconds with a fraction, as ms: by the digits, since a double is off by one
	// here and there.
	if n.exact && n.exponent >= -18 && n.exponent <= -3 && n.digits <= math.MaxInt64 {
		ms := int64(n.digits)
		if n.negative {
			ms = -ms
		}
		return floorDiv(ms, int64(tens[-3-n.exponent])), true
	}
	return int64(math.Floor(f * 1000)), true
}

// Below these a time is in seconds (11 digits), in ms (14) and in µs (17).
const (
	secondsEnd = 100_000_000_000
	msEnd      = 100_000_000_000_000
	µsEnd      = 100_000_000_000_000_000
)

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func scaledTime(n int64) int64 {
	switch m := magnitude(n); {
	case m < secondsEnd:
		return n * 1000
	case m < msEnd:
		return n
	case m < µsEnd:
		return floorDiv(n, 1000)
	}
	return floorDiv(n, 1_000_000)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
