package corpus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// Error says which line of which file is wrong, and why.
type Error struct {
	File   string
	Line   int // from 1
	Text   string
	Reason string
	// Cause is the [*workload.SyntaxError] or [*sim.SyntaxError] of a line in a section, which counts from the beginning of the
	// file too; nil for what is wrong with the file itself.
	Cause error
}

func (e *Error) Error() string {
	where := fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
	if e.Text == "" {
		return where
	}
	return fmt.Sprintf("%s: %q", where, e.Text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Parse reads a file's text. name is what errors call it, and kinds are the kinds of operations that the user has added. An error
// is an [*Error].
func Parse(name string, data []byte, kinds ...workload.Kind) (File, error) {
	f, err := parse(string(data), kinds)
	if err != nil {
		err.File = name
		return File{}, err
	}
	return f, nil
}

func parse(text string, kinds []workload.Kind) (File, *Error) {
	p := parser{given: make(map[string]bool)}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if reason := p.line(i, line); reason != "" {
			return File{}, &Error{Line: i + 1, Text: shorten(strings.TrimSpace(line)), Reason: reason}
		}
	}
	end := &Error{Line: len(lines)}
	switch {
	case !p.given[title]:
		end.Reason = fmt.Sprintf("a file of a corpus begins with %q", title+" "+version)
	case !p.given["contract"]:
		end.Reason = "the contract's version is missing"
	case !p.given["workload"]:
		end.Reason = "the workload is missing"
	}
	if end.Reason != "" {
		return File{}, end
	}
	if !p.given["schedule"] { // its first line may be misspelt, and then the workload's parser points at it
		p.schedule = len(lines)
	}
	section := func(from, to int) string { return strings.Join(lines[from:to], "\n") }
	var err error
	if p.file.Workload, err = workload.ParseAt(section(p.workload+1, p.schedule), p.workload+2, kinds...); err != nil {
		e := &Error{Line: p.workload + 1, Reason: err.Error(), Cause: err}
		if syntax := (*workload.SyntaxError)(nil); errors.As(err, &syntax) {
			e.Line, e.Text, e.Reason = syntax.Line, syntax.Text, syntax.Reason
		}
		return File{}, e
	}
	if !p.given["schedule"] {
		end.Reason = "the schedule is missing"
		return File{}, end
	}
	if p.file.Record, err = sim.ParseRecord(section(p.schedule+1, len(lines))); err != nil {
		e := &Error{Line: p.schedule + 1, Reason: err.Error(), Cause: err}
		if syntax := (*sim.SyntaxError)(nil); errors.As(err, &syntax) {
			moved := *syntax
			moved.Line += p.schedule + 1
			e.Line, e.Text, e.Reason, e.Cause = moved.Line, moved.Text, moved.Reason, &moved
		}
		return File{}, e
	}
	return p.file, nil
}

type parser struct {
	file               File
	given              map[string]bool
	workload, schedule int // the lines, from 0, at which the sections begin
}

func (p *parser) line(i int, line string) (reason string) {
	if !utf8.ValidString(line) {
		return "not UTF-8"
	}
	if strings.ContainsFunc(strings.TrimRight(line, "\r"), hidden) {
		return "a control character"
	}
	word := strings.TrimSpace(line)
	if strings.HasPrefix(word, "#") {
		if !p.given["workload"] {
			_, comment, _ := strings.Cut(strings.TrimRight(line, "\r"), "#")
			p.file.Log = append(p.file.Log, strings.TrimPrefix(comment, " "))
		}
		return ""
	}
	if word == "" {
		return ""
	}
	name, value, _ := strings.Cut(word, " ")
	value = strings.TrimSpace(value)
	if !p.given[title] {
		switch {
		case name != title || value == "":
			return fmt.Sprintf("a file of a corpus begins with %q", title+" "+version)
		case value != version:
			return "a file of an unknown version; this program reads version " + version
		}
		p.given[title] = true
		return ""
	}
	switch {
	case word == "workload" && !p.given["workload"]:
		p.workload, p.given["workload"] = i, true
		return ""
	case word == "schedule" && p.given["workload"] && !p.given["schedule"]:
		p.schedule, p.given["schedule"] = i, true
		return ""
	case p.given["workload"]:
		return "" // the section's parser will see
	}
	return p.field(name, value)
}

func (p *parser) field(name, value string) (reason string) {
	if p.given[name] {
		return "given a second time"
	}
	if value == "" {
		return fmt.Sprintf("unknown field %q, or one without a value", name)
	}
	p.given[name] = true
	if name == "contract" {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil || n < 1 || strconv.Itoa(n) != value:
			return "not a version of the contract"
		case n > ContractVersion:
			return fmt.Sprintf("a newer contract; this program knows version %d", ContractVersion)
		}
		p.file.Contract = n
		return ""
	}
	field, known := map[string]*string{
		"requirement": &p.file.Requirement, "subject": &p.file.Subject, "found": &p.file.Found,
	}[name]
	if !known {
		return fmt.Sprintf("unknown field %q", name)
	}
	if value[0] == '"' {
		var err error
		if value, err = strconv.Unquote(value); err != nil {
			return "a badly quoted value"
		}
	}
	if *field = value; value == "" {
		return "an empty value"
	}
	return ""
}

func shorten(line string) string {
	if len(line) > 120 {
		return line[:120] + "…"
	}
	return line
}
