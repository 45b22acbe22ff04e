package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// SyntaxError says which line of a workload is wrong, and why.
type SyntaxError struct {
	Line   int // from 1; 0 for a workload that was made in Go
	Text   string
	Reason string
}

func (e *SyntaxError) Error() string {
	where := "workload"
	if e.Line > 0 {
		where += ", line " + strconv.Itoa(e.Line)
	}
	if e.Text == "" {
		return where + ": " + e.Reason
	}
	return fmt.Sprintf("%s: %s: %q", where, e.Reason, e.Text)
}

// Parse reads a workload's text. kinds are those that the user has added. An error is a [*SyntaxError].
func Parse(text string, kinds ...Kind) (Workload, error) { return ParseAt(text, 1, kinds...) }

// ParseAt reads a workload's text that begins at that line of a file, which errors count from.
func ParseAt(text string, line int, kinds ...Kind) (Workload, error) {
	p := parser{check: newChecker(kinds)}
	for i, text := range strings.Split(text, "\n") {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		if reason := p.line(text); reason != "" {
			return Workload{}, &SyntaxError{Line: line + i, Text: shorten(text), Reason: reason}
		}
	}
	return p.workload, nil
}

type parser struct {
	workload Workload
	check    *checker
	begun    bool // a line has been read
	tail     bool // the lines are the tail's
}

func (p *parser) line(text string) (reason string) {
	words, err := splitWords(text)
	if err != nil {
		return err.Error()
	}
	first := !p.begun
	p.begun = true
	w := &p.workload
	switch words[0] {
	case "foreign":
		if !first || len(words) != 1 {
			return "foreign stands alone, on the first line"
		}
		w.Foreign = true
		return ""
	case "client":
		switch {
		case len(words) != 2:
			return "a client has one name"
		case p.tail:
			return "a client after the tail"
		}
		w.Clients = append(w.Clients, Client{Name: words[1]})
		return p.check.client(words[1])
	case "tail":
		switch {
		case len(words) != 1:
			return "the tail has no name"
		case p.tail:
			return "a second tail"
		}
		p.tail = true
		return ""
	}
	if len(w.Clients) == 0 && !p.tail {
		return "an operation belongs to a client or to the tail, and none has begun"
	}
	o, reason := parseOperation(words)
	if reason != "" {
		return reason
	}
	if p.tail {
		w.Tail = append(w.Tail, o)
		return p.check.operation(TailName, o)
	}
	c := &w.Clients[len(w.Clients)-1]
	c.Operations = append(c.Operations, o)
	return p.check.operation(c.Name, o)
}

func parseOperation(words []string) (o Operation, reason string) {
	if len(words) < 2 {
		return o, "not an operation: it reads `ID KIND ARGUMENT=VALUE …`"
	}
	o.ID, o.Kind = words[0], Kind(words[1])
	for _, word := range words[2:] {
		name, value, given := strings.Cut(word, "=")
		if strings.HasPrefix(value, `"`) {
			var err error
			if value, err = unquote(value); err != nil {
				return o, "a badly quoted value"
			}
		}
		switch {
		case name == "cancel" && !given:
			if o.Cancel {
				return o, "argument cancel is repeated"
			}
			o.Cancel = true
		case name == "inside" && given:
			if o.Inside != "" {
				return o, "argument inside is repeated"
			}
			if value == "" {
				return o, "inside names no submit"
			}
			o.Inside = value
		case name == bare && !given:
			o.Args = append(o.Args, Arg{Name: bare})
		case !given, name == bare, name == "cancel":
			return o, fmt.Sprintf("not an argument: %q; one reads NAME=VALUE, and only nil and cancel have no value", word)
		default:
			o.Args = append(o.Args, Arg{name, value})
		}
	}
	return o, ""
}

// unquote reads a value quoted as in Go, but without octal escapes: "\x01" and "\001" would be one byte apart, and the same.
func unquote(quoted string) (string, error) {
	for i := 0; i+1 < len(quoted); i++ {
		if quoted[i] == '\\' {
			if i++; quoted[i] >= '0' && quoted[i] <= '7' {
				return "", strconv.ErrSyntax
			}
		}
	}
	return strconv.Unquote(quoted)
}

// splitWords splits a line at spaces. What follows =" is a quoted value, which may hold some; it stays quoted.
func splitWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if i := strings.IndexByte(line[:end], '='); i >= 0 && strings.HasPrefix(line[i+1:], `"`) {
			quoted, err := strconv.QuotedPrefix(line[i+1:])
			if err != nil {
				return nil, errors.New("a quoted value does not end, or is badly quoted")
			}
			if end = i + 1 + len(quoted); end < len(line) && line[end] != ' ' && line[end] != '\t' {
				return nil, errors.New("text follows a quoted value without a space")
			}
			if !plain(line[:i]) {
				return nil, errors.New("a quote, or a character that does not show, inside a word")
			}
		} else if !plain(line[:end]) {
			return nil, errors.New("a word of other than plain characters is to be quoted, behind its =")
		}
		words, line = append(words, line[:end]), line[end:]
	}
	return words, nil
}

func shorten(line string) string {
	if len(line) > 120 {
		return line[:120] + "…"
	}
	return line
}
