package native_test

import (
	"context"
	"encoding/json"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

func TestEXT9_RestoredSlotsAreEmptyAndFree(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.replace("a", "g1", fixture.Defines("x", "y")...))
		require.NoError(t, b.replace("b", "g1", fixture.Defines("z")...))
		config := b.config
		config.Journal = b.crashed()
		restored := b.restored(config)
		require.Equal(t, []string{"declared"}, restored.offers("a1"))
		require.NoError(t, restored.replace("b", "g1", fixture.Defines("x", "z")...), "names that a slot had before the crash are free")
		require.NoError(t, restored.replace("a", "g1", fixture.Defines("y")...))
		require.Equal(t, []string{"declared", "y", "x", "z"}, restored.offers("a2"))
	})
}

// F07, F08, F09: whatever was acknowledged is in force after a crash, at every point of a history.
func TestDUR3_RestoreAfterEveryPrefix(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		m := fixture.Model("m2", model.EffortLow, model.EffortXHigh)
		m.Sampling.Stop, m.Limits.Context = []string{"END"}, 100_000
		steps := []func() error{
			func() error { return b.Change(t.Context(), loop.ChangeModel(m), loop.ChangeEffort(model.EffortXHigh)) },
			func() error { return b.replace("mcp", "g1", fixture.Defines("x")...) },
			func() error { return b.SetMode(t.Context(), "plan") },
			func() error { return b.Change(t.Context(), changeModel("m3", model.EffortMax)) },
			func() error { return b.replace("mcp", "g2") },
			func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortNone)) },
			func() error { return b.SetMode(t.Context(), loop.BaseMode) },
		}
		for i := range len(steps) + 1 {
			if i > 0 {
				require.NoError(t, steps[i-1]())
			}
			crashed := b.crashed() // before any further turn: nothing is put off until one
			config := b.config
			config.Journal, config.Client = crashed, &fixture.Client{}
			l, err := native.Restore(t.Context(), config)
			require.NoError(t, err)
			restored := &bench{Loop: l, t: t, journal: crashed, client: config.Client.(*fixture.Client), config: config}
			require.Equal(t, b.inForce(), restored.inForce())
			if i > 0 {
				require.Equal(t, b.ID(), restored.ID())
			}
			require.Empty(t, crashed.Begun(), "restoring records nothing")
			r := restored.capture("a1")
			mine, _ := config.Definition.Configuration(b.Mode())
			require.Equal(t, b.Model(), r.Model)
			require.Equal(t, mine.Instructions, r.Instructions)
			require.Equal(t, mine.Tools[0].Name(), r.Tools[0].Name)
			require.NoError(t, restored.Change(t.Context(), changeModel("m9", model.Efforts()[1:]...)))
			restored.settled()
			require.NoError(t, restored.Shutdown(t.Context()))
		}
	})
}

func TestDUR3_RefusedChangesAndQueuedInputsDoNotComeBack(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.journal.PlanAppends(fixture.Plan{Before: errDisk})
		require.Error(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
		hold := make(chan struct{})
		b.client.Answer = func(context.Context, model.Request, int) ([]model.Chunk, error) { <-hold; return nil, nil }
		running, queued := b.submit("a1"), b.submit("a2")
		synctest.Wait()

		config := b.config
		config.Journal, config.Client = b.crashed(), &fixture.Client{}
		restored := b.restored(config)
		synctest.Wait()
		require.Equal(t, "m1", restored.Model().Name)
		require.Empty(t, config.Client.(*fixture.Client).Requests(), "no turn is repeated")
		close(hold)
		<-running.Done()
		<-queued.Done()
	})
}

// An append that was outstanding at the crash may have been written: it counts then, but nothing else could.
func TestDUR3_CrashWithAnAppendOutstanding(t *testing.T) {
	for _, written := range []bool{false, true} {
		inTrap(t, func(t *testing.T, b *bench, j *trap) {
			require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
			hold := make(chan struct{})
			j.onAppend = func(_ context.Context, _ event.Event, write func() error) error {
				if written {
					if err := write(); err != nil {
						return err
					}
					<-hold
					return nil
				}
				<-hold
				return write()
			}
			changed := async(func() error { return b.SetMode(t.Context(), "plan") })
			require.True(t, pending(changed))
			config := b.config
			config.Journal = b.crashed()
			restored := b.restored(config)
			if written {
				require.Equal(t, loop.ModeName("plan"), restored.Mode())
				require.Equal(t, "planner", restored.Model().Name)
			} else {
				require.Equal(t, loop.BaseMode, restored.Mode())
				require.Equal(t, "m2", restored.Model().Name)
			}
			close(hold)
			require.NoError(t, <-changed)
		})
	}
}

// F13: a reader that gives up halfway has not reached the end.
func TestDUR3_RestoreFromAPartOfTheHistory(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.SetMode(t.Context(), loop.BaseMode))
		unreadable := func(ctx context.Context, j journal.Journal) error {
			config := b.config
			config.Journal = j
			_, err := native.Restore(ctx, config)
			var refusal *loop.RestoreError
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, loop.RestoreUnreadable, refusal.Kind)
			return err
		}
		failing := b.crashed()
		failing.PlanReads(fixture.Plan{After: errDisk})
		require.ErrorIs(t, unreadable(t.Context(), failing), errDisk)

		slow := &trap{}
		require.NoError(t, slow.Memory.Append(t.Context(), b.journal.Durable()[0]))
		require.NoError(t, slow.Memory.Append(t.Context(), b.journal.Durable()[1]))
		slow.onEvents = func(ctx context.Context, events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for e, err := range events {
					if !yield(e, err) {
						return
					}
					<-ctx.Done() // the second event takes longer than the caller has
				}
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, unreadable(ctx, slow), context.DeadlineExceeded)

		closed := b.crashed()
		require.NoError(t, closed.Close())
		require.ErrorIs(t, unreadable(t.Context(), closed), journal.ErrClosed)
	})
}

// A journal that yields neither an event nor an error is broken, which is no reason to panic.
func TestDUR3_RestoreFromAJournalThatYieldsNothing(t *testing.T) {
	inTrap(t, func(t *testing.T, b *bench, _ *trap) {
		config := b.config
		config.Journal = &trap{onEvents: func(context.Context, iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) { yield(nil, nil) }
		}}
		_, err := native.Restore(t.Context(), config)
		require.ErrorAs(t, err, new(*loop.RestoreError))
	})
}

func TestDUR5_RestoreIgnoresWhatOthersRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
		crashed := b.crashed()
		header := event.Header{EventID: uuid.New(), LoopID: b.ID(), Time: time.Now()}
		for _, e := range []event.Event{
			event.TurnStarted{Header: header, TurnID: uuid.New(), Mode: "plan"},
			event.Other{Tag: "metrics", Raw: json.RawMessage(`{"type":"metrics","mode":"plan","loop_id":"x"}`)},
			event.LoopStopped{Header: header},
		} {
			require.NoError(t, crashed.Memory.Append(t.Context(), e))
		}
		config := b.config
		config.Journal = crashed
		restored := b.restored(config)
		require.Equal(t, b.inForce(), restored.inForce())
		require.Equal(t, b.ID(), restored.ID())
	})
}

// A definition may have changed since: what it would refuse today is not put in force by way of the journal.
func TestDUR3_RestoreOfAModelThatIsNotAllowedAnyMore(t *testing.T) {
	old := model.Transport{Provider: "old", APIFormat: "chat"}
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t, loop.WithTransports(old))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		m := model.Model{Provider: "old", APIFormat: "chat", Name: "m0", Efforts: []model.Effort{model.EffortLow}}
		require.NoError(t, b.Change(t.Context(), loop.ChangeModel(m)))
		crashed, config := b.crashed(), b.config
		config.Definition, config.Journal = standard(t), crashed
		_, err := native.Restore(t.Context(), config)
		var refusal *loop.RestoreError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, loop.RestoreInvalidRuntime, refusal.Kind)

		unsupported := &fixture.Journal{}
		m1 := fixture.Model("m1", model.EffortLow)
		require.NoError(t, unsupported.Memory.Append(t.Context(), event.LoopInferenceChanged{
			Header: event.Header{EventID: uuid.New(), LoopID: b.ID()}, Runtime: event.Runtime{Model: m1, Effort: model.EffortMax},
		}))
		config.Journal = unsupported
		_, err = native.Restore(t.Context(), config)
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, loop.RestoreInvalidRuntime, refusal.Kind)
		require.Empty(t, crashed.Begun())
		require.Empty(t, unsupported.Begun())
	})
}

func TestDUR3_NewDoesNotBeginOnTheJournalOfAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		crashed, config := b.crashed(), b.config
		config.Journal = crashed
		_, err := native.New(t.Context(), config)
		var refusal *loop.RestoreError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, loop.RestoreNotEmpty, refusal.Kind)
		require.Equal(t, b.journal.Durable(), crashed.Durable())

		failing := &fixture.Journal{}
		failing.PlanReads(fixture.Plan{Before: errDisk})
		config.Journal = failing
		_, err = native.New(t.Context(), config)
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, loop.RestoreUnreadable, refusal.Kind)
		require.ErrorIs(t, err, errDisk)

		config.Journal = &fixture.Journal{}
		fresh := b.restored(config)
		require.Equal(t, loop.BaseMode, fresh.Mode(), "to restore from an empty journal is to start")
		require.NotEqual(t, b.ID(), fresh.ID())
	})
}
