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

// offerOrder is the order in which the tools of a configuration were offered.
type offerOrder struct {
	state *state
	tools []toolInfo
	turn  string
}

// orders judges TURN-9: where the same tools were offered before, the order is the same. Tools are the same when they are
// described alike: what they were installed by, and when, is no part of a configuration. The order within a slot is one of
// its own, for a set is installed in an order (EXT-7).
func (j *Judge) orders(l *life, t *turn, s *state) {
	if len(t.request.Tools) < 2 {
		return
	}
	for _, other := range l.states[t.low : t.high+1] {
		if other != s && other.asks(t.request) && !slices.EqualFunc(other.slots, s.slots, sameSlot) {
			return // it may be this one that was captured, whose tools were installed in another order
		}
	}
	for _, before := range l.orders {
		if before.state.mode != s.mode || !before.state.sameInference(s.model, s.effort) || !before.state.sameInference(s.model, s.effort) || !slices.EqualFunc(before.state.slots, s.slots, sameSlot) {
			continue
		}
		j.put("TURN-9")
		if !slices.EqualFunc(before.tools, t.request.Tools, sameInfo) {
			j.blame("TURN-9", t.op.id, "turn %s: its tools are offered in another order than those of turn %s", t.op.id, before.turn).
				differ(toolTexts(before.tools), toolTexts(t.request.Tools))
		}
		return
	}
	l.orders = append(l.orders, offerOrder{s, t.request.Tools, t.op.id})
}

// sameSlot reports whether two slots hold tools that are described alike, installed in one order.
func sameSlot(a, b *slot) bool {
	return a == b || a.source == b.source && slices.EqualFunc(a.tools, b.tools, func(x, y trace.Tool) bool {
		return x.Name == y.Name && x.Description == y.Description && x.Schema == y.Schema
	})
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

// tools says what is wrong with the tools of a capture whose other parts are those of s.
func (j *Judge) tools(l *life, t *turn, r *trace.Request, s *state) {
	blame := func(id, format string, args ...any) {
		j.blame(id, t.op.id, "turn "+t.op.id+": "+format, args...).differ(offerTexts(s.offer()), toolTexts(r.Tools))
	}
	for _, info := range r.Tools { // what nobody installed tells of who kept what was not the loop's
		switch {
		case info.Name == fakes.Decoy:
			blame("EXT-12", "it holds what a caller wrote over the slice that it had handed over")
			return
		case info.Name == fakes.ByClient:
			blame("TURN-1", "it holds what the model client wrote over an earlier request")
			return
		case fakes.Changed(info):
			blame("EXT-13", "it holds what tool %s said after it had been installed", quote(info.Name))
			return
		}
	}
	for i, info := range r.Tools {
		if slices.ContainsFunc(r.Tools[:i], func(o toolInfo) bool { return o.Name == info.Name }) {
			blame("TURN-3", "tool %s is in its capture twice", quote(info.Name))
			return
		}
	}
	for _, want := range s.offer() {
		i := slices.IndexFunc(r.Tools, func(o toolInfo) bool { return o.Name == want.Name })
		declared := l.definition.Declared[want.Name]
		if i < 0 {
			if declared {
				blame("TURN-3", "the declared tool %s is not in its capture", quote(want.Name))
				return
			}
			blame(l.lostSlot(s, want), "the external tool %s is not in its capture", quote(want.Name))
			return
		}
		if sameInfo(r.Tools[i], toolInfo{Name: want.Name, Description: want.Description, Schema: []byte(want.Schema)}) {
			continue
		}
		for _, other := range l.states {
			if o, found := other.tool(want.Name); found && sameInfo(r.Tools[i], toolInfo{Name: o.Name, Description: o.Description, Schema: []byte(o.Schema)}) {
				id := "EXT-2"
				switch a, b := other.slotOf(want.Name), s.slotOf(want.Name); {
				case declared:
					id = "TURN-3"
				case a != nil && b != nil && a.generation == b.generation:
					id = "EXT-14"
				}
				blame(id, "tool %s in its capture is one of an earlier state", quote(want.Name))
				return
			}
		}
		blame("EXT-13", "what is offered of tool %s is not what was fixed when it was installed", quote(want.Name))
		return
	}
	for _, info := range r.Tools { // one too many
		if _, wanted := s.tool(info.Name); wanted {
			continue
		}
		id := "EXT-2"
		switch {
		case l.definition.Declared[info.Name]:
			id = "MODE-2"
			if s.kind != event.TypeLoopModeChanged {
				id = "TURN-3"
			}
		case l.restored && !l.installedHere(info.Name):
			id = "EXT-9"
		default:
			for i := s.index; i > 0; i-- {
				if a := l.states[i]; a.kind == event.TypeLoopExternalToolsetChanged {
					if change, is := asked[trace.Replace](a.by); is && len(change.Tools) == 0 {
						id = "EXT-3"
					}
					break
				}
			}
			for _, o := range l.order {
				if a, is := o.asked.(trace.Replace); is && o.committed == nil && !o.unsure && slices.ContainsFunc(a.Tools, func(t trace.Tool) bool {
					return t.Name == info.Name && t.Description == info.Description
				}) {
					id = "REF-1"
					if len(o.failedWith) > 0 {
						id = "REF-5"
					}
				}
			}
		}
		blame(id, "tool %s is in its capture and not in any slot", quote(info.Name))
		return
	}
	blame("TURN-2", "its tools are those of no committed state")
}

func (s *state) slotOf(name string) *slot {
	for _, slot := range s.slots {
		if slices.ContainsFunc(slot.tools, func(t trace.Tool) bool { return t.Name == name }) {
			return slot
		}
	}
	return nil
}

func (l *life) installedHere(name string) bool {
	return slices.ContainsFunc(l.states, func(s *state) bool { return s.slotOf(name) != nil })
}

// lostSlot says what the loss of a slot's tool breaks: slots survive SetMode and Change (EXT-8), and replacements of other
// slots (EXT-2).
func (l *life) lostSlot(s *state, want trace.Tool) string {
	slot := s.slotOf(want.Name)
	for i := s.index; slot != nil && i > slot.index; i-- {
		if l.states[i].kind != event.TypeLoopExternalToolsetChanged {
			return "EXT-8"
		}
	}
	for _, o := range l.order {
		if asked, is := o.asked.(trace.Replace); is && slot != nil && asked.Source == slot.source && !o.open() && o.err != nil && o.called > l.states[slot.index].written {
			return "REF-1" // it was refused, and changed something
		}
	}
	if slot != nil {
		for _, earlier := range l.states[:slot.index] {
			if old := earlier.slot(slot.source); old != nil && old.generation == slot.generation {
				return "EXT-14"
			}
		}
	}
	return "EXT-2"
}

func offerTexts(tools []trace.Tool) []string {
	texts := make([]string, len(tools))
	for i, t := range tools {
		texts[i] = t.Name + ": " + t.Description + " " + compact(t.Schema)
	}
	return texts
}

func showRequest(r *trace.Request) string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	return "{instructions " + quote(r.Instructions) + ", " + showInference(r.Model, r.Effort) + ", tools " + show(names) + "}"
}
