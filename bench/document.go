package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Document is a report to be kept.
type Document struct {
	Title   string
	Date    time.Time
	Machine string // what it ran on, in words
	Commit  string
	// Command that was run, to run it again.
	Command string
	Results []Result // of any number of runs, in the order in which they ran
	// Failures are what went wrong, in words.
	Failures []string
}

// WriteFiles writes name.md, name.svg and the results as name.json into a folder; ReadFile
// reads the last again.
func (d *Document) WriteFiles(folder, name string) error {
	for _, file := range []struct {
		ext   string
		write func(w io.Writer) error
	}{
		{".md", func(w io.Writer) error { return d.WriteMarkdown(w, name+".svg") }},
		{".svg", d.WriteSVG},
		{".json", d.writeJSON},
	} {
		var b bytes.Buffer
		if err := file.write(&b); err != nil {
			return fmt.Errorf("make the report: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+file.ext), b.Bytes(), 0o666); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

// head is a Document without its results: the first line of its file.
type head struct {
	Title, Machine, Commit, Command string
	Date                            time.Time
	Failures                        []string
}

// writeJSON writes the document: a line of what it is about, then WriteJSON.
func (d *Document) writeJSON(w io.Writer) error {
	h := head{d.Title, d.Machine, d.Commit, d.Command, d.Date, d.Failures}
	if err := json.NewEncoder(w).Encode(h); err != nil {
		return err
	}
	return WriteJSON(w, d.Results)
}

// ReadFile reads the document from name.json of WriteFiles.
func (d *Document) ReadFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read a report: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	lines := bufio.NewReader(f)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read a report: %s: its first line is not whole: %w", path, err)
	}
	var h head
	if err := json.Unmarshal(first, &h); err != nil {
		return fmt.Errorf("read a report: %s: its first line: %w", path, err)
	}
	results, err := ReadJSON(lines)
	if err != nil {
		return fmt.Errorf("read a report: %s: %w", path, err)
	}
	*d = Document{Title: h.Title, Date: h.Date, Machine: h.Machine, Commit: h.Commit, Command: h.Command, Failures: h.Failures, Results: results}
	return nil
}

// ReadJSON reads results that WriteJSON wrote, of one run or of several.
func ReadJSON(r io.Reader) ([]Result, error) {
	var results []Result
	for d := json.NewDecoder(r); ; {
		var one Result
		if err := d.Decode(&one); err == io.EOF {
			return results, nil
		} else if err != nil {
			return results, fmt.Errorf("read result %d: %w", len(results)+1, err)
		}
		results = append(results, one)
	}
}

// WriteMarkdown writes the document. svg is the name of the file beside it that
// WriteSVG fills; "": no picture. Results of Experiments have a section for each,
// and what Cellar aims at comes first.
func (d *Document) WriteMarkdown(w io.Writer, svg string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.Title)
	fmt.Fprintf(&b, "%s · %s · commit %s\n\n", d.Date.Format(time.DateOnly), d.Machine, d.Commit)
	fmt.Fprintf(&b, "    %s\n", d.Command)
	if scale := scaleOf(d.Results); scale != 1 {
		fmt.Fprintf(&b, "\nScale %v: a try. The sizes are not those that were published, and what ran for less than %d s makes no figure.\n", scale, FigureSeconds)
	}
	for _, f := range d.Failures {
		fmt.Fprintf(&b, "\n**Failed**: %s\n", f)
	}
	groups := groupResults(d.Results)
	writeAims(&b, groups)
	first := true
	for _, section := range sections(groups) {
		if name := section[0].experiment; name != "" {
			fmt.Fprintf(&b, "\n## %s: %s\n\n    %v\n", name, titleOf(name), section[0].runs[0].Config[configCommand])
		}
		writeGroups(&b, section)
		if first {
			b.WriteString("\nLatencies and what follows are those of the median run. Worst second: over the mean one. -: not known, or too short to say.\n")
			if svg != "" {
				fmt.Fprintf(&b, "\n![rate by second](%s)\n", svg)
			}
		}
		first = false
		writeComparison(&b, section)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeGroups(b *strings.Builder, groups []group) {
	b.WriteString("\n| operation | runs | lowest | median | highest | p50 ms | p99 ms | worst second | server CPU s | client CPU s | server peak MiB | errors | load average |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, g := range groups {
		m := g.median()
		fmt.Fprintf(b, "| %s | %d | %s | **%s** | %s | %s | %s | %s | %s | %s | %s | %d | %s |\n", g.label, len(g.runs),
			perSecond(g.runs[0].Rate), perSecond(m.Rate), perSecond(g.runs[len(g.runs)-1].Rate),
			number(m.P50, "%.2f"), number(m.P99, "%.2f"), number(m.WorstSecond, "%.2f"), number(m.ServerCPU, "%.1f"), number(m.ClientCPU, "%.1f"),
			number(m.ServerRSSPeak, "%.0f"), g.errors(), loadOf(m))
	}
	var more strings.Builder
	for _, g := range groups {
		writeMore(&more, g.label, g.median(), "- ")
	}
	if more.Len() > 0 {
		b.WriteString("\n" + more.String())
	}
}

// sections puts the groups of each experiment together, in the order in which
// experiments come first.
func sections(groups []group) (all [][]group) {
	for _, g := range groups {
		at := slices.IndexFunc(all, func(s []group) bool { return s[0].experiment == g.experiment })
		if at < 0 {
			at = len(all)
			all = append(all, nil)
		}
		all[at] = append(all[at], g)
	}
	return all
}

func loadOf(r *Result) string {
	if load, ok := r.Config["load_average"].(float64); ok {
		return fmt.Sprintf("%.2f", load)
	}
	return "-"
}

func writeComparison(b *strings.Builder, groups []group) {
	head := "\n| operation | here | there | ratio | what |\n|---|---|---|---|---|\n"
	for _, g := range groups {
		m := g.median()
		for _, f := range figuresFor(m) {
			fmt.Fprintf(b, "%s| %s | %s | %s | %.1f | %s |\n", head, g.label, perSecond(m.Rate), perSecond(f.Rate), m.Rate/f.Rate, f.Source)
			head = ""
		}
	}
}
