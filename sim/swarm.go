package sim

import (
	"math/rand/v2"
)

// Swarm lets each run have only a random half of the faults and of the options, and within these draws as [Random] does,
// more boldly. Faults that hide each other, as a failing append hides what happens after a good one, then do not always come
// together. After Groce, Zhang, Eide, Chen and Regehr, "Swarm testing", ISSTA 2012; there the features that are left out are
// chosen up front, here by name as they come up, which is the same choice without having to list them.
type Swarm struct {
	Seed uint64
	Rare int // as in Random; 0 is 3
}

// Begin returns the chooser of run n.
func (s Swarm) Begin(n uint64) Chooser {
	draw := drawFor(s.Seed, n)
	return &swarmChooser{draw: draw, rare: orDefault(s.Rare, 3), mask: draw.Uint64()}
}

type swarmChooser struct {
	draw *rand.Rand
	rare int
	mask uint64
}

// has reports whether the run has a feature.
func (c *swarmChooser) has(gate, feature string) bool {
	h := c.mask
	for _, s := range [...]string{gate, feature} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * fnvPrime
		}
		h = (h ^ 0xff) * fnvPrime
	}
	return h>>32&1 == 0
}

func (c *swarmChooser) Choose(p *Point) int {
	var choices []int
	if p.Kind == Verdict {
		if c.draw.IntN(c.rare) != 0 {
			return 0
		}
		for i := 1; i < p.N(); i++ {
			if c.has(p.Gate.Name, p.Gate.Verdicts[i]) {
				choices = append(choices, i)
			}
		}
		if len(choices) == 0 {
			return 0
		}
		return choices[c.draw.IntN(len(choices))]
	}
	due := dueChoices(p)
	for i := due; i < p.N(); i++ {
		name := clock
		if gate, isGate := p.Enabled(i); isGate {
			name = gate.Name
		}
		if c.has(name, "taken") {
			choices = append(choices, i)
		}
	}
	switch {
	case len(choices) > 0 && (due == 0 || c.draw.IntN(c.rare*2) == 0):
		return choices[c.draw.IntN(len(choices))]
	case due == 0:
		return 0
	}
	return c.draw.IntN(due)
}
