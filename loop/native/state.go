package native

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// state is one committed configuration. It is never written to after it was made: the actor replaces it, and readers
// of the pointer see one state or another, never a mix.
type state struct {
	mode         loop.ModeName
	instructions string
	model        model.Model // reports effort in its sampling
	effort       model.Effort
	declared     []*installed
	slots        map[string][]*installed
	owners       map[string]string // the source in whose slot a tool of that name is
}

// installed is a tool as it was when it was installed. It is itself the live tool, with an Info that is fixed: that is how
// a command carries both (EXT-13).
type installed struct{ described tool.Described }

func (i *installed) Info(context.Context) (*tool.Info, error) {
	info := i.described.Info.Clone()
	return &info, nil
}

func (i *installed) InvokableRun(ctx context.Context, arguments string) (string, error) {
	return i.described.Instance.InvokableRun(ctx, arguments)
}

func (i *installed) name() string { return i.described.Info.Name }

// fixTools makes live tools of what was built and described.
func fixTools(described []tool.Described) []*installed {
	tools := make([]*installed, len(described))
	for i, d := range described {
		tools[i] = &installed{d}
	}
	return tools
}

func initialState(l *Loop, from journal.State) *state {
	base := &state{}
	return base.withMode(l, from.Mode).withInference(from.Model, from.Effort)
}

// withMode returns s with everything that the mode says put to that mode's values; slots stay (MODE-2, EXT-8).
func (s *state) withMode(l *Loop, mode loop.ModeName) *state {
	c, _ := l.config.Definition.Configuration(mode)
	next := *s
	next.mode, next.instructions, next.model, next.effort = mode, c.Instructions, c.Model, c.Effort
	if l.config.Definition.Engine() == loop.EngineNative {
		next.declared = fixTools(l.bound.Tools(mode))
	}
	return &next
}

func (s *state) withInference(m model.Model, effort model.Effort) *state {
	next := *s
	next.model, next.effort = m.WithEffort(effort), effort
	return &next
}

// withSlot returns s with one source's slot replaced as a whole; an empty set clears it (EXT-2, EXT-3).
func (s *state) withSlot(source string, tools []*installed) *state {
	next := *s
	next.slots, next.owners = make(map[string][]*installed), make(map[string]string)
	maps.Copy(next.slots, s.slots)
	maps.Copy(next.owners, s.owners)
	for _, t := range s.slots[source] {
		delete(next.owners, t.name())
	}
	if next.slots[source] = tools; len(tools) == 0 {
		delete(next.slots, source)
	}
	for _, t := range tools {
		next.owners[t.name()] = source
	}
	return &next
}

func (s *state) runtime() event.Runtime {
	return event.Runtime{Model: s.model, Effort: s.effort}.Clone()
}

// tools returns what a turn offers: declared tools first, then the slots by source (TURN-9).
func (s *state) tools() []*installed {
	all := slices.Clone(s.declared)
	for _, source := range slices.Sorted(maps.Keys(s.slots)) {
		all = append(all, s.slots[source]...)
	}
	return all
}

func checkModel(m model.Model, transports []model.Transport) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if t := m.Transport(); !slices.Contains(transports, t) {
		return fmt.Errorf("the transport of model %q (provider %q, format %q) is not declared", m.Name, t.Provider, t.APIFormat)
	}
	return nil
}

func checkEffort(m model.Model, effort model.Effort) error {
	switch {
	case !effort.Valid():
		return fmt.Errorf("unknown effort %q", effort)
	case !m.Supports(effort):
		return fmt.Errorf("model %q does not support effort %q", m.Name, effort)
	}
	return nil
}

// observeLoopID passes the events on and keeps the id of the last loop that is named.
func observeLoopID(events iter.Seq2[event.Event, error], id *uuid.UUID) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			if err == nil && e != nil && e.EventHeader().LoopID != uuid.Nil {
				*id = e.EventHeader().LoopID
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
