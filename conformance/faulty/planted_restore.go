package faulty

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func (f faults) plantRestoredMode(ctx context.Context, c Config, h *history) error {
	mode, declared := c.Definition.Configuration(h.state.Mode)
	switch {
	case f.has(restoreDefaultModel) && declared:
		h.state.Model, h.state.Effort = mode.Model, mode.Effort
	case f.has(restoreForgetsMode):
		h.state.Mode = loop.BaseMode
	case declared:
	case f.has(unknownModeRestoredAsBase):
		h.state = journal.Initial(c.Definition)
	case f.has(unknownModeRepaired):
		previous := h.state.Mode
		h.state = journal.Initial(c.Definition)
		l := &Loop{config: c, id: h.id}
		e := event.LoopModeChanged{
			Header: l.header(), PreviousMode: previous, Runtime: event.Runtime{Model: h.state.Model, Effort: h.state.Effort},
		}
		return <-l.append(context.WithoutCancel(ctx), e)
	case f.has(unknownModeUntyped):
		return errors.New("faulty: the mode is gone")
	}
	return nil
}

const restoredOwner = "a former life"

func (l *Loop) plantRestored(events []event.Event) {
	slots := make(map[string]event.LoopExternalToolsetChanged)
	for _, e := range events {
		switch e := e.(type) {
		case event.LoopExternalToolsetChanged:
			slots[e.Source] = e
		case event.Other:
			var accepted struct{ Text string }
			if l.has(inputsReplayed) && e.Tag == tagInput && json.Unmarshal(e.Raw, &accepted) == nil {
				l.mu.Lock()
				l.queue = append(l.queue, &turn{input: accepted.Text, values: context.Background(), done: make(chan struct{})})
				l.advance()
				l.mu.Unlock()
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.state
	for source, e := range slots {
		stubs := &slot{generation: e.Generation}
		for _, t := range e.Tools {
			if l.has(restoredNamesTaken) {
				set(&next.owners, t.Name, restoredOwner)
			}
			stubs.tools = append(stubs.tools, &installed{info: tool.Info{Name: t.Name}, digest: t.SchemaDigest, instance: stub{}})
		}
		switch {
		case l.has(restoredStubs):
			next = *l.withSlot(&next, source, stubs)
		case l.has(restoredGenerationKnown):
			set(&l.planted.known, source, e.Generation)
		}
	}
	l.state = &next
}

// stub stands for a tool of which only the name is left.
type stub struct{}

func (stub) Info(context.Context) (*tool.Info, error) { return nil, errors.New("gone") }

func (stub) InvokableRun(context.Context, string) (string, error) { return "", errors.New("gone") }
