package native_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

func TestMODE1_OnlyDeclaredModesCanBeSelected(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.Equal(t, []loop.ModeName{"plan"}, b.Modes())
		for _, mode := range []loop.ModeName{"Plan", "plan ", "build", "plan\x00", "\xff", "ｐｌａｎ"} {
			refusal := b.refuses(loop.ChangeInvalidMode, func() error { return b.SetMode(t.Context(), mode) })
			require.Equal(t, mode, refusal.Mode)
		}
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.SetMode(t.Context(), loop.BaseMode))
		require.Equal(t, loop.BaseMode, b.Mode())
	})
}

func TestMODE2_ModePutsEverythingToItsValues(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		base := b.inForce()
		require.NoError(t, b.replace("mcp", "g1", fixture.Defines("x")...))
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))

		require.NoError(t, b.SetMode(t.Context(), "plan"))
		r := b.capture("a1")
		require.Equal(t, "only plan", r.Instructions)
		require.Equal(t, "planner", r.Model.Name)
		require.Equal(t, model.EffortMax, r.Effort)
		require.Equal(t, []string{"outline", "x"}, fixture.ToolNames(r))
		require.Equal(t, model.EffortMax, b.Model().Sampling.Effort)
		plan := b.inForce()

		require.NoError(t, b.Change(t.Context(), changeModel("m3", model.EffortMax)))
		require.NoError(t, b.SetMode(t.Context(), "plan"), "the current mode, too")
		require.Equal(t, plan, b.inForce())

		require.NoError(t, b.SetMode(t.Context(), loop.BaseMode))
		require.Equal(t, base, b.inForce(), "the base mode is what was defined, not what was in force before")
		require.Equal(t, []string{"declared", "x"}, b.offers("a2"))

		events := b.journal.Durable()
		require.Len(t, events, 6, "one event for each")
		changed := events[2].(event.LoopModeChanged)
		require.Equal(t, loop.BaseMode, changed.PreviousMode)
		require.Equal(t, loop.ModeName("plan"), changed.Mode)
		require.Equal(t, plan.Model, changed.Runtime.Model)
		require.Equal(t, plan.Effort, changed.Runtime.Effort)
		require.Equal(t, loop.ModeName("plan"), events[4].(event.LoopModeChanged).PreviousMode)
		require.Equal(t, loop.ModeName("plan"), events[5].(event.LoopModeChanged).PreviousMode)
		b.settled()
	})
}

func TestMODE2_WhatAModeLeavesOutIsTheBases(t *testing.T) {
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t,
			loop.WithMode("terse", loop.WithInstructions("one word")),
			loop.WithMode("bare", loop.WithTools()),
			loop.WithMode("eager", loop.WithEffort(model.EffortHigh)))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.Change(t.Context(), changeModel("m2"), loop.ChangeEffort(model.EffortNone)))

		require.NoError(t, b.SetMode(t.Context(), "terse"))
		r := b.capture("a1")
		require.Equal(t, "one word", r.Instructions)
		require.Equal(t, "m1", r.Model.Name)
		require.Equal(t, model.EffortLow, r.Effort)
		require.Equal(t, []string{"declared"}, fixture.ToolNames(r))

		require.NoError(t, b.SetMode(t.Context(), "bare"))
		r = b.capture("a2")
		require.Equal(t, "be brief", r.Instructions)
		require.Empty(t, r.Tools)

		require.NoError(t, b.SetMode(t.Context(), "eager"))
		r = b.capture("a3")
		require.Equal(t, "m1", r.Model.Name)
		require.Equal(t, model.EffortHigh, r.Effort)
		require.Equal(t, []string{"declared"}, fixture.ToolNames(r))
	})
}

func TestMODE3_RestoreInAModeThatIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
		require.NoError(t, b.SetMode(t.Context(), "plan"))

		built := &fixture.Definition{DefinitionName: "declared"}
		without, err := loop.Define(
			loop.WithName("test"), loop.WithModel(fixture.Model("m1")), loop.WithTools(built))
		require.NoError(t, err)
		crashed, config := b.crashed(), b.config
		config.Definition, config.Journal = without, crashed
		_, err = native.Restore(t.Context(), config)
		var refusal *loop.RestoreError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, loop.RestoreUnknownMode, refusal.Kind)
		require.Equal(t, loop.ModeName("plan"), refusal.Mode)
		require.Empty(t, crashed.Begun())
		require.Equal(t, b.journal.Durable(), crashed.Durable())
		require.Zero(t, built.Builds(), "what cannot be restored builds nothing")

		config.Definition = b.config.Definition
		restored := b.restored(config)
		require.Equal(t, b.inForce(), restored.inForce(), "with the mode back, nothing was lost")

		// A mode that is gone does not matter once the journal has left it.
		require.NoError(t, restored.SetMode(t.Context(), loop.BaseMode))
		config.Definition = without
		config.Journal = restored.crashed()
		again := b.restored(config)
		require.Equal(t, loop.BaseMode, again.Mode())
	})
}
