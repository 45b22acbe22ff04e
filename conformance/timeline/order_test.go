package timeline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/conformance/timeline"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// told returns the story of a script up to its last entry.
func told(s *script) []string {
	return timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: s.last()})
}

// A return goes to its call over what the loop did in the same step, but for the step of the breach, and not over another call.
func TestOrderWithinAStep(t *testing.T) {
	s := newScript(t, "client a\n  a1 submit\n  a2 interrupt\n  a3 read\nclient b\n  b1 change effort=high\n  b2 change effort=low")
	s.start()
	s.call("a1")
	s.accepted("a1")
	s.call("a2")
	s.turnEnds("a1", loop.TurnInterrupted)
	s.ok("a2")
	assert.Equal(t, []string{"a1 submit ──▶ accepted", "a2 interrupt …", "turn a1 ends: interrupted", "a2 … ok   ◀── here"}, told(s))
	s.call("b1")
	s.add(trace.Entry{Kind: trace.Called, Op: "b2", Asked: trace.Change{}}) // a controlled runtime has calls within one step
	s.refused("b1", loop.ChangeLoopExited)
	s.step()
	s.refused("b2", loop.ChangeLoopExited)
	assert.Equal(t, []string{
		"a1 submit ──▶ accepted", "a2 interrupt ──▶ ok", "turn a1 ends: interrupted", "b1 change effort=high …",
		"b2 change effort=low …", "b1 … ✗ loop_exited", "b2 … ✗ loop_exited   ◀── here",
	}, told(s))
}

// Of several tools that are told together the one of the breach gets a line of its own.
func TestMarkAmongTools(t *testing.T) {
	s := newScript(t, "client a\n  a1 submit steps=d1,d2")
	s.start()
	s.call("a1")
	s.accepted("a1")
	d1 := s.tool("a1", 1, "base/d1", "d1")
	d2 := s.tool("a1", 1, "base/d2", "d2")
	assert.Equal(t, []string{
		"a1 submit steps=d1,d2 ──▶ accepted", "loop ──▶ tool a1 step 1: base/d1 …", "loop ──▶ tool a1 step 1: base/d2   ◀── here",
	}, told(s))
	d1(nil)
	assert.Equal(t, []string{
		"a1 submit steps=d1,d2 ──▶ accepted", "loop ──▶ tool a1 step 1: base/d1, base/d2 …", "tool a1 step 1: base/d1 … ok   ◀── here",
	}, told(s))
	d2(nil)
	s.says("done")
	assert.Equal(t, []string{
		"a1 submit steps=d1,d2 ──▶ accepted", "loop ──▶ tool a1 step 1: base/d1, base/d2 … ok", "log: done   ◀── here",
	}, told(s))
}

// That a request is held is known by its end, and told with its beginning, even if that lies behind the mark.
func TestHeld(t *testing.T) {
	s := newScript(t, "client a\n  a1 submit\n  a2 interrupt")
	s.start()
	s.call("a1")
	s.accepted("a1")
	request := s.request("a1", 1, "base", "m0", "low", nil)
	s.call("a2")
	mark := s.last()
	request(letGo)
	assert.Equal(t, []string{
		"a1 submit ──▶ accepted", "loop ──▶ model a1 step 1: captures {base, m0, low, no tools} … held, ignores its context",
		"a2 interrupt   ◀── here",
	}, timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: mark}))
}

// What a crash has cut off is not open at the end.
func TestOpenAfterCrash(t *testing.T) {
	s := newScript(t, "client a\n  a1 submit\n  a2 read\nclient b\n  b1 change effort=high")
	s.start()
	s.call("a1")
	s.accepted("a1")
	s.tool("a1", 1, "base/d1", "d1")
	s.call("b1")
	s.step()
	s.add(trace.Entry{Kind: trace.Crashed})
	s.next(1, nil)
	assert.Equal(t, "restored: {base, m0, low}", last(timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: -1})))
	s.call("a2")
	assert.Equal(t, "at the end, still open: a2", last(timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: -1})))
	assert.Equal(t, "at the end, still open: a2   ◀── expected a return",
		last(timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: -1, Expected: "a return"})))
}

func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// Modes may share tools: whose one is then does not depend on the order of a map.
func TestSharedTools(t *testing.T) {
	for range 50 {
		s := newScript(t, "client a\n  a1 submit")
		d := definition(1)
		quick := *d.Modes[""]
		quick.Name, quick.Instructions = "quick", "quick"
		d.Modes["quick"] = &quick
		s.add(trace.Entry{Kind: trace.Started, Definition: d})
		s.call("a1")
		s.request("a1", 1, "plan", "mp", "high", offer("base", "d1"))
		assert.Equal(t, "a1 submit ──▶ loop captures {plan, mp, high, [d1@base]}   ◀── here", last(told(s)))
	}
}

// A long story has every line of an operation concerned: that of the breach, of its entry, one that the message names, and the
// turn that one of these waits for. A single line is not left out for one that says so.
func TestConcerned(t *testing.T) {
	load := workload.Workload{Clients: []workload.Client{{Name: "a"}}}
	for _, id := range []string{"a1", "b1", "c1", "d1", "e1"} {
		load.Clients[0].Operations = append(load.Clients[0].Operations, workload.Operation{ID: id, Kind: workload.Read})
	}
	load.Clients[0].Operations = append(load.Clients[0].Operations,
		workload.Operation{ID: "w1", Kind: workload.Wait, Args: []workload.Arg{{Name: "turn", Value: "c1"}}})
	s := &script{log: trace.NewLog(nil), load: load, life: 1}
	const rounds = 30
	for range rounds {
		for _, op := range []string{"a1", "b1", "c1", "d1", "e1"} {
			s.call(op)
			s.sees(op, "", "m0", "low")
		}
	}
	s.call("e1")
	s.sees("e1", "", "m0", "low")
	for _, c := range []struct {
		mark timeline.Mark
		kept string
	}{
		{timeline.Mark{}, "e1"}, {timeline.Mark{Op: "a1"}, "a1 e1"}, {timeline.Mark{Op: "w1"}, "c1 d1 e1"}, // d1 is alone between two
		{timeline.Mark{Message: "turn b1: it is older than another, and xd1 is none"}, "a1 b1 e1"},
	} {
		c.mark.Seq = s.last()
		lines := timeline.Lines(load, s.log.Entries(), c.mark)
		count := make(map[string]int)
		for _, l := range lines {
			count[l[:2]]++
			assert.NotEqual(t, "… 1 lines …", l)
		}
		for _, op := range []string{"a1", "b1", "c1", "d1", "e1"} {
			if strings.Contains(c.kept, op) {
				assert.GreaterOrEqual(t, count[op], rounds, "%s with %+v", op, c.mark)
			} else {
				assert.Less(t, count[op], rounds/2, "%s with %+v", op, c.mark)
			}
		}
	}
}
