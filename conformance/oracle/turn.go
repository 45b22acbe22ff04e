package oracle

import (
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

// troubled reports whether a call of the turn failed: where inputs join, those of one turn cannot be told apart.
func (j *Judge) troubled(l *life, t *turn) bool {
	return t.troubled || j.options.Joins && l.troubled >= 0
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
