package sim

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError says which line of a schedule cannot be read, and why.
type SyntaxError struct {
	Line   int // from 1; 0 where a line was parsed alone
	Text   string
	Reason string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("sim: schedule: %s: %q", e.Reason, e.Text)
	}
	return fmt.Sprintf("sim: schedule, line %d: %s: %q", e.Line, e.Reason, e.Text)
}

// ParseRecord reads a record's text. Blank lines, and lines that begin with #, are passed over. An error is a
// [*SyntaxError].
func ParseRecord(text string) (Record, error) {
	var r Record
	var titled bool
	given, taken := make(map[string]bool), make(map[site]bool)
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fail := func(reason string) (Record, error) {
			return Record{}, &SyntaxError{Line: i + 1, Text: shorten(line), Reason: reason}
		}
		words, err := splitWords(line)
		if err != nil {
			return fail(err.Error())
		}
		if !titled {
			if words[0] != recordTitle || len(words) != 2 {
				return fail(fmt.Sprintf("a schedule begins with %q", recordTitle+" "+recordVersion))
			}
			if words[1] != recordVersion {
				return fail("a schedule of an unknown version; this program reads version " + recordVersion)
			}
			titled = true
			continue
		}
		if words[0] == "at" || words[0] == "after" {
			d, reason := parseDeviation(words)
			if reason != "" {
				return fail(reason)
			}
			if taken[d.site()] {
				return fail("a second deviation at one place")
			}
			taken[d.site()] = true
			r.Schedule = append(r.Schedule, d)
			continue
		}
		if given[words[0]] {
			return fail("given a second time")
		}
		given[words[0]] = true
		if reason := r.parseField(words[0], words[1:]); reason != "" {
			return fail(reason)
		}
	}
	if !titled {
		return Record{}, &SyntaxError{Line: 1, Reason: fmt.Sprintf("a schedule begins with %q", recordTitle+" "+recordVersion)}
	}
	r.Schedule = r.Schedule.Sorted()
	return r, nil
}

func (r *Record) parseField(name string, values []string) (reason string) {
	if name != "steps" && len(values) != 1 {
		return "not a field with one value, and not a deviation"
	}
	var err error
	switch name {
	case "check":
		r.Check = values[0]
	case "go":
		r.Go = values[0]
	case "seed":
		r.Seed, err = strconv.ParseUint(values[0], 10, 64)
	case "trace":
		r.Hash, err = strconv.ParseUint(values[0], 16, 64)
	case "steps":
		for _, v := range values {
			var step uint64
			if step, err = strconv.ParseUint(v, 16, 16); err != nil {
				break
			}
			r.Steps = append(r.Steps, uint16(step))
		}
	default:
		return "unknown field"
	}
	if err != nil {
		return "not a number that can be here"
	}
	return ""
}

// String returns the deviation as a line: `at OWNER GATE N verdict VERDICT`, or `after OWNER GATE N run THREAD`, or
// `after start run THREAD`.
func (d Deviation) String() string {
	where := word(d.Owner) + " " + word(d.Gate) + " " + strconv.Itoa(d.Nth)
	if d.Kind == Verdict {
		return "at " + where + " verdict " + word(d.Choice)
	}
	if (place{d.Owner, d.Gate}) == beginning {
		where = beginning.owner
	}
	return "after " + where + " run " + word(d.Choice)
}

// ParseDeviation reads one line that Deviation.String wrote. An error is a [*SyntaxError] without a line number.
func ParseDeviation(line string) (Deviation, error) {
	words, err := splitWords(strings.TrimSpace(line))
	if err != nil {
		return Deviation{}, &SyntaxError{Text: shorten(line), Reason: err.Error()}
	}
	d, reason := parseDeviation(words)
	if reason != "" {
		return Deviation{}, &SyntaxError{Text: shorten(line), Reason: reason}
	}
	return d, nil
}

func parseDeviation(words []string) (d Deviation, reason string) {
	switch {
	case len(words) == 4 && words[0] == "after" && words[1] == beginning.owner && words[2] == "run":
		return Deviation{Kind: Switch, Owner: beginning.owner, Nth: 1, Choice: words[3]}, ""
	case len(words) == 6 && words[0] == "after" && words[4] == "run":
		d.Kind = Switch
	case len(words) == 6 && words[0] == "at" && words[4] == "verdict":
		d.Kind = Verdict
	default:
		return d, "not a deviation: it reads `at OWNER GATE N verdict VERDICT`, `after OWNER GATE N run THREAD` or `after start run THREAD`"
	}
	nth, err := strconv.Atoi(words[3])
	if err != nil || nth < 1 {
		return d, "the gate's number is counted from 1"
	}
	d.Owner, d.Gate, d.Nth, d.Choice = words[1], words[2], nth, words[5]
	if (place{d.Owner, d.Gate}) == beginning {
		return d, "a gate needs a name"
	}
	return d, ""
}

// word writes a name so that it is one word of a line: as it is, or quoted.
func word(s string) string {
	plain := s != "" && s[0] != '#' && utf8.ValidString(s)
	for _, r := range s {
		plain = plain && r != '"' && unicode.IsGraphic(r) && !unicode.IsSpace(r)
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// splitWords splits a line at spaces; a quoted word may hold some.
func splitWords(line string) ([]string, error) {
	var words []string
	for line != "" {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("a quoted word does not end")
			}
			w, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("a badly quoted word")
			}
			words, line = append(words, w), line[len(quoted):]
			if line != "" && !startsWithSpace(line) {
				return nil, fmt.Errorf("text follows a quoted word without a space")
			}
		} else {
			end := strings.IndexFunc(line, unicode.IsSpace)
			if end < 0 {
				end = len(line)
			}
			w := line[:end]
			if strings.Contains(w, `"`) {
				return nil, fmt.Errorf("a quote inside a word")
			}
			words, line = append(words, w), line[end:]
		}
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
	}
	return words, nil
}

func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

func shorten(line string) string {
	if len(line) > 120 {
		return line[:120] + "…"
	}
	return line
}
