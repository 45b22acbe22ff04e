package faulty

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// state is one committed configuration. It is not written to once it is in force: whoever has one has a whole one.
type state struct {
	mode         loop.ModeName
	instructions string
	model        model.Model // reports effort in its sampling
	effort       model.Effort
	declared     []*installed
	slots        map[string]*slot
	owners       map[string]string // the source in whose slot a tool of that name is
}

// slot is what one source has installed.
type slot struct {
	tools []*installed

	// What follows is for faults only.
	generation  string
	definitions []tool.Definition
	call        int // the how-manieth replacement, by the beginning of the call
	order       int // by the commit
}

// installed is a tool as it was when it was installed (EXT-13).
type installed struct {
	info     tool.Info
	digest   string
	instance tool.InvokableTool
	until    context.Context // set by a fault only
}

func (l *Loop) configuration(mode loop.ModeName) loop.Configuration {
	if edited, ok := l.planted.edited[mode]; ok {
		return edited
	}
	c, _ := l.config.Definition.Configuration(mode)
	return c
}

// stateOf is the state of a loop that has just started in the mode.
func (l *Loop) stateOf(mode loop.ModeName) *state {
	c := l.configuration(mode)
	return &state{
		mode: mode, instructions: c.Instructions, model: c.Model.WithEffort(c.Effort), effort: c.Effort,
		declared: l.declared[mode],
	}
}

// inMode is s with everything that the mode says put to the mode's values; slots stay (MODE-2, EXT-8).
func (l *Loop) inMode(s *state, mode loop.ModeName) *state {
	next := l.stateOf(mode)
	next.slots, next.owners = s.slots, s.owners
	switch {
	case l.has(modeClearsSlots):
		next.slots, next.owners = nil, nil
	case l.has(modeInheritsCurrent):
		base := l.configuration(loop.BaseMode)
		if mode != loop.BaseMode && next.model.Key() == base.Model.Key() {
			next.model = s.model
			if next.effort == base.Effort || !s.model.Supports(next.effort) {
				next.effort = s.effort
			}
			next.model = next.model.WithEffort(next.effort)
		}
	case l.has(modeInTwoEvents):
		next.model, next.effort = s.model, s.effort
	}
	return next
}

// inForce is s with another model and effort.
func (l *Loop) inForce(s *state, m model.Model, effort model.Effort) *state {
	next := *s
	next.model, next.effort = m.WithEffort(effort), effort
	if l.has(changeClearsSlots) {
		next.slots, next.owners = nil, nil
	}
	return &next
}

// withSlot is s with the source's slot replaced as a whole; an empty one clears it (EXT-2, EXT-3).
func (l *Loop) withSlot(s *state, source string, content *slot) *state {
	next := *s
	next.slots, next.owners = maps.Clone(s.slots), maps.Clone(s.owners)
	if next.slots == nil {
		next.slots = make(map[string]*slot)
	}
	if next.owners == nil {
		next.owners = make(map[string]string)
	}
	if old := s.slots[source]; old != nil {
		if l.has(slotMerged) && len(content.tools) > 0 {
			content = merged(old, content)
		}
		for _, t := range old.tools {
			if l.has(sameNameInTwoSlots) {
				removeByName(next.slots, t.info.Name)
			}
			if !l.has(clearedNamesStayTaken) {
				delete(next.owners, t.info.Name)
			}
		}
	}
	if l.has(replacementClearsOthers) {
		clear(next.slots)
		clear(next.owners)
	}
	if len(content.tools) == 0 {
		delete(next.slots, source)
		if l.has(declaredLostOnClear) {
			next.declared = nil
		}
		return &next
	}
	next.slots[source] = content
	for _, t := range content.tools {
		next.owners[t.info.Name] = source
	}
	return &next
}

// merged puts the content on top of what was there: what a fault calls a replacement.
func merged(old, content *slot) *slot {
	both := *content
	both.tools = slices.Clone(content.tools)
	for _, t := range old.tools {
		if !slices.ContainsFunc(content.tools, func(other *installed) bool { return other.info.Name == t.info.Name }) {
			both.tools = append(both.tools, t)
		}
	}
	return &both
}

// removeByName removes the tools of that name from every slot, whosoever they are.
func removeByName(slots map[string]*slot, name string) {
	for source, s := range slots {
		rest := *s
		rest.tools = slices.DeleteFunc(slices.Clone(s.tools), func(t *installed) bool { return t.info.Name == name })
		slots[source] = &rest
	}
}

// tools is what a turn offers: declared tools first, then the slots by source (TURN-9).
func (l *Loop) tools(s *state) []*installed {
	all := slices.Clone(s.declared)
	if l.planted.late != nil {
		all, l.planted.late = l.planted.late, nil
	}
	if l.has(declaredFirstBuiltWins) {
		for i, t := range all {
			all[i] = l.firstBuilt(t)
		}
	}
	sources := slices.Sorted(maps.Keys(s.slots))
	if l.has(slotsByInstallOrder) {
		slices.SortFunc(sources, func(a, b string) int { return s.slots[a].order - s.slots[b].order })
	}
	for _, source := range sources {
		all = append(all, s.slots[source].tools...)
	}
	if l.has(usedToolsFirst) {
		slices.SortStableFunc(all, func(a, b *installed) int { return l.planted.uses[b.info.Name] - l.planted.uses[a.info.Name] })
	}
	return all
}

func (l *Loop) firstBuilt(t *installed) *installed {
	for _, mode := range append([]loop.ModeName{loop.BaseMode}, l.Modes()...) {
		for _, other := range l.declared[mode] {
			if other.info.Name == t.info.Name {
				return &installed{info: t.info, digest: t.digest, instance: other.instance}
			}
		}
	}
	return t
}

func (s *state) runtime() event.Runtime {
	return event.Runtime{Model: s.model, Effort: s.effort}.Clone()
}

func (l *Loop) checkModel(m model.Model) error {
	if l.has(modelStructureUnchecked) {
		return nil
	}
	if err := m.Validate(); err != nil {
		return err
	}
	declared := func(t model.Transport) bool {
		if l.has(transportByProvider) {
			return t.Provider == m.Provider
		}
		return t == m.Transport()
	}
	if !slices.ContainsFunc(l.transports, declared) {
		return fmt.Errorf("the transport of model %q is not declared", m.Name)
	}
	return nil
}

func (l *Loop) checkEffort(m model.Model, effort model.Effort) error {
	switch {
	case !effort.Valid():
		return fmt.Errorf("unknown effort %q", effort)
	case !m.Supports(effort) && !l.has(effortUnchecked):
		return fmt.Errorf("model %q does not support effort %q", m.Name, effort)
	}
	return nil
}

// merge is what a batch comes to. Faults aside that is [loop.MergeChanges].
func (l *Loop) merge(changes []loop.Change) loop.Batch {
	switch {
	case l.has(firstValueWins):
		changes = slices.Clone(changes)
		slices.Reverse(changes)
	case l.has(nilEndsBatch):
		if i := slices.Index(changes, nil); i >= 0 {
			changes = changes[:i]
		}
	}
	batch := loop.MergeChanges(changes...)
	if l.has(batchDropsModel) && batch.Effort != nil {
		batch.Model = nil
	}
	return batch
}
