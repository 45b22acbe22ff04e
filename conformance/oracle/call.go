package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

func (j *Judge) called(l *life, e *trace.Entry) {
	o := &op{id: e.Op, asked: e.Asked, called: e.Seq, returned: -1, ctxEnded: -1, inside: e.Inside != ""}
	l.ops[o.id] = o
	l.order = append(l.order, o)
	for _, s := range l.states {
		switch {
		case s.acked < 0:
		case s.kind == event.TypeLoopExternalToolsetChanged:
			o.slots = s.index
		default:
			o.inference = s.index
		}
	}
	switch asked := e.Asked.(type) {
	case trace.Shutdown:
		if l.shutdown < 0 {
			l.shutdown = e.Seq
		}
	case trace.Interrupt:
		j.interruptCalled(l, o)
	case trace.Submit:
		o.turn = &turn{op: o, ended: -1, first: -1, mustInterrupt: -1}
	case trace.Replace:
		if !identifiers(asked) {
			j.put("EXT-1")
		}
	}
}

func (j *Judge) returned(l *life, e *trace.Entry) {
	o := l.ops[e.Op]
	if o == nil || o.returned >= 0 {
		return
	}
	o.returned, o.err = e.Seq, e.Err
	l.steps[o.id] = e.Step
	if e.Panic {
		j.panickedOut(l, o, e)
		return
	}
	if j.buildPanics(o) {
		j.put("EXT-11")
	}
	if o.inside || o.ctxEnded >= 0 {
		j.put("REF-7")
	}
	switch asked := o.asked.(type) {
	case trace.SetMode, trace.Change, trace.Replace:
		j.change(l, o)
	case trace.Interrupt:
		j.interruptReturned(l, o, e)
	case trace.Shutdown:
		j.shutdownReturned(l, o, e)
	case trace.Submit:
		j.submitted(l, o, e)
	case trace.Read:
		j.read(l, o, e)
	default:
		_ = asked
	}
}

// buildPanics reports whether something of a replacement panics while it is built or described.
func (j *Judge) buildPanics(o *op) bool {
	asked, is := o.asked.(trace.Replace)
	return is && (asked.Panics || o.panicked)
}

// panickedOut judges a call that panicked.
func (j *Judge) panickedOut(l *life, o *op, e *trace.Entry) {
	id := "REF-1"
	switch asked := o.asked.(type) {
	case trace.Replace:
		id = "EXT-4"
		if j.buildPanics(o) {
			j.put("EXT-11")
			id = "EXT-11"
		}
	case trace.SetMode:
		id = "MODE-1"
	case trace.Change:
		id = "CHG-1"
	case trace.Interrupt:
		id = "INT-1"
	case trace.Shutdown:
		id = "LIFE-1"
	case trace.Submit:
		id = "LIFE-3"
	case trace.Read:
		id = "VIEW-2"
	default:
		_ = asked
	}
	j.blame(id, o.id, "%s: the call panicked: %s", o.id, e.Text)
}

// change judges what SetMode, Change or ReplaceExternalTools returned.
func (j *Judge) change(l *life, o *op) {
	if o.err == nil {
		j.succeeded(l, o)
		return
	}
	kind := kindOf(o.err)
	j.put("REF-1")
	switch {
	case as[loop.ChangeError](o.err) == nil:
		j.blame("REF-1", o.id, "%s: it was refused with %T, which is no *loop.ChangeError: %v", o.id, o.err, o.err)
	case !slices.Contains(kinds, kind):
		j.blame("REF-1", o.id, "%s: it was refused with the undeclared kind %q", o.id, kind)
	case o.outstanding != nil:
		j.put("REF-7")
		j.blame("REF-7", o.id, "%s: it returned %s while its append was outstanding", o.id, kind)
	case o.committed != nil:
		j.refusedDurable(l, o, kind)
	default:
		j.justified(l, o, kind)
	}
}

var kinds = []loop.ChangeErrorKind{
	loop.ChangeInvalidMode, loop.ChangeInvalidModel, loop.ChangeInvalidEffort, loop.ChangeNoChanges, loop.ChangeLoopShuttingDown,
	loop.ChangeLoopExited, loop.ChangeContextDone, loop.ChangeDurableAppendFailed, loop.ChangeLoopFaulted, loop.ChangeUnsupported,
	loop.ChangeInvalidExternalSource, loop.ChangeInvalidExternalGeneration, loop.ChangeExternalBuildFailed,
	loop.ChangeExternalToolCollision, loop.ChangeExternalToolsUnsupported,
}

// succeeded judges a success: it means committed (REF-6).
func (j *Judge) succeeded(l *life, o *op) {
	j.put("REF-6")
	switch {
	case o.outstanding != nil && o.committed == nil:
		j.blame("REF-6", o.id, "%s: it returned nil before its event was durable", o.id)
		return
	case o.outstanding != nil:
		j.put("REF-7")
		j.blame("REF-7", o.id, "%s: it returned nil while its append was outstanding", o.id)
		return
	case o.unsure:
		return
	case o.committed == nil:
		j.blame(j.uncommitted(l, o), o.id, "%s: it returned nil, and its event is not in the journal", o.id).differ("an event", "none")
		return
	}
	o.committed.acked = o.returned
	if l.mustExit >= 0 && o.called > l.mustExit {
		j.blame("LIFE-1", o.id, "%s: it committed, although a Shutdown was called that nothing was left for to wait for", o.id)
		return
	}
	if l.stopRefused >= 0 && o.called > l.stopRefused {
		j.put("REF-2")
		j.blame("REF-2", o.id, "%s: it committed, although an earlier change had been refused because of the shutdown before it began", o.id)
		return
	}
	if l.mustFault >= 0 && o.called > l.mustFault {
		j.blame("REF-5", o.id, "%s: it committed, although an earlier change was reported as failed whose event is durable", o.id)
		return
	}
	if l.shutdown >= 0 {
		j.put("REF-2")
	}
	if l.failed >= 0 && o.called > l.failed {
		j.put("DUR-6")
	}
	if asked, is := o.asked.(trace.Replace); is {
		j.installed(l, o, asked)
	}
}

// installed counts what a committed replacement put to the test.
func (j *Judge) installed(l *life, o *op, asked trace.Replace) {
	for _, t := range asked.Tools {
		j.slotted[slotted{l.definition.Journal, t.Name}] = true
	}
	j.generations[generation{l.definition.Journal, asked.Source, asked.Generation}] = l.number
	for _, earlier := range l.states[:o.committed.index] {
		for _, s := range earlier.slots {
			if s.generation == asked.Generation {
				j.put("EXT-14")
			}
		}
	}
	if l.restored {
		j.put("EXT-9")
	}
	j.put("EXT-4")
	j.put("EXT-12")
	j.put("EXT-5")
}

// uncommitted names what a success without an event breaks: the requirement that the call should have been refused by, else what
// makes such a change one that commits too.
func (j *Judge) uncommitted(l *life, o *op) string {
	if len(o.failedWith) > 0 || l.doubtful() {
		return "REF-6"
	}
	switch asked := o.asked.(type) {
	case trace.SetMode:
		switch {
		case l.definition.Modes[asked.Mode] == nil:
			return "MODE-1"
		case l.wasInForce(o, func(s *state) bool { return s.mode.Name == asked.Mode }):
			return "MODE-2"
		}
	case trace.Change:
		switch {
		case asked.Model == nil && asked.Effort == nil:
			return "CHG-1"
		case asked.Refused != nil:
			return "CHG-3"
		case l.wasInForce(o, func(s *state) bool {
			next := s.after(l.definition, asked)
			return s.sameInference(next.model, next.effort)
		}):
			return "CHG-2"
		case l.wasInForce(o, func(s *state) bool { return !consistent(s.after(l.definition, asked)) }):
			return "CHG-4"
		}
	case trace.Replace:
		switch {
		case l.definition.Foreign:
			return "EXT-10"
		case !identifiers(asked):
			return "EXT-1"
		case o.builds > 0 && len(asked.Broken)+len(o.broken) > 0:
			return "EXT-4"
		case len(asked.Tools) == 0 && len(asked.Broken) == 0:
			return "EXT-3"
		}
		switch used := j.generations[generation{l.definition.Journal, asked.Source, asked.Generation}]; {
		case used == l.number:
			return "EXT-14"
		case used > 0:
			return "EXT-9"
		}
		switch {
		case len(asked.Broken) > 0:
			return "EXT-4"
		case l.wasInForce(o, func(s *state) bool { return len(l.collisions(asked, s)) > 0 }):
			return "EXT-5"
		}
	}
	return "REF-6"
}

// consistent reports whether the model of a state supports its effort.
func consistent(s *state) bool { return supports(s.model, s.effort) }

// wasInForce reports whether a committed state with a property was in force at some instant between call and return, as far as
// can be told: from the last one acknowledged before the call to the last durable one (REF-11).
func (l *life) wasInForce(o *op, property func(*state) bool) bool {
	from := o.inference
	if is[trace.Replace](o) {
		from = o.slots
	}
	return slices.ContainsFunc(l.states[from:], property)
}

func is[T any](o *op) bool {
	_, is := o.asked.(T)
	return is
}
