package oracle

import (
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

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
			return !consistent(s.after(l.definition, change))
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
		case l.wasInForce(o, func(s *state) bool { return !consistent(s.after(l.definition, asked)) }):
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
			if kind == loop.ChangeInvalidEffort && !consistent(next.after(l.definition, asked)) {
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
