package shell

import "strings"

// maxHistory is how many statements are kept, maxEntry how long one may be in
// bytes: what is longer is not kept.
const (
	maxHistory = 1000
	maxEntry   = 16 << 10
)

// History is what was typed, newest last.
type History struct {
	entries []string
	// Save, nil: nothing is kept beyond the conversation. It is given each new
	// statement, on one line.
	Save func(line string)
}

// ReadHistory reads statements, one a line, and keeps the newest.
func ReadHistory(text string) *History {
	h := &History{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); len(line) <= maxEntry {
			h.push(line)
		}
	}
	return h
}

// Add remembers a statement. Lines become one: between the parts of a statement
// a space does as well. One with a newline in quotes is not kept, nor is what is
// empty, or was typed just before.
func (h *History) Add(text string) {
	if len(text) > maxEntry {
		return
	}
	if strings.Contains(text, "\n") {
		text = joinLines(text)
	}
	if text == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return
	}
	h.push(text)
	if h.Save != nil {
		h.Save(text)
	}
}

// joinLines puts a statement on one line; empty: that would change it.
func joinLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if openQuote(line) != 0 || strings.Contains(line, "#") || strings.HasSuffix(line, "\\") {
			return ""
		}
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, " ")
}

func (h *History) push(text string) {
	if text == "" {
		return
	}
	h.entries = append(h.entries, text)
	if over := len(h.entries) - maxHistory; over > 0 {
		h.entries = h.entries[over:]
	}
}

// Len is the number of statements.
func (h *History) Len() int { return len(h.entries) }

// At gives a statement; 0 is the newest.
func (h *History) At(i int) string { return h.entries[len(h.entries)-1-i] }

// Lines gives all statements, oldest first.
func (h *History) Lines() []string { return h.entries }
