package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/sim"
)

// find searches a bug with a seed of its own.
func find(t *testing.T, c sim.Case, seed uint64) *sim.Result {
	t.Helper()
	found, err := sim.Search{Strategy: sim.Random{Seed: seed, Rare: 4}, Runs: 5000}.Find(context.Background(), sim.Same(c.Program()))
	require.NoError(t, err)
	require.NotNil(t, found.Result)
	return found.Result
}

func TestPlantedBugsShrinkToTheKnownMinimum(t *testing.T) {
	for _, bug := range planted {
		t.Run(bug.name, func(t *testing.T) {
			for seed := range uint64(10) {
				first := find(t, bug.c, seed)
				shrunk, err := sim.Shrinker{}.Shrink(context.Background(), bug.c, first.Schedule, bug.check)
				require.NoError(t, err)
				require.True(t, shrunk.Complete)
				require.Equal(t, bug.size, shrunk.Case.Size(), "%v", shrunk.Case)
				require.Len(t, shrunk.Result.Schedule, bug.deviations)
				require.Equal(t, bug.check, shrunk.Result.Failure.Check)

				again := sim.Run(shrunk.Case.Program(), sim.Replay{Schedule: shrunk.Result.Schedule}.Begin(0), sim.Options{})
				require.True(t, again.Failed(bug.check), "what is left fails by itself")
			}
		})
	}
}

// Two bugs in one program: the one that was found is the one that is shrunk.
func TestShrinkingKeepsTheCheck(t *testing.T) {
	program := func(w *sim.World) {
		w.Go("a", func() {
			switch park(w, "a", "append", "ok", "before", "after") {
			case "before":
				if park(w, "a", "retry", "ok", "again") == "again" {
					w.Fail("TWO", "a second failure")
				}
			case "after":
				w.Fail("ONE", "one failure is enough")
			}
		})
	}
	schedule := sim.Schedule{
		{Kind: sim.Verdict, Owner: "a", Gate: "append", Nth: 1, Choice: "before"},
		{Kind: sim.Verdict, Owner: "a", Gate: "retry", Nth: 1, Choice: "again"},
	}
	shrunk, err := sim.Shrinker{}.Shrink(context.Background(), sim.Fixed(program), schedule, "TWO")
	require.NoError(t, err)
	require.Len(t, shrunk.Result.Schedule, 2)
	require.Equal(t, "TWO", shrunk.Result.Failure.Check)
}

func TestShrinkingIsBounded(t *testing.T) {
	bug := withPlant(partial, wholeBatches)
	first := find(t, bug, 3)
	shrunk, err := sim.Shrinker{Runs: 5}.Shrink(context.Background(), bug, first.Schedule, "BATCH")
	require.NoError(t, err)
	require.False(t, shrunk.Complete)
	require.LessOrEqual(t, shrunk.Runs, 5)
	require.True(t, shrunk.Result.Failed("BATCH"), "what was found so far still fails")

	ctx, cancel := context.WithCancel(context.Background())
	steps := 0
	shrunk, err = sim.Shrinker{Progress: func(sim.Shrunk) {
		if steps++; steps == 2 {
			cancel()
		}
	}}.Shrink(ctx, bug, first.Schedule, "BATCH")
	require.NoError(t, err)
	require.Equal(t, 2, steps)
	require.False(t, shrunk.Complete)
	require.True(t, shrunk.Result.Failed("BATCH"))
}

func TestShrinkingIsDeterministic(t *testing.T) {
	c := sim.Fixed(lostUpdate)
	first := find(t, c, 1)
	one, err := sim.Shrinker{}.Shrink(context.Background(), c, first.Schedule, "LOST")
	require.NoError(t, err)
	two, err := sim.Shrinker{}.Shrink(context.Background(), c, first.Schedule, "LOST")
	require.NoError(t, err)
	require.Equal(t, one.Result, two.Result)
	require.Equal(t, one.Runs, two.Runs)
	require.Equal(t, one.Passes, two.Passes)
}

func TestNothingToShrink(t *testing.T) {
	_, err := sim.Shrinker{}.Shrink(context.Background(), sim.Fixed(lostUpdate), nil, "LOST")
	var not *sim.NotFailingError
	require.True(t, errors.As(err, &not))
	require.Nil(t, not.Failure)
	_, err = sim.Shrinker{}.Shrink(context.Background(), sim.Fixed(func(w *sim.World) { w.Fail("OTHER", "x") }), nil, "LOST")
	require.True(t, errors.As(err, &not))
	require.Equal(t, "OTHER", not.Failure.Check)
}

// A schedule keeps its meaning when what it does not speak of is taken out of the program.
func TestScheduleSurvivesEdits(t *testing.T) {
	schedule := sim.Schedule{{Kind: sim.Verdict, Owner: "b1", Gate: "append AB", Nth: 1, Choice: "failed before the write"}}
	for _, clients := range [][][]string{
		{{"a1 submit", "a2 change"}, {"b1 change", "b2 submit"}},
		{{"a2 change"}, {"b1 change", "b2 submit"}},
		{{}, {"b1 change"}},
		{{"a9 submit"}, {"b7 change", "b1 change"}, {"c1 change"}},
	} {
		l := workload{clients: clients, plant: deaf, check: durableSuccess}
		follower := sim.Replay{Schedule: schedule}.Follow()
		r := sim.Run(l.Program(), follower, sim.Options{})
		require.True(t, r.Failed("DURABLE"))
		require.Contains(t, r.Failure.Message, "b1")
		require.Empty(t, follower.Unused())
	}
	follower := sim.Replay{Schedule: schedule}.Follow()
	r := sim.Run(workload{clients: [][]string{{"a1 change"}}, plant: deaf, check: durableSuccess}.Program(), follower, sim.Options{})
	require.Nil(t, r.Failure)
	require.Equal(t, schedule, follower.Unused(), "what has lost its place is told")
}

func TestShrinkingWithAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	first := find(t, sim.Fixed(lostUpdate), 1)
	_, err := sim.Shrinker{}.Shrink(ctx, sim.Fixed(lostUpdate), first.Schedule, "LOST")
	require.ErrorIs(t, err, context.Canceled)
}

// What breaks is that two clients have done as much as each other: taking away one operation, or one fault, mends it.
func TestShrinkingTakesTwoAtATime(t *testing.T) {
	even := func(w *sim.World, _ *toy, results map[string]error) {
		done := map[byte]int{}
		for op := range results {
			done[op[0]]++
		}
		if done['a'] > 0 && done['a'] == done['b'] {
			w.Fail("EVEN", "as many of a as of b")
		}
	}
	c := workload{check: even, clients: [][]string{{"a1 submit", "a2 submit", "a3 submit"}, {"b1 submit", "b2 submit", "b3 submit"}}}
	shrunk, err := sim.Shrinker{}.Shrink(context.Background(), c, nil, "EVEN")
	require.NoError(t, err)
	require.True(t, shrunk.Complete)
	require.Equal(t, 3, shrunk.Case.Size(), "%v", shrunk.Case) // one client that does both

	parity := func(w *sim.World) {
		bad := 0
		w.Go("a", func() {
			for range 9 {
				if park(w, "a", "append", "ok", "bad") == "bad" {
					bad++
				}
			}
		})
		if w.Settle() && bad > 0 && bad%2 == 0 {
			w.Fail("PARITY", "an even number of faults")
		}
	}
	var all sim.Schedule
	for n := 1; n <= 8; n++ {
		all = append(all, sim.Deviation{Kind: sim.Verdict, Owner: "a", Gate: "append", Nth: n, Choice: "bad"})
	}
	shrunk, err = sim.Shrinker{}.Shrink(context.Background(), sim.Fixed(parity), all, "PARITY")
	require.NoError(t, err)
	require.Len(t, shrunk.Result.Schedule, 2)
}

func TestScheduleWithoutAnOwner(t *testing.T) {
	schedule := sim.Schedule{
		{Kind: sim.Verdict, Owner: "a1", Gate: "append", Nth: 1, Choice: "bad"},
		{Kind: sim.Switch, Owner: "b1", Gate: "call", Nth: 1, Choice: "a1"},
		{Kind: sim.Verdict, Owner: "b1", Gate: "append", Nth: 1, Choice: "a1"},
	}
	require.Equal(t, schedule[2:], schedule.Without("a1"), "what it owns, and the switches to it")
	require.Equal(t, schedule[:1], schedule.Without("b1"))
	require.Len(t, schedule, 3)
}
