package filter

import (
	"slices"
	"unicode"
)

// charset is a set of characters: ranges, ascending, that do not touch.
type charset []charrange

type charrange struct{ lo, hi rune }

func setOf(chars ...rune) charset {
	var s charset
	for _, c := range chars {
		s = append(s, charrange{c, c})
	}
	return s.normal()
}

func setOfRange(lo, hi rune) charset { return charset{{lo, hi}} }

func setOfTable(tables ...*unicode.RangeTable) charset {
	var s charset
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			s = append(s, charrange{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			s = append(s, charrange{c, c})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return s.normal()
}

// normal sorts the ranges and joins those that touch, in place.
func (s charset) normal() charset {
	slices.SortFunc(s, func(a, b charrange) int { return int(a.lo - b.lo) })
	out := s[:0]
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (s charset) union(t ...charset) charset {
	all := slices.Clone(s)
	for _, u := range t {
		all = append(all, u...)
	}
	return all.normal()
}

// not is what is not in the set, of the characters from 0 to max.
func (s charset) not(max rune) charset {
	var out charset
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, charrange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= max {
		out = append(out, charrange{next, max})
	}
	return out.clip(max)
}

// clip leaves out the characters above max.
func (s charset) clip(max rune) charset {
	var out charset
	for _, r := range s {
		if r.lo <= max {
			out = append(out, charrange{r.lo, min(r.hi, max)})
		}
	}
	return out
}

func (s charset) and(t charset) charset {
	var out charset
	for i, j := 0, 0; i < len(s) && j < len(t); {
		if lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi); lo <= hi {
			out = append(out, charrange{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

func (s charset) has(c rune) bool {
	i, ok := slices.BinarySearchFunc(s, c, func(r charrange, c rune) int { return int(r.lo - c) })
	return ok || i > 0 && c <= s[i-1].hi
}

// foldASCII adds the other case of the ASCII letters in the set: what Java does
// without UNICODE_CASE.
func (s charset) foldASCII() charset {
	all := slices.Clone(s)
	for _, r := range s {
		for c := max(r.lo, 'A'); c <= min(r.hi, 'Z'); c++ {
			all = append(all, charrange{c + 'a' - 'A', c + 'a' - 'A'})
		}
		for c := max(r.lo, 'a'); c <= min(r.hi, 'z'); c++ {
			all = append(all, charrange{c - 'a' + 'A', c - 'a' + 'A'})
		}
	}
	return all.normal()
}

// folding knows the characters that are the same when they are put into upper,
// then lower case: Java's UNICODE_CASE. A group holds those that are the same.
type folding map[rune][]rune

func newFolding() folding {
	f := folding{}
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			f[fold(c)] = append(f[fold(c)], c)
		}
	}
	for key, group := range f {
		if len(group) < 2 {
			delete(f, key)
		}
	}
	return f
}

func fold(c rune) rune { return unicode.ToLower(unicode.ToUpper(c)) }

// largeRange is the length from which a range is not gone through.
const largeRange = 1 << 12

// close adds all characters that are the same as one of the set.
func (f folding) close(s charset) charset {
	all := slices.Clone(s)
	add := func(group []rune) {
		for _, c := range group {
			all = append(all, charrange{c, c})
		}
	}
	for _, r := range s {
		if r.hi-r.lo < largeRange {
			for c := r.lo; c <= r.hi; c++ {
				add(f[fold(c)])
			}
			continue
		}
		for _, group := range f {
			if slices.ContainsFunc(group, func(c rune) bool { return r.lo <= c && c <= r.hi }) {
				add(group)
			}
		}
	}
	return all.normal()
}
