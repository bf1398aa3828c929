package filter

import (
	"strings"
	"unicode"
)

// Sets that Java's predefined classes stand for.
func horizontal() charset {
	return setOf('\t', ' ', 0xa0, 0x1680, 0x180e, 0x202f, 0x205f, 0x3000).union(setOfRange(0x2000, 0x200a))
}

func vertical() charset { return setOf('\n', '\v', '\f', '\r', 0x85, 0x2028, 0x2029) }

// terminators are what ends a line; with UNIX_LINES only the line feed does.
func terminators(unix bool) charset {
	if unix {
		return setOf('\n')
	}
	return setOf('\n', '\r', 0x85, 0x2028, 0x2029)
}

func digits() charset { return setOfRange('0', '9') }

func wordChars() charset {
	return digits().union(setOfRange('A', 'Z'), setOfRange('a', 'z'), setOf('_'))
}

func spaces() charset { return setOfRange('\t', '\r').union(setOf(' ')) }

func alphabetic() charset {
	return setOfTable(unicode.L, unicode.Nl, unicode.Properties["Other_Alphabetic"])
}

func unicodeWord() charset {
	return alphabetic().union(setOfTable(unicode.M, unicode.Nd, unicode.Pc, unicode.Properties["Join_Control"]))
}

func unicodeBlank() charset { return setOfTable(unicode.Zs).union(setOf('\t')) }

func assigned() charset {
	return setOfTable(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}

func unicodeGraph() charset {
	return assigned().and(setOfTable(unicode.White_Space, unicode.Cc, unicode.Cs).not(unicode.MaxRune))
}

func ignorable() charset {
	return setOfRange(0, 8).union(setOfRange(0x0e, 0x1b), setOfRange(0x7f, 0x9f), setOfTable(unicode.Cf))
}

func upperOrLower(lower bool) charset {
	if lower {
		return setOfTable(unicode.Ll, unicode.Properties["Other_Lowercase"])
	}
	return setOfTable(unicode.Lu, unicode.Properties["Other_Uppercase"])
}

func anyCase() charset { return upperOrLower(true).union(upperOrLower(false), setOfTable(unicode.Lt)) }

// posix is a class such as \p{Alpha}, of ASCII only.
func posix(name string, anyCase bool) (charset, bool) {
	lower, upper := setOfRange('a', 'z'), setOfRange('A', 'Z')
	alpha := lower.union(upper)
	graph := setOfRange('!', '~')
	switch name {
	case "Lower", "Upper":
		if anyCase {
			return alpha, true
		}
		if name == "Lower" {
			return lower, true
		}
		return upper, true
	case "ASCII":
		return setOfRange(0, 0x7f), true
	case "Alpha":
		return alpha, true
	case "Digit":
		return digits(), true
	case "Alnum":
		return alpha.union(digits()), true
	case "Punct":
		return graph.and(alpha.union(digits()).not(0x7f)), true
	case "Graph":
		return graph, true
	case "Print":
		return graph.union(setOf(' ')), true
	case "Blank":
		return setOf(' ', '\t'), true
	case "Cntrl":
		return setOfRange(0, 0x1f).union(setOf(0x7f)), true
	case "XDigit":
		return digits().union(setOfRange('A', 'F'), setOfRange('a', 'f')), true
	case "Space":
		return spaces(), true
	}
	return nil, false
}

// binaryProperty is a property such as \p{IsAlphabetic}; the name is in upper
// case.
func binaryProperty(name string, folded bool) (charset, bool) {
	if folded && (name == "LOWERCASE" || name == "UPPERCASE" || name == "TITLECASE") {
		return anyCase(), true
	}
	switch name {
	case "ALPHABETIC":
		return alphabetic(), true
	case "LETTER":
		return setOfTable(unicode.L), true
	case "IDEOGRAPHIC":
		return setOfTable(unicode.Properties["Ideographic"]), true
	case "LOWERCASE":
		return upperOrLower(true), true
	case "UPPERCASE":
		return upperOrLower(false), true
	case "TITLECASE":
		return setOfTable(unicode.Lt), true
	case "WHITE_SPACE", "WHITESPACE":
		return setOfTable(unicode.White_Space), true
	case "CONTROL":
		return setOfTable(unicode.Cc), true
	case "PUNCTUATION":
		return setOfTable(unicode.P), true
	case "HEX_DIGIT", "HEXDIGIT":
		return setOfTable(unicode.Nd, unicode.Hex_Digit), true
	case "ASSIGNED":
		return assigned(), true
	case "NONCHARACTER_CODE_POINT", "NONCHARACTERCODEPOINT":
		return setOfTable(unicode.Noncharacter_Code_Point), true
	case "DIGIT":
		return setOfTable(unicode.Nd), true
	case "ALNUM":
		return alphabetic().union(setOfTable(unicode.Nd)), true
	case "BLANK":
		return unicodeBlank(), true
	case "GRAPH":
		return unicodeGraph(), true
	case "PRINT":
		return unicodeGraph().union(unicodeBlank()).and(setOfTable(unicode.Cc).not(unicode.MaxRune)), true
	case "WORD":
		return unicodeWord(), true
	case "JOIN_CONTROL", "JOINCONTROL":
		return setOfTable(unicode.Join_Control), true
	}
	return nil, false
}

// unicodePosix is a class such as \p{Alpha} under UNICODE_CHARACTER_CLASS,
// where its name is in any case.
func unicodePosix(name string, folded bool) (charset, bool) {
	switch upper := strings.ToUpper(name); upper {
	case "ALPHA":
		return alphabetic(), true
	case "LOWER", "UPPER":
		return binaryProperty(upper+"CASE", folded)
	case "SPACE":
		return binaryProperty("WHITE_SPACE", false)
	case "PUNCT":
		return binaryProperty("PUNCTUATION", false)
	case "XDIGIT":
		return binaryProperty("HEX_DIGIT", false)
	case "CNTRL":
		return binaryProperty("CONTROL", false)
	case "ALNUM", "DIGIT", "BLANK", "GRAPH", "PRINT":
		return binaryProperty(upper, false)
	}
	return nil, false
}

// javaMethod is a property such as \p{javaLowerCase}, named after a method of
// Java's Character.
func javaMethod(name string, folded bool) (charset, bool) {
	switch name {
	case "LowerCase", "UpperCase", "TitleCase", "Alphabetic", "Ideographic", "Digit", "Letter":
		return binaryProperty(strings.ToUpper(name), folded)
	case "Defined":
		return assigned(), true
	case "LetterOrDigit":
		return setOfTable(unicode.L, unicode.Nd), true
	case "JavaIdentifierStart":
		return setOfTable(unicode.L, unicode.Nl, unicode.Sc, unicode.Pc), true
	case "JavaIdentifierPart":
		return setOfTable(unicode.L, unicode.Nl, unicode.Sc, unicode.Pc, unicode.Nd, unicode.Mc, unicode.Mn).union(ignorable()), true
	case "UnicodeIdentifierStart":
		return setOfTable(unicode.L, unicode.Nl, unicode.Other_ID_Start), true
	case "UnicodeIdentifierPart":
		return setOfTable(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Pc, unicode.Nd, unicode.Mc,
			unicode.Mn, unicode.Other_ID_Continue).union(ignorable()), true
	case "IdentifierIgnorable":
		return ignorable(), true
	case "SpaceChar":
		return setOfTable(unicode.Z), true
	case "Whitespace":
		hard := setOf(0xa0, 0x2007, 0x202f).not(unicode.MaxRune)
		return setOfTable(unicode.Z).and(hard).union(setOfRange('\t', '\r'), setOfRange(0x1c, 0x1f)), true
	case "ISOControl":
		return setOfRange(0, 0x1f).union(setOfRange(0x7f, 0x9f)), true
	}
	return nil, false
}

// category is a general category such as Lu, or one of Java's own additions.
func category(name string, folded bool) (charset, bool) {
	cased := setOfTable(unicode.Lu, unicode.Ll, unicode.Lt)
	switch name {
	case "Lu", "Ll", "Lt":
		if folded {
			return cased, true
		}
	case "LC":
		return cased, true
	case "LD":
		return setOfTable(unicode.L, unicode.Nd), true
	case "L1":
		return setOfRange(0, 0xff), true
	case "all":
		return setOfRange(0, unicode.MaxRune), true
	case "Cn":
		return assigned().not(unicode.MaxRune), true
	case "C":
		return setOfTable(unicode.C).union(assigned().not(unicode.MaxRune)), true
	}
	if len(name) > 2 {
		return nil, false
	}
	t, ok := unicode.Categories[name]
	if !ok {
		return nil, false
	}
	return setOfTable(t), true
}

// simpleProperty is what a name without a prefix may be.
func simpleProperty(name string, folded bool) (charset, bool) {
	if s, ok := posix(name, folded); ok {
		return s, true
	}
	if method, ok := strings.CutPrefix(name, "java"); ok {
		return javaMethod(method, folded)
	}
	return category(name, folded)
}

// script finds a script by its full name, in any case, or by one of the short
// names of those that have characters in Latin-1.
func script(name string) (charset, bool) {
	switch strings.ToUpper(name) {
	case "LATN":
		name = "Latin"
	case "ZYYY":
		name = "Common"
	}
	for full, t := range unicode.Scripts {
		if strings.EqualFold(full, name) {
			return setOfTable(t), true
		}
	}
	return nil, false
}

// block finds the two blocks of Latin-1.
func block(name string) (charset, bool) {
	switch strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToUpper(name)) {
	case "BASICLATIN":
		return setOfRange(0, 0x7f), true
	case "LATIN1SUPPLEMENT":
		return setOfRange(0x80, 0xff), true
	}
	return nil, false
}

// property finds the set of \p{name}.
func property(name string, flags RegexFlags) (charset, bool) {
	folded := flags&CaseInsensitive != 0
	if key, value, ok := strings.Cut(name, "="); ok {
		switch strings.ToLower(key) {
		case "sc", "script":
			return script(value)
		case "blk", "block":
			return block(value)
		case "gc", "general_category":
			return simpleProperty(value, folded)
		}
		return nil, false
	}
	if inner, ok := strings.CutPrefix(name, "In"); ok {
		return block(inner)
	}
	if inner, ok := strings.CutPrefix(name, "Is"); ok {
		if s, ok := binaryProperty(strings.ToUpper(inner), folded); ok {
			return s, true
		}
		if s, ok := simpleProperty(inner, folded); ok {
			return s, true
		}
		return script(inner)
	}
	if flags&UnicodeCharacterClass != 0 {
		if s, ok := unicodePosix(name, folded); ok {
			return s, true
		}
	}
	return simpleProperty(name, folded)
}
