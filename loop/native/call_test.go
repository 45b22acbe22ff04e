package native_test

import (
	"context"
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

func TestREF7_CallWaitsForItsOwnAppendAndForNothingElse(t *testing.T) {
	for what, plan := range map[string]fixture.Plan{"written": {}, "failed": {Before: errDisk}} {
		inBubble(t, func(t *testing.T, b *bench) {
			hold := make(chan struct{})
			plan.Hold = hold
			b.journal.PlanAppends(plan)
			ctx, cancel := context.WithCancel(t.Context())
			own := async(func() error { return b.SetMode(ctx, "plan") })
			synctest.Wait()
			stuck := b.submitHeld("t1")
			cancel()
			require.True(t, pending(own), "past its own context")
			require.NoError(t, b.Interrupt(t.Context()), "others do not wait")
			<-stuck.Done()
			require.NoError(t, b.run("t2"))
			require.Equal(t, loop.BaseMode, b.Mode())
			close(hold)
			if what == "written" {
				require.NoError(t, <-own, "the real outcome")
			} else {
				require.Equal(t, loop.ChangeDurableAppendFailed, kind(<-own))
			}
			b.settled()
		})
	}
}

// F17: a tool may do to its loop whatever its application may.
func TestREF7_ToolCallsTheController(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		var queued loop.Turn
		x := &fixture.Tool{Name: "x", OnRun: func(ctx context.Context, _ string) (string, error) {
			if err := b.Change(ctx, changeModel("m2", model.EffortLow)); err != nil {
				return "", err
			}
			if err := b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "mcp", Generation: "g2", Definitions: fixture.Defines("y")}); err != nil {
				return "", err
			}
			if err := b.SetMode(ctx, "plan"); err != nil {
				return "", err
			}
			var err error
			queued, err = b.Submit(ctx, "t2")
			return string(b.Mode()) + " " + b.Model().Name, err
		}}
		require.NoError(t, b.replace("mcp", "g1", defs(x)...))
		b.client.Answer = callOnce("x")
		require.NoError(t, b.run("t1"))
		require.Equal(t, "plan planner", b.client.RequestsOf("t1")[1].Messages[2].Text)
		<-queued.Done()
		require.NoError(t, queued.Err(), "the tool's context has ended, and that is none of the input's business")
		require.Equal(t, []string{"outline", "y"}, fixture.ToolNames(b.client.RequestsOf("t2")[0]))

		// Interrupt from within ends the turn, and the call; so does the shutdown.
		for i, end := range []func(context.Context) error{b.Interrupt, b.Shutdown} {
			returned := make(chan error, 1)
			x := &fixture.Tool{Name: "x", OnRun: func(ctx context.Context, _ string) (string, error) {
				returned <- end(context.WithoutCancel(ctx))
				return "", ctx.Err()
			}}
			require.NoError(t, b.replace("mcp", "g3", defs(x)...))
			turn := b.submit([]string{"t3", "t4"}[i])
			<-turn.Done()
			var outcome *loop.TurnError
			require.ErrorAs(t, turn.Err(), &outcome)
			require.Equal(t, loop.TurnInterrupted, outcome.Kind)
			require.NoError(t, <-returned)
		}
	})
}

func TestREF8_ContextBoundsItsCallAndNothingElse(t *testing.T) {
	inTrap(t, func(t *testing.T, b *bench, j *trap) {
		hold := make(chan struct{})
		seen := make(chan error, 1)
		j.onAppend = func(ctx context.Context, _ event.Event, write func() error) error {
			<-hold
			seen <- ctx.Err()
			return write()
		}
		ctx, cancel := context.WithCancel(t.Context())
		changed := async(func() error { return b.SetMode(ctx, "plan") })
		synctest.Wait()
		var alive error
		b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) {
			<-hold
			alive = ctx.Err()
			return nil, nil
		}
		turn, err := b.Submit(ctx, "t1")
		require.NoError(t, err)
		queued, err := b.Submit(ctx, "t2")
		require.NoError(t, err)
		other := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortNone)) })
		synctest.Wait()
		cancel()
		require.True(t, pending(other))
		close(hold)
		require.NoError(t, <-seen, "cutting the append short would leave its outcome open")
		require.NoError(t, <-changed)
		require.NoError(t, <-other)
		<-turn.Done()
		<-queued.Done()
		require.NoError(t, turn.Err())
		require.NoError(t, queued.Err())
		require.NoError(t, alive)
	})
}

// In a bubble time passes only while everything waits, so a timer of the loop's own would show.
func TestREF9_NothingWaitsForATimer(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		start := time.Now()
		hold := make(chan struct{})
		stubborn := &fixture.Definition{OnBuild: blocked(hold)}
		ctx, cancel := context.WithCancel(t.Context())
		building := async(func() error {
			return b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "a", Generation: "g", Definitions: []tool.Definition{stubborn}})
		})
		synctest.Wait()
		cancel()
		require.Error(t, <-building)
		b.journal.PlanAppends(fixture.Plan{}, fixture.Plan{Before: errDisk}, fixture.Plan{After: errDisk})
		for _, change := range b.changers(t.Context()) {
			_ = change()
		}
		b.client.Answer = func(context.Context, model.Request, int) ([]model.Chunk, error) { <-hold; return nil, nil }
		for _, end := range []func(context.Context) error{b.Interrupt, b.Shutdown} {
			turn := b.submit("t1")
			synctest.Wait()
			require.NoError(t, end(t.Context()))
			<-turn.Done()
		}
		require.Equal(t, start, time.Now())
		close(hold)
	})
}

// EXT-1 comes before any build; of other refusals that apply, any is right.
func TestREF10_IdentifiersComeBeforeBuilds(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		failing := &fixture.Definition{OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return nil, errDisk }}
		b.refuses(loop.ChangeInvalidExternalSource, func() error { return b.replace("\n", "g", failing) })
		b.refuses(loop.ChangeInvalidExternalGeneration, func() error { return b.replace("mcp", "\n", failing) })
		require.Zero(t, failing.Builds())

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		set := loop.ExternalToolset{Source: "mcp", Generation: "", Definitions: []tool.Definition{failing}}
		require.Contains(t, []loop.ChangeErrorKind{loop.ChangeInvalidExternalGeneration, loop.ChangeContextDone}, kind(b.ReplaceExternalTools(ended, set)))
		require.NoError(t, b.Shutdown(t.Context()))
		require.Contains(t, []loop.ChangeErrorKind{loop.ChangeInvalidMode, loop.ChangeLoopExited}, kind(b.SetMode(ended, "nowhere")))
		require.Contains(t, []loop.ChangeErrorKind{loop.ChangeContextDone, loop.ChangeLoopExited}, kind(b.SetMode(ended, "plan")))
		require.Zero(t, failing.Builds())
	})
}

// A change that waits behind one that fails is judged as if that one had never been.
func TestREF11_PendingChangesJudgeNobody(t *testing.T) {
	for _, c := range []struct {
		what          string
		first, second func(b *bench) error
		ifCommitted   loop.ChangeErrorKind // what becomes of the second if the first commits
		ifFailed      loop.ChangeErrorKind
	}{
		{
			"a name", func(b *bench) error { return b.replace("a", "g", fixture.Defines("x")...) },
			func(b *bench) error { return b.replace("b", "g", fixture.Defines("x")...) }, loop.ChangeExternalToolCollision, "",
		},
		{
			"a name to be freed", func(b *bench) error { return b.replace("owner", "g2") },
			func(b *bench) error { return b.replace("b", "g", fixture.Defines("owned")...) }, "", loop.ChangeExternalToolCollision,
		},
		{
			"a model", func(b *bench) error { return b.Change(b.t.Context(), changeModel("m2", model.EffortLow)) },
			func(b *bench) error { return b.Change(b.t.Context(), loop.ChangeEffort(model.EffortHigh)) }, loop.ChangeInvalidEffort, "",
		},
		{
			"a mode", func(b *bench) error { return b.SetMode(b.t.Context(), "plan") },
			func(b *bench) error { return b.Change(b.t.Context(), loop.ChangeEffort(model.EffortMax)) }, "", loop.ChangeInvalidEffort,
		},
		{
			"an effort", func(b *bench) error { return b.Change(b.t.Context(), loop.ChangeEffort(model.EffortHigh)) },
			func(b *bench) error { return b.Change(b.t.Context(), changeModel("m2", model.EffortLow)) }, loop.ChangeInvalidEffort, "",
		},
	} {
		for _, plan := range []fixture.Plan{{}, {Before: errDisk}, {After: errDisk}} {
			inBubble(t, func(t *testing.T, b *bench) {
				require.NoError(t, b.replace("owner", "g1", fixture.Defines("owned")...))
				hold := make(chan struct{})
				plan.Hold = hold
				b.journal.PlanAppends(plan)
				first := async(func() error { return c.first(b) })
				synctest.Wait()
				second := async(func() error { return c.second(b) })
				require.True(t, pending(second), c.what)
				close(hold)
				err := <-first
				if plan.Before == nil {
					require.NoError(t, err)
					require.Equal(t, c.ifCommitted, kind(<-second), c.what)
				} else {
					require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
					require.Equal(t, c.ifFailed, kind(<-second), c.what)
				}
				b.settled()
			})
		}
	}
}

func TestREF11_QueueKeepsItsOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		names := []string{"m2", "m3", "m4", "m5", "m6"}
		var results []<-chan error
		for _, name := range names {
			results = append(results, async(func() error { return b.Change(t.Context(), changeModel(name, model.EffortLow)) }))
			synctest.Wait()
		}
		close(hold)
		for _, result := range results {
			require.NoError(t, <-result)
		}
		var recorded []string
		for _, e := range b.journal.Durable() {
			recorded = append(recorded, e.(event.LoopInferenceChanged).Runtime.Model.Name)
		}
		require.Equal(t, names, recorded)
		require.Equal(t, "m6", b.Model().Name)
	})
}
