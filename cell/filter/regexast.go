package filter

// reKind says what a node of a regular expression is.
type reKind uint8

const (
	reEmpty      reKind = iota
	reSet               // one character of a set
	reSequence          // all parts, one behind the other
	reChoice            // one of the parts, the first that leads to a match
	reRepeat            // the part, min to max times
	reCapture           // the part, kept as group number
	reAtomic            // the part, as it matches first
	reLook              // the part, looked for ahead or behind
	reBackref           // what group number holds
	reBegin             // the begin of the text
	reEnd               // the end of the text
	reLineBegin         // ^ with MULTILINE
	reLineEnd           // $, and \Z
	reBoundary          // \b
	reNoBoundary        // \B
)

// greed is how a repetition goes on.
type greed uint8

const (
	greedy greed = iota
	lazy
	possessive
)

// reNode is a node of a regular expression, with everything resolved that
// depends on flags.
type reNode struct {
	kind  reKind
	parts []*reNode
	set   charset // reSet

	min, max int // reRepeat; max -1: no limit
	greed    greed

	number int  // reCapture, reBackref
	folded bool // reBackref: without regard to case

	behind, negative bool // reLook

	multi, unix bool // reLineBegin, reLineEnd: MULTILINE, UNIX_LINES
}

func sequence(parts ...*reNode) *reNode {
	switch len(parts) {
	case 0:
		return &reNode{kind: reEmpty}
	case 1:
		return parts[0]
	}
	return &reNode{kind: reSequence, parts: parts}
}

// size is about the number of instructions of the node's program. It stops
// counting above limit.
func (n *reNode) size(limit int) int {
	total := 1
	for _, p := range n.parts {
		if total += p.size(limit); total > limit {
			return limit + 1
		}
	}
	switch n.kind {
	case reSet:
		total += len(n.set) / 4
	case reRepeat:
		times := max(n.min, n.max, 1)
		if total > limit/times {
			return limit + 1
		}
		total *= times
	}
	return min(total, limit+1)
}

// nullable says whether the node can match without a character.
func (n *reNode) nullable() bool {
	switch n.kind {
	case reSet:
		return false
	case reRepeat:
		return n.min == 0 || n.parts[0].nullable()
	case reSequence, reCapture, reAtomic:
		for _, p := range n.parts {
			if !p.nullable() {
				return false
			}
		}
	case reChoice:
		for _, p := range n.parts {
			if p.nullable() {
				return true
			}
		}
		return false
	}
	return true
}

// seesLines says whether the node has a place that depends on the ends of
// lines.
func (n *reNode) seesLines() bool {
	if n.kind == reLineBegin || n.kind == reLineEnd {
		return true
	}
	for _, p := range n.parts {
		if p.seesLines() {
			return true
		}
	}
	return false
}

// dropReferences replaces references to groups that are not there: they never
// match.
func (n *reNode) dropReferences(groups int) {
	if n.kind == reBackref && n.number > groups {
		*n = reNode{kind: reSet}
	}
	for _, p := range n.parts {
		p.dropReferences(groups)
	}
}
