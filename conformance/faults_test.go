package conformance

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/sim"
)

var faultSeeds = flag.Int("faults.seeds", 1, "of how many seeds each fault must be found, 95 in 100 of them")

// within is how many schedules a stock fault must be found in.
const within = 5000

// find makes runs until one breaks something that the fault may be blamed for, without the directed checks. It returns the number
// of the run, what was blamed, and the run; a run that breaks anything else ends the search.
func find(t *testing.T, f faulty.Fault, seed uint64, most uint64) (n uint64, blamed string, r run) {
	c, err := newChecker(faultySubject(f.Name), Config{Seed: seed})
	require.NoError(t, err)
	for n = range most {
		load, strategy := c.choice(n)
		r = c.once(load, strategy.Begin(n), c.config.Run)
		if r.check != "" {
			return n, r.requirement(), r
		}
		for _, w := range r.play.judge.Warnings() {
			if slices.Contains(f.Requirements, w.Requirement) {
				return n, w.Requirement, r
			}
		}
	}
	return most, "", r
}

// TestFaultsAreFound holds that every stock fault is found, and blamed on one of its requirements.
func TestFaultsAreFound(t *testing.T) {
	var (
		mu     sync.Mutex
		counts []uint64
	)
	t.Run("faults", func(t *testing.T) {
		for _, f := range faulty.Faults() {
			if f.Class != faulty.Stock {
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				missed, all := 0, make([]uint64, *faultSeeds)
				for seed := range all {
					n, blamed, r := find(t, f, uint64(seed), schedules(within))
					all[seed] = n
					switch {
					case blamed == "" && heavy:
						missed++
						t.Logf("seed %d: not found in %d schedules", seed, within)
					case blamed != "" && !slices.Contains(f.Requirements, blamed):
						t.Errorf("WRONG %s seed %d, schedule %d: blamed on %s, none of %v: %v\n%s%s", f.Name, seed, n, blamed, f.Requirements, r.result.Failure, r.load, lines(r.result.Schedule))
					}
				}
				slices.Sort(all)
				t.Logf("found after %d schedules (median of %d seeds)", all[len(all)/2], len(all))
				require.LessOrEqual(t, missed*100, 5*max(len(all), 20), "%s: %s", f.Name, f.Doc)
				mu.Lock()
				defer mu.Unlock()
				counts = append(counts, all[len(all)/2])
			})
		}
	})
	slices.Sort(counts)
	if len(counts) > 0 {
		t.Logf("%d faults; schedules until found: median %d, 90%% %d, most %d", len(counts), counts[len(counts)/2], counts[len(counts)*9/10], counts[len(counts)-1])
	}
}

// TestConformingLoopsAreNotAccused makes many runs of the two conforming loops.
func TestConformingLoopsAreNotAccused(t *testing.T) {
	for _, s := range []Subject{referenceSubject(), faultySubject("")} {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r, err := Check(t.Context(), s, Config{Schedules: int(schedules(20_000)), Seed: uint64(*faultSeeds)})
			require.NoError(t, err)
			for _, f := range r.Failures {
				t.Errorf("\n%s", f)
			}
			require.Empty(t, r.AllProblems())
			require.True(t, r.Passed())
		})
	}
}

// shrinkFault finds and shrinks a fault.
func shrinkFault(ctx context.Context, t *testing.T, f faulty.Fault, seed uint64) (found run, shrunk sim.Shrunk, took time.Duration) {
	n, blamed, r := find(t, f, seed, within)
	require.NotEmpty(t, blamed, "%s is not found", f.Name)
	if r.check == "" {
		t.Skipf("%s is a warning, and nothing to shrink: %s", f.Name, blamed)
	}
	c, err := newChecker(faultySubject(f.Name), Config{Seed: seed})
	require.NoError(t, err)
	began := time.Now()
	shrunk, err = sim.Shrinker{Time: time.Minute}.Shrink(ctx, shrinkable{c, r.load}, r.result.Schedule, r.check)
	require.NoError(t, err, "schedule %d", n)
	return r, shrunk, time.Since(began)
}

// TestFaultsShrink holds that what is found is shrunk to a few operations.
func TestFaultsShrink(t *testing.T) {
	var (
		mu    sync.Mutex
		sizes []int
		text  []string
	)
	t.Run("faults", func(t *testing.T) {
		for _, f := range faulty.Faults() {
			if f.Class != faulty.Stock {
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				_, shrunk, took := shrinkFault(t.Context(), t, f, 0)
				load := shrunk.Case.(shrinkable).load
				mu.Lock()
				defer mu.Unlock()
				sizes = append(sizes, load.Len()+len(shrunk.Result.Schedule))
				text = append(text, fmt.Sprintf("%2d %-32s %v %d runs complete %v\n%s%s", load.Len()+len(shrunk.Result.Schedule), f.Name, took, shrunk.Runs, shrunk.Complete, load, lines(shrunk.Result.Schedule)))
			})
		}
	})
	slices.Sort(sizes)
	slices.Sort(text)
	for _, line := range text {
		t.Log(line)
	}
	t.Logf("median %d", sizes[len(sizes)/2])
	_ = oracle.Requirements
}
