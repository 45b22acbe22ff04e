package timeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

var (
	errAppend = errors.New("the append failed")
	errCall   = errors.New("the call failed")
)

// script writes a trace by hand, as the fakes would note it. Each operation that is called and each call of the surroundings
// that ends is a step of its own, as in a run.
type script struct {
	log   *trace.Log
	load  workload.Workload
	life  int
	calls int
	judge int
}

func newScript(t *testing.T, text string) *script {
	load, err := workload.Parse(text, "reload")
	require.NoError(t, err)
	s := &script{log: trace.NewLog(nil), load: load, life: 1}
	return s
}

func (s *script) step()                 { s.judge = s.log.Rest(s.judge, func([]trace.Entry) {}) }
func (s *script) add(e trace.Entry)     { e.Life = s.life; s.log.Add(e) }
func (s *script) last() int             { return s.log.Now() - 1 }
func (s *script) says(text string)      { s.add(trace.Entry{Kind: trace.Logged, Text: text}) }
func (s *script) ends(op string)        { s.step(); s.add(trace.Entry{Kind: trace.ContextEnded, Op: op}) }
func (s *script) ok(op string)          { s.add(trace.Entry{Kind: trace.Returned, Op: op}) }
func (s *script) accepted(op string)    { s.add(trace.Entry{Kind: trace.Returned, Op: op, Turn: turn{}}) }
func (s *script) no(op string, e error) { s.add(trace.Entry{Kind: trace.Returned, Op: op, Err: e}) }
func (s *script) refused(op string, kind loop.ChangeErrorKind) {
	s.no(op, &loop.ChangeError{Kind: kind})
}
func (s *script) turnEnds(op string, kind loop.TurnErrorKind) {
	e := trace.Entry{Kind: trace.TurnEnded, Op: op}
	if kind != "" {
		e.Err = &loop.TurnError{Kind: kind}
	}
	s.add(e)
}

func (s *script) start() {
	s.add(trace.Entry{Kind: trace.ReadBegan, Call: -s.life})
	s.add(trace.Entry{Kind: trace.ReadEnded, Call: -s.life})
	s.add(trace.Entry{Kind: trace.Started, Definition: definition(1)})
}

// next begins the next life, on the journal of that number.
func (s *script) next(journal int, err error) {
	s.life++
	s.add(trace.Entry{Kind: trace.ReadBegan, Call: -s.life})
	s.step()
	s.add(trace.Entry{Kind: trace.ReadEnded, Call: -s.life})
	s.add(trace.Entry{Kind: trace.Started, Definition: definition(journal), Err: err})
}

func (s *script) call(op string) {
	s.step()
	for _, o := range s.load.Operations() {
		if o.ID == op {
			s.add(trace.Entry{Kind: trace.Called, Op: op, Asked: asked(o)})
			return
		}
	}
	s.add(trace.Entry{Kind: trace.Called, Op: op})
}

func asked(o workload.Operation) any {
	switch o.Kind {
	case workload.Submit:
		return trace.Submit{Input: "input of " + o.ID}
	case workload.Change:
		var c trace.Change
		if _, is := o.Value("model"); is {
			c.Model = &model.Model{Name: "m-" + o.ID}
		}
		if e, is := o.Value("effort"); is {
			effort := model.Effort(e)
			c.Effort = &effort
		}
		return c
	case workload.SetMode:
		mode, _ := o.Value("mode")
		return trace.SetMode{Mode: loop.ModeName(mode)}
	case workload.Replace:
		r := trace.Replace{Source: o.Source(), Generation: o.Generation()}
		for _, t := range o.Tools() {
			r.Tools = append(r.Tools, trace.Tool{Name: t.Name, Description: t.Name + " of " + o.ID})
		}
		return r
	case workload.Interrupt:
		return trace.Interrupt{}
	case workload.Shutdown:
		return trace.Shutdown{}
	case workload.Read:
		return trace.Read{}
	case workload.Wait:
		of, _ := o.Value("turn")
		return trace.Wait{Turn: of}
	}
	return trace.User{Kind: string(o.Kind)}
}

// begin notes the beginning of a call of the surroundings and returns its end, which is another step.
func (s *script) begin(e trace.Entry, end trace.Kind) func(func(*trace.Entry)) {
	s.calls++
	e.Call = s.calls
	s.add(e)
	return func(how func(*trace.Entry)) {
		s.step()
		e := e
		e.Kind = end
		if how != nil {
			how(&e)
		}
		s.add(e)
	}
}

func fails(e *trace.Entry)  { e.Err = errCall }
func panics(e *trace.Entry) { e.Err, e.Panic = errCall, true }
func letGo(e *trace.Entry)  { e.Held = true }
func cut(e *trace.Entry)    { e.Err, e.Cancelled = context.Canceled, true }

func (s *script) request(op string, step int, mode, name string, effort model.Effort, tools []tool.Info, calls ...string) func(func(*trace.Entry)) {
	r := &trace.Request{Turn: op, Step: step, Instructions: mode, Model: model.Model{Name: name}, Effort: effort, Tools: tools}
	for _, c := range calls {
		r.Calls = append(r.Calls, model.ToolCall{Name: c})
	}
	return s.begin(trace.Entry{Kind: trace.RequestBegan, Op: op, Request: r}, trace.RequestEnded)
}

func (s *script) tool(op string, step int, instance, called string) func(func(*trace.Entry)) {
	run := &trace.Run{Turn: op, Step: step, Instance: instance, Called: called}
	return s.begin(trace.Entry{Kind: trace.ToolBegan, Op: op, Run: run}, trace.ToolEnded)
}

func (s *script) build(op, name string) func(func(*trace.Entry)) {
	return s.begin(trace.Entry{Kind: trace.BuildBegan, Op: op, Text: name}, trace.BuildEnded)
}

func (s *script) info(op, name string) func(func(*trace.Entry)) {
	return s.begin(trace.Entry{Kind: trace.DescribeBegan, Op: op, Text: name}, trace.DescribeEnded)
}

// append notes an append and returns what notes that it is durable, and its return.
func (s *script) append(op string, e event.Event) (written func(), returned func(error)) {
	s.calls++
	entry := trace.Entry{Kind: trace.AppendBegan, Op: op, Call: s.calls, Event: e}
	s.add(entry)
	return func() {
			s.step()
			entry.Kind = trace.AppendWritten
			s.add(entry)
		}, func(err error) {
			entry.Kind, entry.Err = trace.AppendReturned, err
			s.add(entry)
		}
}

// commits is an append that succeeds at once.
func (s *script) commits(op string, e event.Event) {
	written, returned := s.append(op, e)
	written()
	returned(nil)
}

func (s *script) sees(op string, mode loop.ModeName, name string, effort model.Effort) {
	m := model.Model{Name: name, Sampling: model.Sampling{Effort: effort}}
	s.add(trace.Entry{Kind: trace.Returned, Op: op, Seen: &trace.Seen{Mode: mode, Model: m}})
}

type turn struct{}

func (turn) Done() <-chan struct{} { return nil }
func (turn) Err() error            { return nil }

func definition(journal int) *trace.Definition {
	mode := func(name, instructions, m string, effort model.Effort, tools ...string) *trace.Mode {
		made := &trace.Mode{Name: loop.ModeName(name), Instructions: instructions, Model: model.Model{Name: m}, Effort: effort}
		for _, t := range tools {
			made.Tools = append(made.Tools, trace.Tool{Name: t, Description: t + " of " + instructions, Instance: instructions + "/" + t})
		}
		return made
	}
	return &trace.Definition{Journal: journal, Modes: map[loop.ModeName]*trace.Mode{
		"": mode("", "base", "m0", "low", "d1", "d2"), "plan": mode("plan", "plan", "mp", "high", "d1", "d3"),
	}}
}

// offer is what a request offers: names, with whose they are.
func offer(of string, names ...string) []tool.Info {
	var infos []tool.Info
	for _, n := range names {
		infos = append(infos, tool.Info{Name: n, Description: n + " of " + of, Schema: json.RawMessage(`{}`)})
	}
	return infos
}

func inference(name string, effort model.Effort) event.Event {
	return event.LoopInferenceChanged{Runtime: event.Runtime{Model: model.Model{Name: name}, Effort: effort}}
}

func modeChanged(mode loop.ModeName, name string, effort model.Effort) event.Event {
	return event.LoopModeChanged{Mode: mode, Runtime: event.Runtime{Model: model.Model{Name: name}, Effort: effort}}
}

func toolset(source, generation string, tools ...string) event.Event {
	e := event.LoopExternalToolsetChanged{Source: source, Generation: generation}
	for _, t := range tools {
		e.Tools = append(e.Tools, event.ExternalToolIdentity{Name: t})
	}
	return e
}
