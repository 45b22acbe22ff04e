package native_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
)

// everyChange are calls of each kind that would succeed on a standard loop.
var everyChange = map[string]func(ctx context.Context, b *bench) error{
	"SetMode": func(ctx context.Context, b *bench) error { return b.SetMode(ctx, "plan") },
	"Change":  func(ctx context.Context, b *bench) error { return b.Change(ctx, loop.ChangeEffort(model.EffortHigh)) },
	"ReplaceExternalTools": func(ctx context.Context, b *bench) error {
		return b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: fixture.Defines("new")})
	},
	"ReplaceExternalTools with none": func(ctx context.Context, b *bench) error {
		return b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "mcp", Generation: "g"})
	},
}

func (b *bench) hasExited() bool {
	return submitKind(second(b.Submit(b.t.Context(), "too late"))) == loop.SubmitExited
}

func second[A, B any](_ A, b B) B { return b }

func TestLIFE1_ShutsDownAnIdleLoopAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.Shutdown(t.Context()))
		require.NoError(t, b.Shutdown(t.Context()))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, b.Shutdown(ended), "it has exited")
	})
}

func TestLIFE1_EndsTheTurnInFlightAndDropsTheQueue(t *testing.T) {
	inEveryPhase(t, func(t *testing.T, b *bench, s *stage, inFlight loop.Turn) {
		queued := []loop.Turn{b.submit("a2"), b.submit("a3")}
		require.NoError(t, b.Shutdown(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(inFlight))
		for _, ctx := range s.seen() {
			require.ErrorIs(t, ctx.Err(), context.Canceled)
		}
		for _, turn := range queued {
			require.Equal(t, loop.TurnDropped, outcome(turn))
			require.Equal(t, loop.TurnDropped, outcome(turn), "once, and for all")
		}
		require.True(t, b.hasExited())
	})
}

func TestLIFE1_FromInsideATurn(t *testing.T) {
	for _, own := range []bool{true, false} {
		for _, place := range []string{"tool", "client"} {
			t.Run(fmt.Sprint(place, "/own context: ", own), func(t *testing.T) {
				inBubble(t, func(t *testing.T, b *bench) {
					result := make(chan error, 1)
					shutdown := func(ctx context.Context) {
						if !own {
							ctx = context.WithoutCancel(ctx)
						}
						result <- b.Shutdown(ctx)
					}
					b.install("mcp", "g1", &fixture.Tool{Name: "quit", OnRun: func(ctx context.Context, _ string) (string, error) {
						shutdown(ctx)
						return "", nil
					}})
					b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) {
						if place == "client" {
							shutdown(ctx)
						}
						return fixture.Calls("quit"), nil
					}
					turn, queued := b.submit("a1"), second(b.Submit(t.Context(), "a2"))
					require.Equal(t, loop.TurnInterrupted, outcome(turn))
					err := <-result
					if own && err != nil { // which the shutdown has ended
						require.ErrorIs(t, err, context.Canceled)
					} else {
						require.NoError(t, err)
					}
					if queued != nil {
						require.Contains(t, []loop.SubmitErrorKind{loop.SubmitExited, loop.SubmitShuttingDown}, submitKind(queued))
					}
					synctest.Wait()
					require.True(t, b.hasExited())
					require.Len(t, b.client.Requests(), 1)
				})
			})
		}
	}
}

func TestLIFE1_WaitsForAnOutstandingAppend(t *testing.T) {
	failure := errors.New("disk on fire")
	for name, c := range map[string]struct {
		plan fixture.Plan
		want loop.ChangeErrorKind
		mode loop.ModeName
	}{
		"that succeeds":            {fixture.Plan{}, "", "plan"},
		"that fails":               {fixture.Plan{Before: failure}, loop.ChangeDurableAppendFailed, ""},
		"that fails and succeeded": {fixture.Plan{After: failure}, loop.ChangeDurableAppendFailed, ""},
		"that panics":              {fixture.Plan{Panic: failure}, loop.ChangeDurableAppendFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				hold := make(chan struct{})
				c.plan.Hold = hold
				b.journal.PlanAppends(c.plan)
				var exitedEarly bool
				outstanding := async(func() error { return b.SetMode(t.Context(), "plan") })
				require.True(t, pending(outstanding))
				waiting := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)) })
				require.True(t, pending(waiting))
				shutdown := async(func() error {
					defer func() { exitedEarly = len(outstanding) == 0 && hold == nil }()
					return b.Shutdown(t.Context())
				})
				require.True(t, pending(shutdown), "a loop with an append outstanding has not exited")
				require.False(t, exitedEarly)

				// F18: meanwhile everything is answered, and a shutdown is bounded by its own context.
				require.Equal(t, loop.ChangeLoopShuttingDown, kind(<-waiting))
				for name, change := range everyChange {
					require.Equal(t, loop.ChangeLoopShuttingDown, kind(change(t.Context(), b)), name)
				}
				require.Equal(t, loop.SubmitShuttingDown, submitKind(second(b.Submit(t.Context(), "late"))))
				require.NoError(t, b.Interrupt(t.Context()))
				ctx, cancel := context.WithCancel(t.Context())
				bounded := async(func() error { return b.Shutdown(ctx) })
				require.True(t, pending(bounded))
				cancel()
				require.ErrorIs(t, <-bounded, context.Canceled)
				require.ErrorIs(t, b.Shutdown(ctx), context.Canceled, "not even begun with a live context")
				require.True(t, pending(shutdown))
				require.True(t, pending(outstanding))

				close(hold)
				err := <-outstanding
				require.Equal(t, c.want, kind(err))
				if c.want != "" {
					require.ErrorIs(t, err, failure)
				} else {
					require.NoError(t, err)
				}
				require.NoError(t, <-shutdown)
				require.Equal(t, c.mode, b.Mode())
				require.Len(t, b.journal.Begun(), 1)
				require.Zero(t, b.journal.Reads()-1, "New read it, and nobody since")
			})
		})
	}
}

func TestLIFE1_OwnContextEndsFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		change := async(func() error { return b.SetMode(t.Context(), "plan") })
		require.True(t, pending(change))
		cause := errors.New("in a hurry")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		require.ErrorIs(t, b.Shutdown(ctx), context.Canceled)
		require.Equal(t, loop.SubmitShuttingDown, submitKind(second(b.Submit(t.Context(), "late"))), "the shutdown goes on")
		close(hold)
		require.NoError(t, <-change)
		synctest.Wait()
		require.True(t, b.hasExited())
	})
}

func TestLIFE1_EndedContextBeginsTheShutdownOfAnIdleLoop(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Shutdown(ctx); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		synctest.Wait()
		require.True(t, b.hasExited())
	})
}

func TestLIFE1_DoesNotWaitForADoubt(t *testing.T) {
	failure := errors.New("maybe")
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{After: failure})
		b.journal.PlanReads(fixture.Plan{Hold: hold})
		inDoubt := async(func() error { return b.SetMode(t.Context(), "plan") })
		require.True(t, pending(inDoubt))
		waiting := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)) })
		input := async(func() error { return second(b.Submit(t.Context(), "a1")) })
		require.True(t, pending(waiting) && pending(input))
		require.NoError(t, b.Shutdown(t.Context()))
		err := <-inDoubt
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
		require.ErrorIs(t, err, failure)
		require.Equal(t, loop.ChangeLoopShuttingDown, kind(<-waiting))
		require.Equal(t, loop.SubmitShuttingDown, submitKind(<-input))
		close(hold)
		synctest.Wait()
		require.Equal(t, loop.BaseMode, b.Mode(), "what is read then has no effect")
		require.Empty(t, b.client.Requests())
	})
}

// F19: whoever calls what, in whatever order: all return, nothing is closed twice, and each change is in the journal if and only
// if it succeeded.
func TestLIFE1_F19_ConcurrentWithEverything(t *testing.T) {
	for range 25 {
		inBubble(t, func(t *testing.T, b *bench) {
			b.client.Answer = answering("declared", "nope")
			var mu sync.Mutex
			var turns []loop.Turn
			committed := 0
			var all sync.WaitGroup
			for range 3 {
				for _, change := range everyChange {
					all.Go(func() {
						switch err := change(t.Context(), b); kind(err) {
						case "":
							assert.NoError(t, err)
							mu.Lock()
							committed++
							mu.Unlock()
						case loop.ChangeLoopExited, loop.ChangeLoopShuttingDown:
						case loop.ChangeInvalidEffort: // after SetMode
						default:
							assert.NoError(t, err)
						}
					})
				}
				all.Go(func() {
					turn, err := b.Submit(t.Context(), "a")
					if err != nil {
						assert.Contains(t, []loop.SubmitErrorKind{loop.SubmitExited, loop.SubmitShuttingDown}, submitKind(err))
						return
					}
					mu.Lock()
					turns = append(turns, turn)
					mu.Unlock()
				})
				all.Go(func() { assert.NoError(t, b.Interrupt(t.Context())) })
				all.Go(func() { assert.NoError(t, b.Shutdown(t.Context())) })
				all.Go(func() { b.Model(); b.Mode() })
			}
			all.Wait()
			for _, turn := range turns {
				require.Contains(t, []loop.TurnErrorKind{"", loop.TurnInterrupted, loop.TurnDropped}, outcome(turn))
			}
			require.Len(t, b.journal.Durable(), committed)
		})
	}
}
