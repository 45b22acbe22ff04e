package timeline

import (
	"fmt"
	"slices"
	"strings"
)

// What a line weighs when some have to be left out.
const (
	slight = iota // hardly of interest
	minor         // of interest to whom it concerns
	usual
	keep // told however long the story is
)

// line is what belongs together and had nothing else in between.
type line struct {
	parts   []*part
	who     string   // whose call it tells of, for a line that goes on with it
	strands []string // whom it is open to: what belongs to one of these goes on in it
	ops     []string
	step    int // of the last entry in it
	weight  int
	goesOn  bool // it ends with …
	begins  bool // with the call of an operation
	effect  bool // it tells of what the loop did for a turn
	marked  bool
}

// part is a piece of a line behind its separator. One with items is written by these.
type part struct {
	separator, text string
	group           string // what the items are
	items           []*item
}

// item is one of several tools or builds that are told together.
type item struct{ name, state string }

func (l *line) add(separator, text string) *part {
	p := &part{separator: separator, text: text}
	l.parts = append(l.parts, p)
	return p
}

func (l *line) tail() *part {
	if len(l.parts) == 0 {
		return l.add("", "")
	}
	return l.parts[len(l.parts)-1]
}

func (l *line) opens(strand string) {
	if strand != "" && !slices.Contains(l.strands, strand) {
		l.strands = append(l.strands, strand)
	}
}

func (l *line) closes(strand string) {
	l.strands = slices.DeleteFunc(l.strands, func(s string) bool { return s == strand })
}

func (l *line) isOpenTo(strand string) bool { return slices.Contains(l.strands, strand) }

// write returns the part's text: items that fared alike are named together, those that go on last.
func (p *part) write() string {
	if len(p.items) == 0 {
		return p.text
	}
	var groups []string
	group := func(items []*item) {
		for from := 0; from < len(items); {
			to := from
			var names []string
			for ; to < len(items) && items[to].state == items[from].state; to++ {
				names = append(names, items[to].name)
			}
			text := list(names, ", ") + " …"
			if state := items[from].state; state != "" {
				text += " " + state
			}
			groups, from = append(groups, text), to
		}
	}
	goesOn := func(i *item) bool { return i.state == "" }
	group(slices.DeleteFunc(slices.Clone(p.items), goesOn))
	group(slices.DeleteFunc(slices.Clone(p.items), func(i *item) bool { return !goesOn(i) }))
	return p.text + list(groups, "; ")
}

// split cuts the last part off a line, where that can stand for itself: the one that is marked is to be told in full.
func (l *line) split() (before, last *line) {
	n := len(l.parts)
	p := l.tail()
	if n < 2 || p.separator != arrow || n == 2 && (l.parts[0].text == "loop" || l.parts[0].text == l.who) {
		return nil, l
	}
	first, rest := *l, *l
	first.parts, first.goesOn, first.marked = l.parts[:n-1], true, false
	if l.who != "" {
		rest.parts = []*part{{text: l.who}, {separator: goes, text: p.text, items: p.items}}
	} else {
		rest.parts = []*part{{text: p.text, items: p.items}}
	}
	return &first, &rest
}

// natural is the number of columns that the line takes if nothing is shortened.
func (l *line) natural() int {
	n := 0
	for _, p := range l.parts {
		n += width(p.separator) + width(p.write())
	}
	return n
}

// render writes the line in so many columns.
func (l *line) render(columns int) string {
	type piece struct{ separator, text string }
	pieces := make([]piece, len(l.parts))
	for i, p := range l.parts {
		pieces[i] = piece{p.separator, p.write()}
	}
	ending := ""
	if n := len(pieces); l.goesOn && !l.marked && (n == 0 || !strings.HasSuffix(pieces[n-1].text, "…")) {
		ending = " …"
	} else if l.marked && n > 0 {
		pieces[n-1].text = strings.TrimSuffix(pieces[n-1].text, " …")
	}
	columns -= width(ending)
	// The ends of a line say who did what and how it went: of more pieces than there is room for, those in the middle go.
	const most = 7
	if n := len(pieces); n > most {
		pieces = append(append(slices.Clone(pieces[:3]), piece{arrow, "…"}), pieces[n-3:]...)
	}
	join := func(limit int) string {
		var b strings.Builder
		for i, p := range pieces {
			b.WriteString(p.separator)
			if i == len(pieces)-1 { // how it came out
				limit += limit / 2
			}
			b.WriteString(shorten(p.text, limit))
		}
		return b.String()
	}
	// The longest pieces give first.
	for limit := columns; limit > 3; limit-- {
		if text := join(limit); width(text) <= columns {
			return text + ending
		}
	}
	return shorten(join(3), columns) + ending
}

// What is told of the beginning and the end of a story however long it is.
const (
	beginning = 4
	ending    = 8
)

// elide leaves out runs of lines in the middle, the slightest first, until the story is short enough or only such are left as
// matter: those of the operations concerned, commits, crashes, panics.
func elide(lines []*line, concerned map[string]bool) []*line {
	short := lines
	for weight := slight; weight < keep && len(short) > Long; weight++ {
		short = without(lines, func(l *line) bool {
			return l.weight <= weight && !slices.ContainsFunc(l.ops, func(op string) bool { return concerned[op] })
		})
	}
	return short
}

func without(lines []*line, out func(*line) bool) []*line {
	var kept []*line
	for i := 0; i < len(lines); {
		from := i
		for i < len(lines) && i >= beginning && i < len(lines)-ending && out(lines[i]) {
			i++
		}
		switch n := i - from; {
		case n > 1: // a single line is not worth one that says it is left out
			l := &line{}
			l.add("", fmt.Sprintf("… %d lines …", n))
			kept = append(kept, l)
		case n == 1:
			kept = append(kept, lines[from])
		default:
			kept = append(kept, lines[i])
			i++
		}
	}
	return kept
}
