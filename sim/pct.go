package sim

import (
	"math"
	"math/rand/v2"
)

// PCT gives each thread a random priority and lets the highest go on; at Depth-1 random steps the thread that would go on
// falls below all others. A bug that Depth ordered events suffice for is found with a probability of at least
// 1/(threads × Steps^(Depth-1)) a run, in a program whose gates have one verdict and none of which is optional. After Burckhardt, Kothari, Musuvathi and Nagarakatte,
// "A randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010. Verdicts are not a matter of order:
// they are drawn as by [Random], and so are options and the passing of time. Where a bug needs that none of these is drawn, the
// probability falls with their number.
type PCT struct {
	Seed  uint64
	Depth int // 0 is 3
	// Steps is about how many switch decisions a run makes; 0 is 64. [Search] does not measure it, so that a run depends
	// on its number and these settings alone.
	Steps int
	Rare  int // as in Random
}

// Begin returns the chooser of run n.
func (s PCT) Begin(n uint64) Chooser {
	c := &pctChooser{draw: drawFor(s.Seed, n), rare: orDefault(s.Rare, 8), priority: make(map[string]int), falls: make(map[int]int)}
	for i := range orDefault(s.Depth, 3) - 1 {
		c.falls[c.draw.IntN(orDefault(s.Steps, 64))] = -1 - i
	}
	return c
}

type pctChooser struct {
	draw     *rand.Rand
	rare     int
	priority map[string]int
	falls    map[int]int // by step: the priority that the thread falls to
	step     int         // up to which falls have been looked at
}

func (c *pctChooser) Choose(p *Point) int {
	if p.Kind == Verdict {
		return rarely(c.draw, c.rare, p)
	}
	due := dueChoices(p)
	// Steps with one choice are not asked about: a fall that was drawn for one comes at the next.
	for ; c.step <= p.Step; c.step++ {
		if low, falls := c.falls[c.step]; falls && due > 0 {
			c.priority[p.Choice(c.highest(p, due))] = low
		}
	}
	if due < p.N() && (due == 0 || c.draw.IntN(c.rare) == 0) {
		return due + c.draw.IntN(p.N()-due)
	}
	return c.highest(p, due)
}

func (c *pctChooser) highest(p *Point, due int) int {
	best, chosen := math.MinInt, 0
	for i := range due {
		thread := p.Choice(i)
		priority, known := c.priority[thread]
		if !known {
			priority = c.draw.IntN(math.MaxInt32)
			c.priority[thread] = priority
		}
		if priority > best {
			best, chosen = priority, i
		}
	}
	return chosen
}
