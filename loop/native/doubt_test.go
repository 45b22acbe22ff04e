package native_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
)

func TestDUR6_AmbiguousAppend(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.journal.PlanAppends(fixture.Plan{After: errDisk}, fixture.Plan{Before: errDisk})
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)), "the event is durable: reading back finds it")
		err := b.Change(t.Context(), changeModel("m3", model.EffortLow))
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
		require.ErrorIs(t, err, errDisk)
		require.Equal(t, "m2", b.Model().Name)
		require.NoError(t, b.SetMode(t.Context(), "plan"), "nothing was written: the loop goes on")
		require.Len(t, b.journal.Durable(), 2)
		b.settled()
	})
}

// A journal that panics or ends its goroutine leaves the same question open as one that returns an error.
func TestDUR6_AppendThatPanicsOrEndsItsGoroutine(t *testing.T) {
	for what, fail := range map[string]func(){"panic": func() { panic(errDisk) }, "Goexit": runtime.Goexit} {
		for _, written := range []bool{false, true} {
			inTrap(t, func(t *testing.T, b *bench, j *trap) {
				j.onAppend = func(_ context.Context, _ event.Event, write func() error) error {
					if written {
						if err := write(); err != nil {
							return err
						}
					}
					fail()
					return nil
				}
				err := b.Change(t.Context(), changeModel("m2", model.EffortLow))
				j.onAppend = nil
				if written {
					require.NoError(t, err, what)
					require.Equal(t, "m2", b.Model().Name)
				} else {
					require.Equal(t, loop.ChangeDurableAppendFailed, kind(err), what)
					if what == "panic" {
						require.ErrorIs(t, err, errDisk)
						require.ErrorAs(t, err, new(*loop.PanicError))
					} else {
						require.ErrorIs(t, err, loop.ErrGoexit)
					}
					require.Equal(t, "m1", b.Model().Name)
				}
				b.settled()
				require.NoError(t, b.SetMode(t.Context(), "plan"), "the loop goes on")
				require.NoError(t, b.run("a1"))
			})
		}
	}
}

// While the journal may contradict the state in force, nothing is built on either.
func TestDUR6_InDoubtNothingStartsAndNothingSucceeds(t *testing.T) {
	for _, written := range []bool{false, true} {
		inBubble(t, func(t *testing.T, b *bench) {
			hold := make(chan struct{})
			failure := fixture.Plan{Before: errDisk}
			if written {
				failure = fixture.Plan{After: errDisk}
			}
			b.journal.PlanReads(fixture.Plan{Hold: hold})
			b.client.Answer = func(ctx context.Context, r model.Request, _ int) ([]model.Chunk, error) {
				if r.Messages[0].Text == "a1" {
					<-ctx.Done()
				}
				return nil, ctx.Err()
			}
			t1, t2 := b.submit("a1"), b.submit("a2")
			b.journal.PlanAppends(failure)
			doubtful := async(func() error { return b.SetMode(t.Context(), "plan") })
			require.True(t, pending(doubtful))
			require.Equal(t, 2, b.journal.Reads(), "the journal is being read back")

			var t3 loop.Turn
			submitted := async(func() (err error) {
				t3, err = b.Submit(t.Context(), "a3")
				return err
			})
			changed := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortNone)) })
			installed := async(func() error { return b.replace("mcp", "g1", fixture.Defines("x")...) })
			impatient, cancel := context.WithCancel(t.Context())
			withdrawn := async(func() error { return b.Change(impatient, changeModel("m3", model.EffortLow)) })
			unsubmitted := async(func() error {
				_, err := b.Submit(impatient, "a4")
				return err
			})
			for _, result := range []<-chan error{submitted, changed, installed, withdrawn, unsubmitted} {
				require.True(t, pending(result))
			}
			cancel()
			require.Equal(t, loop.ChangeContextDone, kind(<-withdrawn), "who waits for a doubt need not go on waiting")
			require.Equal(t, loop.SubmitContextDone, submitKind(<-unsubmitted))

			require.NoError(t, b.Interrupt(t.Context()))
			<-t1.Done()
			synctest.Wait()
			require.Empty(t, b.client.RequestsOf("a2"), "no turn starts in doubt")
			require.Equal(t, loop.BaseMode, b.Mode())
			require.Len(t, b.journal.Begun(), 1)

			close(hold)
			err := <-doubtful
			if written {
				require.NoError(t, err)
				require.Equal(t, loop.ModeName("plan"), b.Mode())
			} else {
				require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
				require.Equal(t, loop.BaseMode, b.Mode())
			}
			require.NoError(t, <-submitted)
			require.NoError(t, <-changed)
			require.NoError(t, <-installed)
			<-t2.Done()
			<-t3.Done()
			require.NoError(t, t2.Err())
			require.NoError(t, t3.Err())
			require.Equal(t, b.inForce().Mode == "plan", b.client.RequestsOf("a2")[0].Instructions == "only plan")
			b.settled()
		})
	}
}

func TestDUR6_ReadBackThatFailsFaultsTheLoop(t *testing.T) {
	failures := map[string]func(j *trap){
		"error":         func(j *trap) { j.PlanReads(fixture.Plan{Before: errDisk}) },
		"error halfway": func(j *trap) { j.PlanReads(fixture.Plan{After: errDisk}) },
		"panic":         func(j *trap) { j.PlanReads(fixture.Plan{Panic: errDisk}) },
		"Goexit": func(j *trap) {
			j.onEvents = func(context.Context, iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
				return func(func(event.Event, error) bool) { runtime.Goexit() }
			}
		},
	}
	for what, fail := range failures {
		for _, written := range []bool{false, true} {
			inTrap(t, func(t *testing.T, b *bench, j *trap) {
				require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
				fail(j)
				write := errors.New("write failed")
				hold := make(chan struct{})
				if written {
					j.PlanAppends(fixture.Plan{Hold: hold, After: write})
				} else {
					j.PlanAppends(fixture.Plan{Hold: hold, Before: write})
				}
				b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				running, queued := b.submit("a1"), b.submit("a2")
				failed := async(func() error { return b.SetMode(t.Context(), "plan") })
				synctest.Wait()
				waiting := async(func() error { return b.Change(t.Context(), changeModel("m3", model.EffortLow)) })
				synctest.Wait()
				close(hold)

				err := <-failed
				require.Equal(t, loop.ChangeDurableAppendFailed, kind(err), what)
				require.ErrorIs(t, err, write)
				err = <-waiting
				require.Equal(t, loop.ChangeLoopFaulted, kind(err))
				require.ErrorIs(t, err, write)

				<-queued.Done()
				var dropped *loop.TurnError
				require.ErrorAs(t, queued.Err(), &dropped)
				require.Equal(t, loop.TurnDropped, dropped.Kind)
				b.isFaulted()
				require.True(t, pendingTurn(running), "the turn in flight is none of it")
				require.NoError(t, b.Interrupt(t.Context()))
				<-running.Done()
				require.Equal(t, "m2", b.Model().Name)
				require.Empty(t, b.client.RequestsOf("a2"))
				require.Len(t, b.journal.Begun(), 2)
			})
		}
	}
}

// A caller that does not want to wait for the end of a doubt is told what is true whatever comes out: the append failed.
// It was told that its change did not take effect, so it must not, even if it is durable.
func TestDUR6_CallerLeavesTheDoubt(t *testing.T) {
	for _, early := range []bool{false, true} { // its context ends while the append is outstanding, or in doubt
		for _, written := range []bool{false, true} {
			inBubble(t, func(t *testing.T, b *bench) {
				plan, holdAppend, holdRead := fixture.Plan{Before: errDisk}, make(chan struct{}), make(chan struct{})
				if written {
					plan = fixture.Plan{After: errDisk}
				}
				plan.Hold = holdAppend
				b.journal.PlanAppends(plan)
				b.journal.PlanReads(fixture.Plan{Hold: holdRead})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				failed := async(func() error { return b.Change(ctx, changeModel("m2", model.EffortLow)) })
				synctest.Wait()
				if early {
					cancel()
					require.True(t, pending(failed), "its append is outstanding")
				}
				close(holdAppend)
				if !early {
					require.True(t, pending(failed), "in doubt")
					cancel()
				}
				err := <-failed // with the read-back still held
				require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
				require.ErrorIs(t, err, errDisk)

				waiting := async(func() error { return b.SetMode(t.Context(), "plan") })
				require.True(t, pending(waiting), "the doubt goes on")
				close(holdRead)
				err = <-waiting
				if written {
					require.Equal(t, loop.ChangeLoopFaulted, kind(err))
					b.isFaulted()
					require.Equal(t, "m1", b.Model().Name)
				} else {
					require.NoError(t, err)
					require.NoError(t, b.run("a1"))
					b.settled()
				}
			})
		}
	}
}

func TestDUR6_ShutdownInDoubtDoesNotWaitForTheJournal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{After: errDisk})
		b.journal.PlanReads(fixture.Plan{Hold: hold})
		failed := async(func() error { return b.SetMode(t.Context(), "plan") })
		synctest.Wait()
		waiting := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortNone)) })
		submitted := async(func() error {
			_, err := b.Submit(t.Context(), "a1")
			return err
		})
		synctest.Wait()
		require.NoError(t, b.Shutdown(t.Context()))
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(<-failed), "not refused as shutting down: its event may be durable")
		require.Equal(t, loop.ChangeLoopShuttingDown, kind(<-waiting))
		require.Equal(t, loop.SubmitShuttingDown, submitKind(<-submitted))
		close(hold)
		synctest.Wait()
		require.Equal(t, loop.BaseMode, b.Mode(), "what the read-back finds comes too late to have an effect")
		require.Len(t, b.journal.Begun(), 1)
	})
}
