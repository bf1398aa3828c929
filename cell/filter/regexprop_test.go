package filter

import (
	"fmt"
	"strings"
	"testing"
)

var propertyNames = []string{
	"Lower", "Upper", "ASCII", "Alpha", "Digit", "Alnum", "Punct", "Graph", "Print", "Blank", "Cntrl", "XDigit", "Space",
	"L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pd", "Pc", "Pi", "Pf", "Ps", "Pe", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Cs", "Co", "Cn", "LC", "LD", "L1", "all",
	"javaLowerCase", "javaUpperCase", "javaTitleCase", "javaAlphabetic", "javaIdeographic", "javaDigit", "javaDefined", "javaLetter", "javaLetterOrDigit", "javaJavaIdentifierStart", "javaJavaIdentifierPart", "javaUnicodeIdentifierStart", "javaUnicodeIdentifierPart", "javaIdentifierIgnorable", "javaSpaceChar", "javaWhitespace", "javaISOControl",
	"IsAlphabetic", "IsLetter", "IsIdeographic", "IsLowercase", "IsUppercase", "IsTitlecase", "IsWhite_Space", "IsWhiteSpace", "IsControl", "IsPunctuation", "IsHex_Digit", "IsHexDigit", "IsAssigned", "IsNoncharacter_Code_Point", "IsDigit", "IsAlnum", "IsBlank", "IsGraph", "IsPrint", "IsWord", "IsJoin_Control", "isLatin",
	"IsLatin", "IsLatn", "Islatin", "IsCommon", "IsGreek", "IsL", "IsLu", "Isl", "lower", "InBasicLatin", "InBASIC_LATIN", "InBasic Latin", "InLatin-1Supplement", "sc=Latin", "script=GREEK", "SC=latn", "blk=Basic Latin", "block=Latin-1 Supplement", "gc=Lu", "general_category=P", "gc=Alpha", "xx=Lu", "Foo", "javaFoo", "",
}

// Properties and other classes have the characters that Java's have, of the
// first 256, under the flags that matter for them.
func TestPropertiesAgainstJava(t *testing.T) {
	var patterns []RegexString
	for _, flags := range []RegexFlags{0, CaseInsensitive, UnicodeCharacterClass, CaseInsensitive | UnicodeCharacterClass} {
		for _, name := range propertyNames {
			patterns = append(patterns, RegexString{Pattern: `\p{` + name + `}`, Flags: flags}, RegexString{Pattern: `\P{` + name + `}`, Flags: flags})
		}
		for _, class := range []string{`\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\h`, `\H`, `\v`, `\V`, `[\v]`, `[\v-\f]`, `[^\w]`, `.`, `[a-k&&[^\p{IsHexDigit}]]`} {
			patterns = append(patterns, RegexString{Pattern: class, Flags: flags})
		}
	}
	for c := range 256 {
		for _, flags := range []RegexFlags{CaseInsensitive, CaseInsensitive | UnicodeCase} {
			patterns = append(patterns, RegexString{Pattern: fmt.Sprintf(`\x%02x`, c), Flags: flags}, RegexString{Pattern: fmt.Sprintf(`[\x%02x-\xff]`, c), Flags: flags})
		}
	}
	requests := make([]string, len(patterns))
	for i, r := range patterns {
		requests[i] = fmt.Sprintf("%d %s %s", r.Flags, charsetNames[r.Charset], hexa([]byte(r.Pattern)))
	}
	var data []string
	for c := range 256 {
		data = append(data, hexa([]byte{byte(c)}))
	}
	answers := recorded(t, "properties", 64, data, requests)
	for i, r := range patterns {
		got := "error"
		if m, err := r.compile(testBuilder()); err == nil {
			var bits strings.Builder
			for c := range 256 {
				order, _ := m.compare([]byte{byte(c)})
				fmt.Fprint(&bits, 1-order)
			}
			got = bits.String()
		}
		if short(got, 64) != answers[i] {
			t.Errorf("%s: %s, Java has something else", r, got)
		}
	}
	if len(patterns) < 2000 {
		t.Errorf("%d patterns", len(patterns))
	}
}
