package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

// unasked says what is wrong with an event that no operation in flight asked for just so.
func (j *Judge) unasked(l *life, a *appending, e *trace.Entry) {
	for _, o := range l.order { // one whose caller was told that it will not be
		if o.unsure || o.called > a.began || o.committed != nil || o.returned < 0 || o.err == nil || !l.fits(l.last(), e.Event, o.asked) {
			continue
		}
		id, kind := "REF-1", kindOf(o.err)
		switch kind {
		case loop.ChangeContextDone:
			id = "REF-3"
		case loop.ChangeLoopExited, loop.ChangeLoopShuttingDown:
			id = "REF-4"
		case loop.ChangeDurableAppendFailed:
			id = "REF-5"
		}
		j.put(id)
		j.blame(id, o.id, "%s: it was refused as %s, and its event is in the journal after all", o.id, kind)
		return
	}
	var inFlight []*op
	for _, o := range l.order {
		if o.called < a.began && (o.returned < 0 || o.returned > a.began) && o.committed == nil {
			inFlight = append(inFlight, o)
		}
	}
	for _, o := range inFlight { // one that does not follow from the last commit, but from another state
		if id, why := l.followsFrom(e.Event, o); id != "" {
			j.put(id)
			j.blame(id, o.id, "%s: its event follows from %s", o.id, why).differ(l.wanted(o), recordedOf(e.Event))
			return
		}
	}
	for _, o := range inFlight { // one that resembles what somebody asked for
		if id := l.resembles(e.Event, o); id != "" {
			b := j.blame(id, o.id, "%s: its event is not what it asked for", o.id)
			if change, is := asked[trace.Change](o); is && change.Model == nil && change.Effort == nil {
				b.differ("no event", recordedOf(e.Event).String())
			} else {
				b.differ(l.wanted(o), recordedOf(e.Event))
			}
			return
		}
	}
	for _, o := range l.order { // one that has its event already
		if o.unsure || o.called > a.began || o.committed == nil || !l.fits(l.last(), e.Event, o.asked) {
			continue
		}
		id := oneEvent(o)
		if len(o.failedWith) > 0 {
			id = "REF-5" // it was appended again although it was there
		}
		j.blame(id, o.id, "%s: its event is in the journal twice", o.id)
		return
	}
	for _, o := range l.order { // one of another kind: a change commits in one event
		if o.called > a.began || o.returned >= 0 && o.returned < a.began {
			continue
		}
		_, tools := e.Event.(event.LoopExternalToolsetChanged)
		if o.changes() && is[trace.Replace](o) == tools {
			j.blame(oneEvent(o), o.id, "%s: it asked for one event of another kind than %s", o.id, e.Event.Type())
			return
		}
	}
	j.blame("DUR-3", e.Op, "an event %s in the journal that no operation in flight asked for", e.Event.Type()).differ("nothing", showEvent(e.Event))
}

// followsFrom says what is wrong with an event that is what an operation asks for, but not from the last commit: what the loop
// has in force is an older state, or one that never came to be.
func (l *life) followsFrom(e event.Event, o *op) (id, why string) {
	if is[trace.Replace](o) {
		return "", "" // its event does not tell from which state
	}
	for _, other := range l.order {
		if other != o && other.committed == nil && !other.unsure && other.changes() && l.fits(l.last().after(l.definition, other.asked), e, o.asked) {
			if len(other.failedWith) > 0 {
				return "REF-5", "what " + other.id + " asked for, whose append failed"
			}
			return "DUR-1", "what " + other.id + " asked for, which is not in the journal"
		}
	}
	for i := len(l.states) - 2; i >= 0; i-- {
		s := l.states[i]
		if !l.fits(s, e, o.asked) {
			continue
		}
		for _, a := range l.doubts {
			if a.state.index > i {
				if a.op != nil && kindOf(a.op.err) != "" {
					return "REF-5", "the state before the event of " + a.op.id + ", whose append failed and which is in the journal"
				}
				return "DUR-6", "the state before an event whose append failed and which is in the journal"
			}
		}
		return "DUR-2", "a state that is not the last that the journal comes to"
	}
	if l.restored && !l.since(event.TypeLoopModeChanged) {
		for _, mode := range []*trace.Mode{l.definition.Modes[loop.BaseMode], l.last().mode} {
			if l.fits(&state{mode: mode, model: mode.Model, effort: mode.Effort}, e, o.asked) {
				return "DUR-3", "the definition's state, and not from the journal's"
			}
		}
	}
	return "", ""
}

// wanted is the event that an operation asks for.
func (l *life) wanted(o *op) recordedEvent {
	previous := l.last()
	next := previous.after(l.definition, o.asked)
	wanted := recordedEvent{Model: plain(next.model), Effort: string(next.effort)}
	switch asked := o.asked.(type) {
	case trace.SetMode:
		wanted.Mode, wanted.PreviousMode = string(asked.Mode), string(previous.mode.Name)
	case trace.Replace:
		wanted = recordedEvent{Source: asked.Source, Generation: asked.Generation}
		for _, t := range asked.Tools {
			digest, _ := tool.SchemaDigest([]byte(t.Schema))
			wanted.Tools = append(wanted.Tools, t.Name+" "+digest[:min(8, len(digest))])
		}
	}
	return wanted
}

// oneEvent is the requirement that an operation commits in one event.
func oneEvent(o *op) string {
	switch o.asked.(type) {
	case trace.SetMode:
		return "MODE-2"
	case trace.Replace:
		return "EXT-2"
	}
	return "CHG-2"
}

// resembles says what is wrong with an event of the operation's kind; "" if it is of another.
func (l *life) resembles(e event.Event, o *op) string {
	previous := l.last()
	next := previous.after(l.definition, o.asked)
	switch asked := o.asked.(type) {
	case trace.SetMode:
		e, is := e.(event.LoopModeChanged)
		switch {
		case !is:
			return ""
		case l.definition.Modes[asked.Mode] == nil:
			return "MODE-1"
		case e.Mode == asked.Mode && e.PreviousMode == previous.mode.Name && e.Runtime.Effort == next.effort && e.Runtime.Model.Key() == next.model.Key():
			return "DUR-2" // not the whole descriptor
		}
		return "MODE-2"
	case trace.Change:
		e, is := e.(event.LoopInferenceChanged)
		if !is {
			return ""
		}
		sameKey, sameEffort := e.Runtime.Model.Key() == next.model.Key(), e.Runtime.Effort == next.effort
		switch {
		case asked.Model == nil && asked.Effort == nil:
			return "CHG-1"
		case marked(e.Runtime.Model, fakes.ByCaller):
			return "CHG-5"
		case marked(e.Runtime.Model, fakes.ByReader):
			return "VIEW-3"
		case asked.Repeated && !(sameKey && sameEffort):
			return "CHG-1"
		case sameKey && sameEffort, (asked.Model == nil || asked.Effort == nil) && previous.sameInference(e.Runtime.Model, e.Runtime.Effort):
			return "DUR-2"
		case asked.Effort == nil && sameKey:
			return "CHG-4" // a model alone keeps the current effort
		}
		return "CHG-2"
	case trace.Replace:
		e, is := e.(event.LoopExternalToolsetChanged)
		switch {
		case !is || e.Source != asked.Source:
			return ""
		case len(asked.Broken)+len(o.broken) > 0:
			return "EXT-4"
		case len(l.collisions(asked, previous)) > 0:
			return "EXT-5"
		case len(asked.Tools) == 0:
			return "EXT-3"
		case len(e.Tools) == 0:
			return "EXT-2" // in two steps: emptied, then filled
		}
		return "EXT-7"
	}
	return ""
}

// marked reports whether a model shows what was written over memory that its owner may write to.
func marked(m model.Model, mark string) bool {
	return slices.Contains(m.Efforts, model.Effort(mark)) || slices.Contains(m.Sampling.Stop, mark) ||
		m.Sampling.Temperature != nil && *m.Sampling.Temperature == fakes.Mark(mark)
}
