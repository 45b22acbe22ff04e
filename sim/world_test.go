package sim_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/sim"
)

func boring(program sim.Program) *sim.Result {
	return sim.Run(program, sim.Boring{}.Begin(0), sim.Options{KeepTrace: true})
}

func park(w *sim.World, thread, name string, verdicts ...string) string {
	verdict, err := w.Park(w.Context(), sim.Gate{Thread: thread, Name: name, Verdicts: verdicts})
	if err != nil {
		return err.Error()
	}
	return verdict
}

// The boring run lets a thread go on as long as it can, then the one that waits longest.
func TestBoringOrder(t *testing.T) {
	r := boring(func(w *sim.World) {
		for _, name := range []string{"b", "a"} {
			w.Go(name, func() {
				park(w, name, "one")
				park(w, name, "two", "fine", "bad")
			})
		}
	})
	require.Nil(t, r.Failure)
	require.Equal(t, "a: a one: ok\na: a two: fine\nb: b one: ok\nb: b two: fine\n", sim.Transcript(r.Trace))
	require.Empty(t, r.Schedule)
	require.Equal(t, 4, r.Steps)
}

// Of those that did not go last, who waits longest comes first, and not who has the first name.
func TestLongestWaitingComesFirst(t *testing.T) {
	r := boring(func(w *sim.World) {
		w.Go("z", func() { park(w, "z", "old") })
		w.Go("m", func() {
			park(w, "m", "first")
			w.Go("a", func() { park(w, "a", "young") })
		})
	})
	require.Equal(t, "m: m first: ok\nz: z old: ok\na: a young: ok\n", sim.Transcript(r.Trace))
}

func TestWhatTheWorldFindsItself(t *testing.T) {
	for _, c := range []struct {
		name    string
		program sim.Program
		check   string
		says    []string
	}{
		{"a panic of a thread", func(w *sim.World) { w.Go("a", func() { panic("oh") }) }, sim.CheckPanic, []string{"a panicked: oh"}},
		{"a panic of the program", func(*sim.World) { panic("oh") }, sim.CheckPanic, []string{"the program panicked: oh"}},
		{"a thread that ends its goroutine", func(w *sim.World) { w.Go("a", func() { runtime.Goexit() }) }, sim.CheckPanic, []string{"a ended its goroutine"}},
		{"a program that ends its goroutine", func(*sim.World) { runtime.Goexit() }, sim.CheckPanic, []string{"the program ended"}},
		{"a thread that waits for ever", func(w *sim.World) { w.Go("a", func() { <-w.Context().Done() }) }, sim.CheckStuck, []string{"a"}},
		{"a goroutine that is left", func(*sim.World) { go func() { <-make(chan int) }() }, sim.CheckLeak, []string{"1 goroutines"}},
		{"one thread at two gates", func(w *sim.World) {
			w.Go("a", func() { park(w, "x", "one") })
			w.Go("b", func() { park(w, "x", "two") })
		}, sim.CheckMisuse, []string{`"x"`}},
		{"two threads of one name", func(w *sim.World) {
			w.Go("a", func() { park(w, "a", "one") })
			w.Go("a", func() {})
		}, sim.CheckMisuse, []string{`"a"`}},
		{"a thread that settles", func(w *sim.World) {
			w.Go("a", func() {
				park(w, "a", "one")
				w.Settle()
			})
		}, sim.CheckMisuse, []string{"for the program"}},
		{"a thread that waits for rest by itself", func(w *sim.World) {
			w.Go("a", func() {
				time.Sleep(time.Second)
				synctest.Wait()
			})
			w.Go("b", func() { time.Sleep(time.Second) })
		}, sim.CheckPanic, []string{"wait already in progress"}},
		{"a program that parks", func(w *sim.World) { park(w, "p", "x") }, sim.CheckStuck, []string{"made in Settle"}},
		{"a thread called as the clock", func(w *sim.World) { w.Go("a", func() { park(w, "clock", "x") }) }, sim.CheckMisuse, []string{"passing of time"}},
		{"a gate without a name", func(w *sim.World) { w.Go("a", func() { park(w, "start", "") }) }, sim.CheckMisuse, []string{"without"}},
		{"a verdict twice", func(w *sim.World) { w.Go("a", func() { park(w, "a", "x", "ok", "ok") }) }, sim.CheckMisuse, []string{"twice"}},
		{"a failure of who is let go", func(w *sim.World) {
			go func() {
				if _, err := w.Park(w.Context(), sim.Gate{Thread: "x", Name: "y", Optional: true}); err != nil {
					w.Fail("DRAINED", "it says so")
				}
			}()
		}, "DRAINED", []string{"it says so"}},
		{"parking for ever", func(w *sim.World) {
			w.Go("a", func() { <-w.Context().Done() })
			go func() {
				for w.Context().Err() == nil {
					ctx, cancel := context.WithTimeout(w.Context(), time.Second)
					_, _ = w.Park(ctx, sim.Gate{Thread: "x", Name: "y", Optional: true})
					cancel()
				}
			}()
		}, sim.CheckNoProgress, []string{"10000"}},
		{"no end", func(w *sim.World) {
			w.Go("a", func() {
				for park(w, "a", "again") == "ok" {
				}
			})
		}, sim.CheckNoProgress, []string{"10000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := boring(c.program)
			require.NotNil(t, r.Failure)
			require.Equal(t, c.check, r.Failure.Check, r.Failure.Message)
			for _, s := range c.says {
				require.Contains(t, r.Failure.Message, s)
			}
			if c.check == sim.CheckPanic || c.check == sim.CheckLeak {
				require.NotEmpty(t, r.Failure.Stack)
			}
			if c.check == sim.CheckLeak {
				require.Contains(t, r.Failure.Stack, "sim_test", "the stack shows the code under test")
			}
			require.Nil(t, boring(func(*sim.World) {}).Failure, "later runs go on")
		})
	}
}

func TestStrategyOutOfRangeIsMisuse(t *testing.T) {
	r := sim.Run(func(w *sim.World) { w.Go("a", func() { park(w, "a", "g", "x", "y") }) }, tooHigh{}, sim.Options{})
	require.True(t, r.Failed(sim.CheckMisuse))
}

type tooHigh struct{}

func (tooHigh) Choose(p *sim.Point) int { return p.N() }

func TestFirstFailureCounts(t *testing.T) {
	r := boring(func(w *sim.World) {
		w.Fail("ONE", "first")
		w.Fail("TWO", "second")
		w.Go("a", func() { panic("third") })
	})
	require.True(t, r.Failed("ONE"))
	require.EqualError(t, r.Failure, "ONE: first")
}

func TestAtRestSeesEveryRest(t *testing.T) {
	passed := 0
	r := boring(func(w *sim.World) {
		w.AtRest(func() {
			if passed == 2 {
				w.Fail("TWO", "two gates were passed")
			}
		})
		w.Go("a", func() {
			for range 5 {
				park(w, "a", "g")
				passed++
			}
		})
	})
	require.True(t, r.Failed("TWO"))
	require.Equal(t, 2, r.Failure.Step)
	require.Equal(t, 2, r.Steps, "the run ends where it failed")
}

func TestParkGivesUpWithItsContext(t *testing.T) {
	var got error
	r := boring(func(w *sim.World) {
		ctx, cancel := context.WithCancelCause(context.Background())
		w.Go("a", func() {
			_, got = w.Park(ctx, sim.Gate{Thread: "a", Name: "append", Optional: true})
		})
		w.Go("b", func() {
			park(w, "b", "cancel")
			cancel(errors.New("because"))
		})
	})
	require.Nil(t, r.Failure)
	require.ErrorIs(t, got, context.Canceled)
	require.Equal(t, "b: b cancel: ok\na: gives up at a append\n", sim.Transcript(r.Trace))
	require.Error(t, func() error {
		var err error
		boring(func(w *sim.World) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err = w.Park(ctx, sim.Gate{Thread: "a", Name: "append"})
		})
		return err
	}())
}

// An option that nobody takes does not keep the run going, and is drained.
func TestOptionalGate(t *testing.T) {
	program := func(w *sim.World) {
		go func() {
			if park(w, "crash", "now") == "ok" {
				w.Note("crash", "crashed")
			}
		}()
		w.Go("a", func() { park(w, "a", "one") })
	}
	optional := func(w *sim.World) {
		go func() {
			if _, err := w.Park(w.Context(), sim.Gate{Thread: "crash", Name: "now", Optional: true}); err == nil {
				w.Note("crash", "crashed")
			}
		}()
		w.Go("a", func() { park(w, "a", "one") })
	}
	require.Equal(t, "a: a one: ok\ncrash: crash now: ok\ncrash: crashed\n", sim.Transcript(boring(program).Trace))
	require.Equal(t, "a: a one: ok\n", sim.Transcript(boring(optional).Trace))
	r := sim.Run(optional, sim.Replay{Schedule: sim.Schedule{
		{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "crash"},
	}}.Begin(0), sim.Options{KeepTrace: true})
	require.Equal(t, "crash: crash now: ok\ncrash: crashed\na: a one: ok\n", sim.Transcript(r.Trace))
}

func TestVirtualTimePassesWhenNothingElseCan(t *testing.T) {
	var waited time.Duration
	r := boring(func(w *sim.World) {
		w.Go("retry", func() {
			began := time.Now()
			time.Sleep(17 * time.Minute)
			park(w, "retry", "append")
			waited = time.Since(began)
		})
	})
	require.Nil(t, r.Failure)
	require.Equal(t, 17*time.Minute, waited)

	r = boring(func(w *sim.World) { w.Go("a", func() { time.Sleep(2 * time.Hour) }) })
	require.True(t, r.Failed(sim.CheckStuck), "patience ends after an hour")
}

// With ticks the schedule decides whether a timeout comes first.
func TestTickIsADecision(t *testing.T) {
	program := func(w *sim.World) {
		answered := make(chan bool, 1)
		w.Go("tool", func() {
			park(w, "tool", "run")
			answered <- true
		})
		w.Go("client", func() {
			select {
			case <-answered:
				w.Note("client", "answer")
			case <-time.After(2500 * time.Millisecond):
				w.Note("client", "timeout")
			}
		})
	}
	options := sim.Options{Tick: time.Second, KeepTrace: true}
	require.Contains(t, sim.Transcript(sim.Run(program, sim.Boring{}.Begin(0), options).Trace), "answer")
	r := sim.Run(program, sim.Replay{Schedule: sim.Schedule{
		{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "clock"},
		{Kind: sim.Switch, Owner: "clock", Gate: "tick", Nth: 1, Choice: "clock"},
		{Kind: sim.Switch, Owner: "clock", Gate: "tick", Nth: 2, Choice: "clock"},
	}}.Begin(0), options)
	require.Contains(t, sim.Transcript(r.Trace), "timeout")
	require.Len(t, r.Schedule, 3)
}

// Code that uses its gates and the world's context finishes when the run is drained, wherever it is.
func TestDrainFreesEverybody(t *testing.T) {
	var errs []error
	r := boring(func(w *sim.World) {
		w.Go("a", func() {
			_, err := w.Park(context.Background(), sim.Gate{Thread: "a", Name: "never", Optional: true})
			errs = append(errs, err)
			_, err = w.Park(context.Background(), sim.Gate{Thread: "a", Name: "after"})
			errs = append(errs, err)
		})
		w.Go("b", func() {
			park(w, "b", "go")
			w.Fail("ENOUGH", "the run ends here")
		})
	})
	require.True(t, r.Failed("ENOUGH"))
	require.Equal(t, []error{sim.ErrDrained, sim.ErrDrained}, errs)
}

func TestOpenGatesDecideNothing(t *testing.T) {
	r := sim.Run(fifteen.Program(), sim.Random{}.Begin(1), sim.Options{Open: true})
	require.Nil(t, r.Failure)
	require.Zero(t, r.Steps)
}

func TestRunInsideABubbleIsMisuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := boring(func(*sim.World) {})
		require.True(t, r.Failed(sim.CheckMisuse), "%v", r.Failure)
		require.Contains(t, r.Failure.Message, "bubble")
	})
}
