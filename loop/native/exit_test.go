package native_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestLIFE2_NothingBeginsAfterTheExit(t *testing.T) {
	inEveryPhase(t, func(t *testing.T, b *bench, s *stage, _ loop.Turn) {
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
		require.NoError(t, b.Shutdown(t.Context()))
		appends, reads := len(b.journal.Begun()), b.journal.Reads()
		for name, change := range everyChange {
			require.Equal(t, loop.ChangeLoopExited, kind(change(t.Context(), b)), name)
		}
		unbuilt := fixture.Define(&fixture.Tool{Name: "new"})
		err := b.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: []tool.Definition{unbuilt}})
		require.Equal(t, loop.ChangeLoopExited, kind(err))
		require.Zero(t, unbuilt.Builds())
		require.True(t, b.hasExited())
		require.NoError(t, b.Interrupt(t.Context()))
		synctest.Wait()
		require.Equal(t, []int{appends, reads}, []int{len(b.journal.Begun()), b.journal.Reads()})

		require.Equal(t, loop.BaseMode, b.Mode())
		require.Equal(t, "m2", b.Model().Name)
		require.Equal(t, []loop.ModeName{"plan"}, b.Modes())
		require.NotZero(t, b.ID())
	})
}

func TestLIFE2_NoBuildBeginsAfterTheExit(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		infos := 0
		late := &fixture.Tool{Name: "late", OnInfo: func(context.Context) (*tool.Info, error) { infos++; return &tool.Info{Name: "late"}, nil }}
		stubborn := &fixture.Definition{DefinitionName: "stubborn", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			<-hold
			return []tool.InvokableTool{late}, nil
		}}
		next := fixture.Define(&fixture.Tool{Name: "next"})
		replace := async(func() error {
			return b.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: []tool.Definition{stubborn, next}})
		})
		require.True(t, pending(replace))
		require.NoError(t, b.Shutdown(t.Context()), "which waits for no build")
		require.Contains(t, []loop.ChangeErrorKind{loop.ChangeLoopExited, loop.ChangeLoopShuttingDown}, kind(<-replace))
		close(hold)
		synctest.Wait()
		require.Zero(t, next.Builds())
		require.Zero(t, infos, "what was built is not even looked at")
		require.Empty(t, b.journal.Begun())
	})
}

func TestLIFE2_LeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	j, client := &fixture.Journal{}, &fixture.Client{}
	l, err := native.New(t.Context(), native.Config{Definition: standard(t), Journal: j, Client: client})
	require.NoError(t, err)
	begun := make(chan struct{}, 2)
	client.Answer = func(ctx context.Context, r model.Request, step int) ([]model.Chunk, error) {
		if r.Messages[0].Text == "quick" {
			return answering("declared", "x", "nope")(ctx, r, step)
		}
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	j.PlanAppends(fixture.Plan{}, fixture.Plan{After: errors.New("maybe")})
	require.NoError(t, l.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: fixture.Defines("x")}))
	require.NoError(t, l.SetMode(t.Context(), "plan"))
	for _, input := range []string{"quick", "slow", "slow"} {
		turn, err := l.Submit(t.Context(), input)
		require.NoError(t, err)
		switch input {
		case "quick":
			require.Empty(t, outcome(turn))
		default:
			<-begun
			require.NoError(t, l.Interrupt(t.Context()))
			require.Equal(t, loop.TurnInterrupted, outcome(turn))
		}
	}
	_, err = l.Submit(t.Context(), "slow")
	require.NoError(t, err)
	<-begun
	require.NoError(t, l.Shutdown(t.Context()))
}

func TestLIFE3_AFaultDropsTheQueueAndRefusesInputs(t *testing.T) {
	failure, unreadable := errors.New("maybe"), errors.New("unreadable")
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.client.Answer = func(context.Context, model.Request, int) ([]model.Chunk, error) { <-hold; return nil, nil }
		inFlight, queued := b.submit("a1"), b.submit("a2")
		b.journal.PlanAppends(fixture.Plan{After: failure})
		reading := make(chan struct{})
		b.journal.PlanReads(fixture.Plan{Hold: reading, Before: unreadable})
		change := async(func() error { return b.SetMode(t.Context(), "plan") })
		require.True(t, pending(change))
		waiting := async(func() error { return second(b.Submit(t.Context(), "a3")) })
		require.True(t, pending(waiting), "no input is accepted in doubt")
		close(reading)
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(<-change))
		require.Equal(t, loop.SubmitFaulted, submitKind(<-waiting))
		require.Equal(t, loop.TurnDropped, outcome(queued))
		require.ErrorIs(t, queued.Err(), unreadable)
		require.Equal(t, loop.SubmitFaulted, submitKind(second(b.Submit(t.Context(), "a4"))))
		require.NoError(t, inFlight.Err(), "the turn in flight goes on")
		close(hold)
		require.Empty(t, outcome(inFlight))
		require.Len(t, b.client.Requests(), 1)
	})
}

func TestLIFE3_WithdrawnInputRunsNoTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := b.Submit(ended, "ended")
		require.Equal(t, loop.SubmitContextDone, submitKind(err))
		require.ErrorIs(t, err, context.Canceled)

		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{After: errors.New("maybe")})
		b.journal.PlanReads(fixture.Plan{Hold: hold})
		change := async(func() error { return b.SetMode(t.Context(), "plan") })
		require.True(t, pending(change))
		ctx, cancel := context.WithCancel(t.Context())
		withdrawn := async(func() error { return second(b.Submit(ctx, "withdrawn")) })
		require.True(t, pending(withdrawn))
		cancel()
		require.Equal(t, loop.SubmitContextDone, submitKind(<-withdrawn))
		close(hold)
		require.NoError(t, <-change)
		require.NoError(t, b.run("a1"))
		require.Len(t, b.client.Requests(), 1)
	})
}
