package oracle_test

import (
	"context"
	"strconv"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// script is a trace written by hand. Each entry is a step of its own, but for one that follows on same.
//
// What a method notes can be told from its name: call and ok are the ends of a call of an operation, does is one that
// commits, with all that belongs to it; begins, written and appended are an append; request and answers, runs and ran are
// those of a model request and a tool run; ends is the end of a turn. Methods that say more about an entry follow it:
// errLate, panicking, told.
type script struct {
	beats []beat
	steps int
	seq   int
	life  int
	calls int
	join  bool

	facts  *trace.Definition
	asked  map[string]any
	begun  map[string]int              // numbers of what has begun, by what and whose
	wanted map[string][]model.ToolCall // of the latest request, by turn
	event  map[string]event.Event      // of the latest append, by operation
	now    config                      // what the journal comes to
}

// beat is a step, and what the kit asks of the judge after it.
type beat struct {
	entries []trace.Entry
	then    func(*oracle.Judge)
}

// run is the beginning of every script: a loop that has started on an empty journal.
func run() *script { return unstarted().started(nil) }

// foreign is a script of a foreign loop.
func foreign() *script {
	s := unstarted()
	s.facts.Foreign = true
	return s.started(nil)
}

func unstarted() *script {
	return &script{
		life: 1, facts: definition(), asked: make(map[string]any), begun: make(map[string]int),
		wanted: make(map[string][]model.ToolCall), event: make(map[string]event.Event), now: base(),
	}
}

func (s *script) started(err error) *script {
	return s.add(trace.Entry{Kind: trace.Started, Definition: s.facts, Err: err})
}

// crash ends the life; restoring begins the next one on the same journal, and another on a new one.
func (s *script) crash() *script { return s.add(trace.Entry{Kind: trace.Crashed}) }

func (s *script) restoring() *script {
	s.life++
	s.now.slots = nil
	return s
}

func (s *script) restored() *script { return s.restoring().started(nil) }

func (s *script) another() *script {
	facts := *s.facts
	facts.Journal++
	s.facts, s.now = &facts, base()
	s.life++
	return s
}

// lacking takes a mode out of the definition of the lives to come.
func (s *script) lacking(mode loop.ModeName) *script {
	facts := *definition()
	delete(facts.Modes, mode)
	s.facts = &facts
	return s
}

func (s *script) add(e trace.Entry) *script {
	if !s.join || len(s.beats) == 0 {
		s.beats = append(s.beats, beat{})
		s.steps++
	}
	s.join = false
	e.Seq, e.Step, e.Life = s.seq, s.steps, s.life
	s.seq++
	b := &s.beats[len(s.beats)-1]
	b.entries = append(b.entries, e)
	return s
}

// same has the next entry in the step of the one before.
func (s *script) same() *script {
	s.join = true
	return s
}

func (s *script) last() *trace.Entry {
	b := &s.beats[len(s.beats)-1]
	return &b.entries[len(b.entries)-1]
}

func (s *script) number(what string) int {
	s.calls++
	s.begun[what] = s.calls
	return s.calls
}

// quiet says that nothing can happen any more; passes that time is about to pass, and timed that something happened only
// because it did.
func (s *script) quiet() *script  { return s.then((*oracle.Judge).Quiet) }
func (s *script) passes() *script { return s.then((*oracle.Judge).Passes) }
func (s *script) timed() *script  { return s.then((*oracle.Judge).Timed) }

func (s *script) then(f func(*oracle.Judge)) *script {
	s.beats = append(s.beats, beat{then: f})
	return s
}

// play has the trace judged.
func (s *script) play(j *oracle.Judge) *oracle.Judge {
	for _, b := range s.beats {
		if b.then != nil {
			b.then(j)
		} else {
			j.Observe(b.entries)
		}
	}
	return j
}

// Operations.

func (s *script) call(op string, asked any) *script {
	s.asked[op] = asked
	return s.add(trace.Entry{Kind: trace.Called, Op: op, Asked: asked})
}

func (s *script) inside(turn string) *script {
	s.last().Inside = turn
	return s
}

func (s *script) ok(op string) *script {
	e := trace.Entry{Kind: trace.Returned, Op: op}
	if _, is := s.asked[op].(trace.Submit); is {
		e.Turn = accepted{}
	}
	return s.add(e)
}

func (s *script) fails(op string, err error) *script {
	return s.add(trace.Entry{Kind: trace.Returned, Op: op, Err: err})
}

func (s *script) panics(op string) *script {
	return s.add(trace.Entry{Kind: trace.Returned, Op: op, Panic: true, Text: "boom"})
}

func (s *script) contextEnds(op string) *script {
	return s.add(trace.Entry{Kind: trace.ContextEnded, Op: op})
}

func (s *script) refused(op string, asked any, err error) *script {
	return s.call(op, asked).fails(op, err)
}

// writes is a call that is committed and has not returned; does is one that has.
func (s *script) writes(op string, asked any) *script {
	s.call(op, asked)
	if set, is := asked.(trace.Replace); is {
		s.builds(op, set)
	}
	return s.begins(op).written(op).appended(op, nil)
}

func (s *script) does(op string, asked any) *script { return s.writes(op, asked).ok(op) }

func (s *script) submit(turns ...string) *script {
	for _, turn := range turns {
		s.call(turn, submit).ok(turn)
	}
	return s
}

// turn is a whole turn with one request.
func (s *script) turn(turn string, c config) *script {
	return s.submit(turn).request(turn, 1, c).answers(turn, nil).ends(turn, nil)
}

func (s *script) reads(op string, c config) *script {
	return s.call(op, read).saw(op, c)
}

// saw is the return of a read that was called before.
func (s *script) saw(op string, c config) *script {
	seen := &trace.Seen{Mode: loop.ModeName(c.mode), Model: c.model.WithEffort(c.effort), Between: s.seq}
	return s.add(trace.Entry{Kind: trace.Returned, Op: op, Seen: seen})
}

// accepted is the turn of an accepted input. Its end is what the script says.
type accepted struct{}

func (accepted) Done() <-chan struct{} { return nil }
func (accepted) Err() error            { return nil }

// Appends.

// begins is the beginning of an append: of the event that the operation asks for, or of another.
func (s *script) begins(op string, events ...event.Event) *script {
	e := s.now.asks(s.asked[op])
	for _, e = range events {
	}
	s.event[op] = e
	return s.add(trace.Entry{Kind: trace.AppendBegan, Op: op, Call: s.number("append " + op), Event: e})
}

func (s *script) written(op string) *script {
	switch e := s.event[op].(type) {
	case event.LoopModeChanged:
		s.now = s.now.after(mode(e.Mode))
		s.now.mode, s.now.model, s.now.effort = string(e.Mode), e.Runtime.Model, e.Runtime.Effort
	case event.LoopInferenceChanged:
		s.now.model, s.now.effort = e.Runtime.Model, e.Runtime.Effort
	case event.LoopExternalToolsetChanged:
		s.now = s.now.after(s.asked[op])
	}
	return s.add(trace.Entry{Kind: trace.AppendWritten, Op: op, Call: s.begun["append "+op], Event: s.event[op]})
}

func (s *script) appended(op string, err error) *script {
	return s.add(trace.Entry{Kind: trace.AppendReturned, Op: op, Call: s.begun["append "+op], Event: s.event[op], Err: err})
}

// loses is a call whose append fails before its event is written; doubts one whose append fails although it is.
func (s *script) loses(op string, asked any) *script {
	return s.call(op, asked).begins(op).appended(op, errAppend)
}

func (s *script) doubts(op string, asked any) *script {
	return s.call(op, asked).begins(op).written(op).appended(op, errAppend)
}

func (s *script) readsJournal(err error) *script {
	return s.add(trace.Entry{Kind: trace.ReadBegan, Call: s.number("read")}).add(trace.Entry{Kind: trace.ReadEnded, Call: s.begun["read"], Err: err})
}

// Turns.

// request is the beginning of a model request, whose answer calls tools.
func (s *script) request(turn string, step int, c config, calls ...string) *script {
	r := &trace.Request{Turn: turn, Step: step, Model: c.model, Effort: c.effort, Instructions: c.instructions, Tools: c.infos()}
	for _, call := range s.wanted[turn] {
		r.Told = append(r.Told, call.ID)
	}
	for i, name := range calls {
		r.Calls = append(r.Calls, model.ToolCall{ID: turn + "." + strconv.Itoa(step) + "." + strconv.Itoa(i), Name: name})
	}
	s.wanted[turn] = r.Calls
	return s.add(trace.Entry{Kind: trace.RequestBegan, Op: turn, Call: s.number("request " + turn), Request: r, Context: context.Background()})
}

// told replaces what the request before tells the model of.
func (s *script) told(ids ...string) *script {
	s.last().Request.Told = ids
	return s
}

func (s *script) answers(turn string, err error) *script {
	return s.add(trace.Entry{Kind: trace.RequestEnded, Op: turn, Call: s.begun["request "+turn], Err: err})
}

// asks is a request and its answer.
func (s *script) asks(turn string, step int, c config, calls ...string) *script {
	return s.request(turn, step, c, calls...).answers(turn, nil)
}

// runs is the beginning of a tool run that the latest answer called by name.
func (s *script) runs(turn, name, instance string) *script {
	r := &trace.Run{Instance: instance, Turn: turn, Called: name}
	for _, call := range s.wanted[turn] {
		if call.Name == name {
			r.ID = call.ID
		}
	}
	return s.add(trace.Entry{Kind: trace.ToolBegan, Op: turn, Call: s.number("run " + turn + name), Run: r, Context: context.Background()})
}

func (s *script) ran(turn, name string, err error) *script {
	return s.add(trace.Entry{Kind: trace.ToolEnded, Op: turn, Call: s.begun["run "+turn+name], Err: err})
}

func (s *script) ends(turn string, err error) *script {
	return s.add(trace.Entry{Kind: trace.TurnEnded, Op: turn, Err: err})
}

// cancelled says of the entry before that its context had ended by then.
func (s *script) cancelled() *script {
	s.last().Cancelled = true
	return s.losing()
}

// losing says of what began before that its context ends later.
func (s *script) losing() *script {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.last().Context = ctx
	return s
}

func (s *script) panicking() *script {
	s.last().Panic = true
	return s
}

// Builds.

// builds is the building and describing of all of a set.
func (s *script) builds(op string, set trace.Replace) *script {
	for _, t := range set.Tools {
		s.build(op, t.Name).built(op, t.Name, nil).describe(op, t.Name).describedBy(op, t.Name)
	}
	return s
}

func (s *script) build(op, name string) *script {
	return s.add(trace.Entry{Kind: trace.BuildBegan, Op: op, Text: name, Call: s.number("build " + op + name)})
}

func (s *script) built(op, name string, err error) *script {
	return s.add(trace.Entry{Kind: trace.BuildEnded, Op: op, Text: name, Call: s.begun["build "+op+name], Err: err})
}

func (s *script) describe(op, name string) *script {
	return s.add(trace.Entry{Kind: trace.DescribeBegan, Op: op, Text: name, Call: s.number("describe " + op + name)})
}

func (s *script) describedBy(op, name string) *script {
	return s.add(trace.Entry{Kind: trace.DescribeEnded, Op: op, Text: name, Call: s.begun["describe "+op+name]})
}
