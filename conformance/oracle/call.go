package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
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
	if j.calledInPanicOf(o) {
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

func (j *Judge) calledInPanicOf(o *op) bool {
	asked, is := o.asked.(trace.Replace)
	return is && (asked.Panics || o.panicked)
}

// panickedOut judges a call that panicked.
func (j *Judge) panickedOut(l *life, o *op, e *trace.Entry) {
	id := "REF-1"
	switch asked := o.asked.(type) {
	case trace.Replace:
		id = "EXT-4"
		if j.calledInPanicOf(o) {
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
		case l.wasInForce(o, func(s *state) bool { return !supports2(s.after(l.definition, asked)) }):
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

func supports2(s *state) bool { return supports(s.model, s.effort) }

// wasInForce reports whether a committed state with a property was in force at some instant between call and return, as far as
// can be told: from the last one acknowledged before the call to the last durable one (REF-11).
func (l *life) wasInForce(o *op, property func(*state) bool) bool {
	from := o.inference
	if is[trace.Replace](o) {
		from = o.slots
	}
	return slices.ContainsFunc(l.states[from:], property)
}

// refusedDurable judges a refusal of an operation whose event is in the journal.
func (j *Judge) refusedDurable(l *life, o *op, kind loop.ChangeErrorKind) {
	switch kind {
	case loop.ChangeDurableAppendFailed:
		j.put("REF-5")
		if len(o.failedWith) == 0 {
			j.blame("REF-5", o.id, "%s: it was refused as durable_append_failed, and its append succeeded", o.id)
			return
		}
		j.wraps(l, o)
		if l.mustFault < 0 { // from here on it must not go on (REF-5)
			l.mustFault = o.returned
		}
	case loop.ChangeContextDone:
		j.put("REF-3")
		j.blame("REF-3", o.id, "%s: it was refused as context_done, and its event is in the journal", o.id)
	case loop.ChangeLoopExited, loop.ChangeLoopShuttingDown:
		j.put("REF-4")
		j.blame("REF-4", o.id, "%s: it was refused as %s, and its event is in the journal", o.id, kind)
	case loop.ChangeLoopFaulted:
		// A loop that faults over another append cannot have this one's event either.
		j.blame("REF-5", o.id, "%s: it was refused as loop_faulted, and its event is in the journal", o.id)
	default:
		j.blame("REF-1", o.id, "%s: it was refused as %s, and its event is in the journal", o.id, kind)
	}
}

// wraps judges whether durable_append_failed wraps the journal's error (REF-5).
func (j *Judge) wraps(_ *life, o *op) {
	for _, err := range o.failedWith {
		if wraps(o.err, err) {
			return
		}
	}
	if len(o.failedWith) > 0 {
		j.blame("REF-5", o.id, "%s: durable_append_failed does not wrap the journal's error", o.id).differ(o.failedWith[0].Error(), o.err.Error())
	}
}

// justified judges whether a refusal has a reason: in what was asked, in a committed state that was in force, or in the
// loop's life.
func (j *Judge) justified(l *life, o *op, kind loop.ChangeErrorKind) {
	if l.exited >= 0 && o.called > l.exited {
		j.put("REF-2")
		j.put("REF-4")
		if l.refusable(o) {
			j.put("REF-10")
		}
	}
	change, _ := o.asked.(trace.Change)
	isChange := is[trace.Change](o)
	set, isSet := o.asked.(trace.SetMode)
	replace, isReplace := o.asked.(trace.Replace)
	refusal := as[loop.ChangeError](o.err)
	good := false
	switch kind {
	case loop.ChangeInvalidMode:
		good = isSet && l.definition.Modes[set.Mode] == nil
		j.put("MODE-1")
		if good && refusal.Mode != set.Mode {
			j.blame("MODE-1", o.id, "%s: the refusal names the wrong mode", o.id).differ(string(set.Mode), string(refusal.Mode))
			return
		}
	case loop.ChangeNoChanges:
		j.put("CHG-1")
		good = isChange && change.Model == nil && change.Effort == nil
	case loop.ChangeInvalidModel:
		j.put("CHG-3")
		good = isChange && change.Refused != nil
	case loop.ChangeInvalidEffort:
		j.put("CHG-4")
		j.put("REF-11")
		good = isChange && (change.Effort != nil && !change.Effort.Valid() || l.wasInForce(o, func(s *state) bool {
			return !supports2(s.after(l.definition, change))
		}))
	case loop.ChangeLoopShuttingDown:
		good = l.shutdown >= 0 && l.shutdown < o.returned
		if good && l.exited >= 0 && o.called > l.exited {
			j.blame("REF-2", o.id, "%s: it began after a Shutdown had returned nil", o.id).differ("loop_exited", string(kind))
			return
		}
	case loop.ChangeLoopExited:
		good = l.shutdown >= 0 && l.shutdown < o.returned
	case loop.ChangeContextDone:
		j.put("REF-3")
		good = o.ctxEnded >= 0
		if good && !isContext(o.err) {
			j.blame("REF-3", o.id, "%s: context_done does not wrap the context's error", o.id).differ("context canceled", o.err.Error())
			return
		}
	case loop.ChangeDurableAppendFailed:
		good = len(o.failedWith) > 0 || o.unsure
		if good && !o.unsure {
			j.wraps(l, o)
		}
	case loop.ChangeLoopFaulted:
		good = l.failed >= 0
		j.put("DUR-6")
		if good && l.faulted < 0 {
			l.faulted, l.faultedStep = o.returned, l.steps[o.id]
		}
	case loop.ChangeUnsupported:
		good = l.definition.Foreign && !isReplace
	case loop.ChangeExternalToolsUnsupported:
		j.put("EXT-10")
		good = l.definition.Foreign && isReplace
	case loop.ChangeInvalidExternalSource:
		good = isReplace && loop.ValidateSource(replace.Source) != nil
	case loop.ChangeInvalidExternalGeneration:
		good = isReplace && loop.ValidateGeneration(replace.Generation) != nil
	case loop.ChangeExternalBuildFailed:
		j.put("EXT-4")
		good = isReplace && j.buildFailed(l, o, replace, refusal)
		if j.breach != nil {
			return
		}
	case loop.ChangeExternalToolCollision:
		j.put("EXT-5")
		j.put("REF-11")
		good = isReplace && j.collided(l, o, replace, refusal)
		if j.breach != nil {
			return
		}
	}
	if kind == loop.ChangeLoopShuttingDown || kind == loop.ChangeLoopExited {
		j.put("REF-2")
		j.put("REF-4")
		if good && l.stopRefused < 0 {
			l.stopRefused = o.returned
		}
	}
	if !good {
		id := j.unjustified(l, o, kind)
		if id == "EXT-11" {
			l.lost = true // a loop that does not live on need not keep anything else
		}
		j.blame(id, o.id, "%s: it was refused as %s, and nothing that was in force justifies that: %v", o.id, kind, o.err)
		return
	}
	if isReplace && !l.definition.Foreign && (kind == loop.ChangeInvalidExternalSource || kind == loop.ChangeInvalidExternalGeneration) || kind == loop.ChangeExternalToolsUnsupported {
		j.put("REF-10")
	}
}

// died names what a loop breaks that behaves as if it had faulted or been shut down although it was not: what it should have
// outlived, a panic of a build (EXT-11) or a failure of a turn's call (TURN-6), and otherwise if there was none.
func (l *life) died(otherwise string) string {
	switch {
	case l.buildPanicked >= 0:
		return "EXT-11" // it may have been that, and no loop that breaks a SHOULD is to be accused of a MUST
	case l.troubled >= 0:
		return "TURN-6"
	}
	return otherwise
}

// refusable reports whether what the operation asks for is to be refused whatever the state.
func (l *life) refusable(o *op) bool {
	switch asked := o.asked.(type) {
	case trace.SetMode:
		return l.definition.Modes[asked.Mode] == nil
	case trace.Change:
		return asked.Refused != nil || asked.Model == nil && asked.Effort == nil
	}
	return false
}

func is[T any](o *op) bool {
	_, is := o.asked.(T)
	return is
}

// buildFailed reports whether something of the set failed to build, and judges what the refusal says of it.
func (j *Judge) buildFailed(l *life, o *op, asked trace.Replace, refusal *loop.ChangeError) bool {
	names := append(slices.Clone(o.broken), asked.Broken...)
	// A build that was cut short by a context or by the shutdown failed too, of whatever tool was at hand.
	if o.ctxEnded >= 0 || o.buildCtx || l.shutdown >= 0 {
		return true
	}
	if len(names) == 0 {
		return false
	}
	if !slices.Contains(names, refusal.Tool) {
		j.blame("EXT-4", o.id, "%s: the refusal names the wrong tool", o.id).differ("one of "+quoted(names), quote(refusal.Tool))
		return true
	}
	if len(asked.Broken) == 0 && len(o.buildErrs) > 0 && !o.panicked &&
		!slices.ContainsFunc(o.buildErrs, func(err error) bool { return wraps(o.err, err) }) {
		j.blame("REF-1", o.id, "%s: the refusal does not wrap its cause", o.id).differ(fakes.ErrBuild.Error(), o.err.Error())
	}
	return true
}

// collided reports whether a name of the set was taken, and judges whether the refusal names one.
func (j *Judge) collided(l *life, o *op, asked trace.Replace, refusal *loop.ChangeError) bool {
	var names []string
	for _, s := range l.states[o.slots:] {
		names = append(names, l.collisions(asked, s)...)
	}
	if len(names) > 0 && !slices.Contains(names, refusal.Tool) {
		j.blame("EXT-5", o.id, "%s: the refusal names the wrong tool", o.id).differ("one of "+quoted(names), quote(refusal.Tool))
	}
	return len(names) > 0
}

// unjustified names what an unjustified refusal breaks.
func (j *Judge) unjustified(l *life, o *op, kind loop.ChangeErrorKind) string {
	if l.pendingJustifies(o, kind) {
		return "REF-11"
	}
	switch kind {
	case loop.ChangeLoopFaulted:
		return l.died("REF-5")
	case loop.ChangeLoopExited, loop.ChangeLoopShuttingDown:
		return l.died("REF-8") // nothing but the contexts of earlier calls has ended, that of its start among them
	case loop.ChangeContextDone:
		for _, other := range l.order {
			if other != o && other.ctxEnded >= 0 {
				return "REF-8"
			}
		}
		return "REF-3"
	}
	// What should have been refused as something else breaks the requirement that says so.
	switch asked := o.asked.(type) {
	case trace.SetMode:
		if l.definition.Modes[asked.Mode] == nil {
			return "MODE-1"
		}
	case trace.Change:
		switch {
		case asked.Model == nil && asked.Effort == nil, asked.Repeated:
			return "CHG-1"
		case asked.Refused != nil:
			return "CHG-3"
		case l.wasInForce(o, func(s *state) bool { return !supports2(s.after(l.definition, asked)) }):
			return "CHG-4"
		}
	case trace.Replace:
		switch {
		case l.definition.Foreign:
			return "EXT-10"
		case !identifiers(asked):
			return "EXT-1"
		case len(asked.Broken)+len(o.broken) > 0 && !o.panicked && !asked.Panics:
			return "EXT-4"
		}
	}
	switch kind {
	case loop.ChangeInvalidMode:
		return "MODE-1"
	case loop.ChangeNoChanges:
		return "CHG-1"
	case loop.ChangeInvalidModel:
		return "CHG-3"
	case loop.ChangeInvalidEffort:
		return "CHG-4"
	case loop.ChangeExternalToolCollision:
		refusal := as[loop.ChangeError](o.err)
		if j.slotted[slotted{l.definition.Journal, refusal.Tool}] && !l.installedHere(refusal.Tool) {
			return "EXT-9" // a slot of the life before
		}
		return "EXT-5"
	case loop.ChangeExternalBuildFailed:
		return "EXT-4"
	case loop.ChangeInvalidExternalSource, loop.ChangeInvalidExternalGeneration:
		return "EXT-1"
	case loop.ChangeDurableAppendFailed:
		return "REF-5"
	case loop.ChangeExternalToolsUnsupported:
		return "EXT-10"
	}
	return "REF-11"
}

// pendingJustifies reports whether a change that never committed would justify the refusal.
func (l *life) pendingJustifies(o *op, kind loop.ChangeErrorKind) bool {
	for _, other := range l.order {
		if other == o || other.committed != nil || other.returned >= 0 && other.returned < o.called {
			continue
		}
		next := l.last().after(l.definition, other.asked)
		switch asked := o.asked.(type) {
		case trace.Change:
			if kind == loop.ChangeInvalidEffort && !supports2(next.after(l.definition, asked)) {
				return true
			}
		case trace.Replace:
			if kind == loop.ChangeExternalToolCollision && len(l.collisions(asked, next)) > 0 {
				return true
			}
		}
	}
	return false
}

func (j *Judge) buildBegan(l *life, e *trace.Entry) {
	o := l.ops[e.Op]
	if o == nil {
		return
	}
	asked, _ := o.asked.(trace.Replace)
	switch {
	case l.definition.Foreign:
		j.blame("EXT-10", o.id, "%s: a definition was built for a foreign loop", o.id)
	case !identifiers(asked):
		j.blame("EXT-1", o.id, "%s: definition %s was built although source %s or generation %s is not valid", o.id, quote(e.Text), quote(asked.Source), quote(asked.Generation))
	default:
		j.begun(l, e, "the build of "+quote(e.Text))
	}
	if e.Kind == trace.DescribeBegan {
		o.describes++
		o.describing++
		return
	}
	o.building++
	o.builds++
}

func (j *Judge) buildEnded(l *life, e *trace.Entry) {
	o := l.ops[e.Op]
	if o == nil {
		return
	}
	o.building--
	o.held = o.held || e.Held
	if e.Err != nil {
		if isContext(e.Err) {
			o.buildCtx = true
			return
		}
		o.broken = append(o.broken, e.Text)
		if !e.Panic {
			o.buildErrs = append(o.buildErrs, e.Err)
		}
		o.panicked = o.panicked || e.Panic
		if e.Panic {
			l.buildPanicked = e.Seq
		}
	}
}
