package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

// Quiet judges what must not be left open when nothing can happen any more: nobody is at a gate but who is held, and time
// has passed. An idle loop with accepted input is not quiet, nor is a call that has not returned.
func (j *Judge) Quiet() {
	l := j.life
	if l == nil || l.lost || j.breach != nil {
		return
	}
	j.quiet = true
	defer func() { j.quiet = false }()
	append := l.appending() // held: calls may wait for it
	if append && l.shutdown >= 0 {
		j.put("LIFE-1")
	}
	if !append && l.shutdown >= 0 && l.exited < 0 && l.mustExit < 0 {
		l.mustExit = j.current.Seq // nothing is left that the exit could wait for (LIFE-1)
	}
	heldBuild := ""
	for _, o := range l.order {
		if o.building > 0 || o.describing > 0 {
			heldBuild = o.id
		}
	}
	if heldBuild != "" {
		j.put("EXT-6")
	}
	for _, t := range l.turns {
		if len(t.calls) > 0 { // held: nobody may wait for it
			j.put("REF-7")
			heldBuild = "" // who waits may wait for either
		}
	}
	for _, o := range l.order {
		if j.breach != nil {
			return
		}
		j.quietOp(l, o, heldBuild, append)
	}
	for _, o := range l.order {
		if j.breach != nil {
			return
		}
		if o.turn != nil && o.turn.accepted {
			j.quietTurn(l, o.turn, heldBuild)
		}
	}
}

// quietOp judges a call that does not return (REF-7, and what says so of its kind).
func (j *Judge) quietOp(l *life, o *op, heldBuild string, append bool) {
	if !o.open() {
		return
	}
	if append {
		// Its own append is waited for in any case, another's as long as the context lasts (REF-7).
		if o.outstanding != nil || o.unsure || o.ctxEnded < 0 || l.mayOwn(o) {
			return
		}
	}
	id := "REF-7"
	switch asked := o.asked.(type) {
	case trace.Wait:
		return // it ends with its turn, which is judged
	case trace.Replace:
		building := o.building > 0 || o.describing > 0
		switch {
		case building && o.ctxEnded < 0:
			return // it waits for its own build
		case building:
			j.put("REF-7")
			j.blame("REF-7", o.id, "%s: its context has ended, and it waits for a build that does not return", o.id)
			return
		case asked.Panics || o.panicked:
			j.put("EXT-11")
			j.blame("EXT-11", o.id, "%s: a definition or tool panicked, and the call does not return", o.id)
			return
		}
	case trace.Shutdown:
		id = "LIFE-1"
	case trace.Change, trace.SetMode, trace.Interrupt, trace.Submit, trace.Read:
	default:
		return
	}
	if heldBuild != "" && heldBuild != o.id {
		id = "EXT-6"
	}
	j.put(id)
	why := "and nothing is outstanding that it may wait for"
	switch {
	case append:
		why = "although its context has ended, and only the append of another is outstanding"
	case heldBuild != "":
		why = "and only the build of " + heldBuild + " is outstanding"
	}
	j.blame(id, o.id, "%s: the call does not return, %s", o.id, why)
}

// quietTurn judges an accepted input without an outcome.
func (j *Judge) quietTurn(l *life, t *turn, heldBuild string) {
	if t.over() {
		for _, c := range t.calls {
			if outcomeText(t.outcome) == string(loop.TurnInterrupted) && c.entry.Context != nil && !j.cancelled(l, t, c.began, c.entry.Context.Err() != nil) {
				return
			}
		}
		return
	}
	if t.mustInterrupt >= 0 {
		j.put("INT-2")
		for _, c := range t.calls {
			if c.entry.Context != nil && c.entry.Context.Err() == nil {
				j.blame("INT-2", t.op.id, "turn %s: it was interrupted, and the context of a call in flight has not ended", t.op.id)
				return
			}
		}
		if l.appending() {
			return // of its own end, perhaps
		}
		why := "no call of it is in flight"
		if len(t.calls) > 0 {
			why = "a call of it does not return"
		}
		j.blame("INT-2", t.op.id, "turn %s: it was interrupted, and has not ended; %s", t.op.id, why)
		return
	}
	if l.appending() {
		return // whether a turn may wait for an append, the contract leaves open
	}
	if l.exited < 0 && l.shutdown < 0 {
		for _, other := range l.turns { // in flight, or behind one that is
			if !other.over() && len(other.calls) > 0 {
				return
			}
		}
	}
	if j.options.Joins && l.exited < 0 && l.shutdown < 0 {
		return
	}
	id, why := "TURN-7", "nothing outside is outstanding"
	switch {
	case t.panicked && l.shutdown < 0:
		id, why = "TURN-6", "a call of it has panicked"
	case heldBuild != "" && l.shutdown < 0:
		id, why = "EXT-6", "only the build of "+heldBuild+" is outstanding"
	case l.shutdown >= 0:
		id, why = "LIFE-1", "Shutdown was called"
		if !t.started() {
			id = "LIFE-3"
		}
	case t.troubled:
		id, why = "TURN-6", "a call of it has failed"
	case len(t.candidates) > 0 && !t.started() && l.interrupted > l.troubled:
		id, why = "INT-1", "an interrupt came while it was queued"
	case l.troubled >= 0:
		id, why = "TURN-6", "a model request or tool call has failed"
	case l.doubtful():
		id, why = "LIFE-3", "an append has failed"
	case t.op.ctxEnded >= 0:
		id, why = "REF-8", "the context of its Submit has ended"
	}
	j.put(id)
	what := "it has started and does not end"
	if !t.started() {
		what = "it was accepted and does not start"
	}
	j.blame(id, t.op.id, "turn %s: %s, and %s", t.op.id, what, why)
}

// appending reports whether an append is outstanding.
func (l *life) appending() bool {
	return slices.ContainsFunc(l.appends, func(a *appending) bool { return a.returned < 0 })
}

// mayOwn reports whether an append that is outstanding may be the operation's: that of an optional event may be anybody's.
func (l *life) mayOwn(o *op) bool {
	return slices.ContainsFunc(l.appends, func(a *appending) bool {
		return a.returned < 0 && (slices.Contains(a.fits, o) || !configures(a.event) && o.called < a.began)
	})
}
