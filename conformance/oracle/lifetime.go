package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

// interruptCalled notes the turns that may be in flight at some instant of the call.
func (j *Judge) interruptCalled(l *life, o *op) {
	for _, other := range l.order {
		if t := other.turn; t != nil && !t.refused && !t.over() {
			t.candidates = append(t.candidates, o)
		}
	}
}

// interruptReturned judges an interrupt, and finds the turn that was in flight throughout it: one of whose requests or tool
// runs began before the call and has not returned, and that had no reason of its own to be ending.
func (j *Judge) interruptReturned(l *life, o *op, e *trace.Entry) {
	j.put("INT-1")
	if o.err != nil {
		if kind := kindOf(o.err); kind == loop.ChangeContextDone && o.ctxEnded >= 0 {
			return
		}
		j.blame("INT-1", o.id, "%s: an interrupt is a no-op when there is nothing to cancel, and was refused: %v", o.id, o.err)
		return
	}
	l.interrupted = e.Seq
	for _, t := range l.turns {
		if t.over() && t.ended > o.called && len(t.calls) > 0 {
			j.put("INT-2") // it has ended although its calls have not
		}
		if t.over() || t.mustInterrupt >= 0 || j.troubled(l, t) || l.strays(t) || l.timed || l.doubtful() || l.shutdown >= 0 {
			continue
		}
		if slices.ContainsFunc(t.calls, func(c *outside) bool { return c.began < o.called }) && !slices.ContainsFunc(t.calls, func(c *outside) bool { return c.began > o.called }) {
			t.mustInterrupt, t.mustStep = e.Seq, e.Step
			j.put("INT-2")
		}
	}
}

// interrupted judges whether a turn that ended as interrupted had a reason to: an interrupt that it was in flight at some
// instant of, and that did not cancel another one, or a shutdown (INT-1).
func (j *Judge) interrupted(l *life, t *turn) {
	if l.shutdown >= 0 {
		j.put("LIFE-1")
		return
	}
	j.put("INT-1")
	if l.doubtful() && len(t.candidates) == 0 && !t.started() {
		return
	}
	for _, o := range l.order {
		// A call that came after the submit, or had not returned by then.
		if is[trace.Interrupt](o) && (o.returned < 0 || o.returned > t.op.called) && !slices.Contains(t.candidates, o) && o.called < t.ended {
			t.candidates = append(t.candidates, o)
		}
	}
	if j.options.Joins { // inputs that share a turn share its interrupt, and who does so is not known
		if len(t.candidates) == 0 {
			j.blame("INT-1", t.op.id, "turn %s: it ended as interrupted, and no interrupt was called while it was in flight", t.op.id)
		}
		return
	}
	t.candidates = slices.DeleteFunc(t.candidates, func(o *op) bool { return !l.mayHaveCancelled(o, t) })
	if !l.matched() {
		id, what := "INT-1", "no interrupt was called while it was in flight that had not cancelled another one"
		if len(t.candidates) == 0 {
			what = "no interrupt was called while it was in flight"
			if died := l.died(""); died != "" && (l.interrupted < 0 || t.troubled) {
				id, what = died, "no interrupt was called, and a call to the surroundings had failed"
				l.lost = died == "EXT-11"
			} else if t.op.ctxEnded >= 0 {
				id, what = "REF-8", "no interrupt was called, and only the context of its Submit had ended"
			}
		}
		j.put(id)
		j.blame(id, t.op.id, "turn %s: it ended as interrupted, and %s", t.op.id, what)
	}
}

// mayHaveCancelled reports whether the turn may have been in flight between call and return of an interrupt: it had not ended
// before the call, and the turn before it had ended before the return.
func (l *life) mayHaveCancelled(o *op, t *turn) bool {
	if t.ended < o.called || o.returned >= 0 && o.returned < t.op.called {
		return false
	}
	if kindOf(o.err) != "" {
		return false
	}
	if o.returned < 0 {
		return true
	}
	for _, other := range l.order {
		before := other.turn
		if before == nil || before == t || !before.accepted || other.returned > t.op.called {
			continue // which of the two came first is not known
		}
		if before.ended < 0 || before.ended > o.returned {
			// Done is found closed after it was: the end may have come in the step of the return.
			if before.ended < 0 || before.endedStep > l.stepOf(o) {
				return false
			}
		}
	}
	return true
}

func (l *life) stepOf(o *op) int { return l.steps[o.id] }

// matched reports whether each interrupted turn can have an interrupt of its own.
func (l *life) matched() bool {
	owner := make(map[*op]*turn)
	var assign func(t *turn, seen map[*op]bool) bool
	assign = func(t *turn, seen map[*op]bool) bool {
		for _, o := range t.candidates {
			if seen[o] {
				continue
			}
			seen[o] = true
			if owner[o] == nil || assign(owner[o], seen) {
				owner[o] = t
				return true
			}
		}
		return false
	}
	for _, o := range l.order {
		if t := o.turn; t != nil && t.over() && outcomeText(t.outcome) == string(loop.TurnInterrupted) && !assign(t, make(map[*op]bool)) {
			return false
		}
	}
	return true
}

// shutdownReturned judges Shutdown (LIFE-1).
func (j *Judge) shutdownReturned(l *life, o *op, e *trace.Entry) {
	j.put("LIFE-1")
	j.put("REF-9")
	if o.err != nil {
		if o.ctxEnded < 0 || !isContext(o.err) {
			j.blame("LIFE-1", o.id, "%s: Shutdown returns nil, or the error of its context if that ends first, and returned %v", o.id, o.err)
		}
		return
	}
	for _, a := range l.appends {
		if a.returned < 0 {
			j.stillAppends(o.id)
			return
		}
	}
	if l.exited < 0 {
		l.exited, l.exitStep, l.exitedBy = e.Seq, e.Step, o.id
		j.put("LIFE-2")
		for _, t := range l.turns {
			if len(t.calls) > 0 {
				j.put("LIFE-1")
			}
		}
	}
}

func (j *Judge) stillAppends(shutdown string) {
	j.blame("LIFE-1", shutdown, "%s: Shutdown returned nil while an append was outstanding", shutdown)
}

// rest judges what must hold when everything has come to rest: after the exit every turn has ended. Turns are looked at when
// everything rests, for Done may be closed in the very step of the return.
func (j *Judge) rest() {
	l := j.life
	if l.lost || l.exited < 0 || l.settled {
		return
	}
	l.settled = true
	for _, o := range l.order {
		t := o.turn
		if t == nil || !t.accepted || t.over() || o.returned > l.exited {
			continue
		}
		if t.started() {
			j.blame("LIFE-1", o.id, "turn %s: Shutdown returned nil, and the turn that was in flight has not ended", o.id)
		} else {
			j.blame("LIFE-3", o.id, "turn %s: Shutdown returned nil, and the queued input got no outcome", o.id)
		}
		return
	}
}
