package sim

import "math/rand/v2"

// Random draws who goes on evenly, and mostly the boring verdict: a run in which everything fails at once gets nowhere.
// It is the default strategy.
type Random struct {
	Seed uint64
	// Rare is one in how many verdicts departs from the boring one, and one in how many decisions takes an optional gate
	// or lets time pass; 0 is 8.
	Rare int
}

// Begin returns the chooser of run n.
func (s Random) Begin(n uint64) Chooser {
	return &randomChooser{draw: drawFor(s.Seed, n), rare: orDefault(s.Rare, 8)}
}

type randomChooser struct {
	draw *rand.Rand
	rare int
}

func (c *randomChooser) Choose(p *Point) int {
	if p.Kind == Verdict {
		return rarely(c.draw, c.rare, p)
	}
	due := dueChoices(p)
	if due < p.N() && (due == 0 || c.draw.IntN(c.rare) == 0) {
		return due + c.draw.IntN(p.N()-due)
	}
	return c.draw.IntN(due)
}

// dueChoices is how many choices of a Switch happen if nobody interferes, now or later: gates that must be passed, or
// waiting where there are none. They come first.
func dueChoices(p *Point) int {
	if p.idle {
		return 1
	}
	n := 0
	for n < len(p.enabled) && !p.enabled[n].Optional {
		n++
	}
	return n
}

// rarely draws a verdict: one in rare is another than the boring one.
func rarely(draw *rand.Rand, rare int, p *Point) int {
	if draw.IntN(rare) != 0 {
		return 0
	}
	return 1 + draw.IntN(p.N()-1)
}

func drawFor(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

func orDefault[T int | uint64](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}
