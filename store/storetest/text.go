package storetest

import (
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// text writes cells as "f:q@ts=value" and "f:q@ts!Marker", separated by blanks;
// bytes that are not printable as \xHH.
func text(cells []cell.Cell) string {
	parts := make([]string, len(cells))
	for i := range cells {
		parts[i] = cellText(&cells[i])
	}
	return strings.Join(parts, " ")
}

func cellText(c *cell.Cell) string {
	at := fmt.Sprintf("%s:%s@%s", cell.Printable(c.Family), cell.Printable(c.Qualifier), timeText(c.Timestamp))
	if c.Type.IsMarker() {
		return at + "!" + c.Type.String()
	}
	at += "=" + cell.Printable(c.Value)
	if c.TTL != 0 {
		at += fmt.Sprintf(",ttl%d", c.TTL)
	}
	if len(c.Tags) > 0 {
		at += ",tags" + cell.Printable(c.Tags)
	}
	return at
}

// timeText writes a timestamp; those of the tests' clocks as now+ms.
func timeText(timestamp int64) string {
	if timestamp >= epoch && timestamp < epoch+1<<40 {
		return fmt.Sprintf("now+%d", timestamp-epoch)
	}
	return fmt.Sprint(timestamp)
}

// resultText writes "row: cells", and "+" where more of the row follows.
func resultText(r *cell.Result) string {
	s := cell.Printable(r.Row) + ": " + text(r.Cells)
	if r.Partial {
		s += " +"
	}
	return s
}

func resultsText(results []*cell.Result) string {
	parts := make([]string, len(results))
	for i, r := range results {
		parts[i] = resultText(r)
	}
	return strings.Join(parts, " | ")
}
