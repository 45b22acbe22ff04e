package journal_test

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
)

var errSample = errors.New("sample")

// of yields the events.
func of(events ...event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// ending yields the events and then err, and stands for a journal that goes on although it should not.
func ending(err error, events ...event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		_ = yield(nil, err) && yield(event.LoopStopped{}, nil)
	}
}

func runtime(name string, effort model.Effort) event.Runtime {
	return event.Runtime{Model: looptest.Model(name).WithEffort(effort), Effort: effort}
}

func initial(t require.TestingT) journal.State {
	definition, err := loop.Define(loop.WithName("n"), loop.WithModel(looptest.Model("m0")), loop.WithEffort(model.EffortLow),
		loop.WithMode("plan", loop.WithEffort(model.EffortHigh)))
	require.NoError(t, err)
	return journal.Initial(definition)
}

func TestDUR2_WithoutEventsTheBaseModeIsInForce(t *testing.T) {
	state := initial(t)
	want := journal.State{Mode: "", Model: looptest.Model("m0").WithEffort(model.EffortLow), Effort: model.EffortLow}
	assert.Equal(t, want, state)
	folded, err := journal.Fold(state, of())
	require.NoError(t, err)
	assert.Equal(t, want, folded)
	assert.Equal(t, journal.State{}, journal.Initial(loop.Definition{}))
}

func TestDUR2_TheLastChangesAreInForce(t *testing.T) {
	for name, c := range map[string]struct {
		events []event.Event
		want   journal.State
	}{
		"a mode": {
			[]event.Event{event.LoopModeChanged{Mode: "plan", Runtime: runtime("m1", model.EffortHigh)}},
			journal.State{Mode: "plan", Model: looptest.Model("m1").WithEffort(model.EffortHigh), Effort: model.EffortHigh},
		},
		"an inference": {
			[]event.Event{event.LoopInferenceChanged{Runtime: runtime("m1", model.EffortHigh)}},
			journal.State{Model: looptest.Model("m1").WithEffort(model.EffortHigh), Effort: model.EffortHigh},
		},
		"an inference within a mode": {
			[]event.Event{
				event.LoopModeChanged{Mode: "plan", Runtime: runtime("m1", model.EffortHigh)},
				event.LoopInferenceChanged{Runtime: runtime("m2", model.EffortNone)},
			},
			journal.State{Mode: "plan", Model: looptest.Model("m2"), Effort: model.EffortNone},
		},
		"a mode after an inference": {
			[]event.Event{
				event.LoopInferenceChanged{Runtime: runtime("m2", model.EffortNone)},
				event.LoopModeChanged{PreviousMode: "", Mode: "plan", Runtime: runtime("m1", model.EffortHigh)},
				event.LoopModeChanged{PreviousMode: "plan", Mode: "", Runtime: runtime("m0", model.EffortLow)},
			},
			journal.State{Model: looptest.Model("m0").WithEffort(model.EffortLow), Effort: model.EffortLow},
		},
		"a model that does not report the effort": {
			[]event.Event{event.LoopInferenceChanged{Runtime: event.Runtime{Model: looptest.Model("m1"), Effort: model.EffortHigh}}},
			journal.State{Model: looptest.Model("m1").WithEffort(model.EffortHigh), Effort: model.EffortHigh},
		},
		"what is not followed": {
			[]event.Event{
				event.LoopStarted{Name: "n", Mode: "plan", Runtime: runtime("m9", model.EffortHigh)}, event.LoopStopped{},
				event.TurnStarted{Mode: "plan"}, event.TurnEnded{}, event.LoopExternalToolsetChanged{Source: "mcp"},
				event.Other{Tag: "x", Raw: []byte(`{"type":"x","mode":"plan"}`)},
			},
			journal.State{Model: looptest.Model("m0").WithEffort(model.EffortLow), Effort: model.EffortLow},
		},
	} {
		t.Run(name, func(t *testing.T) {
			folded, err := journal.Fold(initial(t), of(c.events...))
			require.NoError(t, err)
			assert.Equal(t, c.want, folded)
		})
	}
}

func TestDUR3_AnErrorMidwayIsAnErrorAndNeverAPrefix(t *testing.T) {
	changed := event.LoopModeChanged{Mode: "plan", Runtime: runtime("m1", model.EffortHigh)}
	for _, events := range [][]event.Event{nil, {changed}, {changed, changed, changed}} {
		state, err := journal.Fold(initial(t), ending(errSample, events...))
		assert.ErrorIs(t, err, errSample)
		assert.Equal(t, journal.State{}, state)
	}
}

// disguised satisfies Event by embedding one.
type disguised struct{ event.LoopModeChanged }

func TestDUR5_WhatIsNoEventOfTheContractIsNotPassedOver(t *testing.T) {
	changed := event.LoopModeChanged{Mode: "plan", Runtime: runtime("m1", model.EffortHigh)}
	for _, e := range []event.Event{nil, &changed, disguised{changed}, &event.Other{Tag: "x"}} {
		state, err := journal.Fold(initial(t), of(changed, e, changed))
		var invalid *event.InvalidError
		assert.ErrorAs(t, err, &invalid, "%T", e)
		assert.Equal(t, journal.State{}, state)
	}
}

func TestVIEW3_AFoldSharesNoMemoryWithItsEventsOrItsBeginning(t *testing.T) {
	changed := event.LoopInferenceChanged{Runtime: runtime("m1", model.EffortHigh)}
	folded, err := journal.Fold(initial(t), of(changed))
	require.NoError(t, err)
	looptest.Overwrite(&changed.Runtime.Model)
	assert.Equal(t, looptest.Model("m1").WithEffort(model.EffortHigh), folded.Model)

	start := initial(t)
	folded, err = journal.Fold(start, of())
	require.NoError(t, err)
	looptest.Overwrite(&start.Model)
	assert.Equal(t, initial(t), folded)
}

func TestCHG6_TheInitialStateSharesNoMemoryWithTheDefinition(t *testing.T) {
	definition, err := loop.Define(loop.WithName("n"), loop.WithModel(looptest.Model("m0")))
	require.NoError(t, err)
	first := journal.Initial(definition)
	looptest.Overwrite(&first.Model)
	assert.Equal(t, looptest.Model("m0"), journal.Initial(definition).Model)
}

func drawStates(t *rapid.T) journal.State {
	start := looptest.Runtimes().Draw(t, "initial")
	return journal.State{Mode: looptest.Modes().Draw(t, "initial mode"), Model: start.Model, Effort: start.Effort}
}

func TestDUR2_AFoldIsItsLastModeAndItsLastRuntime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := drawStates(t)
		events := rapid.SliceOfN(looptest.Events(), 0, 12).Draw(t, "events")
		want := start
		for _, e := range slices.Backward(events) {
			if e, ok := e.(event.LoopModeChanged); ok {
				want.Mode = e.Mode
				break
			}
		}
		for _, e := range slices.Backward(events) {
			var runtime event.Runtime
			switch e := e.(type) {
			case event.LoopModeChanged:
				runtime = e.Runtime
			case event.LoopInferenceChanged:
				runtime = e.Runtime
			default:
				continue
			}
			want.Model, want.Effort = runtime.Model, runtime.Effort
			break
		}
		folded, err := journal.Fold(start, of(events...))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, folded, cmpopts.EquateEmpty()))
		require.Equal(t, folded.Effort, folded.Model.Sampling.Effort)
	})
}

func TestDUR2_AFoldGoesOnFromWhereAnotherEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := drawStates(t)
		a := rapid.SliceOfN(looptest.Events(), 0, 6).Draw(t, "a")
		b := rapid.SliceOfN(looptest.Events(), 0, 6).Draw(t, "b")
		whole, err := journal.Fold(start, of(slices.Concat(a, b)...))
		require.NoError(t, err)
		first, err := journal.Fold(start, of(a...))
		require.NoError(t, err)
		second, err := journal.Fold(first, of(b...))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(whole, second, cmpopts.EquateEmpty()))
	})
}

func TestDUR5_FoldsIgnoreOptionalEventsAndThoseOfAnotherMake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := drawStates(t)
		changes := rapid.SliceOfN(looptest.Changes(), 0, 5).Draw(t, "changes")
		mixed := slices.Clone(changes)
		for _, e := range rapid.SliceOfN(looptest.Optional(), 0, 6).Draw(t, "optional") {
			mixed = slices.Insert(mixed, rapid.IntRange(0, len(mixed)).Draw(t, "at"), e)
		}
		plain, err := journal.Fold(start, of(changes...))
		require.NoError(t, err)
		folded, err := journal.Fold(start, of(mixed...))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(plain, folded, cmpopts.EquateEmpty()))
	})
}

func TestDUR3_AnErrorAnywhereIsAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(looptest.Events(), 0, 6).Draw(t, "events")
		state, err := journal.Fold(drawStates(t), ending(errSample, events...))
		require.ErrorIs(t, err, errSample)
		require.Equal(t, journal.State{}, state)
	})
}

func TestDUR2_AJournalFoldsAsItsEventsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := drawStates(t)
		events := rapid.SliceOfN(looptest.Events(), 0, 6).Draw(t, "events")
		want, err := journal.Fold(start, of(events...))
		require.NoError(t, err)
		var kept journal.Memory
		for _, e := range events {
			require.NoError(t, kept.Append(t.Context(), e))
		}
		folded, err := journal.Fold(start, kept.Events(t.Context()))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, folded, cmpopts.EquateEmpty()))
	})
}

var sampleHeader = event.Header{EventID: uuid.MustParse("0198a1b2-0000-7000-8000-000000000001")}
