package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// readBound is what a read that has returned says about later ones: the oldest state that explains it.
type readBound struct {
	returned int
	index    int
	op       string
}

// read judges a read of Mode, and then Model: each shows a durable state (DUR-1), not older than what was acknowledged before it
// began (VIEW-1), and not older than what a read showed that had returned before (VIEW-2).
//
// Of the states that explain a read the oldest is taken: a later read that is older than that one is older than whatever this one
// showed.
func (j *Judge) read(l *life, o *op, e *trace.Entry) {
	seen := e.Seen
	if seen == nil {
		return
	}
	j.put("VIEW-3")
	if l.doubtful() || len(l.states) > 1 {
		j.put("DUR-1")
	}
	acked := o.inference
	if acked > 0 {
		j.put("VIEW-1")
		if !l.doubtful() {
			j.put("DUR-2")
		}
	}
	low, before := acked, ""
	for _, b := range l.readSeqs {
		if b.returned < o.called {
			j.put("VIEW-2")
			if b.index > low {
				low, before = b.index, b.op
			}
		}
	}
	mode := l.find(low, seen.Between, func(s *state) bool { return s.mode.Name == seen.Mode })
	if mode < 0 {
		j.misread(l, o, low, acked, before, "Mode", string(seen.Mode), func(s *state) bool { return s.mode.Name == seen.Mode },
			func(s *state) string { return string(s.mode.Name) })
		return
	}
	inForce := func(s *state) bool { return s.sameInference(seen.Model, seen.Model.Sampling.Effort) }
	inference := l.find(mode, e.Seq, inForce)
	if inference < 0 {
		if mode > low && l.find(low, e.Seq, inForce) >= 0 {
			low, before = mode, o.id
		}
		j.misread(l, o, low, acked, before, "Model", showDescriptor(seen.Model), inForce, func(s *state) string { return showDescriptor(s.model.WithEffort(s.effort)) })
		return
	}
	l.readSeqs = append(l.readSeqs, readBound{o.returned, inference, o.id})
}

// find returns the first state from low on with a property that was durable by then; -1 if there is none.
func (l *life) find(low, by int, property func(*state) bool) int {
	for _, s := range l.states[low:] {
		if s.written < by && property(s) {
			return s.index
		}
	}
	return -1
}

// misread says what is wrong with a read that no state within its bounds explains.
func (j *Judge) misread(l *life, o *op, low, acked int, before, method, got string, property func(*state) bool, text func(*state) string) {
	want := text(l.last())
	blame := func(id, format string, args ...any) {
		j.blame(id, o.id, o.id+": "+method+"() "+format, args...).differ(want, got)
	}
	for i := low - 1; i >= 0; i-- {
		switch {
		case !property(l.states[i]):
		case i < acked:
			want = text(l.states[acked])
			blame("VIEW-1", "shows an older state than one acknowledged before the read")
			return
		default:
			want = text(l.states[low])
			blame("VIEW-2", "shows an older state than the read %s before it", before)
			return
		}
	}
	e := j.current.Seen.Model
	if method == "Model" && e.Sampling.Effort == "" && slices.ContainsFunc(l.states[low:], func(s *state) bool { return sameModel(s.model, e) }) {
		id := "VIEW-1"
		switch {
		case len(l.states) > 1:
		case l.restored:
			id = "DUR-3"
		case l.anew:
			id = "CHG-6"
		}
		blame(id, "does not show the effort in force in its sampling")
		return
	}
	for _, other := range l.order { // what is not durable
		if other.committed != nil || other.unsure {
			continue
		}
		switch other.asked.(type) {
		case trace.Change, trace.SetMode:
			if property(l.last().after(l.definition, other.asked)) {
				id := "DUR-1"
				if !other.open() && other.err != nil && len(other.failedWith) == 0 {
					id = "REF-1"
				}
				blame(id, "shows what %s asked for, and no event of that is in the journal", other.id)
				return
			}
		}
	}
	switch {
	case method == "Model" && (marked(e, fakes.ByReader) || marked(e, fakes.ByClient)):
		blame("VIEW-3", "shows what was written over a model that it had returned, or that a request held")
	case method == "Model" && marked(e, fakes.ByCaller):
		blame("CHG-5", "shows what a caller wrote over a model after handing it over")
	case len(l.states) == 1 && l.restored:
		blame("DUR-3", "does not show what was in force before the restore")
	case len(l.states) == 1 && l.anew:
		blame("CHG-6", "does not show what the definition says")
	case len(l.states) == 1:
		blame("VIEW-2", "does not show what the definition says, and the journal holds no change")
	default:
		blame("VIEW-2", "shows no committed state")
	}
}

func showDescriptor(m model.Model) string {
	return showInference(m, m.Sampling.Effort) + ", " + whole(plain(m))
}
