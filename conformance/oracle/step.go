package oracle

import (
	"context"
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// mayBegin judges whether a call of a turn may begin: not after the turn has ended (TURN-8), not after the exit (LIFE-2), and
// not with a live context after an interrupt (INT-2). Whoever calls has decided so before: what began in the step in which
// it became forbidden is let pass.
func (j *Judge) mayBegin(l *life, t *turn, e *trace.Entry, what string) bool {
	if t.over() && e.Step > t.endedStep {
		j.put("TURN-8")
		j.blame("TURN-8", t.op.id, "turn %s: %s began after the turn had ended (%s)", t.op.id, what, outcomeText(t.outcome))
		return false
	}
	if !j.begun(l, e, what+" of turn "+t.op.id) {
		return false
	}
	if t.mustInterrupt >= 0 && e.Step > t.mustStep && !t.over() {
		j.put("INT-2")
		if !e.Cancelled {
			j.blame("INT-2", t.op.id, "turn %s: %s began after an interrupt had returned, with a context that had not ended", t.op.id, what)
			return false
		}
	}
	if j.cancelledByNobody(l, t, e) {
		j.put("REF-8")
		j.blame("REF-8", t.op.id, "turn %s: %s began with a context that had ended, and nobody had interrupted the turn", t.op.id, what)
		return false
	}
	if t.refused {
		j.blame("LIFE-3", t.op.id, "turn %s: the input was refused, and %s began", t.op.id, what)
		return false
	}
	return true
}

// cancelledByNobody reports whether the context of a call of a turn in flight has ended with nobody and nothing that could have
// ended it but the context of another call.
func (j *Judge) cancelledByNobody(l *life, t *turn, e *trace.Entry) bool {
	return e.Cancelled && !l.strays(t) && !t.over() && l.shutdown < 0 && !l.timed && !j.troubled(l, t) && !l.doubtful() && len(t.candidates) == 0 &&
		(e.Context == nil && wraps(e.Err, context.Canceled) || e.Context != nil && wraps(e.Context.Err(), context.Canceled))
}

// strays reports whether the latest answer called what is no tool of the capture: the turn may fail over such a call, and take
// the others of its step along (TURN-5).
func (l *life) strays(t *turn) bool {
	return t.last != nil && slices.ContainsFunc(t.last.Calls, func(c model.ToolCall) bool { return !l.captures(t, c.Name) })
}

// continues judges a later request of a turn: it asks with the turn's capture (TURN-1), and tells the model of the calls that
// named no tool (TURN-5).
func (j *Judge) continues(l *life, t *turn, e *trace.Entry) {
	r, first := e.Request, t.request
	if t.panicked || t.troubled {
		j.put("TURN-6")
	}
	if t.high < len(l.states)-1 {
		j.put("TURN-1")
	}
	switch {
	case t.over() && r.Step <= t.last.Step && !t.op.unsure && (r.Instructions != first.Instructions || r.Effort != first.Effort || !sameModel(r.Model, first.Model)):
		j.put("TURN-8")
		j.blame("TURN-8", t.op.id, "turn %s: it was begun anew after it had ended (%s)", t.op.id, outcomeText(t.outcome))
	case r.Instructions != first.Instructions:
		j.turn1(t, r, "with other instructions than the turn had captured").differ(first.Instructions, r.Instructions)
	case r.Effort != first.Effort:
		j.blame("TURN-1", t.op.id, "turn %s, step %d: the model was asked with effort %q, the turn had captured %q", t.op.id, r.Step, r.Effort, first.Effort).
			differ(first.Effort, r.Effort)
	case !sameModel(r.Model, first.Model) && marked(r.Model, fakes.ByReader):
		j.blame("VIEW-3", t.op.id, "turn %s, step %d: the model asked shows what a reader wrote over one that Model() had returned", t.op.id, r.Step).
			differ(plain(first.Model), plain(r.Model))
	case !sameModel(r.Model, first.Model) && marked(r.Model, fakes.ByCaller):
		j.blame("CHG-5", t.op.id, "turn %s, step %d: the model asked shows what a caller wrote over it after handing it over", t.op.id, r.Step).
			differ(plain(first.Model), plain(r.Model))
	case r.Model.Key() != first.Model.Key():
		j.blame("TURN-1", t.op.id, "turn %s, step %d: model %q was asked, the turn had captured %q", t.op.id, r.Step, r.Model.Name, first.Model.Name).
			differ(first.Model.Name, r.Model.Name)
	case !sameModel(r.Model, first.Model):
		j.turn1(t, r, "with another descriptor of the model than the turn had captured").differ(plain(first.Model), plain(r.Model))
	case !slices.EqualFunc(first.Tools, r.Tools, sameInfo):
		j.turn1(t, r, "with other tools than the turn had captured").differ(toolTexts(first.Tools), toolTexts(r.Tools))
	}
	if j.breach != nil || t.last == nil || r.Step <= t.last.Step || t.lastErr != nil {
		return
	}
	for _, call := range t.last.Calls {
		if !l.captures(t, call.Name) {
			j.put("TURN-5")
			if !slices.Contains(r.Told, call.ID) {
				j.blame("TURN-5", t.op.id, "turn %s, step %d: the model had called %q, which is no tool of the capture, and was not told so", t.op.id, r.Step, call.Name)
				return
			}
		} else if !t.ran[call.ID] && !t.troubled && !l.strays(t) && !l.timed { // after a failure the turn goes on as the loop decides (TURN-6)
			j.blame("TURN-1", t.op.id, "turn %s, step %d: the model had called %q, a tool of the capture, and it did not run", t.op.id, r.Step, call.Name)
			return
		}
	}
}

func (j *Judge) turn1(t *turn, r *trace.Request, how string) *Breach {
	return j.blame("TURN-1", t.op.id, "turn %s, step %d: the model was asked %s", t.op.id, r.Step, how)
}

// captures reports whether the turn's capture has a tool of that name.
func (l *life) captures(t *turn, name string) bool {
	return slices.ContainsFunc(t.request.Tools, func(i toolInfo) bool { return i.Name == name })
}

// toolBegan judges which tool runs: one of the capture, the instance that the capture has under the name that the model
// called (TURN-1, TURN-3, TURN-5).
func (j *Judge) toolBegan(l *life, e *trace.Entry) {
	run := e.Run
	t := l.turnOf(run.Turn)
	if t == nil {
		j.begun(l, e, "a tool call")
		return
	}
	if !j.mayBegin(l, t, e, "a call of tool "+quote(run.Called)) {
		return
	}
	t.calls = append(t.calls, &outside{e, e.Seq})
	if t.ran == nil {
		t.ran = make(map[string]bool, 4)
	}
	t.ran[run.ID] = true
	if !t.started() {
		return
	}
	if !l.captures(t, run.Called) {
		j.put("TURN-5")
		j.blame("TURN-5", t.op.id, "turn %s, step %d: the model called %q, which is no tool of the capture, and %s ran", t.op.id, run.Step, run.Called, run.Instance)
		return
	}
	if t.high < len(l.states)-1 {
		j.put("TURN-1")
	}
	var want string
	for _, s := range l.states[t.low : t.high+1] {
		if !s.asks(t.request) {
			continue
		}
		captured, _ := s.tool(run.Called)
		if captured.Instance == run.Instance || captured.Instance == "" { // of a vague one it is not known
			return
		}
		want = captured.Instance
	}
	for i := t.low - 1; i >= 0 && want != ""; i-- { // an older state that looks alike
		s := l.states[i]
		if captured, _ := s.tool(run.Called); !s.asks(t.request) || captured.Instance != run.Instance {
			continue
		}
		for _, b := range t.bounds {
			if b.index > i {
				j.blame(b.requirement, t.op.id, "turn %s: it captured an older state than %s: %s ran", t.op.id, b.why, run.Instance).differ(want, run.Instance)
				return
			}
		}
	}
	if want == "" {
		return // the capture is one that no state explains, which has been judged
	}
	id := "TURN-1"
	if l.definition.Declared[run.Called] {
		id = "TURN-3"
		for _, s := range l.states {
			if other, _ := s.tool(run.Called); other.Instance == run.Instance && s.index > t.high {
				id = "TURN-1"
			}
		}
	}
	j.blame(id, t.op.id, "turn %s, step %d: tool %q is %s in the capture, and %s ran", t.op.id, run.Step, run.Called, want, run.Instance).
		differ(want, run.Instance)
}

// callEnded follows the end of a request or tool run.
func (j *Judge) callEnded(l *life, e *trace.Entry) {
	submit := e.Op
	t := l.turnOf(submit)
	if t == nil {
		return
	}
	began := -1
	t.calls = slices.DeleteFunc(t.calls, func(c *outside) bool {
		if c.entry.Call == e.Call {
			began = c.began
		}
		return c.entry.Call == e.Call
	})
	if t.mustInterrupt >= 0 && e.Step > t.mustStep && !t.over() {
		j.put("INT-2")
		if !e.Cancelled {
			j.blame("INT-2", t.op.id, "turn %s: an interrupt had returned, and the context of a call in flight had not ended when the call did", t.op.id)
			return
		}
	}
	if t.over() && e.Step > t.endedStep && outcomeText(t.outcome) == string(loop.TurnInterrupted) && !j.cancelled(l, t, began, e.Cancelled) {
		return
	}
	if j.cancelledByNobody(l, t, e) {
		j.put("REF-8")
		j.blame("REF-8", t.op.id, "turn %s: the context of a call ended, and nobody had interrupted the turn", t.op.id)
		return
	}
	if e.Kind == trace.RequestEnded {
		t.lastErr = e.Err
	}
	if e.Err != nil {
		if !isContext(e.Err) {
			t.troubled, l.troubled = true, e.Seq
		}
		t.panicked = t.panicked || e.Panic
	}
}

// cancelled judges whether a call of an interrupted turn sees its context cancelled (INT-2; LIFE-1 where a shutdown did it).
func (j *Judge) cancelled(l *life, t *turn, began int, cancelled bool) bool {
	id := "INT-2"
	if l.shutdown >= 0 {
		id = "LIFE-1"
	}
	j.put(id)
	if !cancelled && began > t.ended {
		// In the step of the end it may have been on its way; with a context that lives on it was not.
		j.blame("TURN-8", t.op.id, "turn %s: a call of it began after the turn had ended (%s)", t.op.id, outcomeText(t.outcome))
		return false
	}
	if !cancelled {
		j.blame(id, t.op.id, "turn %s: it ended as interrupted, and the context of a call that was in flight did not end", t.op.id)
	}
	return cancelled
}
