package timeline

import (
	"github.com/loopcheck/loopcheck/trace"
)

// call tells that an operation is called.
func (s *story) call(e *trace.Entry) {
	c := &call{entry: e}
	s.called[e.Op] = c
	_, waits := e.Asked.(trace.Wait)
	if waits && s.terse && !s.forced {
		c.silent = true
		return
	}
	l := s.begin(opStrand(e.Op), s.asked(e))
	l.who = name(e.Op)
	l.concern(e)
	l.goesOn, l.begins, c.line = true, true, l
	switch e.Asked.(type) {
	case trace.Submit:
		l.opens(turnStrand(e.Op))
	case trace.Wait:
		l.weight = slight
	case trace.Read:
		l.weight = minor
	}
}

// returned tells what an operation returned.
func (s *story) returned(e *trace.Entry) {
	c := s.called[e.Op]
	if c == nil {
		c = &call{entry: &trace.Entry{}}
	}
	c.ended = true
	if t := s.turn(e); e.Err == nil && e.Turn != nil {
		t.accepted = true
	}
	if c.silent && !s.forced {
		return
	}
	l, separator := s.same(e), arrow
	if l == nil {
		l, separator = s.resume(opStrand(e.Op), name(e.Op))
	}
	l.concern(e)
	l.closes(opStrand(e.Op))
	l.goesOn = false
	if e.Panic {
		l.weight = keep
	}
	if _, submit := c.entry.Asked.(trace.Submit); submit {
		l.opens(turnStrand(e.Op))
		if t := s.turn(e); t.first != nil && c.line == l && e.Err == nil && e.Turn != nil && !s.forced {
			return // that the loop has captured says so
		}
	}
	l.add(separator, result(c.entry.Asked, e))
}

// same returns the line of a call that returned in the step in which the line was written, if no other call began since: in
// what order the rest of a step happened was not decided, and to a person a return belongs to its call.
func (s *story) same(e *trace.Entry) *line {
	for i := len(s.lines) - 1; i >= 0 && !s.exact; i-- {
		switch l := s.lines[i]; {
		case l.step != e.Step:
			return nil
		case l.isOpenTo(opStrand(e.Op)):
			return l
		case l.begins:
			return nil
		}
	}
	return nil
}

func (s *story) contextEnded(e *trace.Entry) {
	text := name(e.Op) + "'s context ends"
	l := s.last()
	if l != nil && l.isOpenTo(opStrand(e.Op)) {
		l.add(arrow, text)
	} else {
		l = s.begin("", text)
	}
	if c := s.called[e.Op]; c != nil && !c.ended {
		l.opens(opStrand(e.Op))
	}
	l.concern(e)
}

// append tells an append: its beginning, that it is durable, and its return.
func (s *story) append(e *trace.Entry) {
	c := s.calls[e.Call]
	if c == nil || e.Kind == trace.AppendBegan {
		c = &call{entry: e}
		s.calls[e.Call] = c
	}
	if e.Kind == trace.AppendWritten {
		c.written = true
		s.durable(e)
	}
	c.ended = e.Kind == trace.AppendReturned
	if s.terse && !s.forced && optional(e.Event) && (e.Err == nil || e.Kind != trace.AppendReturned) && c.line == nil {
		return
	}
	strand := opStrand(e.Op)
	if e.Op == "" {
		strand = callStrand(e.Call)
	}
	l := s.last()
	if c.part == nil || l != c.line || l.tail() != c.part {
		var separator string
		switch {
		case e.Op != "":
			l, separator = s.resume(strand, name(e.Op))
		case l == nil || !l.isOpenTo(strand):
			l, separator = s.begin(strand, "loop"), arrow
			if e.Kind != trace.AppendBegan {
				separator = goes
			}
		default:
			separator = arrow
		}
		c.part, c.line = l.add(separator, ""), l
	}
	l.concern(e)
	l.goesOn = true
	if optional(e.Event) {
		l.weight = min(l.weight, slight)
	}
	text := "journal: " + eventName(e.Event)
	if e.Op == "" || s.forced || s.differs(e) {
		text += eventContent(e.Event)
	}
	switch {
	case e.Kind == trace.AppendBegan:
		if e.Cancelled {
			text += cancelled
		}
	case e.Kind == trace.AppendWritten:
		text += " written"
		if !optional(e.Event) {
			l.weight = keep
		}
	case e.Err == nil:
		text += " ✓"
	default:
		text += " ✗"
		if isContext(e.Err) {
			text += " context ended"
		}
		if c.written {
			text += " (written all the same)"
		} else {
			text += " (not written)"
		}
		l.weight = keep
	}
	c.part.text = text
	if e.Kind == trace.AppendReturned && e.Op == "" {
		l.goesOn = false
		l.closes(strand)
	}
}

// read tells that the journal is read. That of the first start is empty.
func (s *story) read(e *trace.Entry) {
	who := "loop reads the journal"
	if e.Kind == trace.ReadBegan {
		c := &call{entry: e, silent: !s.forced && (s.terse || e.Life <= 1 && !s.started[e.Life])}
		s.calls[e.Call] = c
		if c.silent {
			return
		}
		c.line = s.begin(lifeStrand(e), who)
		c.line.concern(e)
		c.line.weight, c.line.goesOn = slight, true
		return
	}
	c := s.calls[e.Call]
	if c != nil {
		c.ended = true
		if c.silent && e.Err == nil && !s.forced {
			return
		}
	}
	l := s.last()
	if c == nil || l == nil || l != c.line {
		l = s.begin(lifeStrand(e), who)
		l.weight = slight
	}
	l.concern(e)
	l.goesOn = false
	l.add(goes, ended(e, "ok"))
	if e.Err != nil {
		l.weight = usual
	}
}

// start tells that a life begins, of which the first is only told if it does not.
func (s *story) start(e *trace.Entry) {
	s.started[e.Life] = e.Err == nil
	c, restored := s.life(e)
	if e.Life <= 1 && e.Err == nil && !s.forced {
		return
	}
	what := "loop starts"
	switch {
	case restored:
		what = "restored"
	case e.Life > 1:
		what = "loop starts anew"
	}
	text := what + ": " + c.String()
	if e.Err != nil {
		text = map[bool]string{true: "restore", false: what}[restored] + ": ✗ " + outcome(e.Err)
	}
	l := s.last()
	if l != nil && l.isOpenTo(lifeStrand(e)) {
		if e.Err == nil { // that the journal could be read goes without saying
			l.parts = nil
		}
		l.add(arrow, text)
		l.parts[0].separator = ""
	} else {
		l = s.begin("", text)
	}
	l.weight = keep
	l.concern(e)
}

func lifeStrand(e *trace.Entry) string { return "life " + lifeName(e.Life) }
