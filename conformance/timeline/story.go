package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// story makes lines of entries.
type story struct {
	lines  []*line
	terse  bool
	forced bool // the present entry must be told, in the last line
	exact  bool // and in its place

	entries    []trace.Entry
	operations map[string]workload.Operation
	held       map[int]bool // calls that were held until the run was about to end, by number
	slow       map[int]bool // infos that were not told at once
	tools      tools

	called   map[string]*call // operations
	calls    map[int]*call    // of the surroundings, by number
	turns    map[string]*turn // by submit
	started  map[int]bool     // lives
	modes    map[string]string
	journals map[int]*config // what each journal folds to
	journal  map[int]int     // of each life
}

// call is what begins and ends.
type call struct {
	entry   *trace.Entry // with which it began
	part    *part        // in which it is told, and
	line    *line
	item    *item
	written bool // of an append
	silent  bool // its beginning was not told in a line of its own
	ended   bool
}

type turn struct {
	life            int
	first           *trace.Request
	accepted, ended bool
}

func newStory(load workload.Workload, entries []trace.Entry, terse bool) *story {
	s := &story{
		terse: terse, entries: entries, operations: make(map[string]workload.Operation), held: make(map[int]bool),
		slow: make(map[int]bool), tools: toolsOf(entries), called: make(map[string]*call), calls: make(map[int]*call),
		turns: make(map[string]*turn), started: make(map[int]bool), modes: make(map[string]string),
		journals: make(map[int]*config), journal: make(map[int]int),
	}
	for _, o := range load.Operations() {
		s.operations[o.ID] = o
	}
	describing := make(map[int]int)
	for _, e := range entries {
		switch {
		case e.Held:
			s.held[e.Call] = true
		case e.Kind == trace.DescribeBegan:
			describing[e.Call] = e.Step
			s.slow[e.Call] = true
		case e.Kind == trace.DescribeEnded && describing[e.Call] == e.Step:
			delete(s.slow, e.Call)
		}
	}
	return s
}

// add tells one entry. An error of the subject may do anything when it is asked, which must not end the story.
func (s *story) add(e *trace.Entry, n int) {
	defer func() {
		if recover() != nil {
			s.begin("", fmt.Sprintf("(entry %d cannot be told)", n))
		}
	}()
	s.tell(e)
}

func (s *story) tell(e *trace.Entry) {
	switch e.Kind {
	case trace.Started:
		s.start(e)
	case trace.Crashed:
		l := s.begin("", "── crash ──")
		l.weight = keep
		l.concern(e)
	case trace.Called:
		s.call(e)
	case trace.Returned:
		s.returned(e)
	case trace.ContextEnded:
		s.contextEnded(e)
	case trace.AppendBegan, trace.AppendWritten, trace.AppendReturned:
		s.append(e)
	case trace.ReadBegan, trace.ReadEnded:
		s.read(e)
	case trace.RequestBegan:
		s.requestBegan(e)
	case trace.RequestEnded:
		s.requestEnded(e)
	case trace.ToolBegan, trace.ToolEnded, trace.BuildBegan, trace.BuildEnded, trace.DescribeBegan, trace.DescribeEnded:
		s.work(e)
	case trace.TurnEnded:
		s.turnEnded(e)
	case trace.Logged:
		s.remark("log: ", e)
	case trace.Invariant:
		s.remark("user: ", e)
	default:
		s.remark(fmt.Sprintf("(kind %d) ", e.Kind), e)
	}
}

func (s *story) remark(label string, e *trace.Entry) {
	if e.Op != "" {
		label = name(e.Op) + " " + label
	}
	l := s.begin("", label+shorten(clean(e.Text), 2*Width))
	l.weight = minor
	l.concern(e)
}

func (s *story) last() *line {
	if len(s.lines) == 0 {
		return nil
	}
	return s.lines[len(s.lines)-1]
}

// begin begins a line that is open to a strand.
func (s *story) begin(strand, text string) *line {
	l := &line{weight: usual}
	l.add("", text)
	l.opens(strand)
	s.lines = append(s.lines, l)
	return l
}

// resume returns the last line if that is open to the strand, with the separator that a next piece has in it; else a new line
// that goes on with what is called so.
func (s *story) resume(strand, who string) (l *line, separator string) {
	if l = s.last(); l != nil && l.isOpenTo(strand) {
		return l, arrow
	}
	l = s.begin(strand, who)
	l.who = who
	return l, goes
}

// concern notes that a line tells of an entry.
func (l *line) concern(e *trace.Entry) {
	l.step = e.Step
	if e.Op != "" && !slices.Contains(l.ops, e.Op) {
		l.ops = append(l.ops, e.Op)
	}
}

func opStrand(op string) string   { return "op " + op }
func turnStrand(op string) string { return "turn " + op }
func callStrand(n int) string     { return fmt.Sprint("call ", n) }

// open words what has begun and not ended, by operation: "turn a1 (tool base/d1), b1 (build of x)".
func (s *story) open() string {
	crashed := make(map[int]bool)
	for i := range s.entries {
		if s.entries[i].Kind == trace.Crashed {
			crashed[s.entries[i].Life] = true
		}
	}
	var ops []string
	label, inside := make(map[string]string), make(map[string][]string)
	note := func(op, as string, what ...string) {
		if _, noted := inside[op]; !noted {
			ops = append(ops, op)
		}
		label[op] = cmp.Or(as, label[op])
		inside[op] = append(inside[op], what...)
	}
	for i := range s.entries {
		e := &s.entries[i]
		if crashed[e.Life] {
			continue
		}
		switch e.Kind {
		case trace.Called:
			if c := s.called[e.Op]; c != nil && c.entry == e && !c.ended {
				note(e.Op, name(e.Op))
			}
		case trace.Returned:
			if t := s.turns[e.Op]; t != nil && t.accepted && !t.ended {
				note(e.Op, "turn "+name(e.Op))
			}
		case trace.AppendBegan, trace.ReadBegan, trace.RequestBegan, trace.ToolBegan, trace.BuildBegan, trace.DescribeBegan:
			if c := s.calls[e.Call]; c != nil && c.entry == e && !c.ended {
				note(e.Op, "", s.what(e))
			}
		}
	}
	for i, op := range ops {
		text := label[op]
		if text == "" { // it has returned, and so has its turn ended
			text = map[bool]string{true: "the loop", false: "of " + name(op)}[op == ""]
		}
		if len(inside[op]) > 0 {
			text += " (" + list(inside[op], ", ") + ")"
		}
		ops[i] = text
	}
	return list(ops, ", ")
}

// what names a call of the surroundings.
func (s *story) what(e *trace.Entry) string {
	switch e.Kind {
	case trace.AppendBegan:
		return "append of " + eventName(e.Event)
	case trace.ReadBegan:
		return "reading the journal"
	case trace.RequestBegan:
		return "model request"
	case trace.ToolBegan:
		return "tool " + toolName(e.Run)
	case trace.BuildBegan:
		return "build of " + name(e.Text)
	}
	return "info of " + name(e.Text)
}

// model names a model request.
func (s *story) model(e *trace.Entry) string {
	who := "nobody's turn"
	if e.Op != "" {
		who = name(e.Op)
	}
	if e.Request == nil {
		return "model " + who
	}
	return fmt.Sprintf("model %s step %d", who, e.Request.Step)
}

// operation writes an operation as the workload's text does, but for what the schedule may do to it.
func (s *story) asked(e *trace.Entry) string {
	o, known := s.operations[e.Op]
	if !known {
		kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e.Asked), "trace."))
		if e.Asked == nil {
			kind = "operation"
		}
		o = workload.Operation{ID: e.Op, Kind: workload.Kind(kind), Inside: e.Inside}
	}
	text := name(o.ID) + " " + clean(string(o.Kind))
	for _, a := range o.Args {
		text += " " + shorten(clean(a.String()), 40)
	}
	if o.Inside != "" {
		text += " inside=" + name(o.Inside)
	}
	return text
}
