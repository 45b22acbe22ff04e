// Package timeline tells what happened in a run, for people: one line for what belongs together, in the order in which it was
// seen, up to the entry at which a breach showed.
//
//	a1 submit steps=d1 ──▶ loop captures {base, m0, low, [d1 d2]}
//	loop ──▶ model a1 step 1: calls d1
//	b1 change effort=high ──▶ journal: inference_changed ✓ ──▶ ok
//	loop ──▶ tool a1 step 1: base/d1 … ok
//	loop ──▶ model a1 step 2: effort high   ◀── expected low
//
// An arrow leads to what came next, a line that ends in … goes on further down, and one that begins with a name and … is such
// a continuation. A request is told by what the turn captured, and a later one only by what differs from that. Where there are
// several tools of one name, x@b1 is the one that operation b1 brought, d1@plan the one of mode plan, and x@? nobody's.
//
// Nothing that a loop under test says is trusted: its texts are escaped and shortened, and a method of an error that panics
// is noted as such.
package timeline

import (
	"slices"

	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// Width is the number of columns that no line exceeds.
const Width = 110

// Long is the number of lines beyond which a story leaves out what does not matter to the breach. What does is told however
// long that becomes.
const Long = 40

// Mark is where a breach showed, and how.
type Mark struct {
	// Seq is that of the entry, with which the story ends; negative if there is none: in a run without a breach, or where it is
	// the end that shows it, as with a call that does not return. Then the last line says what is still open.
	Seq int
	// Expected and Seen are what was compared; both empty if nothing was.
	Expected, Seen string
	// Op is the operation concerned, and Message what was said of the breach: the lines of that operation, and of those that the
	// message names, are never left out. Both may be empty.
	Op, Message string
}

// compared reports whether there is something to say of what was expected.
func (m Mark) compared() bool { return m.Expected != "" || m.Seen != "" }

// Lines tells the story of a run, up to the entry at which the breach showed, whose line is the last one. The entries are those
// of a [trace.Log], in its order; ones behind the mark are looked at only for what they say of those before it.
func Lines(load workload.Workload, entries []trace.Entry, breach Mark) []string {
	lines := tell(load, entries, breach, false)
	if len(lines) > Long {
		lines = elide(tell(load, entries, breach, true), concerned(load, entries, breach))
	}
	texts := make([]string, 0, len(lines)+1)
	for _, l := range lines {
		mark := ""
		if l.marked {
			mark = marking(breach)
			if l.natural() > Width-width(mark) {
				var before *line
				if before, l = l.split(); before != nil {
					texts = append(texts, before.render(Width))
				}
			}
		}
		texts = append(texts, l.render(Width-width(mark))+mark)
	}
	return texts
}

// Steps is how many steps a person sees who follows the run up to the mark, whatever of it is told in one line or left out:
// the calls of operations and what became of the world around them (a context that ends, a crash, a restore), and what the loop
// asked of its surroundings (appends, model requests, tool runs, builds). Returns and ends belong to what they end.
func Steps(entries []trace.Entry, breach Mark) int {
	n := 0
	for _, e := range entries[:cut(entries, breach)] {
		switch e.Kind {
		case trace.Called, trace.ContextEnded, trace.Crashed, trace.AppendBegan, trace.RequestBegan, trace.ToolBegan, trace.BuildBegan:
			n++
		case trace.Started:
			if e.Life > 1 {
				n++
			}
		}
	}
	return n
}

// cut is how many entries the story has. A mark that no entry has is taken for the last one's: better a story that is too long.
func cut(entries []trace.Entry, breach Mark) int {
	if breach.Seq >= 0 {
		if i := slices.IndexFunc(entries, func(e trace.Entry) bool { return e.Seq == breach.Seq }); i >= 0 {
			return i + 1
		}
	}
	return len(entries)
}

// tell makes the lines. A terse story does without what is hardly ever of interest.
func tell(load workload.Workload, entries []trace.Entry, breach Mark, terse bool) []*line {
	s := newStory(load, entries, terse)
	n := cut(entries, breach)
	for i := range entries[:n] {
		marked := breach.Seq >= 0 && i == n-1
		s.forced = marked
		// The order of what happened within one step was not decided, but it is what the judge went by where the breach shows.
		s.exact = breach.Seq >= 0 && entries[i].Step == entries[n-1].Step
		s.add(&entries[i], i)
	}
	switch {
	case breach.Seq < 0:
		text := "at the end nothing is open"
		open := s.open()
		if open != "" {
			text = "at the end, still open: " + open
		}
		if open != "" || breach.compared() {
			l := s.begin("", text)
			l.weight, l.marked = keep, breach.compared()
		}
	case n == 0:
		s.begin("", "nothing was seen").marked = true
	default:
		last := s.last()
		last.marked, last.weight = true, keep
	}
	return s.lines
}

// concerned are the operations whose lines are never left out.
func concerned(load workload.Workload, entries []trace.Entry, breach Mark) map[string]bool {
	known := make(map[string]workload.Operation)
	for _, o := range load.Operations() {
		known[o.ID] = o
	}
	seen := make(map[string]bool)
	add := func(op string) {
		if op == "" || seen[op] {
			return
		}
		seen[op] = true
		if turn, is := known[op].Value("turn"); is && known[op].Kind == workload.Wait {
			seen[turn] = true
		}
	}
	add(breach.Op)
	if n := cut(entries, breach); breach.Seq >= 0 && n > 0 {
		add(entries[n-1].Op)
	}
	for _, word := range words(breach.Message) {
		if _, is := known[word]; is {
			add(word)
		}
	}
	return seen
}
