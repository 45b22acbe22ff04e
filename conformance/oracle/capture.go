package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

// bound is why a capture cannot be older than a state.
type bound struct {
	index       int
	requirement string
	why         string
}

// captured judges a turn's capture by its first request: one whole committed state (TURN-2), durable (DUR-1), not older than
// what bounds says.
func (j *Judge) captured(l *life, t *turn, e *trace.Entry) {
	r := e.Request
	j.put("TURN-2")
	j.put("DUR-1")
	if len(l.states) > 0 && len(l.last().mode.Tools) > 0 {
		j.put("TURN-3")
	}
	bounds := j.bounds(l, t)
	t.bounds = bounds
	low := 0
	for _, b := range bounds {
		low = max(low, b.index)
	}
	t.high = len(l.states) - 1
	for i := low; i <= t.high; i++ {
		if l.states[i].asks(r) {
			t.low = i
			j.explained(l, t, l.states[i])
			return
		}
	}
	if j.phantom(l, t, r, false) {
		return
	}
	for i := low - 1; i >= 0; i-- {
		if !l.states[i].asks(r) {
			continue
		}
		t.low = i
		for _, b := range bounds {
			if b.index > i {
				if o := l.refusedOver(l.states[b.index], l.states[i], t); o != nil {
					j.blame("REF-1", t.op.id, "turn %s: the slot of %s is not what it was before, and that was refused", t.op.id, o.id).
						differ(showState(l.states[b.index]), showState(l.states[i]))
					return
				}
				if b.requirement == "TURN-2" || b.requirement == "TURN-4" {
					// Equal to an older state by chance, because only slots are lost by what should have left them alone?
					if s := l.states[b.index]; s.mode == l.states[i].mode && s.sameInference(r.Model, r.Effort) && l.visible(s, r) {
						j.tools(l, t, r, s)
						return
					}
				}
				j.blame(b.requirement, t.op.id, "turn %s: it captured an older state than %s", t.op.id, b.why).
					differ(showState(l.states[b.index]), showState(l.states[i]))
				return
			}
		}
	}
	if !j.phantom(l, t, r, true) {
		j.unexplained(l, t, r, low)
	}
}

// refusedOver returns a replacement that was refused, if that it took effect all the same explains the difference between two
// states.
func (l *life) refusedOver(want, got *state, t *turn) *op {
	if want.mode != got.mode || !want.sameInference(got.model, got.effort) {
		return nil
	}
	for _, o := range l.order {
		if asked, is := o.asked.(trace.Replace); is && !o.open() && o.err != nil && o.called > want.written && o.called < t.first && want.slot(asked.Source) != got.slot(asked.Source) {
			return o
		}
	}
	return nil
}

// visible reports whether a request shows what the last commit of a state did, though not the rest of the state.
func (l *life) visible(s *state, r *trace.Request) bool {
	replace, is := asked[trace.Replace](s.by)
	if !is {
		return s.kind != event.TypeLoopExternalToolsetChanged
	}
	offered := 0
	for _, t := range r.Tools {
		if slices.ContainsFunc(replace.Tools, func(o trace.Tool) bool { return o.Name == t.Name && o.Description == t.Description }) {
			offered++
		}
	}
	return offered == len(replace.Tools) && offered > 0
}

// bounds are the states that the capture cannot be older than.
func (j *Judge) bounds(l *life, t *turn) []bound {
	var bounds []bound
	var previous *turn
	if len(l.turns) > 1 {
		previous = l.turns[len(l.turns)-2]
	}
	called := t.op.called
	if j.options.Joins { // it may have joined an earlier input, whose turn this is, before anything was asked for that
		for _, o := range l.order {
			if o.turn != nil && !o.turn.refused && !o.turn.over() {
				called = min(called, o.called)
			}
		}
	}
	idle := true // whether no turn was in flight or queued when the input was handed in
	for _, o := range l.order {
		if o.turn != nil && o.turn != t && o.turn.accepted && o.called < t.op.called && !(o.turn.over() && o.turn.ended < t.op.called) {
			idle = false
		}
	}
	for i := len(l.states) - 1; i >= 0; i-- {
		switch s := l.states[i]; {
		case s.acked >= 0 && s.acked < called:
			if s.index == 0 {
				break
			}
			if idle {
				j.put("TURN-4")
				bounds = append(bounds, bound{i, "TURN-4", "the change acknowledged while the loop was idle"})
			} else {
				bounds = append(bounds, bound{i, "TURN-2", "the last change acknowledged before its input was submitted"})
			}
		case previous != nil && s.acked >= 0 && previous.endedAfter(s.acked):
			j.put("TURN-4")
			bounds = append(bounds, bound{i, "TURN-4", "a change acknowledged before the previous turn had ended"})
		default:
			continue
		}
		break
	}
	for _, other := range l.turns {
		if other != t {
			bounds = append(bounds, bound{other.low, "TURN-2", "the capture of turn " + other.op.id + " before it"})
		}
	}
	for _, a := range l.doubts {
		// After an ambiguous append no turn starts on the state before it: the loop finds out, or faults.
		if a.returned < called || previous != nil && previous.endedAfter(a.returned) {
			id := "DUR-6"
			if a.op != nil && !a.op.open() && kindOf(a.op.err) != "" {
				id = "REF-5"
			}
			j.put("DUR-6")
			bounds = append(bounds, bound{a.state.index, id, "the event of an append that failed, and is in the journal"})
		}
	}
	return bounds
}

// explained counts what a capture that a state explains has put to the test, and judges the order of the tools (TURN-9).
func (j *Judge) explained(l *life, t *turn, s *state) {
	if len(s.slots) > 0 {
		j.put("EXT-13")
	}
	for _, slot := range s.slots {
		for _, later := range l.states[slot.index+1 : s.index+1] {
			switch {
			case later.kind != event.TypeLoopExternalToolsetChanged:
				j.put("EXT-8")
			case later.slot(slot.source) == slot:
				j.put("EXT-2")
			}
		}
	}
	if l.anew && s.index == 0 {
		j.put("CHG-6")
	}
	if l.restored && len(s.slots) == 0 {
		j.put("EXT-9")
	}
	j.orders(l, t, s)
}

// phantom judges a capture of what somebody asked for that is not in the journal (DUR-1), because its append failed (REF-5) or
// it was refused (REF-1). What is still open comes last: it may be a state of before, too.
func (j *Judge) phantom(l *life, t *turn, r *trace.Request, open bool) bool {
	for _, o := range l.order {
		if o.committed != nil || o.unsure || o.open() != open || !o.changes() || !l.last().after(l.definition, o.asked).asks(r) {
			continue
		}
		id := "DUR-1"
		switch {
		case len(o.failedWith) > 0:
			id = "REF-5"
		case !open && o.err != nil:
			id = "REF-1"
		}
		j.blame(id, t.op.id, "turn %s: it captured what %s asked for, and no event of that is in the journal", t.op.id, o.id).
			differ(showState(l.last()), showRequest(r))
		return true
	}
	return false
}

// unexplained says what is wrong with a capture that is no committed state at all.
func (j *Judge) unexplained(l *life, t *turn, r *trace.Request, low int) {
	want := l.last()
	for i := len(l.states) - 1; i >= low; i-- { // the one that has most in common
		if s := l.states[i]; s.mode.Instructions == r.Instructions && s.sameInference(r.Model, r.Effort) {
			j.tools(l, t, r, s)
			return
		}
	}
	id, what := l.mixed(r, low)
	j.blame(id, t.op.id, "turn %s: its capture is no committed state: %s", t.op.id, what).differ(showState(want), showRequest(r))
}

// mixed says which requirement instructions, model and effort break that do not belong together.
func (l *life) mixed(r *trace.Request, low int) (id, what string) {
	want := l.last()
	switch {
	case marked(r.Model, fakes.ByReader):
		return "VIEW-3", "it shows what a reader wrote over the model that it was given"
	case marked(r.Model, fakes.ByCaller):
		return "CHG-5", "it shows what a caller wrote over a model after handing it over"
	case marked(r.Model, fakes.ByClient):
		return "TURN-1", "it shows what the model client wrote over an earlier request"
	case l.restored && !l.since(event.TypeLoopModeChanged) &&
		(r.Instructions != want.mode.Instructions || !l.since(event.TypeLoopInferenceChanged) && !want.sameInference(r.Model, r.Effort)):
		return "DUR-3", "what was in force before the restore is not"
	case len(l.states) == 1 && l.anew:
		return "CHG-6", "the loop does not start as the first one did"
	case len(l.states) == 1:
		return "TURN-2", "it is not what the definition says, and the journal holds no change"
	case want.mode.Instructions != r.Instructions && want.sameInference(r.Model, r.Effort) && want.kind == event.TypeLoopModeChanged:
		return "MODE-2", "the instructions are not those of the mode"
	}
	// The last commit that had a part in it says how they should go together.
	for i := len(l.states) - 1; i >= low && i > 0; i-- {
		switch s := l.states[i]; s.kind {
		case event.TypeLoopModeChanged:
			if s.mode.Instructions == r.Instructions || s.sameInference(r.Model, r.Effort) {
				return "MODE-2", "instructions, model and effort are not together those of the mode"
			}
			return "TURN-2", "it is a mix of two states"
		case event.TypeLoopInferenceChanged:
			if change, is := asked[trace.Change](s.by); is && change.Model != nil && change.Effort != nil &&
				(sameModel(s.model, r.Model) != (s.effort == r.Effort)) {
				return "CHG-2", "model and effort of one batch are not in force together"
			}
			if s.mode.Instructions != r.Instructions {
				return "TURN-2", "it is a mix of two states"
			}
			if change, is := asked[trace.Change](s.by); is && (change.Model == nil) != (change.Effort == nil) {
				return "TURN-2", "model and effort are a mix of two states"
			}
			return "TURN-2", "it is a mix of two states"
		}
	}
	return "TURN-2", "it is a mix of two states"
}

// since reports whether an event of a type was committed in this life.
func (l *life) since(kind event.Type) bool {
	return slices.ContainsFunc(l.states, func(s *state) bool { return s.kind == kind })
}

func asked[T any](o *op) (T, bool) {
	var none T
	if o == nil {
		return none, false
	}
	a, is := o.asked.(T)
	return a, is
}

func showRequest(r *trace.Request) string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	return "{instructions " + quote(r.Instructions) + ", " + showInference(r.Model, r.Effort) + ", tools " + show(names) + "}"
}
