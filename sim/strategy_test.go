package sim_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/sim"
)

var strategies = map[string]func(seed uint64) sim.Strategy{
	"random": func(seed uint64) sim.Strategy { return sim.Random{Seed: seed} },
	"swarm":  func(seed uint64) sim.Strategy { return sim.Swarm{Seed: seed} },
	"pct":    func(seed uint64) sim.Strategy { return sim.PCT{Seed: seed, Steps: 8} },
}

func TestEveryStrategyFindsEveryPlantedBug(t *testing.T) {
	for name, strategy := range strategies {
		for _, bug := range planted {
			t.Run(name+"/"+bug.name, func(t *testing.T) {
				found, err := sim.Search{Strategy: strategy(1), Runs: 2000}.Find(context.Background(), sim.Same(bug.c.Program()))
				require.NoError(t, err)
				require.NotNil(t, found.Result, "not found in %d runs", found.Runs)
				require.Equal(t, bug.check, found.Result.Failure.Check, found.Result.Failure.Message)
			})
		}
	}
}

// quiet is a program without coin flips of the runtime's: what a strategy does with it depends on the strategy alone.
func quiet(w *sim.World) {
	for _, name := range []string{"a", "b", "c"} {
		w.Go(name, func() {
			for i := range 4 {
				w.Note(name, park(w, name, fmt.Sprintf("g%d", i), "ok", "bad", "worse"))
			}
		})
	}
	go func() {
		_, _ = w.Park(w.Context(), sim.Gate{Thread: "crash", Name: "now", Optional: true})
	}()
}

func TestEveryStrategyIsReproducibleFromSeedAndNumber(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			hashes := make(map[uint64]bool)
			for n := range uint64(50) {
				one := sim.Run(quiet, strategy(7).Begin(n), sim.Options{})
				again := sim.Run(quiet, strategy(7).Begin(n), sim.Options{})
				require.Equal(t, one, again)
				hashes[one.Hash] = true
			}
			require.Greater(t, len(hashes), 45, "runs of other numbers are others")
			require.NotEqual(t, sim.Run(quiet, strategy(7).Begin(0), sim.Options{}).Hash, sim.Run(quiet, strategy(8).Begin(0), sim.Options{}).Hash)
		})
	}
}

// Swarm leaves out some fault for a whole run, which Random hardly ever does.
func TestSwarmLeavesFaultsOut(t *testing.T) {
	program := func(w *sim.World) {
		w.Go("a", func() {
			for i := range 200 {
				park(w, "a", "append", "ok", "before", "after")
				_ = i
			}
		})
	}
	with := make(map[[2]bool]int)
	for n := range uint64(64) {
		var has [2]bool
		for _, d := range sim.Run(program, sim.Swarm{}.Begin(n), sim.Options{}).Schedule {
			has[map[string]int{"before": 0, "after": 1}[d.Choice]] = true
		}
		with[has]++
	}
	require.Len(t, with, 4, "each of the faults alone, both, and neither: %v", with)
}

// PCT keeps to the priorities: without change points a thread runs until it cannot go on.
func TestPCTRunsByPriority(t *testing.T) {
	for n := range uint64(20) {
		r := sim.Run(lostUpdate, sim.PCT{Depth: 1}.Begin(n), sim.Options{})
		require.Nil(t, r.Failure, "a bug of depth 2 is not found at depth 1")
	}
}

// PCT finds a bug that needs one preemption as often as the paper promises: 1 in threads × steps.
func TestPCTKeepsItsPromise(t *testing.T) {
	const runs, threads, steps = 2000, 2, 4
	found := 0
	for n := range uint64(runs) {
		if sim.Run(lostUpdate, sim.PCT{Depth: 2, Steps: steps}.Begin(n), sim.Options{}).Failure != nil {
			found++
		}
	}
	require.Greater(t, found, runs/(threads*steps))
}

// A swarm leaves the passing of time out of half of its runs too.
func TestSwarmLeavesTimeOut(t *testing.T) {
	program := func(w *sim.World) {
		w.Go("a", func() {
			for range 200 {
				park(w, "a", "g")
			}
		})
	}
	with := 0
	for n := range uint64(200) {
		for _, d := range sim.Run(program, sim.Swarm{}.Begin(n), sim.Options{Tick: time.Second}).Schedule {
			if d.Choice == "clock" {
				with++
				break
			}
		}
	}
	require.InDelta(t, 100, with, 30)
}

func TestSearchTellsThatNothingIsLeft(t *testing.T) {
	found, err := sim.Search{Strategy: &sim.Exhaustive{Preemptions: sim.Unbounded}}.Find(context.Background(), sim.Same(straight(2, 2)))
	require.NoError(t, err)
	require.True(t, found.Exhausted)
	require.EqualValues(t, 6, found.Runs)
	n := 0
	found, err = sim.Search{Strategy: &sim.Exhaustive{Preemptions: sim.Unbounded}}.Find(context.Background(), func(uint64) sim.Program {
		n++
		return straight(slices.Repeat([]int{2}, n+1)...)
	})
	require.Error(t, err)
	require.False(t, found.Exhausted)
}

func TestSearchStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	found, err := sim.Search{Strategy: sim.Random{}, Progress: func(uint64, *sim.Result) {
		if n++; n == 3 {
			cancel()
		}
	}}.Find(ctx, sim.Same(quiet))
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 3, found.Runs)
	require.Nil(t, found.Result)
	found, err = sim.Search{Strategy: sim.Random{}, From: 5, Runs: 4}.Find(context.Background(), sim.Same(quiet))
	require.NoError(t, err)
	require.EqualValues(t, 4, found.Runs)
}
