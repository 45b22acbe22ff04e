package oracle_test

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

// The definition of the loops whose traces the tests write: the base mode with tools d1 and d2; mode plan with a model of its
// own and tools d1 and d3; mode quick with nothing but instructions of its own; mode bare with no tools and no effort.
func definition() *trace.Definition {
	baseTools, planTools := declared("base", "d1", "d2"), declared("plan", "d1", "d3")
	return &trace.Definition{
		Journal: 1,
		Modes: map[loop.ModeName]*trace.Mode{
			"":      {Instructions: "base", Model: m0(), Effort: "low", Tools: baseTools},
			"plan":  {Name: "plan", Instructions: "plan", Model: mp(), Effort: "high", Tools: planTools},
			"quick": {Name: "quick", Instructions: "quick", Model: m0(), Effort: "low", Tools: baseTools},
			"bare":  {Name: "bare", Instructions: "bare", Model: m0()},
		},
		Declared: map[string]bool{"d1": true, "d2": true, "d3": true},
	}
}

func m0() model.Model { return descriptor("m0", "low", "medium", "high") }
func mp() model.Model { return descriptor("mp", "low", "high", "max") }

func descriptor(name string, efforts ...model.Effort) model.Model {
	temperature := 0.5
	return model.Model{
		Provider: "acme", APIFormat: "chat", Name: name, Efforts: efforts, Limits: model.Limits{Context: 1000},
		Sampling: model.Sampling{Temperature: &temperature, Stop: []string{"stop"}},
	}
}

// overwritten is the model with what somebody wrote over memory that the loop should not have shared.
func overwritten(m model.Model, mark string) model.Model {
	m = m.Clone()
	m.Efforts[0] = model.Effort(mark)
	return m
}

func declared(mode string, names ...string) []trace.Tool {
	var tools []trace.Tool
	for _, name := range names {
		tools = append(tools, trace.Tool{Name: name, Description: name + " of " + mode, Schema: `{}`, Instance: mode + "/" + name})
	}
	return tools
}

// described is the tool with another description.
func described(t trace.Tool, description string) trace.Tool {
	t.Description = description
	return t
}

// config is what a turn captures, a read sees and an event records.
type config struct {
	mode, instructions string
	model              model.Model
	effort             model.Effort
	declared           []trace.Tool
	slots              []slot // by source
	offered            []trace.Tool
}

type slot struct {
	source string
	tools  []trace.Tool
}

func of(mode loop.ModeName) config {
	m := definition().Modes[mode]
	if m == nil {
		m = &trace.Mode{Model: m0(), Effort: "low"}
	}
	return config{mode: string(mode), instructions: m.Instructions, model: m.Model, effort: m.Effort, declared: m.Tools}
}

func base() config  { return of("") }
func plan() config  { return of("plan") }
func quick() config { return of("quick") }

// after is the configuration after what operations asked for.
func (c config) after(asked ...any) config {
	for _, a := range asked {
		switch a := a.(type) {
		case trace.SetMode:
			slots := c.slots
			c = of(a.Mode)
			c.slots = slots
		case trace.Change:
			if a.Model != nil {
				c.model = *a.Model
			}
			if a.Effort != nil {
				c.effort = *a.Effort
			}
		case trace.Replace:
			c.slots = slices.DeleteFunc(slices.Clone(c.slots), func(s slot) bool { return s.source == a.Source })
			c.slots = append(c.slots, slot{a.Source, a.Tools})
			slices.SortFunc(c.slots, func(a, b slot) int { return strings.Compare(a.source, b.source) })
		}
	}
	return c
}

// saying, thinking, on and offering are the configuration with one thing put wrong.
func (c config) saying(instructions string) config { c.instructions = instructions; return c }
func (c config) thinking(effort model.Effort) config {
	c.effort = effort
	return c
}
func (c config) on(m model.Model) config { c.model = m; return c }
func (c config) offering(tools ...trace.Tool) config {
	c.offered = append(make([]trace.Tool, 0, len(tools)), tools...)
	return c
}

func (c config) tools() []trace.Tool {
	if c.offered != nil {
		return c.offered
	}
	tools := slices.Clone(c.declared)
	for _, s := range c.slots {
		tools = append(tools, s.tools...)
	}
	return tools
}

func (c config) tool(name string) trace.Tool {
	for _, t := range c.tools() {
		if t.Name == name {
			return t
		}
	}
	return trace.Tool{Name: name}
}

func (c config) without(names ...string) config {
	return c.offering(slices.DeleteFunc(c.tools(), func(t trace.Tool) bool { return slices.Contains(names, t.Name) })...)
}

func (c config) and(tools ...trace.Tool) config { return c.offering(append(c.tools(), tools...)...) }

func (c config) infos() []tool.Info {
	var infos []tool.Info
	for _, t := range c.tools() {
		infos = append(infos, tool.Info{Name: t.Name, Description: t.Description, Schema: []byte(t.Schema)})
	}
	return infos
}

// What operations ask for.
var (
	submit    = trace.Submit{}
	interrupt = trace.Interrupt{}
	shutdown  = trace.Shutdown{}
	read      = trace.Read{}
)

func mode(name loop.ModeName) trace.SetMode           { return trace.SetMode{Mode: name} }
func effort(e model.Effort) trace.Change              { return trace.Change{Effort: &e} }
func change(m model.Model) trace.Change               { return trace.Change{Model: &m} }
func both(m model.Model, e model.Effort) trace.Change { return trace.Change{Model: &m, Effort: &e} }

// set replaces a source's slot. What its tools say of themselves depends on source and generation.
func set(source, generation string, names ...string) trace.Replace {
	r := trace.Replace{Source: source, Generation: generation}
	for _, name := range names {
		of := source + " " + generation
		r.Tools = append(r.Tools, trace.Tool{Name: name, Description: name + " of " + of, Schema: `{"of": "` + of + `"}`, Instance: of + "/" + name})
	}
	return r
}

// broken is a set with a definition of that name that fails to build.
func broken(source, generation, name string) trace.Replace {
	r := set(source, generation)
	r.Broken = []string{name}
	return r
}

// header has what differs from run to run and must not come into a message.
var header = event.Header{EventID: uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")}

func modeChanged(from string, c config) event.Event {
	return event.LoopModeChanged{Header: header, PreviousMode: loop.ModeName(from), Mode: loop.ModeName(c.mode), Runtime: event.Runtime{Model: c.model, Effort: c.effort}}
}

func inferenceChanged(c config) event.Event {
	return event.LoopInferenceChanged{Header: header, Runtime: event.Runtime{Model: c.model, Effort: c.effort}}
}

func toolsetChanged(r trace.Replace) event.Event {
	e := event.LoopExternalToolsetChanged{Header: header, Source: r.Source, Generation: r.Generation}
	for _, t := range r.Tools {
		digest, err := tool.SchemaDigest([]byte(t.Schema))
		if err != nil {
			panic(err)
		}
		e.Tools = append(e.Tools, event.ExternalToolIdentity{Name: t.Name, SchemaDigest: digest})
	}
	return e
}

// asks is the event that an operation asks for, from a configuration.
func (c config) asks(asked any) event.Event {
	switch asked := asked.(type) {
	case trace.SetMode:
		next := c.after(asked)
		next.mode = string(asked.Mode)
		if definition().Modes[asked.Mode] == nil {
			next.model, next.effort = c.model, c.effort
		}
		return modeChanged(c.mode, next)
	case trace.Change:
		return inferenceChanged(c.after(asked))
	case trace.Replace:
		return toolsetChanged(asked)
	}
	return event.LoopStopped{Header: header}
}
