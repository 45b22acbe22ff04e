package native_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

// stage is a call to the surroundings that stays, until it is released or, if it is a polite one, its context ends.
type stage struct {
	stubborn bool
	release  chan struct{}

	mu       sync.Mutex
	contexts []context.Context
}

func (s *stage) stay(ctx context.Context) error {
	s.mu.Lock()
	s.contexts = append(s.contexts, ctx)
	s.mu.Unlock()
	if s.stubborn {
		<-s.release
		return nil
	}
	select {
	case <-s.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// seen returns the contexts of the calls so far.
func (s *stage) seen() []context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]context.Context(nil), s.contexts...)
}

// phases are the places where a turn with the input "a1" can stay. Each returns the client and the tools for it.
var phases = map[string]func(s *stage) (model.Client, []*fixture.Tool){
	"before the first chunk": func(s *stage) (model.Client, []*fixture.Tool) {
		return staying(func(ctx context.Context, _ int, yield func(model.Chunk, error) bool) {
			if err := s.stay(ctx); err != nil {
				yield(model.Chunk{}, err)
				return
			}
			yield(fixture.Calls("free")[0], nil)
		}), nil
	},
	"between chunks": func(s *stage) (model.Client, []*fixture.Tool) {
		return staying(func(ctx context.Context, _ int, yield func(model.Chunk, error) bool) {
			if !yield(fixture.Calls("free")[0], nil) {
				return
			}
			if s.stay(ctx) == nil { // else it just ends, which is no answer
				yield(fixture.Calls("free")[0], nil)
			}
		}), nil
	},
	"in Stream": func(s *stage) (model.Client, []*fixture.Tool) {
		return streamFunc(func(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
			if r.Messages[0].Text == "a1" {
				_ = s.stay(ctx)
			}
			return (&fixture.Client{}).Stream(ctx, r)
		}), nil
	},
	"in a tool": func(s *stage) (model.Client, []*fixture.Tool) {
		return staying(func(_ context.Context, step int, yield func(model.Chunk, error) bool) {
			yield(fixture.Calls("slow")[0], nil)
		}), []*fixture.Tool{slow("slow", s)}
	},
	"in several tools": func(s *stage) (model.Client, []*fixture.Tool) {
		return staying(func(_ context.Context, step int, yield func(model.Chunk, error) bool) {
			for _, call := range fixture.Calls("slow", "free", "slow", "slower") {
				yield(call, nil)
			}
		}), []*fixture.Tool{slow("slow", s), slow("slower", s)}
	},
	"in the second request": func(s *stage) (model.Client, []*fixture.Tool) {
		return staying(func(ctx context.Context, step int, yield func(model.Chunk, error) bool) {
			if step == 2 {
				_ = s.stay(ctx)
			}
			yield(fixture.Calls("declared")[0], nil)
		}), nil
	},
}

func staying(answer func(ctx context.Context, step int, yield func(model.Chunk, error) bool)) model.Client {
	return streamFunc(func(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
		if r.Messages[0].Text != "a1" {
			return (&fixture.Client{}).Stream(ctx, r)
		}
		return func(yield func(model.Chunk, error) bool) { answer(ctx, fixture.Step(r), yield) }
	})
}

func slow(name string, s *stage) *fixture.Tool {
	return &fixture.Tool{Name: name, OnRun: func(ctx context.Context, _ string) (string, error) { return "late", s.stay(ctx) }}
}

// inEveryPhase runs f with a turn "a1" in flight in each phase, its calls polite and stubborn, and a tool "free" that must
// not be begun after the turn's end. After f the calls are released, and nothing may come of that.
func inEveryPhase(t *testing.T, f func(t *testing.T, b *bench, s *stage, inFlight loop.Turn)) {
	for name, phase := range phases {
		for _, manner := range []string{"polite", "stubborn"} {
			t.Run(name+"/"+manner, func(t *testing.T) {
				s := &stage{stubborn: manner == "stubborn"}
				var tools []*fixture.Tool
				free := &fixture.Tool{Name: "free"}
				configure := func(t *testing.T) native.Config {
					s.release = make(chan struct{})
					var client model.Client
					client, tools = phase(s)
					return native.Config{Definition: standard(t), Client: client}
				}
				inBubbleWith(t, configure, func(t *testing.T, b *bench) {
					b.install("mcp", "g1", append(tools, free)...)
					turn := b.submit("a1")
					synctest.Wait()
					require.NotEmpty(t, s.seen())
					for _, ctx := range s.seen() {
						require.NoError(t, ctx.Err())
					}
					begun, ran := len(s.seen()), free.Runs()
					f(t, b, s, turn)
					err := turn.Err()
					close(s.release)
					synctest.Wait()
					require.Len(t, s.seen(), begun, "no call begins after the end")
					require.Equal(t, ran, free.Runs(), "the late answer has no effect")
					require.Same(t, err, turn.Err())
				})
			})
		}
	}
}

func TestINT1_HitsTheTurnInFlightAndNothingElse(t *testing.T) {
	inEveryPhase(t, func(t *testing.T, b *bench, s *stage, inFlight loop.Turn) {
		second, third := b.submit("a2"), b.submit("a3")
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(inFlight))
		require.Empty(t, outcome(second), "F12: every queued input has its turn")
		require.Empty(t, outcome(third))
		require.Equal(t, loop.ModeName("plan"), b.Mode())
		require.Equal(t, "planner", b.Model().Name)
		require.NoError(t, b.run("a4"))
	})
}

func TestINT2_CallsOfAnInterruptedTurnSeeIt(t *testing.T) {
	inEveryPhase(t, func(t *testing.T, b *bench, s *stage, inFlight loop.Turn) {
		require.NoError(t, b.Interrupt(t.Context()))
		for _, ctx := range s.seen() {
			require.ErrorIs(t, ctx.Err(), context.Canceled, "at once")
		}
		require.Equal(t, loop.TurnInterrupted, outcome(inFlight))
		synctest.Wait()
	})
}

func TestINT2_StubbornCallHoldsUpNothing(t *testing.T) {
	inEveryPhase(t, func(t *testing.T, b *bench, _ *stage, inFlight loop.Turn) {
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(inFlight))
		require.NoError(t, b.run("a2"))
		require.NoError(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)))
		require.NoError(t, b.Interrupt(t.Context()))
		require.NoError(t, b.Shutdown(t.Context()))
	})
}

func TestINT2_CallsOfAnEngineWithAContextOfItsOwnSeeIt(t *testing.T) {
	var request, call stage
	engine := engineFunc(func(_ context.Context, r native.TurnRequest) error {
		if r.Input != "a1" {
			return nil
		}
		go func() { _ = ask(context.Background(), r.Client, r.Input) }()
		_, err := r.Tools[1].Instance.InvokableRun(context.Background(), "{}")
		return err
	})
	withEngine(t, engine, func(t *testing.T, b *bench) {
		b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) {
			return nil, request.stay(ctx)
		}
		b.install("mcp", "g1", slow("slow", &call))
		turn := b.submit("a1")
		synctest.Wait()
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(turn))
		synctest.Wait()
		require.ErrorIs(t, request.seen()[0].Err(), context.Canceled)
		require.ErrorIs(t, call.seen()[0].Err(), context.Canceled)
		require.NoError(t, b.run("a2"))
	})
}

// A call that its turn admitted and that only then begins sees the cancellation too, whichever context the engine passed.
func TestINT2_CallThatBeginsAfterTheInterruptSeesItFromTheStart(t *testing.T) {
	var mu sync.Mutex
	interrupted := false
	engine := engineFunc(func(_ context.Context, r native.TurnRequest) error {
		for ask(context.Background(), r.Client, r.Input) == nil {
			continue
		}
		return nil
	})
	var unaware error
	client := streamFunc(func(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
		mu.Lock()
		if interrupted && ctx.Err() == nil {
			unaware = errors.New("begun after the interrupt, and not cancelled")
		}
		mu.Unlock()
		return func(func(model.Chunk, error) bool) {}
	})
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Client: client, Engine: engine}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		for i := range 300 {
			turn := b.submit(fmt.Sprint(i))
			for range i % 7 {
				runtime.Gosched()
			}
			require.NoError(t, b.Interrupt(t.Context()))
			mu.Lock()
			interrupted = true
			mu.Unlock()
			<-turn.Done()
			synctest.Wait()
			mu.Lock()
			interrupted = false
			require.NoError(t, unaware)
			mu.Unlock()
		}
	})
}

func TestINT2_EndlessStreamIsLeftBehind(t *testing.T) {
	var begun chan struct{}
	client := staying(func(_ context.Context, _ int, yield func(model.Chunk, error) bool) {
		close(begun)
		for yield(model.Chunk{}, nil) {
			runtime.Gosched()
		}
	})
	configure := func(t *testing.T) native.Config {
		begun = make(chan struct{})
		return native.Config{Definition: standard(t), Client: client}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		turn := b.submit("a1")
		<-begun
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(turn))
		synctest.Wait() // comes to rest: nobody ranges over it any more
		require.NoError(t, b.run("a2"))
	})
}

func TestINT1_NoTurnIsANoOp(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.Interrupt(t.Context()))
		require.NoError(t, b.run("a1"))
		require.NoError(t, b.Interrupt(t.Context()))
		require.NoError(t, b.run("a2"))
		require.Empty(t, b.journal.Begun())
		require.NoError(t, b.Shutdown(t.Context()))
		require.NoError(t, b.Interrupt(t.Context()))
	})
}

func TestINT1_EndedContextInterruptsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		s := &stage{release: make(chan struct{})}
		b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) { return nil, s.stay(ctx) }
		turn := b.submit("a1")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := b.Interrupt(ctx)
		require.Equal(t, loop.ChangeContextDone, kind(err))
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		require.NoError(t, s.seen()[0].Err())
		close(s.release)
		require.Empty(t, outcome(turn))
		require.NoError(t, b.Shutdown(t.Context()))
		require.NoError(t, b.Interrupt(ctx), "after the exit there is nothing to do, nor to wait for")
	})
}

func TestINT1_FromInsideItsTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.install("mcp", "g1", &fixture.Tool{Name: "stop", OnRun: func(ctx context.Context, _ string) (string, error) {
			if err := b.Interrupt(context.Background()); err != nil {
				return "", err
			}
			return "", ctx.Err()
		}})
		b.client.Answer = answering("stop")
		turn, next := b.submit("a1"), b.submit("a2")
		require.Equal(t, loop.TurnInterrupted, outcome(turn))
		require.Equal(t, loop.TurnInterrupted, outcome(next), "which does the same")
		require.Len(t, b.client.Requests(), 2)
	})
}

// F10: wherever the turn is when it is called, an interrupt that returned has done what it does.
func TestINT1_F10_InterruptNeverHitsALaterTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for i := range 300 {
			turn := b.submit("a1")
			for range i % 11 {
				runtime.Gosched()
			}
			require.NoError(t, b.Interrupt(t.Context()))
			later := b.submit("later")
			require.Empty(t, outcome(later))
			require.Contains(t, []loop.TurnErrorKind{"", loop.TurnInterrupted}, outcome(turn))
		}
	})
}

func TestINT1_WaitsForNoAppendAndNoDoubt(t *testing.T) {
	for name, plan := range map[string]func(j *fixture.Journal, hold chan struct{}){
		"append": func(j *fixture.Journal, hold chan struct{}) { j.PlanAppends(fixture.Plan{Hold: hold}) },
		"doubt": func(j *fixture.Journal, hold chan struct{}) {
			j.PlanAppends(fixture.Plan{After: errors.New("maybe")})
			j.PlanReads(fixture.Plan{Hold: hold})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				hold := make(chan struct{})
				plan(b.journal, hold)
				s := &stage{release: make(chan struct{})}
				b.client.Answer = func(ctx context.Context, r model.Request, _ int) ([]model.Chunk, error) {
					if r.Messages[0].Text == "a1" {
						return nil, s.stay(ctx)
					}
					return nil, nil
				}
				turn := b.submit("a1")
				next := b.submit("a2")
				change := async(func() error { return b.SetMode(t.Context(), "plan") })
				require.True(t, pending(change))
				require.NoError(t, b.Interrupt(t.Context()))
				require.Equal(t, loop.TurnInterrupted, outcome(turn))
				require.True(t, pending(change), "the change stays")
				if name == "doubt" {
					require.Empty(t, b.client.RequestsOf("a2"), "DUR-6: no turn starts in doubt")
				}
				close(hold)
				require.NoError(t, <-change)
				require.Empty(t, outcome(next))
				require.Equal(t, loop.ModeName("plan"), b.Mode())
			})
		})
	}
}
