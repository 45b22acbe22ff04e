package sim

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Case is a program made of operations that can be taken away.
type Case interface {
	// Program returns the program. It may be called again and again; each run gets a fresh one.
	Program() Program
	// Size is how much there is to it, as a person counts: the operations, say, plainer ones for less.
	Size() int
	// Reductions yields what could be left of the case, the boldest first. The order is the same each time. Only what comes
	// out smaller is taken: in size, or with the same size in deviations or steps.
	Reductions() iter.Seq[Reduction]
}

// Reduction is one way to make a case smaller.
type Reduction struct {
	Pass    string // names the kind of reduction, as "drop a client"
	Case    Case
	Dropped []string // the operations, or threads, that are gone: deviations that belong to them go too
}

// Fixed is a case that cannot be reduced: only its schedule can.
func Fixed(program Program) Case { return fixed{program} }

type fixed struct{ program Program }

func (f fixed) Program() Program              { return f.program }
func (fixed) Size() int                       { return 1 }
func (fixed) Reductions() iter.Seq[Reduction] { return func(func(Reduction) bool) {} }

// Shrinker looks for a small case and a short schedule that still break the same check. The zero value stands for the
// defaults. It is deterministic as long as the runs are and Time is not what ends it.
type Shrinker struct {
	Options Options
	// Runs and Time bound the search; 0 is 20,000 runs, and no bound on time.
	Runs int
	Time time.Duration
	// Attempts is how often a candidate is run before it counts as not failing; 0 is 2. One is enough where runs are
	// deterministic; on the stock runtime some fail now and then.
	Attempts int
	// Again is how many other schedules are searched when a smaller case no longer fails with the old one; 0 is 40, a
	// negative number none.
	Again int
	// Progress, if set, is called when something smaller was found.
	Progress func(Shrunk)
}

// Shrunk is the smallest that was found.
type Shrunk struct {
	Case     Case
	Result   *Result        // of a run that breaks the check; its Schedule is the shrunk one
	Runs     int            // made so far
	Passes   map[string]int // how often each pass made it smaller
	Complete bool           // whether no pass finds anything smaller, rather than a bound or the context ending the search
}

// NotFailingError says that there is nothing to shrink: the run does not break the check.
type NotFailingError struct {
	Check    string
	Attempts int
	Failure  *Failure // what the last attempt broke instead; nil if nothing
}

func (e *NotFailingError) Error() string {
	if e.Failure != nil {
		return fmt.Sprintf("sim: shrink: the schedule does not break %s, but %v", e.Check, e.Failure)
	}
	return fmt.Sprintf("sim: shrink: the schedule did not break %s in %d attempts", e.Check, e.Attempts)
}

// Shrink shrinks a case and a schedule that break check. When the context or a bound ends it, what was found so far is
// returned, and no error. The error is a [*NotFailingError], for a case that does not break the check to begin with, or the
// context's, if it ended before that was known.
func (s Shrinker) Shrink(ctx context.Context, c Case, schedule Schedule, check string) (Shrunk, error) {
	run := &shrinking{
		Shrinker: s, ctx: ctx, check: check, runs: orDefault(s.Runs, 20_000),
		best: Shrunk{Case: c, Passes: make(map[string]int)},
	}
	run.Attempts, run.Again = orDefault(s.Attempts, 2), orDefault(s.Again, 40)
	if s.Time > 0 {
		run.deadline = time.Now().Add(s.Time)
	}
	// The first run decides whether there is anything to do at all: it gets more attempts than a candidate.
	first := run.try(c, schedule, 10*run.Attempts)
	if first == nil {
		if err := ctx.Err(); err != nil {
			return run.best, err
		}
		return run.best, &NotFailingError{Check: check, Attempts: run.best.Runs, Failure: run.other}
	}
	run.best.Result = first
	for run.round() {
	}
	run.best.Complete = !run.over()
	return run.best, nil
}

// shrinking is one search. best breaks the check at all times.
type shrinking struct {
	Shrinker
	ctx      context.Context
	check    string
	runs     int
	deadline time.Time
	best     Shrunk
	other    *Failure
}

func (s *shrinking) over() bool {
	return s.best.Runs >= s.runs || s.ctx.Err() != nil || !s.deadline.IsZero() && time.Now().After(s.deadline)
}

// round tries the passes, and reports whether to go on because one of them made it smaller. Those that try two things at
// once are costly: they come when the others have come to nothing.
func (s *shrinking) round() bool {
	smaller := false
	for _, pass := range []func() bool{s.dropDeviations, s.reduceCase, s.fewestDeviations} {
		smaller = pass() || smaller
	}
	return (smaller || s.dropPairs() || s.reduceTwice()) && !s.over()
}

// try runs a candidate, and returns the run that broke the check; nil if none did.
func (s *shrinking) try(c Case, schedule Schedule, attempts int) *Result {
	program := c.Program()
	for range attempts {
		if s.over() {
			return nil
		}
		s.best.Runs++
		r := Run(program, Replay{schedule}.Follow(), s.Options)
		if r.Failed(s.check) {
			return r
		}
		s.other = r.Failure
	}
	return nil
}

// accept takes a run that breaks the check for the best, if it is smaller. What the run really deviated in becomes
// the schedule: deviations that it never came to are gone.
func (s *shrinking) accept(pass string, c Case, r *Result) bool {
	if r == nil || !smaller(c, r, s.best.Case, s.best.Result) {
		return false
	}
	s.best.Case, s.best.Result = c, r
	s.best.Passes[pass]++
	if s.Progress != nil {
		s.Progress(s.best)
	}
	return true
}

// smaller orders by what a reader has to take in: operations first, then deviations, then steps.
func smaller(c Case, r *Result, than Case, thanResult *Result) bool {
	switch a, b := c.Size(), than.Size(); {
	case a != b:
		return a < b
	case len(r.Schedule) != len(thanResult.Schedule):
		return len(r.Schedule) < len(thanResult.Schedule)
	}
	return r.Steps < thanResult.Steps
}
