package native_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestDUR1_NothingShowsBeforeItIsDurable(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		changes := map[string]func() error{
			"mode":      func() error { return b.SetMode(t.Context(), "plan") },
			"inference": func() error { return b.Change(t.Context(), changeModel("m2", model.EffortMax)) },
			"tools":     func() error { return b.replace("mcp", "g1", fixture.Defines("x")...) },
		}
		for _, what := range []string{"mode", "inference", "tools"} {
			before, offered := b.inForce(), b.offers("before "+what)
			hold := make(chan struct{})
			b.journal.PlanAppends(fixture.Plan{Hold: hold})
			result := async(changes[what])
			require.True(t, pending(result), "no success before the append has returned")
			require.Equal(t, before, b.inForce())
			r := b.capture("during " + what)
			require.Equal(t, before.Model, r.Model)
			require.Equal(t, offered, fixture.ToolNames(r), "turns go on meanwhile, with what is in force")
			close(hold)
			require.NoError(t, <-result)
			b.settled()
		}
		r := b.capture("after")
		require.Equal(t, "m2", r.Model.Name)
		require.Equal(t, []string{"outline", "x"}, fixture.ToolNames(r))
	})
}

func TestDUR2_FoldIsTheStateInForce(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.settled()
		temperature := 0.5
		m := fixture.Model("m2", model.EffortLow)
		m.Sampling.Temperature, m.Sampling.Stop, m.Limits.Output = &temperature, []string{"END"}, 17
		steps := []func() error{
			func() error { return b.Change(t.Context(), loop.ChangeModel(m)) },
			func() error { return b.replace("mcp", "g1", fixture.Defines("x")...) },
			func() error { return b.SetMode(t.Context(), "plan") },
			func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortNone)) },
			func() error { return b.SetMode(t.Context(), loop.BaseMode) },
		}
		for _, step := range steps {
			require.NoError(t, step())
			b.settled()
		}
		b.journal.PlanAppends(fixture.Plan{Before: errDisk}, fixture.Plan{After: errDisk})
		require.Error(t, b.SetMode(t.Context(), "plan"))
		b.settled()
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		b.settled()
	})
}

// F26: what a turn meets with is no choice of the session.
func TestDUR2_FailedTurnSelectsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		before := b.inForce()
		b.client.Answer = func(context.Context, model.Request, int) ([]model.Chunk, error) { return nil, errDisk }
		require.Error(t, b.run("a1"))
		require.Equal(t, before, b.inForce())
		require.Empty(t, b.journal.Begun())
	})
}

// F27: what servers and bindings know stays out of the journal, whatever becomes of the set.
func TestDUR4_NoLiveValueEntersTheJournal(t *testing.T) {
	const canary = "xyzzy-canary"
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Bindings: tool.Bindings{"token": canary}}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		bound := make(chan tool.Bindings, 1)
		leaky := &fixture.Tool{
			Name: "x", Description: canary, Schema: []byte(`{"default":"` + canary + `"}`),
			OnRun: func(context.Context, string) (string, error) { return canary, errors.New(canary) },
		}
		ok := &fixture.Definition{DefinitionName: canary, OnBuild: func(_ context.Context, bindings tool.Bindings) ([]tool.InvokableTool, error) {
			bound <- bindings
			return []tool.InvokableTool{leaky}, nil
		}}
		require.NoError(t, b.replace("mcp", "g1", ok))
		require.Equal(t, canary, (<-bound)["token"], "bindings do reach the definitions")

		failing := []func(context.Context, tool.Bindings) ([]tool.InvokableTool, error){
			func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return nil, errors.New(canary) },
			func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { panic(canary) },
			func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
				return []tool.InvokableTool{&fixture.Tool{Name: "y", Schema: []byte(`{"` + canary)}}, nil
			},
		}
		for _, f := range failing {
			require.Equal(t, loop.ChangeExternalBuildFailed, kind(b.replace("mcp", "g2", &fixture.Definition{OnBuild: f})))
		}
		b.client.Answer = func(_ context.Context, _ model.Request, step int) ([]model.Chunk, error) {
			if step == 1 {
				return fixture.Calls("x"), nil
			}
			return nil, errors.New(canary)
		}
		require.Error(t, b.run(canary))
		require.Equal(t, 1, leaky.Runs())
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortMax)))
		for _, e := range b.journal.Begun() {
			encoded, err := event.Encode(e)
			require.NoError(t, err)
			require.NotContains(t, string(encoded), canary)
			require.NotContains(t, string(encoded), "be brief", "instructions are the definition's")
		}
		require.Len(t, b.journal.Begun(), 3)
	})
}

func TestDUR5_RecordedEventsDecodeToThemselves(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortMax)))
		require.NoError(t, b.replace("mcp", "g1", fixture.Defines("x")...))
		require.NoError(t, b.replace("mcp", "g2"))
		// Durable decodes what Begun was encoded to.
		require.Empty(t, cmp.Diff(b.journal.Begun(), b.journal.Durable(), looptest.SameEvent))
		seen := make(map[uuid.UUID]bool)
		for _, e := range b.journal.Durable() {
			require.Equal(t, b.ID(), e.EventHeader().LoopID)
			require.False(t, e.EventHeader().Time.IsZero())
			require.NotEqual(t, uuid.Nil, e.EventHeader().EventID)
			require.False(t, seen[e.EventHeader().EventID])
			seen[e.EventHeader().EventID] = true
		}
	})
}
