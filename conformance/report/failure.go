package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Failure is one breach of a requirement, as a person needs it.
type Failure struct {
	Requirement string `json:"requirement"`
	// Message is one line, begins with the requirement, and says what happened: `TURN-1 broken by turn a1, step 2: …`.
	Message string `json:"message"`
	// Expected, Seen and Diff say what the oracle compared, where it compared values; Diff may have several lines.
	Expected string `json:"expected,omitempty"`
	Seen     string `json:"seen,omitempty"`
	Diff     string `json:"diff,omitempty"`
	// Timeline is what happened, a line each, without the indentation that all of them get.
	Timeline []string `json:"timeline,omitempty"`
	Found    string   `json:"found,omitempty"` // by what: "schedule 412 (seed 7)"
	Steps    int      `json:"steps,omitempty"` // of the schedule as it is shown; 0 if nobody knows
	// ShrunkFrom is the number of steps of the schedule as it was found; 0 if it was not shrunk.
	ShrunkFrom int    `json:"shrunk_from,omitempty"`
	Replay     string `json:"replay,omitempty"` // the one line of shell that replays it
	File       string `json:"file,omitempty"`   // the schedule that was saved
	Token      string `json:"token,omitempty"`  // the schedule as one word
	Known      bool   `json:"known,omitempty"`  // the baseline expects it; belongs to [Report.Settle]
	// Cause tells failures of one requirement apart: two with the same cause are one. Empty means the message.
	Cause string `json:"cause,omitempty"`
}

// String renders the failure for people, without a newline at its end. Lines are not broken, so that a replay can be copied.
// Control characters and invalid UTF-8 are escaped.
func (f Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "loopcheck: %s", line(f.Message))
	var found []string
	if f.Found != "" {
		found = append(found, "found by "+line(f.Found))
	}
	switch {
	case f.ShrunkFrom > f.Steps && f.Steps > 0:
		found = append(found, fmt.Sprintf("shrunk from %s to %s", counted(uint64(f.ShrunkFrom), "step"), grouped(uint64(f.Steps))))
	case f.Steps > 0:
		found = append(found, counted(uint64(f.Steps), "step"))
	}
	if len(found) > 0 {
		fmt.Fprintf(&b, "\n  %s", strings.Join(found, ", "))
	}
	for _, t := range f.Timeline {
		fmt.Fprintf(&b, "\n    %s", escape(strings.TrimRightFunc(t, unicode.IsSpace), "\t"))
	}
	f.compared(&b)
	switch {
	case f.Replay != "":
		fmt.Fprintf(&b, "\n  replay:  %s", line(f.Replay))
	case f.File != "":
		fmt.Fprintf(&b, "\n  schedule:  %s", line(f.File))
	case f.Token != "":
		fmt.Fprintf(&b, "\n  schedule:  %s", line(f.Token))
	}
	return b.String()
}

func (f Failure) compared(b *strings.Builder) {
	for _, part := range []struct{ label, text string }{{"expected:", f.Expected}, {"seen:", f.Seen}, {"diff:", f.Diff}} {
		text := strings.TrimRight(block(part.text), "\n")
		switch {
		case text == "":
		case part.label == "diff:" || strings.Contains(text, "\n"):
			fmt.Fprintf(b, "\n  %s\n%s", part.label, indent(text, "    "))
		default:
			fmt.Fprintf(b, "\n  %-10s %s", part.label, text)
		}
	}
}

func (f Failure) cause() string { return cmp.Or(f.Cause, f.Message) }

// same reports whether the two are one failure that was found twice.
func (f Failure) same(other Failure) bool {
	return f.Requirement == other.Requirement && f.cause() == other.cause()
}

// compare orders failures that are the same by how good they are to show: fewer steps first. It is a total order, so that it
// does not matter in which order reports are merged.
func (f Failure) compare(other Failure) int {
	return cmp.Or(
		cmp.Compare(uint(f.Steps)-1, uint(other.Steps)-1), // unknown, 0, comes last
		cmp.Compare(len(f.Timeline), len(other.Timeline)),
		cmp.Compare(f.Message, other.Message), cmp.Compare(f.Expected, other.Expected), cmp.Compare(f.Seen, other.Seen),
		cmp.Compare(f.Diff, other.Diff), slices.Compare(f.Timeline, other.Timeline), cmp.Compare(f.Found, other.Found),
		cmp.Compare(f.ShrunkFrom, other.ShrunkFrom), cmp.Compare(f.Replay, other.Replay), cmp.Compare(f.File, other.File),
		cmp.Compare(f.Token, other.Token), cmp.Compare(f.Cause, other.Cause))
}

// line makes a text safe for one line of a terminal, a log or an XML document.
func line(s string) string { return escape(strings.TrimSpace(s), "\t") }

// block does so for several lines.
func block(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\t\n") }

func escape(s, keep string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\u00a0': // go-cmp writes one now and then
			b.WriteByte(' ')
		case strings.ContainsRune(keep, r) || unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		s = s[size:]
	}
	return b.String()
}

func indent(s, by string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(by+l, unicode.IsSpace)
	}
	return strings.Join(lines, "\n")
}
