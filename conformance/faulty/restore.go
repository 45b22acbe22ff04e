package faulty

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
)

// history is what a journal says.
type history struct {
	state journal.State
	id    uuid.UUID     // of the loop that wrote it
	all   []event.Event // for faults only
}

// Restore starts a loop in the state that its journal stands for, under the id that it had. Errors are those of [New]; a
// journal that cannot be read to its end, a mode that the definition no longer has, and a model or effort that it would refuse
// today fail with a [*loop.RestoreError], and the journal is as it was (MODE-3).
func Restore(ctx context.Context, c Config) (*Loop, error) {
	if err := c.validate(loop.EngineNative); err != nil {
		return nil, err
	}
	faults := faults(c.Fault)
	found, err := await(ctx, "journal", func() (h history, err error) {
		h.state, err = journal.Fold(journal.Initial(c.Definition), h.observe(faults, c.Journal.Events(ctx)))
		return h, err
	})
	if err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnreadable, Cause: err}
	}
	if err := faults.plantRestoredMode(ctx, c, &found); err != nil {
		return nil, err
	}
	probe := &Loop{config: c, transports: c.Definition.Transports()}
	if !probe.declares(found.state.Mode) {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: found.state.Mode}
	}
	err = probe.checkModel(found.state.Model)
	if err == nil {
		err = probe.checkEffort(found.state.Model, found.state.Effort)
	}
	if err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreInvalidRuntime, Cause: err}
	}
	if found.id == uuid.Nil {
		found.id = uuid.New()
	}
	l, err := start(ctx, c, found.state, found.id)
	if err != nil {
		return nil, err
	}
	l.plantRestored(found.all)
	return l, nil
}

// observe passes the events on and keeps what else is wanted of them.
func (h *history) observe(f faults, events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			if err != nil && f.has(restorePrefix) {
				return
			}
			if err == nil && e != nil {
				h.all = append(h.all, e)
				if id := e.EventHeader().LoopID; id != uuid.Nil {
					h.id = id
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
