package sim

import "context"

// Search is a campaign: runs of programs under a strategy, one after the other.
type Search struct {
	Strategy Strategy
	Options  Options
	// From is the number of the first run, and Runs how many are made at the most; 0 is no bound but the strategy's own.
	From, Runs uint64
	// Progress, if set, is called after each run.
	Progress func(n uint64, r *Result)
}

// Found is what a search came to.
type Found struct {
	Runs   uint64  // how many were made
	Number uint64  // of the run that failed
	Result *Result // of the run that failed; nil if none did
	// Exhausted says that the strategy had no further run to make.
	Exhausted bool
}

// Find makes runs until one fails. The program of run n is made by programs(n). The error is the context's, or the strategy's
// own, as of an [Exhaustive] whose program does not repeat itself.
func (s Search) Find(ctx context.Context, programs func(n uint64) Program) (Found, error) {
	var found Found
	for n := s.From; s.Runs == 0 || n < s.From+s.Runs; n++ {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		chooser := s.Strategy.Begin(n)
		if chooser == nil {
			found.Exhausted = true
			if e, ok := s.Strategy.(interface{ Err() error }); ok && e.Err() != nil {
				found.Exhausted = false
				return found, e.Err()
			}
			break
		}
		r := Run(programs(n), chooser, s.Options)
		found.Runs++
		if s.Progress != nil {
			s.Progress(n, r)
		}
		if r.Failure != nil {
			found.Number, found.Result = n, r
			break
		}
	}
	return found, nil
}

// Same makes the program of every run the same.
func Same(program Program) func(uint64) Program { return func(uint64) Program { return program } }
