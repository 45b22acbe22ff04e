package timeline

import (
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

// config is what a journal folds to.
type config struct {
	mode   loop.ModeName
	model  string
	effort model.Effort
}

// String writes it as {plan, mp, high}.
func (c config) String() string {
	return "{" + modeName(c.mode) + ", " + name(c.model) + ", " + effortName(c.effort) + "}"
}

func modeName(m loop.ModeName) string {
	if m == loop.BaseMode {
		return "base"
	}
	return name(string(m))
}

func effortName(e model.Effort) string {
	if e == model.EffortNone {
		return "no effort"
	}
	return name(string(e))
}

// life notes what a life begins with, and whether its journal is that of a life before.
func (s *story) life(e *trace.Entry) (c config, restored bool) {
	d := e.Definition
	if d == nil {
		return config{}, false
	}
	for _, mode := range d.Modes {
		if mode != nil {
			s.modes[mode.Instructions] = modeName(mode.Name)
		}
	}
	known := s.journals[d.Journal]
	if known != nil {
		c, restored = *known, true
	} else if base := d.Modes[loop.BaseMode]; base != nil {
		c = config{loop.BaseMode, base.Model.Name, base.Effort}
	}
	if e.Err == nil {
		now := c
		s.journals[d.Journal], s.journal[e.Life] = &now, d.Journal
	}
	return c, restored
}

// durable folds an event that is in the journal.
func (s *story) durable(e *trace.Entry) {
	number, known := s.journal[e.Life]
	c := s.journals[number]
	if !known || c == nil {
		return
	}
	switch e := e.Event.(type) {
	case event.LoopModeChanged:
		*c = config{e.Mode, e.Runtime.Model.Name, e.Runtime.Effort}
	case event.LoopInferenceChanged:
		c.model, c.effort = e.Runtime.Model.Name, e.Runtime.Effort
	}
}

// captured writes the configuration that a request shows. What a mode is called its instructions tell.
func (s *story) captured(r *trace.Request) string {
	return "{" + s.mode(r.Instructions) + ", " + name(r.Model.Name) + ", " + effortName(r.Effort) + ", " + s.offered(r) + "}"
}

func (s *story) mode(instructions string) string {
	if mode, known := s.modes[instructions]; known {
		return mode
	}
	return name(instructions)
}

func (s *story) offered(r *trace.Request) string {
	if len(r.Tools) == 0 {
		return "no tools"
	}
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = s.tools.label(t, s.mode(r.Instructions))
	}
	return "[" + list(names, " ") + "]"
}

// differences writes what a later request shows other than the first of its turn did.
func (s *story) differences(first, r *trace.Request) string {
	var differences []string
	say := func(text string) { differences = append(differences, text) }
	if first.Instructions != r.Instructions {
		say("instructions of " + s.mode(r.Instructions))
	}
	if first.Model.Name != r.Model.Name {
		say("model " + name(r.Model.Name))
	} else if what := modelDifferences(first.Model, r.Model); what != "" {
		say("model " + name(r.Model.Name) + " with " + what)
	}
	if first.Effort != r.Effort {
		if r.Effort == model.EffortNone {
			say("no effort")
		} else {
			say("effort " + effortName(r.Effort))
		}
	}
	if tools := s.toolDifferences(first, r); tools != "" {
		say(tools)
	}
	return strings.Join(differences, ", ")
}

// modelDifferences names the parts in which two descriptors of one model differ.
func modelDifferences(a, b model.Model) string {
	var parts []string
	for _, part := range []struct {
		differs bool
		name    string
	}{
		{a.Provider != b.Provider, "provider " + name(b.Provider)},
		{a.APIFormat != b.APIFormat, "API format " + name(b.APIFormat)},
		{a.BaseURL != b.BaseURL, "base URL " + name(b.BaseURL)},
		{!slices.Equal(a.Efforts, b.Efforts), "other efforts"},
		{a.Limits != b.Limits, "other limits"},
		{!equal(a.Sampling.Temperature, b.Sampling.Temperature) || !equal(a.Sampling.TopP, b.Sampling.TopP) ||
			!slices.Equal(a.Sampling.Stop, b.Sampling.Stop), "other sampling"},
	} {
		if part.differs {
			parts = append(parts, part.name)
		}
	}
	return strings.Join(parts, ", ")
}

func equal(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

func (s *story) toolDifferences(first, r *trace.Request) string {
	same := func(a, b tool.Info) bool {
		return a.Name == b.Name && a.Description == b.Description && string(a.Schema) == string(b.Schema)
	}
	if slices.EqualFunc(first.Tools, r.Tools, same) {
		return ""
	}
	mode := s.mode(r.Instructions)
	var changed []string
	only := func(in, of []tool.Info, sign string) {
		for _, t := range in {
			if !slices.ContainsFunc(of, func(o tool.Info) bool { return o.Name == t.Name }) {
				changed = append(changed, sign+s.tools.label(t, mode))
			}
		}
	}
	only(r.Tools, first.Tools, "+")
	only(first.Tools, r.Tools, "-")
	for _, t := range r.Tools {
		if i := slices.IndexFunc(first.Tools, func(o tool.Info) bool { return o.Name == t.Name }); i >= 0 && !same(first.Tools[i], t) {
			changed = append(changed, "another "+s.tools.label(t, mode))
		}
	}
	if len(changed) == 0 { // another order, or one of them twice
		return "tools " + s.offered(r)
	}
	return "tools: " + list(changed, ", ")
}

// tools tells tools of one name apart by what they say of themselves: by the operation that brought them, or the mode that
// declares them.
type tools map[string][]origin // by name

type origin struct {
	description, of string
	declared        bool
}

func toolsOf(entries []trace.Entry) tools {
	known := make(tools)
	add := func(t trace.Tool, of string, declared bool) {
		o := origin{t.Description, of, declared}
		if !slices.Contains(known[t.Name], o) {
			known[t.Name] = append(known[t.Name], o)
		}
	}
	for i := range entries {
		if d := entries[i].Definition; d != nil {
			for _, mode := range d.Modes {
				if mode == nil {
					continue
				}
				for _, t := range mode.Tools {
					add(t, modeName(mode.Name), true)
				}
			}
		}
		if replace, is := entries[i].Asked.(trace.Replace); is {
			for _, t := range replace.Tools {
				add(t, name(entries[i].Op), false)
			}
		}
	}
	return known
}

// label names a tool that is offered. Whose it is is only said where it could be another's: x@b1 is the x that b1 brought.
func (known tools) label(t tool.Info, mode string) string {
	origins := known[t.Name]
	if len(origins) == 0 {
		return name(t.Name)
	}
	var of []string
	for _, o := range origins {
		if o.description == t.Description {
			of = append(of, o.of)
		}
	}
	slices.Sort(of) // the modes come out of a map
	switch {
	case len(of) == 0:
		return name(t.Name) + "@?" // nobody described it so
	case len(origins) == 1, slices.Contains(of, mode):
		return name(t.Name)
	}
	return name(t.Name) + "@" + of[0]
}
