package sim

import "slices"

// dropDeviations takes deviations away, many at a time at first: Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input", TSE 2002.
func (s *shrinking) dropDeviations() bool {
	dropped := false
	for size := len(s.best.Result.Schedule); size >= 1; size /= 2 {
		for i := 0; i < len(s.best.Result.Schedule) && !s.over(); {
			schedule := s.best.Result.Schedule
			left := slices.Delete(slices.Clone(schedule), i, min(i+size, len(schedule)))
			if r := s.try(s.best.Case, left, s.Attempts); s.accept("drop deviations", s.best.Case, r) {
				dropped = true
			} else {
				i += size
			}
		}
	}
	return dropped
}

// reduceCase takes the first reduction of the case that still breaks the check, and begins anew with what is left.
func (s *shrinking) reduceCase() bool {
	reduced := false
	for again := true; again && !s.over(); {
		again = false
		for reduction := range s.best.Case.Reductions() {
			if s.over() {
				break
			}
			if s.reduce(reduction) {
				reduced, again = true, true
				break
			}
		}
	}
	return reduced
}

// reduce tries a reduction with what is left of the schedule, then with its verdicts alone, then with other schedules:
// the order of things that mattered may have been that of an operation which is gone.
func (s *shrinking) reduce(reduction Reduction) bool {
	schedule := s.best.Result.Schedule.Without(reduction.Dropped...)
	if s.accept(reduction.Pass, reduction.Case, s.try(reduction.Case, schedule, s.Attempts)) {
		return true
	}
	verdicts := slices.DeleteFunc(slices.Clone(schedule), func(d Deviation) bool { return d.Kind != Verdict })
	if len(verdicts) < len(schedule) {
		if s.accept(reduction.Pass, reduction.Case, s.try(reduction.Case, verdicts, s.Attempts)) {
			return true
		}
	}
	budget := s.Again
	for k := 0; k <= min(len(schedule)+1, 2) && budget > 0; k++ {
		r, exhausted := s.search(reduction.Case, k, &budget)
		if s.accept(reduction.Pass, reduction.Case, r) {
			return true
		}
		if !exhausted {
			break
		}
	}
	return false
}

// fewestDeviations looks for a schedule with fewer deviations than the best, all that have none first, then one, and so
// on. Taking away one by one stops at a schedule none of whose deviations can go; this one may have nothing in common with it.
func (s *shrinking) fewestDeviations() bool {
	budget := 2000
	for k := range len(s.best.Result.Schedule) {
		r, exhausted := s.search(s.best.Case, k, &budget)
		if s.accept("fewest deviations", s.best.Case, r) {
			return true
		}
		if !exhausted {
			return false
		}
	}
	return false
}

// pairs bounds the passes that try two things at once, in candidates a round.
const pairs = 2000

// dropPairs takes away two deviations that only make sense together: what counts is that there are as many of one as of
// another.
func (s *shrinking) dropPairs() bool {
	tried := 0
	for i := range s.best.Result.Schedule {
		for j := i + 1; j < len(s.best.Result.Schedule); j++ {
			if tried++; tried > pairs || s.over() {
				return false
			}
			left := slices.Delete(slices.Clone(s.best.Result.Schedule), j, j+1)
			left = slices.Delete(left, i, i+1)
			if s.accept("drop two deviations", s.best.Case, s.try(s.best.Case, left, s.Attempts)) {
				return true
			}
		}
	}
	return false
}

// reduceTwice tries the reductions of each reduction, where one alone loses the breach.
func (s *shrinking) reduceTwice() bool {
	tried := 0
	for first := range s.best.Case.Reductions() {
		for second := range first.Case.Reductions() {
			if tried++; tried > pairs || s.over() {
				return false
			}
			schedule := s.best.Result.Schedule.Without(slices.Concat(first.Dropped, second.Dropped)...)
			if s.accept(first.Pass+", then "+second.Pass, second.Case, s.try(second.Case, schedule, s.Attempts)) {
				return true
			}
		}
	}
	return false
}

// search goes through the schedules of a case that have at most k deviations, until one breaks the check or the budget is
// spent.
func (s *shrinking) search(c Case, k int, budget *int) (found *Result, exhausted bool) {
	all := &Exhaustive{Preemptions: Unbounded, Faults: k, cost: deviationCost}
	program := c.Program()
	for chooser := all.Begin(0); chooser != nil; chooser = all.Begin(0) {
		if *budget <= 0 || s.over() {
			return nil, false
		}
		*budget--
		s.best.Runs++
		if r := Run(program, chooser, s.Options); r.Failed(s.check) {
			return r, false
		}
	}
	return nil, all.Exhausted()
}

// deviationCost counts every choice but the boring one.
func deviationCost(_ *Point, i int) (preemptions, deviations int) {
	if i > 0 {
		return 0, 1
	}
	return 0, 0
}
