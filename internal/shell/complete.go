package shell

import (
	"slices"
	"strings"

	"github.com/cellardb/cellar/internal/attribute"
)

// keywords are the constants that commands know, for completion.
func keywords() []string {
	words := append(attribute.FamilyNames(), attribute.TableNames()...)
	words = append(words, "NAME", "SPLITS", "METHOD", "COLUMN", "COLUMNS", "STARTROW", "STOPROW", "ROWPREFIXFILTER", "LIMIT", "TIMERANGE",
		"TIMESTAMP", "FILTER", "REVERSED", "CACHE", "CACHE_BLOCKS", "BATCH", "MAXLENGTH", "INTERVAL", "FOREVER")
	slices.Sort(words)
	return slices.Compact(words)
}

// complete finds what may stand where a line ends: commands at its beginning,
// tables in the first quotes, constants elsewhere. from is where the word
// begins that the candidates, sorted, replace.
func complete(line string, tables func() []string) (from int, candidates []string) {
	from = len(line)
	for from > 0 && isWord(line[from-1]) {
		from--
	}
	word, before := line[from:], strings.TrimSpace(line[:from])
	switch {
	case before == "":
		return from, matching(Names(), word, " ")
	case before == "help" || before == "help '" || before == `help "`:
		return from, matching(Names(), word, closing(before))
	case inTableName(before):
		return from, matching(tables(), word, closing(before))
	case openQuote(before) != 0:
		return from, nil
	case word != "":
		return from, matching(keywords(), word, " => ")
	}
	return from, nil
}

func isWord(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '-' || c == '.' || c == ':' || c >= 0x80
}

// matching gives the names that begin with the word, each with what follows it.
func matching(names []string, word, after string) []string {
	var out []string
	for _, n := range names {
		if strings.HasPrefix(n, word) {
			out = append(out, n+after)
		}
	}
	slices.Sort(out)
	return out
}

// inTableName says whether a table's name stands next: after the command and
// the first quote.
func inTableName(before string) bool {
	name, rest, ok := strings.Cut(before, " ")
	if !ok || find(name) == nil {
		return false
	}
	rest = strings.TrimSpace(rest)
	return rest == "'" || rest == `"`
}

func closing(before string) string {
	if q := openQuote(before); q != 0 {
		return string(q)
	}
	return ""
}

// openQuote is the quote that a line leaves open; 0: none.
func openQuote(line string) byte {
	var open byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case open != 0 && c == '\\':
			i++
		case c == open:
			open = 0
		case open == 0 && (c == '\'' || c == '"'):
			open = c
		}
	}
	return open
}

// commonPrefix is what all candidates begin with.
func commonPrefix(candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	p := candidates[0]
	for _, c := range candidates[1:] {
		for !strings.HasPrefix(c, p) {
			p = p[:len(p)-1]
		}
	}
	return p
}
