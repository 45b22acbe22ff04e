package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// valid judges whether what was committed could be, from the state before it.
func (j *Judge) valid(l *life, o *op, previous, next *state) {
	switch asked := o.asked.(type) {
	case trace.SetMode:
		j.put("MODE-2")
		if l.definition.Modes[asked.Mode] == nil {
			j.blame("MODE-1", o.id, "%s: mode %q is not declared, and was committed", o.id, asked.Mode)
		}
	case trace.Change:
		if asked.Model != nil && asked.Effort != nil {
			j.put("CHG-2")
		}
		if previous.sameInference(next.model, next.effort) {
			j.put("CHG-2")
		}
		j.put("CHG-4")
		if asked.Model != nil {
			j.put("CHG-5")
		}
		switch {
		case asked.Refused != nil:
			j.blame("CHG-3", o.id, "%s: %v, and it was committed", o.id, asked.Refused)
		case !supports(next.model, next.effort):
			id := "CHG-3"
			if asked.Model == nil || asked.Effort == nil {
				id = "CHG-4"
			}
			j.blame(id, o.id, "%s: model %s does not support effort %q, and they were committed together", o.id, next.model.Name, next.effort)
		}
	case trace.Replace:
		j.put("EXT-2")
		j.put("EXT-7")
		if len(asked.Tools) == 0 {
			j.put("EXT-3")
		}
		switch {
		case l.definition.Foreign:
			j.blame("EXT-10", o.id, "%s: external tools were committed in a foreign loop", o.id)
		case !identifiers(asked):
			j.blame("EXT-1", o.id, "%s: source %q or generation %q is not valid, and it was committed", o.id, asked.Source, asked.Generation)
		case len(asked.Broken)+len(o.broken) > 0:
			j.blame("EXT-4", o.id, "%s: a set was committed that could not be built: %s", o.id, quoted(append(o.broken, asked.Broken...)))
		case o.building > 0 || o.describing > 0 || o.describes < len(asked.Tools):
			j.blame("EXT-4", o.id, "%s: the set was committed before every tool of it was built and described", o.id)
		default:
			if names := l.collisions(asked, previous); len(names) > 0 {
				j.put("EXT-5")
				j.blame("EXT-5", o.id, "%s: a tool name was committed that was taken: %s", o.id, quoted(names))
			}
		}
	}
}

func supports(m model.Model, effort model.Effort) bool {
	return effort == model.EffortNone || slices.Contains(m.Efforts, effort)
}

func identifiers(asked trace.Replace) bool {
	return loop.ValidateSource(asked.Source) == nil && loop.ValidateGeneration(asked.Generation) == nil
}

// collisions are the names of the set that are not free in the state (EXT-5).
func (l *life) collisions(asked trace.Replace, s *state) []string {
	var taken []string
	seen := make(map[string]bool, len(asked.Tools))
	for _, t := range asked.Tools {
		clash := seen[t.Name] || l.definition.Declared[t.Name]
		for _, slot := range s.slots {
			clash = clash || slot.source != asked.Source && slices.ContainsFunc(slot.tools, func(o trace.Tool) bool { return o.Name == t.Name })
		}
		if clash {
			taken = append(taken, t.Name)
		}
		seen[t.Name] = true
	}
	return taken
}
