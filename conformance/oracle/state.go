package oracle

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// state is one committed state: what the journal comes to with one more event.
type state struct {
	index  int
	mode   *trace.Mode // an undeclared one has a name only
	model  model.Model // without effort in its sampling
	effort model.Effort
	slots  []*slot // by source
	by     *op     // nil for the first one of a life, and where it is not known
	kind   event.Type
	// written is when the event became durable, and acked when the call that asked for it returned nil; -1 if it did not.
	written, acked int
	offered        []trace.Tool // see offer
}

// slot is the external tools of one source.
type slot struct {
	source, generation string
	tools              []trace.Tool
	by                 *op
	index              int // of the state that installed it
}

// offer is the tools that a turn gets: declared ones, then the slots by source.
func (s *state) offer() []trace.Tool {
	if s.offered == nil {
		s.offered = make([]trace.Tool, 0, 8)
		s.offered = append(s.offered, s.mode.Tools...)
		for _, slot := range s.slots {
			s.offered = append(s.offered, slot.tools...)
		}
	}
	return s.offered
}

func (s *state) tool(name string) (trace.Tool, bool) {
	for _, t := range s.offer() {
		if t.Name == name {
			return t, true
		}
	}
	return trace.Tool{}, false
}

func (s *state) slot(source string) *slot {
	for _, slot := range s.slots {
		if slot.source == source {
			return slot
		}
	}
	return nil
}

// withSlot returns the slots with one replaced; one without tools is no slot.
func (s *state) withSlot(replaced *slot) []*slot {
	slots := make([]*slot, 0, len(s.slots)+1)
	for _, other := range s.slots {
		if other.source != replaced.source {
			slots = append(slots, other)
		}
	}
	if len(replaced.tools) > 0 {
		slots = append(slots, replaced)
		slices.SortFunc(slots, func(a, b *slot) int { return strings.Compare(a.source, b.source) })
	}
	return slots
}

// after returns what a state comes to by what an operation asks for.
func (s *state) after(d *trace.Definition, asked any) *state {
	next := &state{mode: s.mode, model: s.model, effort: s.effort, slots: s.slots, written: -1, acked: -1}
	switch asked := asked.(type) {
	case trace.SetMode:
		mode := d.Modes[asked.Mode]
		if mode == nil {
			mode = &trace.Mode{Name: asked.Mode, Model: s.model, Effort: s.effort}
		}
		next.mode, next.model, next.effort = mode, mode.Model, mode.Effort
	case trace.Change:
		if asked.Model != nil {
			next.model = *asked.Model
		}
		if asked.Effort != nil {
			next.effort = *asked.Effort
		}
	case trace.Replace:
		next.slots = s.withSlot(&slot{source: asked.Source, generation: asked.Generation, tools: asked.Tools})
	}
	return next
}

// sameModel compares descriptors, but for the effort in their sampling, which is a report.
func sameModel(a, b model.Model) bool {
	return a.Provider == b.Provider && a.APIFormat == b.APIFormat && a.BaseURL == b.BaseURL && a.Name == b.Name &&
		a.Limits == b.Limits && slices.Equal(a.Efforts, b.Efforts) && slices.Equal(a.Sampling.Stop, b.Sampling.Stop) &&
		sameNumber(a.Sampling.Temperature, b.Sampling.Temperature) && sameNumber(a.Sampling.TopP, b.Sampling.TopP)
}

func sameNumber(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// sameSchema compares schemas as JSON text: a loop may keep one compacted, and a blank one in any blank form.
func sameSchema(a, b string) bool {
	return a == b || compact(a) == compact(b)
}

func compact(schema string) string {
	if strings.TrimSpace(schema) == "" {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(schema)) != nil {
		return schema
	}
	return b.String()
}

// sameInference reports whether the state has the model and the effort.
func (s *state) sameInference(m model.Model, effort model.Effort) bool {
	return s.effort == effort && sameModel(s.model, m)
}

// asks reports whether a request is one of a turn that captured the state.
func (s *state) asks(r *trace.Request) bool {
	return r.Instructions == s.mode.Instructions && s.sameInference(r.Model, r.Effort) && s.offers(r)
}

// offers reports whether the tools of a request are those of the state, in any order (for that see TURN-9).
func (s *state) offers(r *trace.Request) bool {
	offer := s.offer()
	if len(offer) != len(r.Tools) {
		return false
	}
	for i, t := range r.Tools {
		want := offer[i]
		if want.Name != t.Name {
			var found bool
			if want, found = s.tool(t.Name); !found || slices.ContainsFunc(r.Tools[:i], func(o toolInfo) bool { return o.Name == t.Name }) {
				return false
			}
		}
		if want.Instance != "" && (want.Description != t.Description || !sameSchema(want.Schema, string(t.Schema))) {
			return false
		}
	}
	return true
}
