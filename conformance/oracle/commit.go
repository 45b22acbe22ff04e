package oracle

import (
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

func (j *Judge) appendBegan(l *life, e *trace.Entry) {
	if !j.begun(l, e, "an append of "+string(e.Event.Type())) {
		return
	}
	if l.exited >= 0 {
		// In the very step of the return, where what came first is Go's choice: it is told as it is when the append is seen first.
		j.stillAppends(l.exitedBy)
		return
	}
	if l.shutdown >= 0 {
		j.put("LIFE-2")
	}
	a := &appending{event: e.Event, began: e.Seq, step: e.Step, returned: -1}
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

// changes reports whether the operation is one that commits.
func (o *op) changes() bool {
	switch o.asked.(type) {
	case trace.SetMode, trace.Change, trace.Replace:
		return true
	}
	return false
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
