package oracle

import (
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

func (j *Judge) appendBegan(l *life, e *trace.Entry) {
	if !j.begun(l, e, "an append of "+string(e.Event.Type())) {
		return
	}
	if l.exited >= 0 { // in the very step, too: a loop with an append outstanding has not exited
		j.put("LIFE-2")
		j.blame("LIFE-2", e.Op, "an append of %s, which began after the loop had exited", e.Event.Type())
		return
	}
	if l.shutdown >= 0 {
		j.put("LIFE-2")
	}
	a := &appending{event: e.Event, began: e.Seq, step: e.Step, returned: -1, previous: len(l.states)}
	// Whose it is counts already: a call whose append is outstanding waits for it (REF-7). While another event is on its way
	// the state that this one follows is not known, and it may be any change's.
	if a.fits = l.candidates(a); configures(a.event) && slices.ContainsFunc(l.appends, func(b *appending) bool {
		return b.returned < 0 && b.state == nil && configures(b.event)
	}) {
		a.fits = slices.DeleteFunc(slices.Clone(l.order), func(o *op) bool { return !o.open() || !o.changes() || o.committed != nil })
	}
	l.appends = append(l.appends, a)
	if len(a.fits) == 1 && !a.fits[0].unsure {
		a.op = a.fits[0]
		a.op.outstanding = a
	}
	j.keep(e.Call, a)
}

func (j *Judge) keep(call int, a *appending) {
	if j.byCall == nil {
		j.byCall = make(map[int]*appending, 8)
	}
	j.byCall[call] = a
}

// candidates are the operations in flight when the append began that its event fits.
func (l *life) candidates(a *appending) []*op {
	var fit []*op
	for _, o := range l.order {
		if o.called < a.began && (o.returned < 0 || o.returned > a.began) && o.committed == nil && l.fits(l.last(), a.event, o.asked) {
			fit = append(fit, o)
		}
	}
	return fit
}

// fits reports whether an event is what an operation asks for, from a state.
func (l *life) fits(from *state, e event.Event, asked any) bool {
	next := from.after(l.definition, asked)
	switch asked := asked.(type) {
	case trace.SetMode:
		e, is := e.(event.LoopModeChanged)
		return is && e.Mode == asked.Mode && e.PreviousMode == from.mode.Name && next.sameInference(e.Runtime.Model, e.Runtime.Effort)
	case trace.Change:
		e, is := e.(event.LoopInferenceChanged)
		return is && (asked.Model != nil || asked.Effort != nil) && next.sameInference(e.Runtime.Model, e.Runtime.Effort)
	case trace.Replace:
		e, is := e.(event.LoopExternalToolsetChanged)
		return is && e.Source == asked.Source && e.Generation == asked.Generation && sameTools(e.Tools, asked.Tools)
	}
	return false
}

func sameTools(identities []event.ExternalToolIdentity, tools []trace.Tool) bool {
	return slices.EqualFunc(identities, tools, func(i event.ExternalToolIdentity, t trace.Tool) bool {
		digest, err := tool.SchemaDigest([]byte(t.Schema))
		return i.Name == t.Name && err == nil && i.SchemaDigest == digest
	})
}

// appendWritten judges an event that became durable: it must be what one operation in flight asked for, and valid from the
// state before it.
func (j *Judge) appendWritten(l *life, e *trace.Entry) {
	a := j.byCall[e.Call]
	j.secrets(e)
	if a == nil || !configures(e.Event) || j.breach != nil {
		return
	}
	// Once more: another event may have become durable since this append began, and with it the state that this one follows.
	candidates := l.candidates(a)
	if a.op != nil && !slices.Contains(candidates, a.op) {
		a.op.outstanding, a.op = nil, nil
	}
	previous := l.last()
	var asked any
	switch {
	case len(candidates) == 0:
		j.unasked(l, a, e)
		if j.breach != nil {
			return
		}
	case len(candidates) == 1 && !candidates[0].unsure:
		a.op = candidates[0]
		asked = a.op.asked
		a.op.outstanding = a
	default:
		for _, o := range candidates {
			o.unsure = true
		}
		if a.op != nil { // of one alone, it seemed when it began
			a.op.outstanding, a.op = nil, nil
		}
		asked = vague(candidates[0].asked)
	}
	next := previous.after(l.definition, asked)
	if asked == nil {
		next = l.recorded(previous, e.Event)
	}
	next.index, next.by, next.written, next.kind = len(l.states), a.op, e.Seq, e.Event.Type()
	for _, s := range next.slots {
		if s.by == nil && previous.slot(s.source) != s {
			s.by, s.index = a.op, next.index
		}
	}
	if a.op != nil {
		a.op.committed = next
		j.valid(l, a.op, previous, next)
	}
	a.state = next
	l.states = append(l.states, next)
	j.journals[l.definition.Journal] = next
	if l.faulted >= 0 && a.began > l.faulted && a.step > l.faultedStep { // in that very step it may have been on its way
		j.blame("DUR-6", e.Op, "an append of %s, which began after the loop had said that it faulted", e.Event.Type())
	}
}

// vague is what operations ask for that an event fits alike: of their tools nothing is known but the names.
func vague(asked any) any {
	replace, is := asked.(trace.Replace)
	if !is {
		return asked
	}
	replace.Tools = slices.Clone(replace.Tools)
	for i := range replace.Tools {
		replace.Tools[i] = trace.Tool{Name: replace.Tools[i].Name}
	}
	return replace
}

func configures(e event.Event) bool {
	switch e.(type) {
	case event.LoopModeChanged, event.LoopInferenceChanged, event.LoopExternalToolsetChanged:
		return true
	}
	return false
}

// recorded is the state that an event stands for which nobody is known to have asked for.
func (l *life) recorded(previous *state, e event.Event) *state {
	next := previous.after(l.definition, nil)
	switch e := e.(type) {
	case event.LoopModeChanged:
		next.mode = l.definition.Modes[e.Mode]
		if next.mode == nil {
			next.mode = &trace.Mode{Name: e.Mode}
		}
		next.model, next.effort = e.Runtime.Model, e.Runtime.Effort
	case event.LoopInferenceChanged:
		next.model, next.effort = e.Runtime.Model, e.Runtime.Effort
	}
	return next
}

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

// changes reports whether the operation is one that commits.
func (o *op) changes() bool {
	switch o.asked.(type) {
	case trace.SetMode, trace.Change, trace.Replace:
		return true
	}
	return false
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

// valid judges whether what was committed could be, from the state before it.
func (j *Judge) valid(l *life, o *op, previous, next *state) {
	switch asked := o.asked.(type) {
	case trace.SetMode:
		j.put("MODE-2")
		if l.definition.Modes[asked.Mode] == nil {
			j.blame("MODE-1", o.id, "%s: mode %q is not declared, and was committed", o.id, asked.Mode)
		}
	case trace.Change:
		if asked.Model != nil && asked.Effort != nil {
			j.put("CHG-2")
		}
		if previous.sameInference(next.model, next.effort) {
			j.put("CHG-2")
		}
		j.put("CHG-4")
		if asked.Model != nil {
			j.put("CHG-5")
		}
		switch {
		case asked.Refused != nil:
			j.blame("CHG-3", o.id, "%s: %v, and it was committed", o.id, asked.Refused)
		case !supports(next.model, next.effort):
			id := "CHG-3"
			if asked.Model == nil || asked.Effort == nil {
				id = "CHG-4"
			}
			j.blame(id, o.id, "%s: model %s does not support effort %q, and they were committed together", o.id, next.model.Name, next.effort)
		}
	case trace.Replace:
		j.put("EXT-2")
		j.put("EXT-7")
		if len(asked.Tools) == 0 {
			j.put("EXT-3")
		}
		switch {
		case l.definition.Foreign:
			j.blame("EXT-10", o.id, "%s: external tools were committed in a foreign loop", o.id)
		case !identifiers(asked):
			j.blame("EXT-1", o.id, "%s: source %q or generation %q is not valid, and it was committed", o.id, asked.Source, asked.Generation)
		case len(asked.Broken)+len(o.broken) > 0:
			j.blame("EXT-4", o.id, "%s: a set was committed that could not be built: %s", o.id, quoted(append(o.broken, asked.Broken...)))
		case o.building > 0 || o.describing > 0 || o.describes < len(asked.Tools):
			j.blame("EXT-4", o.id, "%s: the set was committed before every tool of it was built and described", o.id)
		default:
			if names := l.collisions(asked, previous); len(names) > 0 {
				j.put("EXT-5")
				j.blame("EXT-5", o.id, "%s: a tool name was committed that was taken: %s", o.id, quoted(names))
			}
		}
	}
}

func supports(m model.Model, effort model.Effort) bool {
	return effort == model.EffortNone || slices.Contains(m.Efforts, effort)
}

func identifiers(asked trace.Replace) bool {
	return loop.ValidateSource(asked.Source) == nil && loop.ValidateGeneration(asked.Generation) == nil
}

// collisions are the names of the set that are not free in the state (EXT-5).
func (l *life) collisions(asked trace.Replace, s *state) []string {
	var taken []string
	seen := make(map[string]bool, len(asked.Tools))
	for _, t := range asked.Tools {
		clash := seen[t.Name] || l.definition.Declared[t.Name]
		for _, slot := range s.slots {
			clash = clash || slot.source != asked.Source && slices.ContainsFunc(slot.tools, func(o trace.Tool) bool { return o.Name == t.Name })
		}
		if clash {
			taken = append(taken, t.Name)
		}
		seen[t.Name] = true
	}
	return taken
}

// appendReturned judges nothing yet: what a failed append means is seen by what the loop does next (REF-5, DUR-6).
func (j *Judge) appendReturned(l *life, e *trace.Entry) {
	a := j.byCall[e.Call]
	if a == nil {
		return
	}
	a.returned, a.err = e.Seq, e.Err
	if a.op != nil && a.op.outstanding == a {
		a.op.outstanding = nil
	}
	if e.Err == nil {
		return
	}
	if l.failed < 0 {
		l.failed = e.Seq
	}
	if a.op != nil {
		a.op.failedWith = append(a.op.failedWith, e.Err)
	} else {
		// It may have been any of them; or any that was in flight, if it was not what anybody asked for.
		for _, o := range l.order {
			if slices.Contains(a.fits, o) || len(a.fits) == 0 && o.called < a.began && (o.returned < 0 || o.returned > a.began) {
				o.failedWith = append(o.failedWith, e.Err)
			}
		}
	}
	if configures(a.event) {
		j.put("REF-5")
		if a.state != nil {
			l.doubts = append(l.doubts, a)
		}
	}
}

// secrets looks for what must not be in the journal (DUR-4).
func (j *Judge) secrets(e *trace.Entry) {
	j.put("DUR-4")
	for text := range texts(e.Event) {
		if strings.Contains(text, fakes.Canary) {
			j.blame("DUR-4", e.Op, "an event %s that holds a secret", e.Event.Type()).differ("none of the canary's "+fakes.Canary, text)
			return
		}
	}
}

// kindOf returns the kind of a refusal; "" if err is none.
func kindOf(err error) loop.ChangeErrorKind {
	if refusal := as[loop.ChangeError](err); refusal != nil {
		return refusal.Kind
	}
	return ""
}

func quoted(names []string) string {
	var b strings.Builder
	for i, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(name))
	}
	return b.String()
}
