package oracle

import (
	"fmt"
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

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
