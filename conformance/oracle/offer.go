package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

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
		if before.state.mode != s.mode || !before.state.sameInference(s.model, s.effort) || !slices.EqualFunc(before.state.slots, s.slots, sameSlot) {
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
