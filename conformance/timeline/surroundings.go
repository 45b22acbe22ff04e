package timeline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/loopcheck/loopcheck/trace"
)

const (
	cancelled = " (its context has ended)"
	isHeld    = "held, ignores its context"
	letGo     = "let go at the end"
)

func lifeName(life int) string { return strconv.Itoa(life) }

// turn returns what is known of the turn that an entry is of.
func (s *story) turn(e *trace.Entry) *turn {
	t := s.turns[e.Op]
	if t == nil {
		t = &turn{life: e.Life}
		s.turns[e.Op] = t
	}
	return t
}

// requestBegan tells a model request: the first of a turn by what it captured, a later one by what differs from that.
func (s *story) requestBegan(e *trace.Entry) {
	c := &call{entry: e}
	s.calls[e.Call] = c
	t := s.turn(e)
	first := t.first == nil || e.Op == ""
	var what string
	switch {
	case e.Request == nil:
	case first:
		t.first = e.Request
		what = "captures " + s.captured(e.Request)
	default:
		what = s.differences(t.first, e.Request)
	}
	if e.Cancelled {
		what = strings.TrimSpace(what + cancelled)
	}
	held := s.held[e.Call]
	if l := s.last(); l != nil && first && !held && e.Op != "" && l.isOpenTo(turnStrand(e.Op)) && !l.effect {
		separator := arrow
		if p := l.tail(); p.text == accepted { // goes without saying
			separator, l.parts = p.separator, l.parts[:len(l.parts)-1]
		}
		l.add(separator, "loop "+what)
		c.line, c.silent = l, true
		l.concern(e)
		return
	}
	l := s.begin(callStrand(e.Call), "loop")
	l.add(arrow, s.model(e))
	if what != "" {
		l.add(": ", what)
	}
	if held {
		l.add(goes, isHeld)
	}
	l.goesOn, l.effect, c.line = !held, true, l
	l.concern(e)
}

func (s *story) requestEnded(e *trace.Entry) {
	c := s.calls[e.Call]
	l := s.last()
	result := s.answer(e)
	switch {
	case c != nil && c.silent:
		l = s.begin(callStrand(e.Call), "loop")
		l.add(arrow, s.model(e))
		l.add(": ", result)
	case c != nil && l != nil && c.line == l && l.isOpenTo(callStrand(e.Call)):
		l.add(goes, result)
	default:
		l = s.begin(callStrand(e.Call), s.model(e))
		l.add(goes, result)
	}
	if c != nil {
		c.ended = true
	}
	l.effect, l.goesOn = true, false
	l.concern(e)
	l.closes(callStrand(e.Call))
	if e.Op != "" {
		l.opens(turnStrand(e.Op))
	}
	if e.Panic {
		l.weight = keep
	}
}

// answer words what came of a request.
func (s *story) answer(e *trace.Entry) string {
	result := "answers"
	if e.Request != nil && len(e.Request.Calls) > 0 {
		var names []string
		for _, c := range e.Request.Calls {
			names = append(names, name(c.Name))
		}
		result = "calls " + list(names, ", ")
	}
	return ended(e, result)
}

func (s *story) turnEnded(e *trace.Entry) {
	s.turn(e).ended = true
	text := "turn " + name(e.Op) + " ends: completed"
	if e.Err != nil {
		text = "turn " + name(e.Op) + " ends: " + outcome(e.Err)
	}
	l := s.last()
	if l != nil && l.isOpenTo(turnStrand(e.Op)) && !l.goesOn {
		l.add(arrow, text)
	} else {
		l = s.begin("", text)
		l.effect = true
	}
	l.closes(turnStrand(e.Op))
	l.concern(e)
}

// work tells what there may be several of at a time: tool runs, builds, infos. Those of one turn or operation are told
// together while nothing comes in between.
func (s *story) work(e *trace.Entry) {
	began := e.Kind == trace.ToolBegan || e.Kind == trace.BuildBegan || e.Kind == trace.DescribeBegan
	c := s.calls[e.Call]
	if began || c == nil {
		c = &call{entry: e}
		s.calls[e.Call] = c
	}
	c.ended = !began
	info := e.Kind == trace.DescribeBegan || e.Kind == trace.DescribeEnded
	if info && !s.slow[e.Call] && !s.forced {
		return
	}
	l := s.last()
	if began || c.item == nil || l != c.line || l.tail() != c.part || s.forced && len(c.part.items) > 1 {
		c.item = &item{name: s.itemName(e)}
		c.line, c.part = s.place(e, began)
		c.part.items = append(c.part.items, c.item)
	}
	l = c.line
	l.concern(e)
	state := ""
	switch {
	case !began:
		good := "ok"
		if info {
			good = "told"
		}
		state = ended(e, good)
		if e.Panic {
			l.weight = keep
		}
	case s.held[e.Call]:
		state = isHeld
	}
	c.item.state = state
	tool := e.Kind == trace.ToolBegan || e.Kind == trace.ToolEnded
	l.goesOn = !tool || slices.ContainsFunc(c.part.items, func(i *item) bool { return i.state == "" })
	if l.effect = tool; tool && e.Op != "" {
		l.opens(turnStrand(e.Op))
	}
}

// place returns where a tool run, a build or an info is told.
func (s *story) place(e *trace.Entry, began bool) (*line, *part) {
	tool := e.Kind == trace.ToolBegan || e.Kind == trace.ToolEnded
	var group string
	switch {
	case tool && began:
		group = "tool " + s.step(e) + ": "
	case tool:
		group = "back from tool " + s.step(e) + ": "
	case e.Kind == trace.BuildBegan:
		group = "builds "
	case e.Kind == trace.BuildEnded:
		group = "built "
	default:
		group = "info of "
	}
	l := s.last()
	strand := opStrand(e.Op)
	if tool {
		strand = group
	}
	if l != nil && l.isOpenTo(strand) && !s.forced { // the mark is to be on one of them
		if p := l.tail(); p.group == group && len(p.items) > 0 {
			return l, p
		}
	}
	var separator string
	switch {
	case tool && began:
		l, separator = s.begin(strand, "loop"), arrow
	case tool:
		l, separator = s.begin(strand, ""), ""
	default:
		l, separator = s.resume(strand, name(e.Op))
	}
	p := l.add(separator, group)
	if tool && !began {
		p.text = "tool " + s.step(e) + ": "
	}
	p.group = group
	return l, p
}

func (s *story) step(e *trace.Entry) string {
	switch {
	case e.Run == nil || e.Op == "":
		return "of nobody's turn"
	case e.Run.Step < 1:
		return name(e.Op)
	}
	return name(e.Op) + " step " + strconv.Itoa(e.Run.Step)
}

func (s *story) itemName(e *trace.Entry) string {
	text := name(e.Text)
	if e.Kind == trace.ToolBegan || e.Kind == trace.ToolEnded {
		text = toolName(e.Run)
	}
	if e.Cancelled && (e.Kind == trace.ToolBegan || e.Kind == trace.BuildBegan || e.Kind == trace.DescribeBegan) {
		text += cancelled
	}
	return text
}
