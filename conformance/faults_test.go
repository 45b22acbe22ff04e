package conformance

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
)

var updateFaults = flag.Bool("faults.update", false, "make the corpus of faults anew")

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

// TestFaultsAreFound holds that every stock fault is found and blamed on one of its requirements, by 95 in 100 seeds, and by the
// first one.
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
					case blamed == "" && !heavy: // a few schedules need not find it
					case blamed == "":
						missed++
						t.Logf("seed %d: not found in %d schedules", seed, within)
					case !slices.Contains(f.Requirements, blamed):
						missed++
						t.Logf("seed %d, schedule %d: blamed on %s, none of %v: %v\n%s%s", seed, n, blamed, f.Requirements, r.result.Failure, r.load, lines(r.result.Schedule))
					}
				}
				slices.Sort(all)
				t.Logf("found after %d schedules (median of %d seeds)", all[len(all)/2], len(all))
				require.LessOrEqual(t, missed, len(all)*5/100, "%s: %s", f.Name, f.Doc)
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

// TestFaultCorpus holds the committed corpus: for each stock fault a shrunk schedule that breaks a requirement of the fault, is
// passed by the reference, and replays to the same trace. With -faults.update it is made anew.
func TestFaultCorpus(t *testing.T) {
	var (
		mu    sync.Mutex
		steps []int
	)
	t.Run("faults", func(t *testing.T) {
		for _, f := range faulty.Faults() {
			if f.Class != faulty.Stock {
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join("..", "corpus", "faults", f.Name+corpus.Extension)
				if *updateFaults {
					require.NoError(t, os.WriteFile(path, []byte(shrunkFault(t, f).String()), 0o644))
				}
				file, err := corpus.LoadFile(path)
				require.NoError(t, err)
				require.Contains(t, f.Requirements, file.Requirement)

				c, err := newChecker(faultySubject(f.Name), Config{})
				require.NoError(t, err)
				c.strict = true
				r, tries, same := c.reproduce(file)
				require.True(t, same, "the trace does not come back in %d tries", tries)
				require.Equal(t, file.Requirement, r.requirement())

				for _, passes := range []Subject{referenceSubject(), faultySubject("")} {
					c, err := newChecker(passes, Config{})
					require.NoError(t, err)
					c.strict = true
					r := c.once(file.Workload, sim.Replay{Schedule: file.Record.Schedule}.Follow(), c.config.Run)
					require.Empty(t, r.check, "%s: %v", passes.Name, r.result.Failure)
				}
				mu.Lock()
				defer mu.Unlock()
				steps = append(steps, file.Workload.Len()+len(file.Record.Schedule))
			})
		}
	})
	slices.Sort(steps)
	if len(steps) > 0 {
		t.Logf("%d schedules; operations and deviations: median %d, most %d", len(steps), steps[len(steps)/2], steps[len(steps)-1])
		require.LessOrEqual(t, steps[len(steps)/2], 8)
	}
}

// shrunkFault finds a fault, shrinks what found it, and returns that on paper.
func shrunkFault(t *testing.T, f faulty.Fault) corpus.File {
	const seed = 0
	n, blamed, r := find(t, f, seed, within)
	require.NotEmpty(t, blamed, "%s is not found", f.Name)
	subject := faultySubject(f.Name)
	subject.Name = "faulty:" + f.Name
	c, err := newChecker(subject, Config{Seed: seed, Shrink: time.Minute})
	require.NoError(t, err)
	c.strict = true
	c.fail(t.Context(), c.again(r.load, r.result.Schedule), fmt.Sprintf("schedule %d (seed %d)", n, seed))
	require.Len(t, c.report.Failures, 1, "%v", c.report.Problems)
	file, err := corpus.ParseToken(c.report.Failures[0].Token)
	require.NoError(t, err)
	file.Log = append([]string{f.Doc, c.report.Failures[0].Message}, c.report.Failures[0].Timeline...)
	return file
}
