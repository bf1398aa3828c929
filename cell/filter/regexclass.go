package filter

import "slices"

// class reads a class behind its opening bracket. whole is false for the right
// side of &&, which ends before the closing bracket.
func (p *reParser) class(whole bool) (charset, error) {
	if p.depth++; p.depth > maxGroups {
		return nil, p.fail("classes are nested more than %d deep", maxGroups)
	}
	defer func() { p.depth-- }()
	not := false
	if c, quoted := p.look(0); whole && c == '^' && !quoted {
		not = true
		p.pos++
	}
	var set charset // not in order until normal
	for some := false; ; some = true {
		c, quoted := p.peek()
		switch {
		case c < 0:
			return nil, p.fail("unclosed character class")
		case c == ']' && !quoted && some:
			if whole {
				p.pos++
			}
			set = set.normal()
			if not {
				set = set.not(p.max)
			}
			return set.clip(p.max), nil
		case c == '[' && !quoted:
			p.pos++
			inner, err := p.class(true)
			if err != nil {
				return nil, err
			}
			set = append(set, inner...)
			continue
		case c == '&' && !quoted && p.isIntersection():
			right, has, err := p.intersection()
			switch {
			case err != nil:
				return nil, err
			case has && some:
				set = set.normal().and(right)
			case has:
				set = slices.Clone(right)
			case !some:
				return nil, p.fail("bad class syntax")
			}
			continue
		}
		item, err := p.classItem()
		if err != nil {
			return nil, err
		}
		set = append(set, item...)
	}
}

func (p *reParser) isIntersection() bool {
	next, quoted := p.look(1)
	return next == '&' && !quoted
}

// intersection reads && and its right side, up to the next && or the closing
// bracket. has is false when there is nothing.
func (p *reParser) intersection() (right charset, has bool, err error) {
	p.pos += 2
	for !p.is(']') && !p.is('&') {
		whole := p.take('[')
		part, err := p.class(whole)
		if err != nil {
			return nil, false, err
		}
		right, has = append(right, part...), true
	}
	return right.normal(), has, nil
}

// classItem reads a character, a range or an escape.
func (p *reParser) classItem() (charset, error) {
	lo, set, err := p.classChar(true)
	if err != nil || set != nil {
		return set, err
	}
	if !p.is('-') {
		return p.fold(setOf(lo)), nil
	}
	switch end, quoted := p.look(1); {
	case end < 0, end == ']' && !quoted, end == '[' && !quoted:
		return p.fold(setOf(lo)), nil
	}
	p.pos++
	hi, set, err := p.classChar(false)
	if err != nil {
		return nil, err
	}
	if set != nil || hi < lo {
		return nil, p.fail("illegal character range")
	}
	if hi-lo >= largeRange && p.has(CaseInsensitive) {
		if err := p.charge(1); err != nil {
			return nil, err
		}
	}
	return p.fold(setOfRange(lo, hi)), nil
}

// classChar reads one character of a class, or a set. first is false at the end
// of a range.
func (p *reParser) classChar(first bool) (rune, charset, error) {
	c, quoted := p.peek()
	if c < 0 {
		return 0, nil, p.fail("unclosed character class")
	}
	p.pos++
	if c != '\\' || quoted {
		return c, nil, nil
	}
	next, _ := p.look(1)
	set, c, err := p.escaped(!first || next == '-')
	return c, set, err
}
