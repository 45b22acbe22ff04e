package sim

import (
	"context"
	"fmt"
)

// Replay is the strategy that follows a schedule. Where the schedule says nothing, and where what it says is not possible,
// the boring choice is taken.
type Replay struct{ Schedule Schedule }

// Begin returns a chooser that follows the schedule; it is the same for each n.
func (s Replay) Begin(uint64) Chooser { return s.Follow() }

// Follow returns a chooser that follows the schedule, and can tell afterwards what it did not come to.
func (s Replay) Follow() *Follower {
	f := &Follower{schedule: s.Schedule, wanted: make(map[site]string, len(s.Schedule)), used: make(map[site]bool)}
	for _, d := range s.Schedule {
		f.wanted[d.site()] = d.Choice
	}
	return f
}

// Follower is a chooser that follows a schedule.
type Follower struct {
	schedule Schedule
	wanted   map[site]string
	used     map[site]bool
}

// Choose does what the schedule says.
func (f *Follower) Choose(p *Point) int {
	want, deviates := f.wanted[p.site]
	if !deviates {
		return 0
	}
	for i := range p.N() {
		if p.Choice(i) == want {
			f.used[p.site] = true
			return i
		}
	}
	return 0
}

// Unused returns the deviations that the run did not come to, or that were not possible where it did.
func (f *Follower) Unused() Schedule {
	var unused Schedule
	for _, d := range f.schedule {
		if !f.used[d.site()] {
			unused = append(unused, d)
		}
	}
	return unused
}

// DivergedError says that a recorded run could not be reproduced.
type DivergedError struct {
	Tries int
	// Step is the furthest that a try went along with the recorded run, in switch decisions.
	Step int
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("sim: the recorded trace did not come back in %d tries; the nearest one parted at step %d. "+
		"On Go's stock runtime a select with several ready cases and timers of one instant are coin flips; "+
		"if the program has none, it or the code under test has changed", e.Tries, e.Step)
}

// Reproduce replays a recorded run until its trace comes back, at most tries times, and says how many it took. On the
// stock runtime Go's own coin flips are not part of a schedule. Options.Expect lets the error say where the nearest try parted. The mean is a few tries, the 99th percentile some tens. The
// error is a [*DivergedError], with the result of the try that came nearest, or the context's.
func Reproduce(ctx context.Context, program Program, schedule Schedule, hash uint64, options Options, tries int) (*Result, int, error) {
	var nearest *Result
	for try := 1; try <= max(tries, 1); try++ {
		if err := ctx.Err(); err != nil {
			return nearest, try - 1, err
		}
		r := Run(program, Replay{schedule}.Follow(), options)
		if r.Hash == hash {
			return r, try, nil
		}
		if nearest == nil || r.alongside() > nearest.alongside() {
			nearest = r
		}
	}
	return nearest, max(tries, 1), &DivergedError{Tries: max(tries, 1), Step: nearest.alongside()}
}

// alongside is the step up to which the run was the one of Options.Expect: where it parted, or its last.
func (r *Result) alongside() int {
	if r.Diverged == 0 {
		return r.Steps
	}
	return r.Diverged
}
