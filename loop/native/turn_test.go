package native_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
)

func TestTURN1_TurnKeepsItsCapture(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		x := &fixture.Tool{Name: "x"}
		require.NoError(t, b.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g1", Definitions: defs(x)}))
		hold := make(chan struct{})
		b.client.Answer = func(_ context.Context, _ model.Request, step int) ([]model.Chunk, error) {
			if step == 1 {
				<-hold
				return fixture.Calls("x"), nil
			}
			return nil, nil
		}
		turn := b.submit("a1")
		synctest.Wait()
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		x2 := &fixture.Tool{Name: "x"}
		require.NoError(t, b.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g2", Definitions: defs(x2)}))
		close(hold)
		<-turn.Done()
		require.NoError(t, turn.Err())
		for _, r := range b.client.RequestsOf("a1") {
			require.Equal(t, "m1", r.Model.Name)
			require.Equal(t, model.EffortLow, r.Effort)
			require.Equal(t, "be brief", r.Instructions)
			require.Equal(t, []string{"declared", "x"}, fixture.ToolNames(r))
		}
		require.Equal(t, 1, x.Runs(), "the replaced instance stays the turn's")
		require.Zero(t, x2.Runs())

		b.client.Answer = nil
		require.NoError(t, b.run("a2"))
		r := b.client.RequestsOf("a2")[0]
		require.Equal(t, "planner", r.Model.Name)
		require.Equal(t, []string{"outline", "x"}, fixture.ToolNames(r))
	})
}

func TestINT2_StubbornToolHoldsUpNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		var seen context.Context
		b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) {
			seen = ctx
			<-hold
			return nil, nil
		}
		turn := b.submit("a1")
		synctest.Wait()
		require.NoError(t, b.Interrupt(t.Context()))
		<-turn.Done()
		var outcome *loop.TurnError
		require.ErrorAs(t, turn.Err(), &outcome)
		require.Equal(t, loop.TurnInterrupted, outcome.Kind)
		require.ErrorIs(t, seen.Err(), context.Canceled)
		close(hold)
	})
}

func TestDUR6_AmbiguousAppend(t *testing.T) {
	failure := errors.New("disk on fire")
	inBubble(t, func(t *testing.T, b *bench) {
		b.journal.PlanAppends(fixture.Plan{After: failure}, fixture.Plan{Before: failure})
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)), "the event is durable: reading back finds it")
		err := b.Change(t.Context(), changeModel("m3", model.EffortLow))
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
		require.ErrorIs(t, err, failure)
		require.Equal(t, "m2", b.Model().Name)
		require.NoError(t, b.SetMode(t.Context(), "plan"), "nothing was written: the loop goes on")
	})
}
