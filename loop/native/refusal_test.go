package native_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestREF1_RefusalsAreTypedAndChangeNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.replace("other", "g1", fixture.Defines("taken")...))
		ctx := t.Context()
		ended, cancel := context.WithCancel(ctx)
		cancel()
		failing := &fixture.Definition{OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return nil, errDisk }}
		for _, c := range []struct {
			kind  loop.ChangeErrorKind
			call  func() error
			cause error
		}{
			{loop.ChangeInvalidMode, func() error { return b.SetMode(ctx, "nowhere") }, nil},
			{loop.ChangeNoChanges, func() error { return b.Change(ctx) }, nil},
			{loop.ChangeInvalidModel, func() error { return b.Change(ctx, loop.ChangeModel(model.Model{})) }, model.Model{}.Validate()},
			{loop.ChangeInvalidEffort, func() error { return b.Change(ctx, loop.ChangeEffort(model.EffortMax)) }, nil},
			{loop.ChangeInvalidExternalSource, func() error { return b.replace("", "g") }, nil},
			{loop.ChangeInvalidExternalGeneration, func() error { return b.replace("mcp", "") }, nil},
			{loop.ChangeExternalBuildFailed, func() error { return b.replace("mcp", "g", failing) }, errDisk},
			{loop.ChangeExternalToolCollision, func() error { return b.replace("mcp", "g", fixture.Defines("taken")...) }, nil},
			{loop.ChangeContextDone, func() error { return b.SetMode(ended, "plan") }, context.Canceled},
		} {
			refusal := b.refuses(c.kind, c.call)
			if c.cause != nil {
				var invalid, wanted *model.InvalidError
				if errors.As(c.cause, &wanted) {
					require.ErrorAs(t, refusal, &invalid)
					require.Equal(t, wanted, invalid)
				} else {
					require.ErrorIs(t, refusal, c.cause)
				}
			}
			require.NotEmpty(t, refusal.Error())
		}
		require.Equal(t, []string{"declared", "taken"}, b.offers("t1"))
		b.settled()
	})
}

// The append that is outstanding commits; what waits behind it, and what comes after, is refused.
func TestREF2_ChangesThatOverlapAShutdown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		outstanding := async(func() error { return b.Change(t.Context(), changeModel("m2", model.EffortLow)) })
		synctest.Wait()
		var waiting []<-chan error
		for _, change := range b.changers(t.Context()) {
			waiting = append(waiting, async(change))
		}
		synctest.Wait()
		short, cancel := context.WithCancel(t.Context())
		impatient := async(func() error { return b.Shutdown(short) })
		down := async(func() error { return b.Shutdown(t.Context()) })
		for _, result := range waiting {
			require.Equal(t, loop.ChangeLoopShuttingDown, kind(<-result))
		}
		require.True(t, pending(down), "a loop with an append outstanding has not exited")
		cancel()
		require.ErrorIs(t, <-impatient, context.Canceled)
		for what, change := range b.changers(t.Context()) {
			require.Equal(t, loop.ChangeLoopShuttingDown, kind(change()), what)
		}
		require.True(t, pending(outstanding))
		close(hold)
		require.NoError(t, <-outstanding, "it had begun before the shutdown, so it commits")
		require.NoError(t, <-down)
		require.Equal(t, "m2", b.Model().Name)
		b.settled()
		for what, change := range b.changers(t.Context()) {
			require.Equal(t, loop.ChangeLoopExited, b.refuses(loop.ChangeLoopExited, change, what).Kind)
		}
		require.Len(t, b.journal.Begun(), 1)
	})
}

func TestREF2_AppendThatFailsDuringAShutdown(t *testing.T) {
	for _, plan := range []fixture.Plan{{Before: errDisk}, {After: errDisk}, {Panic: errDisk}} {
		inBubble(t, func(t *testing.T, b *bench) {
			hold := make(chan struct{})
			plan.Hold = hold
			b.journal.PlanAppends(plan)
			outstanding := async(func() error { return b.SetMode(t.Context(), "plan") })
			synctest.Wait()
			down := async(func() error { return b.Shutdown(t.Context()) })
			require.True(t, pending(down))
			close(hold)
			require.NoError(t, <-down)
			err := <-outstanding
			require.Equal(t, loop.ChangeDurableAppendFailed, kind(err), "its event may be durable: only this is true whatever is")
			require.ErrorIs(t, err, errDisk)
			require.Equal(t, loop.BaseMode, b.Mode())
			b.refuses(loop.ChangeLoopExited, func() error { return b.SetMode(t.Context(), "plan") })
		})
	}
}

func TestREF3_ContextDoneMeansNotCommitted(t *testing.T) {
	ended := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}
	inBubble(t, func(t *testing.T, b *bench) {
		for what, change := range b.changers(ended(t)) {
			require.ErrorIs(t, b.refuses(loop.ChangeContextDone, change, what), context.Canceled)
		}
		built := fixture.Define(&fixture.Tool{Name: "x"})
		require.Error(t, b.ReplaceExternalTools(ended(t), loop.ExternalToolset{Source: "a", Generation: "g", Definitions: []tool.Definition{built}}))
		require.Zero(t, built.Builds())

		// Withdrawn from the queue behind another's append, by cancellation and by deadline.
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		outstanding := async(func() error { return b.SetMode(t.Context(), "plan") })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		timed, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var cancelled, late []<-chan error
		for _, change := range b.changers(ctx) {
			cancelled = append(cancelled, async(change))
		}
		for _, change := range b.changers(timed) {
			late = append(late, async(change))
		}
		stays := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortNone)) })
		synctest.Wait()
		cancel()
		for _, result := range cancelled {
			err := <-result
			require.Equal(t, loop.ChangeContextDone, kind(err))
			require.ErrorIs(t, err, context.Canceled)
		}
		for _, result := range late {
			err := <-result
			require.Equal(t, loop.ChangeContextDone, kind(err))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.True(t, pending(stays))
		close(hold)
		require.NoError(t, <-outstanding)
		require.NoError(t, <-stays)
		require.Len(t, b.journal.Begun(), 2, "what was withdrawn never got to the journal")
		require.Equal(t, []string{"outline"}, b.offers("t1"))
	})
}

// Its context ended while it waited, but the loop comes to it before its caller's withdrawal: not appended all the same.
func TestREF3_EndedContextIsNotAppendedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		outstanding := async(func() error { return b.SetMode(t.Context(), "plan") })
		synctest.Wait()
		ctx := &endable{Context: t.Context(), loops: make(chan struct{}), callers: make(chan struct{})}
		queued := async(func() error { return b.Change(ctx, loop.ChangeEffort(model.EffortNone)) })
		synctest.Wait()
		close(ctx.loops)
		close(hold)
		require.NoError(t, <-outstanding)
		require.True(t, pending(queued), "it waits for the caller to withdraw it")
		require.NoError(t, b.Change(t.Context(), changeModel("planner", model.EffortMax)), "and holds up nobody")
		ctx.ended = true
		close(ctx.callers)
		require.Equal(t, loop.ChangeContextDone, kind(<-queued))
		require.Len(t, b.journal.Begun(), 2)
	})
}

// endable is a context whose end the loop, which asks for Done first, sees before the caller does.
type endable struct {
	context.Context
	loops, callers chan struct{}
	asked, ended   bool
}

func (c *endable) Done() <-chan struct{} {
	if !c.asked {
		c.asked = true
		return c.loops
	}
	return c.callers
}

func (c *endable) Err() error {
	if c.ended {
		return context.Canceled
	}
	return nil
}

// F30, F31: whatever mix of outcomes is in the queue, each caller gets its own, and the journal agrees with all of them.
func TestREF4_EachCallerGetsItsOwnAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold}, fixture.Plan{}, fixture.Plan{Before: errDisk})
		abandoned, cancel := context.WithCancel(t.Context())
		var results []<-chan error
		for _, call := range []func() error{
			func() error { return b.Change(abandoned, changeModel("m2", model.EffortLow)) },
			func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortMax)) }, // m2 does not support it
			func() error { return b.Change(abandoned, changeModel("m3", model.EffortLow)) },
			func() error { return b.SetMode(t.Context(), "plan") },
			func() error { return b.replace("mcp", "g", fixture.Defines("x")...) }, // fails before its write
			func() error { return b.replace("two", "g", fixture.Defines("x")...) },
		} {
			results = append(results, async(call))
			synctest.Wait()
		}
		cancel()
		require.True(t, pending(results[0]), "too late: its append is outstanding")
		close(hold)
		want := []loop.ChangeErrorKind{"", loop.ChangeInvalidEffort, loop.ChangeContextDone, "", loop.ChangeDurableAppendFailed, ""}
		for i, result := range results {
			require.Equal(t, want[i], kind(<-result), i)
		}
		events := b.journal.Durable()
		require.Len(t, events, 3)
		require.Equal(t, "m2", events[0].(event.LoopInferenceChanged).Runtime.Model.Name)
		require.Equal(t, loop.ModeName("plan"), events[1].(event.LoopModeChanged).Mode)
		require.Equal(t, "two", events[2].(event.LoopExternalToolsetChanged).Source)
		b.settled()
	})
}

// F07, F15: a failed append is reported and leaves nothing behind; the next one is on its own again.
func TestREF5_FailedAppend(t *testing.T) {
	for i, what := range []string{"SetMode", "Change", "ReplaceExternalTools"} {
		inBubble(t, func(t *testing.T, b *bench) {
			before := b.inForce()
			b.journal.PlanAppends(fixture.Plan{Before: errDisk}, fixture.Plan{After: errDisk})
			change := b.changers(t.Context())[what]
			err := change()
			require.Equal(t, loop.ChangeDurableAppendFailed, kind(err), what)
			require.ErrorIs(t, err, errDisk)
			require.Equal(t, before, b.inForce())
			require.Empty(t, b.journal.Durable())
			r := b.capture("t1")
			require.Equal(t, before.Model, r.Model)
			require.Equal(t, []string{"declared"}, fixture.ToolNames(r))

			require.NoError(t, change(), "written, though the journal says that it failed: read back")
			require.Len(t, b.journal.Durable(), 1)
			b.settled()
			r = b.capture("t2")
			require.Equal(t, b.Model(), r.Model)
			require.Equal(t, [][]string{{"outline"}, {"declared"}, {"declared", "x"}}[i], fixture.ToolNames(r))
		})
	}
}

func TestREF6_SuccessIsInTheJournal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		n := 0
		for what, change := range b.changers(t.Context()) {
			require.NoError(t, change(), what)
			n++
			require.Len(t, b.journal.Durable(), n)
		}
	})
}
