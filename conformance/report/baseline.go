package report

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loopcheck/loopcheck/contract"
)

// Baseline lists the requirements that a subject is known to break. The file has a line for each, the requirement and then
// why; blank lines, and lines that begin with #, are passed over:
//
//	# known failures of myloop
//	INT-2 the client of v0.3 has no cancellation, issue 41
type Baseline []Entry

// Entry is one line of a baseline.
type Entry struct {
	Requirement string `json:"requirement"`
	Reason      string `json:"reason"`
	File        string `json:"file"`
	Line        int    `json:"line"` // from 1
}

func (e Entry) where() string { return fmt.Sprintf("%s:%d", e.File, e.Line) }

func (b Baseline) find(id string) (Entry, bool) {
	if i := slices.IndexFunc(b, func(e Entry) bool { return e.Requirement == id }); i >= 0 {
		return b[i], true
	}
	return Entry{}, false
}

// ParseBaseline reads a baseline's text; name is what its entries and errors call the file, and own are the identifiers of
// the user's own requirements. It reports every line that is wrong: an unknown requirement, one that is no part of a
// verdict (TYPES), one that is there twice, a missing reason, text that is not UTF-8.
func ParseBaseline(name string, data []byte, own ...string) (Baseline, error) {
	var b Baseline
	var wrong []error
	for i, text := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		id, reason := text, ""
		if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
			id, reason = text[:at], strings.TrimSpace(text[at:])
		}
		fault := checkEntry(text, id, reason, own)
		if e, ok := b.find(id); ok && fault == "" {
			fault = fmt.Sprintf("%s is there already, in line %d", id, e.Line)
		}
		if fault != "" {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s", name, i+1, fault))
			continue
		}
		b = append(b, Entry{Requirement: id, Reason: reason, File: name, Line: i + 1})
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return b, nil
}

func checkEntry(text, id, reason string, own []string) (fault string) {
	q, ok := contract.Lookup(id)
	switch {
	case !utf8.ValidString(text):
		return "not UTF-8"
	case !ok && !slices.Contains(own, id):
		return fmt.Sprintf("unknown requirement %q", id)
	case ok && q.Level == contract.Types:
		return fmt.Sprintf("%s is a property of the declared types, and no part of a subject's verdict", id)
	case reason == "":
		return fmt.Sprintf("%s has no reason; it follows the requirement in the same line", id)
	default:
		return ""
	}
}

// ReadBaseline reads a baseline from a file, as [ParseBaseline] does. A file that does not exist is an error.
func ReadBaseline(path string, own ...string) (Baseline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	return ParseBaseline(path, data, own...)
}

// Apply holds the report against a baseline, in place of the one before: a requirement that is broken and has an entry is a
// known failure. An entry whose requirement passes, or is a MUST that was not exercised, is a problem (BaselineProblems); one
// whose requirement is not supported is noted in its line. What the report finds later, and what it is merged with, is held
// against the same baseline. Apply it to the merged report of a campaign: a part need not find what all of it finds.
func (r *Report) Apply(b Baseline) {
	r.Baseline = slices.Clone(b)
	r.Settle()
}
