package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loopcheck/loopcheck/contract"
)

const width = 100

// ownGroup is the heading of the user's own requirements.
const ownGroup = "The subject's own"

// Text writes the report for people: what was checked, the table of the requirements, the failures, warnings and known
// failures, the problems, and a last line that begins with PASS or FAIL. Lines are at most 100 characters wide, but for those
// of failures, which are not broken, and for words that are longer. There are no control sequences.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	r.head(&b)
	r.table(&b)
	r.failures(&b)
	r.notExercised(&b)
	if problems := r.AllProblems(); len(problems) > 0 {
		b.WriteString("\nProblems\n")
		for _, p := range problems {
			first, rest, _ := strings.Cut(strings.TrimRight(block(p), "\n"), "\n")
			b.WriteString(wrap("  - ", "    ", first))
			if rest != "" {
				b.WriteString(indent(rest, "    ") + "\n")
			}
		}
	}
	b.WriteString("\n" + wrap("", "      ", r.summary()))
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) head(b *strings.Builder) {
	b.WriteString(wrap("", "  ", fmt.Sprintf("loopcheck: %s against the loop contract, version %d", line(r.Subject), r.Contract)))
	seed := "seed "
	if len(r.Seeds) > 1 {
		seed = "seeds "
	}
	parts := []string{
		fmt.Sprintf("%s in %s", counted(r.Schedules, "schedule"), elapsed(r.Elapsed)),
		line(r.Strategy), seed + strings.Join(r.seeds(), " "), line(r.Go), line(r.Runtime),
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	b.WriteString(wrap("  ", "  ", strings.Join(parts, ", ")))
	var not []contract.Capability
	for _, c := range contract.Capabilities() {
		if !slices.Contains(r.Capabilities, c) {
			not = append(not, c)
		}
	}
	if len(r.Capabilities) > 0 {
		b.WriteString(wrap("  ", "  ", "supported: "+capabilityNames(r.Capabilities)))
	}
	if len(not) > 0 {
		b.WriteString(wrap("  ", "  ", "not supported: "+capabilityNames(not)))
	}
	if r.Stopped != "" {
		b.WriteString(wrap("  ", "  ", "ended before its time: "+line(r.Stopped)))
	}
}

func (r *Report) table(b *strings.Builder) {
	ids, counts := len("TURN-1"), len("exercised")
	for _, l := range r.Requirements {
		ids = max(ids, min(utf8.RuneCountInString(line(l.ID)), 10)) // a longer one has a wider row and a shorter title
		counts = max(counts, len(grouped(l.Exercised)))
	}
	fmt.Fprintf(b, "\n  %-*s  %-6s  %-13s  %*s\n", ids, "", "level", "verdict", counts, "exercised")
	group := ""
	for _, l := range r.Requirements {
		of := ownGroup
		if q, ok := contract.Lookup(l.ID); ok {
			of = string(q.Group)
		}
		if of != group {
			group = of
			fmt.Fprintf(b, "\n%s\n", group)
		}
		row := fmt.Sprintf("  %-*s  %-6s  %-13s  %*s  ", ids, line(l.ID), l.Level, l.Verdict, counts, grouped(l.Exercised))
		b.WriteString(strings.TrimRight(row+shorten(line(l.Title), width-utf8.RuneCountInString(row)), " ") + "\n")
		under := strings.Repeat(" ", ids+4)
		for _, note := range []string{line(l.Note), line(l.Baseline)} {
			if note != "" {
				b.WriteString(wrap(under, under, note))
			}
		}
	}
}

func (r *Report) failures(b *strings.Builder) {
	section := func(title string, verdict Verdict, render func(Failure) string) {
		begun := false
		for _, l := range r.Requirements {
			if l.Verdict != verdict {
				continue
			}
			for _, i := range r.failuresOf(l.ID) {
				if !begun {
					fmt.Fprintf(b, "\n%s\n", title)
					begun = true
				}
				b.WriteString("\n" + render(r.Failures[i]) + "\n")
			}
		}
	}
	section("Failures", Fail, Failure.String)
	section("Warnings", Warning, Failure.String)
	// What is known needs no second explanation: how to see it again is enough.
	section("Known failures", Known, func(f Failure) string {
		f.Timeline, f.Expected, f.Seen, f.Diff = nil, "", "", ""
		return f.String()
	})
}

func (r *Report) notExercised(b *strings.Builder) {
	var ids []string
	for _, l := range r.Requirements {
		if l.Verdict == NotExercised && l.Level != contract.Should {
			ids = append(ids, line(l.ID))
		}
	}
	if len(ids) > 0 {
		b.WriteString("\nNot exercised: nothing is known of these, so that the run does not pass\n")
		b.WriteString(wrap("  ", "  ", strings.Join(ids, ", ")))
	}
}

// summary is the last line.
func (r *Report) summary() string {
	counts := make(map[Verdict]uint64)
	for _, l := range r.Requirements {
		counts[l.Verdict]++
	}
	var parts []string
	for _, v := range []Verdict{Fail, NotExercised, Pass, Warning, Known, NotSupported} {
		if n := counts[v]; n > 0 || v == Pass {
			parts = append(parts, fmt.Sprintf("%s %s", grouped(n), v))
		}
	}
	if n := len(r.AllProblems()); n > 0 {
		parts = append(parts, counted(uint64(n), "problem"))
	}
	verdict := "FAIL: "
	if r.Passed() {
		verdict = "PASS: "
	}
	return verdict + strings.Join(parts, ", ")
}

// wrap breaks a text at spaces, so that its lines are not wider than they need to be.
func wrap(first, others, text string) string {
	var b strings.Builder
	b.WriteString(first)
	column, empty := utf8.RuneCountInString(first), true
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case empty:
		case column+1+n > width:
			b.WriteString("\n" + others)
			column = utf8.RuneCountInString(others)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
		empty = false
	}
	b.WriteByte('\n')
	return b.String()
}

func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + "…"
}

// grouped writes 12345 as 12,345.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

func elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
