package sim_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/sim"
)

// A run depends on nothing but its schedule: the schedule of any run, followed, is that run, whatever strategy made it.
func TestRunDependsOnItsScheduleAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gates := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 4).Draw(t, "gates")
		seed, n := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "n")
		strategy := rapid.SampledFrom([]string{"random", "swarm", "pct"}).Draw(t, "strategy")
		patience := time.Duration(rapid.IntRange(0, 3).Draw(t, "patience")) * time.Second
		program := func(w *sim.World) {
			ctx, crash := context.WithCancel(w.Context())
			defer crash()
			for i, count := range gates {
				name := string(rune('a' + i))
				w.Go(name, func() {
					for n := range count {
						call, cancel := ctx, func() {}
						if patience > 0 && n%2 == 1 {
							call, cancel = context.WithTimeout(ctx, patience)
						}
						verdict, err := w.Park(call, sim.Gate{Thread: name, Name: "g", Verdicts: []string{"ok", "bad", "worse"}})
						w.Note(name, fmt.Sprint(verdict, err))
						cancel()
					}
				})
			}
			go func() {
				if _, err := w.Park(w.Context(), sim.Gate{Thread: "crash", Name: "now", Optional: true}); err == nil {
					crash()
				}
			}()
			w.Settle()
		}
		options := sim.Options{KeepTrace: true, Tick: time.Duration(rapid.IntRange(0, 1).Draw(t, "tick")) * time.Second}
		run := sim.Run(program, strategies[strategy](seed).Begin(n), options)
		follower := sim.Replay{Schedule: run.Schedule}.Follow()
		options.Expect = run.StepHash
		replay := sim.Run(program, follower, options)
		require.Zero(t, replay.Diverged)
		run.Trace, replay.Trace = canonical(run.Trace), canonical(replay.Trace)
		require.Equal(t, run, replay)
		require.Empty(t, follower.Unused())
	})
}

// canonical orders what different threads did in one step.
func canonical(events []sim.Event) []sim.Event {
	slices.SortStableFunc(events, func(a, b sim.Event) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Thread, b.Thread))
	})
	return events
}

// Threads that one cancellation wakes note what they saw in whichever order; that is no other run.
func TestThreadsThatWakeTogetherMakeOneTrace(t *testing.T) {
	program := func(w *sim.World) {
		ctx, cancel := context.WithCancel(w.Context())
		for _, name := range []string{"a", "b", "c", "d"} {
			w.Go(name, func() {
				_, err := w.Park(ctx, sim.Gate{Thread: name, Name: "append"})
				w.Note(name, fmt.Sprint(err))
				w.Note(name, park(w, name, "again"))
			})
		}
		w.Go("crash", func() {
			park(w, "crash", "now")
			cancel()
		})
	}
	schedule := sim.Schedule{{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "crash"}}
	hashes := make(map[uint64]bool)
	for range 200 {
		r := sim.Run(program, sim.Replay{Schedule: schedule}.Begin(0), sim.Options{})
		require.Nil(t, r.Failure)
		hashes[r.Hash] = true
	}
	require.Len(t, hashes, 1)
}

// A replay of another program is noticed at the step where it parts.
func TestReplayNoticesWhereItDiverges(t *testing.T) {
	program := func(changed bool) sim.Program {
		return func(w *sim.World) {
			w.Go("a", func() {
				for i := range 6 {
					if i == 3 && changed {
						w.Note("a", "something new")
					}
					park(w, "a", "g")
				}
			})
		}
	}
	run := sim.Run(program(false), sim.Boring{}.Begin(0), sim.Options{})
	again := sim.Run(program(false), sim.Boring{}.Begin(0), sim.Options{Expect: run.StepHash})
	require.Zero(t, again.Diverged)
	changed := sim.Run(program(true), sim.Boring{}.Begin(0), sim.Options{Expect: run.StepHash})
	require.Equal(t, 4, changed.Diverged)
	shorter := sim.Run(straight(2), sim.Boring{}.Begin(0), sim.Options{Expect: sim.Run(straight(3), sim.Boring{}.Begin(0), sim.Options{}).StepHash})
	require.Equal(t, 3, shorter.Diverged)
	longer := sim.Run(straight(3), sim.Boring{}.Begin(0), sim.Options{Expect: sim.Run(straight(2), sim.Boring{}.Begin(0), sim.Options{}).StepHash})
	require.Equal(t, 3, longer.Diverged)
}

// coin has a select with two ready cases: on the stock runtime a coin flip that no schedule holds.
func coin(w *sim.World) {
	ack, done := make(chan bool, 1), make(chan bool)
	ack <- true
	close(done)
	w.Go("client", func() {
		for range 3 {
			park(w, "client", "look")
			select {
			case <-ack:
				w.Note("client", "ack")
				ack <- true
			case <-done:
				w.Note("client", "done")
			}
		}
	})
}

func TestReproduceRetriesUntilTheTraceIsBack(t *testing.T) {
	run := sim.Run(coin, sim.Boring{}.Begin(0), sim.Options{})
	options := sim.Options{Expect: run.StepHash}
	total := 0
	for range 20 {
		r, tries, err := sim.Reproduce(context.Background(), coin, run.Schedule, run.Hash, options, 10_000)
		require.NoError(t, err)
		require.Equal(t, run.Hash, r.Hash)
		total += tries
	}
	require.Greater(t, total, 20, "some coin fell the other way")

	_, tries, err := sim.Reproduce(context.Background(), coin, run.Schedule, run.Hash+1, options, 7)
	var diverged *sim.DivergedError
	require.True(t, errors.As(err, &diverged))
	require.Equal(t, 7, tries)
	require.ErrorContains(t, err, "7 tries")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, tries, err = sim.Reproduce(ctx, coin, run.Schedule, run.Hash, options, 7)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, tries)
}

// After a failure everybody is let go at once; what they note then is no part of the trace.
func TestTraceEndsWithTheFailure(t *testing.T) {
	program := func(w *sim.World) {
		for _, name := range []string{"a", "b", "c", "d"} {
			w.Go(name, func() { w.Note(name, park(w, name, "g")) })
		}
		w.Go("x", func() {
			park(w, "x", "g")
			w.Fail("ENOUGH", "the run ends here")
		})
	}
	schedule := sim.Schedule{{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "x"}}
	hashes := make(map[uint64]bool)
	for range 200 {
		hashes[sim.Run(program, sim.Replay{Schedule: schedule}.Begin(0), sim.Options{}).Hash] = true
	}
	require.Len(t, hashes, 1)
}

// An AtRest function that wakes somebody does not make the run any less at rest when it is decided.
func TestAtRestMayWakeSomebody(t *testing.T) {
	program := func(w *sim.World) {
		ctx, cancel := context.WithCancel(w.Context())
		w.AtRest(cancel)
		w.Go("a", func() {
			_, err := w.Park(ctx, sim.Gate{Thread: "a", Name: "g", Verdicts: []string{"ok", "bad"}})
			w.Note("a", fmt.Sprint(err))
		})
		w.Go("b", func() { w.Note("b", park(w, "b", "g")) })
	}
	hashes := make(map[uint64]bool)
	for range 200 {
		hashes[sim.Run(program, sim.Boring{}.Begin(0), sim.Options{}).Hash] = true
	}
	require.Len(t, hashes, 1)
}
