package journal

import (
	"fmt"
	"iter"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

// State is what a journal comes to: the mode, the whole model and the effort in force (DUR-2). Model reports Effort in its
// sampling.
type State struct {
	Mode   loop.ModeName
	Model  model.Model
	Effort model.Effort
}

// Initial returns the state that a loop of the definition starts with.
func Initial(definition loop.Definition) State {
	base, _ := definition.Configuration(loop.BaseMode)
	return State{Mode: base.Mode, Model: base.Model, Effort: base.Effort}
}

// Fold follows the events from the state that the loop started with. External tools do not survive a restore (EXT-9)
// and leave no trace in the state; optional events and [event.Other] are ignored (DUR-5). The error, if any, is the one that
// the events ended with, or tells of one that is not of package event: there is no state of a part of a history.
func Fold(initial State, events iter.Seq2[event.Event, error]) (State, error) {
	state, n := initial, 0
	for e, err := range events {
		if err != nil {
			return State{}, fmt.Errorf("journal: fold: after %d events: %w", n, err)
		}
		n++
		switch e := e.(type) {
		case event.LoopModeChanged:
			state = State{Mode: e.Mode, Model: e.Runtime.Model, Effort: e.Runtime.Effort}
		case event.LoopInferenceChanged:
			state.Model, state.Effort = e.Runtime.Model, e.Runtime.Effort
		case event.LoopExternalToolsetChanged, event.LoopStarted, event.LoopStopped, event.TurnStarted, event.TurnEnded,
			event.Other:
		default:
			// A pointer to a mode change, say: to pass over it would be to lose the mode (DUR-5).
			invalid := &event.InvalidError{Cause: fmt.Errorf("%T is not an event of package event", e)}
			return State{}, fmt.Errorf("journal: fold: after %d events: %w", n-1, invalid)
		}
	}
	state.Model = state.Model.WithEffort(state.Effort)
	return state, nil
}
