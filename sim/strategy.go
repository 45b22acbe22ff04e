package sim

// Strategy explores: it makes one chooser for each run of a campaign.
type Strategy interface {
	// Begin returns the chooser of run number n, from 0; nil when there is nothing left to explore. The chooser depends on
	// the strategy's settings and n, so that a run is reproduced from its number, unless the strategy says otherwise.
	Begin(n uint64) Chooser
}

// Chooser makes the decisions of one run.
type Chooser interface {
	// Choose returns the index of what is to happen, from 0, which is the boring choice, to less than p.N().
	Choose(p *Point) int
}

// Learner is a chooser that is told of the run's end.
type Learner interface {
	Chooser
	Ended(r *Result)
}

// PointKind says what is decided at a point.
type PointKind int

const (
	// Switch decides which gate goes on, or that virtual time passes.
	Switch PointKind = iota
	// Verdict decides what the gate that goes on is answered.
	Verdict
)

// Point is one decision to make. It is valid during Choose only.
type Point struct {
	Kind PointKind
	// Step counts the run's switch decisions, from 0.
	Step int
	// Gate is, for a Verdict, the gate that goes on.
	Gate Gate

	enabled []*parked
	tick    bool   // the last choice is that Options.Tick passes
	idle    bool   // only optional gates are parked: the first choice is to wait until somebody arrives
	running string // the thread that ran last
	site    site   // of the deviation that another choice than 0 would be
}

// N is the number of choices.
func (p *Point) N() int {
	if p.Kind == Verdict {
		return len(p.Gate.Verdicts)
	}
	if p.tick || p.idle {
		return len(p.enabled) + 1
	}
	return len(p.enabled)
}

// gate returns the gate of choice i of a Switch; nil for the passing of time.
func (p *Point) gate(i int) *parked {
	if p.idle {
		i--
	}
	if i < 0 || i >= len(p.enabled) {
		return nil
	}
	return p.enabled[i]
}

// Choice returns choice i by name: of a Switch the thread that goes on, of a Verdict the verdict.
func (p *Point) Choice(i int) string {
	if p.Kind == Verdict {
		return p.Gate.Verdicts[i]
	}
	if gate := p.gate(i); gate != nil {
		return gate.Thread
	}
	return clock
}

// Enabled returns the gate of choice i of a Switch; false for the passing of time.
func (p *Point) Enabled(i int) (Gate, bool) {
	if p.Kind == Switch {
		if gate := p.gate(i); gate != nil {
			return gate.Gate, true
		}
	}
	return Gate{}, false
}

// Preempts reports whether choice i of a Switch takes the turn from a thread that could go on. Choices that no thread could
// have gone on at cost nothing, as in Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
// multithreaded programs", PLDI 2007.
func (p *Point) Preempts(i int) bool {
	return p.Kind == Switch && !p.idle && i > 0 && p.enabled[0].Thread == p.running && p.Choice(i) != p.running
}

// Boring is the strategy that interferes with nothing. Each run is the same.
type Boring struct{}

// Begin returns the boring chooser.
func (Boring) Begin(uint64) Chooser { return chooserFunc(func(*Point) int { return 0 }) }

type chooserFunc func(*Point) int

func (f chooserFunc) Choose(p *Point) int { return f(p) }
