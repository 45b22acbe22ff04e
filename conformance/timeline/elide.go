package timeline

import (
	"fmt"
	"slices"
)

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
