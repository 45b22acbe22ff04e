package oracle

import (
	"context"
	"fmt"
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// turn is the work on one accepted input.
type turn struct {
	op       *op
	accepted bool
	refused  bool
	// Of its first request: its place and the counter; -1 and nil before.
	first     int
	request   *trace.Request
	low, high int // indices of states that explain its capture: the first, and the last one durable by then
	bounds    []bound
	last      *trace.Request
	lastErr   error
	calls     []*outside // begun and not ended
	ran       map[string]bool
	troubled  bool // a call of it failed or panicked
	panicked  bool
	cutShort  bool // a call of it ended with its context's error
	joined    bool // another input joined it, and it goes on in that one's name

	ended     int // -1 while it has not been found ended
	endedStep int
	outcome   error
	// mustInterrupt is when an interrupt returned that the turn was in flight throughout; -1 if none did.
	mustInterrupt int
	mustStep      int
	candidates    []*op // interrupts that may be the cause of its end
}

// outside is a model request or tool run.
type outside struct {
	entry *trace.Entry
	began int
}

func (t *turn) started() bool { return t.first >= 0 }

// over reports whether the turn has ended as far as is known.
func (t *turn) over() bool { return t.ended >= 0 }

// endedAfter reports whether the turn had not ended by then, and has now. Its end is not seen before its Submit has returned.
func (t *turn) endedAfter(seq int) bool {
	return t.over() && t.ended > seq && t.op.returned >= 0 && t.op.returned < seq
}

func (j *Judge) submitted(l *life, o *op, e *trace.Entry) {
	t := o.turn
	if o.err == nil {
		t.accepted = true
		if e.Turn == nil {
			j.blame("LIFE-3", o.id, "%s: Submit returned neither a turn nor an error", o.id)
		}
		if l.faulted >= 0 && o.called > l.faulted {
			j.put("DUR-6")
			j.blame("DUR-6", o.id, "%s: the input was accepted, although the loop had said that it faulted", o.id)
		}
		if l.mustExit >= 0 && o.called > l.mustExit {
			j.blame("LIFE-1", o.id, "%s: the input was accepted, although a Shutdown was called that nothing was left for to wait for", o.id)
		}
		return
	}
	t.refused = true
	j.put("LIFE-3")
	refusal := as[loop.SubmitError](o.err)
	if refusal == nil {
		j.blame("LIFE-3", o.id, "%s: the input was refused with %T, which is no *loop.SubmitError: %v", o.id, o.err, o.err)
		return
	}
	good := false
	switch refusal.Kind {
	case loop.SubmitShuttingDown, loop.SubmitExited:
		good = l.shutdown >= 0
	case loop.SubmitFaulted:
		good = l.failed >= 0
		if good && l.faulted < 0 {
			l.faulted, l.faultedStep = o.returned, l.steps[o.id]
		}
	case loop.SubmitContextDone:
		good = o.ctxEnded >= 0
		if good && !isContext(o.err) {
			j.blame("LIFE-3", o.id, "%s: context_done does not wrap the context's error", o.id).differ("context canceled", o.err.Error())
			return
		}
	}
	if t.started() {
		j.blame("LIFE-3", o.id, "%s: the input was refused as %s, and its turn ran", o.id, refusal.Kind)
		return
	}
	if !good {
		id := "LIFE-3"
		switch {
		case refusal.Kind == loop.SubmitContextDone:
			id = "REF-8"
		case refusal.Kind == loop.SubmitFaulted:
			id = l.died("REF-5")
		case refusal.Kind == loop.SubmitShuttingDown, refusal.Kind == loop.SubmitExited:
			id = l.died("REF-8")
		}
		l.lost = l.lost || id == "EXT-11"
		j.blame(id, o.id, "%s: the input was refused as %s, and nothing justifies that", o.id, refusal.Kind)
	}
}

// turnOf returns the turn that a request or tool run is for.
func (l *life) turnOf(submit string) *turn {
	if o := l.ops[submit]; o != nil {
		return o.turn
	}
	return nil
}

func (j *Judge) requestBegan(l *life, e *trace.Entry) {
	r := e.Request
	t := l.turnOf(r.Turn)
	if t == nil {
		for _, before := range j.lives {
			if before != l && before.definition.Journal == l.definition.Journal && before.turnOf(r.Turn) != nil {
				j.blame("DUR-3", r.Turn, "turn %s of before the restore: it was run again", r.Turn)
				return
			}
		}
		j.begun(l, e, "a model request")
		return
	}
	if !j.mayBegin(l, t, e, "a model request") {
		return
	}
	t.calls = append(t.calls, &outside{e, e.Seq})
	if !t.started() {
		j.start(l, t, e)
	} else {
		j.continues(l, t, e)
	}
	t.last, t.lastErr = r, nil
}

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

// troubled reports whether a call of the turn failed: where inputs join, those of one turn cannot be told apart.
func (j *Judge) troubled(l *life, t *turn) bool {
	return t.troubled || j.options.Joins && l.troubled >= 0
}

// strays reports whether the latest answer called what is no tool of the capture: the turn may fail over such a call, and take
// the others of its step along (TURN-5).
func (l *life) strays(t *turn) bool {
	return t.last != nil && slices.ContainsFunc(t.last.Calls, func(c model.ToolCall) bool { return !l.captures(t, c.Name) })
}

// start judges the first request of a turn: when the turn starts (TURN-7), and with what (TURN-2 to TURN-4 and others).
func (j *Judge) start(l *life, t *turn, e *trace.Entry) {
	t.first, t.request = e.Seq, e.Request
	l.turns = append(l.turns, t)
	var joined []*turn
	for _, o := range l.order {
		other := o.turn
		if other == nil || other == t || other.over() {
			continue
		}
		earlier := other.accepted && o.returned < t.op.called
		if !other.started() && !earlier {
			continue
		}
		j.put("TURN-7")
		if j.options.Joins {
			if other.started() {
				joined = append(joined, other)
			}
			continue
		}
		if other.started() && o.open() {
			continue // it may have ended: that is seen when its Submit has returned
		}
		if other.started() {
			j.blame("TURN-7", t.op.id, "turn %s: it started while turn %s had not ended", t.op.id, o.id)
		} else {
			j.blame("TURN-7", t.op.id, "turn %s: it started before turn %s, whose input was accepted earlier", t.op.id, o.id)
		}
		return
	}
	if len(joined) > 0 {
		j.joins(l, t, joined, e)
		return
	}
	if len(l.turns) > 1 {
		j.put("TURN-7")
		if before := l.turns[len(l.turns)-2]; before.troubled {
			j.put("TURN-6")
		}
	}
	j.captured(l, t, e)
}

// joins judges the first request for an input that joined the turn in flight: it shares that turn's capture (TURN-7).
func (j *Judge) joins(l *life, t *turn, inFlight []*turn, e *trace.Entry) {
	known := true
	for _, other := range inFlight {
		other.joined = true
		known = known && !other.op.open() // else it may have ended: that is seen when its Submit has returned
		t.request, t.low, t.high, t.bounds = other.request, other.low, other.high, other.bounds
	}
	switch {
	case t.over(): // in this very step
	case known:
		j.continues(l, t, e)
	default:
		t.request, t.low, t.high, t.bounds = e.Request, 0, len(l.states)-1, nil
	}
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

func plain(m model.Model) model.Model {
	m.Sampling.Effort = ""
	return m
}

func sameInfo(a, b toolInfo) bool {
	return a.Name == b.Name && a.Description == b.Description && sameSchema(string(a.Schema), string(b.Schema))
}

func toolTexts(tools []toolInfo) []string {
	texts := make([]string, len(tools))
	for i, t := range tools {
		texts[i] = t.Name + ": " + t.Description + " " + compact(string(t.Schema))
	}
	return texts
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
	if e.Panic && l.panicked < 0 {
		l.panicked = e.Seq
	}
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
		t.cutShort = t.cutShort || isContext(e.Err)
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

// turnEnded judges the outcome of a turn (TURN-7), and whether there is a reason for it (INT-1, REF-8, LIFE-3).
func (j *Judge) turnEnded(l *life, e *trace.Entry) {
	t := l.turnOf(e.Op)
	if t == nil {
		return
	}
	t.ended, t.endedStep, t.outcome = e.Seq, e.Step, e.Err
	if len(t.calls) > 0 {
		j.put("TURN-8")
	}
	j.put("TURN-7")
	failure := as[loop.TurnError](e.Err)
	if e.Err != nil && (failure == nil || !slices.Contains(outcomes, failure.Kind)) {
		j.blame("TURN-7", t.op.id, "turn %s: its outcome is %T, which is no *loop.TurnError of a declared kind: %v", t.op.id, e.Err, e.Err)
		return
	}
	var kind loop.TurnErrorKind
	if failure != nil {
		kind = failure.Kind
	}
	if t.mustInterrupt >= 0 {
		j.put("INT-1")
		if kind != loop.TurnInterrupted {
			j.blame("INT-1", t.op.id, "turn %s: it was in flight throughout an interrupt, and ended as %s", t.op.id, outcomeText(e.Err))
			return
		}
	}
	switch kind {
	case "":
		if !t.started() && !j.options.Joins && !l.definition.Foreign {
			j.blame("TURN-7", t.op.id, "turn %s: it ended as completed, and no model was asked", t.op.id)
			return
		}
		j.told(l, t)
	case loop.TurnInterrupted:
		j.interrupted(l, t)
	case loop.TurnFailed:
		if t.troubled {
			j.put("TURN-6")
		}
		if !t.started() && !j.options.Joins && !l.definition.Foreign && !l.doubtful() && l.shutdown < 0 && !l.timed {
			id := l.died("TURN-7")
			if len(t.candidates) > 0 && l.interrupted > l.troubled {
				id = "INT-1"
			}
			l.lost = l.lost || id == "EXT-11"
			j.blame(id, t.op.id, "turn %s: it ended as failed, and no model was asked: %v", t.op.id, e.Err)
			return
		}
		if l.strays(t) {
			j.put("TURN-5")
		}
		if !j.troubled(l, t) && !l.strays(t) && !l.doubtful() && !l.timed && l.shutdown < 0 && len(t.candidates) == 0 && t.op.ctxEnded >= 0 {
			j.put("REF-8")
			j.blame("REF-8", t.op.id, "turn %s: it failed after the context of its Submit had ended, and for no other reason: %v", t.op.id, e.Err)
		}
	case loop.TurnDropped:
		j.put("LIFE-3")
		switch {
		case t.started():
			j.blame("TURN-7", t.op.id, "turn %s: it started, and its outcome is dropped", t.op.id)
		case l.shutdown < 0 && !l.doubtful():
			id := "TURN-7"
			switch {
			case len(t.candidates) > 0 && l.interrupted > l.troubled:
				id = "INT-1"
			case l.died("") != "":
				id = l.died("")
			case t.op.ctxEnded >= 0:
				id = "REF-8"
			}
			l.lost = l.lost || id == "EXT-11"
			j.blame(id, t.op.id, "turn %s: its input was dropped, with no shutdown and no fault", t.op.id)
		}
	}
	if j.breach == nil && t.op.ctxEnded >= 0 && t.op.ctxEnded < t.ended && t.accepted {
		j.put("REF-8")
	}
}

// told judges a turn that completed right after an answer that called a tool outside the capture: the model was not told, and the
// turn did not fail (TURN-5).
func (j *Judge) told(l *life, t *turn) {
	if t.last == nil || t.lastErr != nil || len(t.calls) > 0 || t.joined {
		return
	}
	for _, call := range t.last.Calls {
		if !l.captures(t, call.Name) {
			j.put("TURN-5")
			j.blame("TURN-5", t.op.id, "turn %s, step %d: the model called %q, which is no tool of the capture, was not told so, and the turn completed", t.op.id, t.last.Step, call.Name)
			return
		}
	}
	for _, call := range t.last.Calls {
		if !t.ran[call.ID] && !t.troubled && !l.timed {
			j.blame("TURN-1", t.op.id, "turn %s, step %d: the model called %q, a tool of the capture, which did not run, and the turn completed", t.op.id, t.last.Step, call.Name)
			return
		}
	}
}

var outcomes = []loop.TurnErrorKind{loop.TurnInterrupted, loop.TurnFailed, loop.TurnDropped}

func outcomeText(err error) string {
	if failure := as[loop.TurnError](err); failure != nil {
		return string(failure.Kind)
	}
	if err == nil {
		return "completed"
	}
	return fmt.Sprint(err)
}
