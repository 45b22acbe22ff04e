package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Unbounded as a bound of [Exhaustive] means none.
const Unbounded = -1

// Exhaustive goes through every run within its bounds, depth first. A preemption takes the turn from a thread that could go
// on, and a fault is a verdict other than the boring one, an optional gate, or a tick. Most bugs need few preemptions, and a
// small bound leaves few runs: Musuvathi and Qadeer, "Iterative context bounding", PLDI 2007.
//
// Unlike with other strategies a run depends on the runs before it, and the program must do the same in every run up to where
// the decisions differ; if it does not, Err says so. The zero Exhaustive allows no preemption and no fault. With Options.Tick
// and no bound on faults time can pass for ever: bound them. Not safe for concurrent use.
type Exhaustive struct {
	Preemptions int
	Faults      int

	cost      func(p *Point, i int) (preemptions, faults int) // nil: as documented
	stack     []branch
	runs      uint64
	exhausted bool
	err       error
}

// branch is a decision of the present run: the choices within the bounds, and which of them is taken.
type branch struct {
	n       int    // choices in all, within the bounds or not
	names   uint64 // a hash of what the choices are called
	choices []int
	taken   int // index in choices
}

// Begin returns the chooser of the next run, whatever n is; nil when all runs have been made, or Err is set.
func (e *Exhaustive) Begin(uint64) Chooser {
	if e.exhausted || e.err != nil {
		return nil
	}
	return &exhaustiveChooser{e: e}
}

// Runs is how many runs have been made.
func (e *Exhaustive) Runs() uint64 { return e.runs }

// Exhausted reports whether every run within the bounds has been made.
func (e *Exhaustive) Exhausted() bool { return e.exhausted }

// Err says why the search could not go on: the program did not repeat itself.
func (e *Exhaustive) Err() error { return e.err }

type exhaustiveChooser struct {
	e                   *Exhaustive
	depth               int
	preemptions, faults int
}

func (c *exhaustiveChooser) Choose(p *Point) int {
	names := uint64(fnvOffset)
	for i := range p.N() {
		names = mix(names, p.Choice(i))
	}
	if c.depth == len(c.e.stack) {
		b := branch{n: p.N(), names: names}
		for i := range p.N() {
			preemption, fault := c.e.price(p, i)
			if within(c.preemptions+preemption, c.e.Preemptions) && within(c.faults+fault, c.e.Faults) {
				b.choices = append(b.choices, i)
			}
		}
		if len(b.choices) == 0 { // only options are left, and none is affordable: the first must do
			b.choices = append(b.choices, 0)
		}
		c.e.stack = append(c.e.stack, b)
	}
	b := c.e.stack[c.depth]
	if b.n != p.N() || b.names != names {
		c.e.err = fmt.Errorf("sim: exhaustive search: decision %d has other choices than in an earlier run (%d, then %d)", c.depth+1, b.n, p.N())
		return 0
	}
	c.depth++
	chosen := b.choices[b.taken]
	preemption, fault := c.e.price(p, chosen)
	// What had to be taken although it is beyond the bounds is not charged: it would leave nothing for the rest of the run.
	if within(c.preemptions+preemption, c.e.Preemptions) && within(c.faults+fault, c.e.Faults) {
		c.preemptions += preemption
		c.faults += fault
	}
	return chosen
}

// Ended moves on to the next run.
func (c *exhaustiveChooser) Ended(*Result) {
	e := c.e
	e.runs++
	if e.err != nil {
		return
	}
	if c.depth < len(e.stack) {
		e.err = fmt.Errorf("sim: exhaustive search: a run ended after %d decisions, and had made %d in an earlier run", c.depth, len(e.stack))
		return
	}
	for len(e.stack) > 0 {
		last := &e.stack[len(e.stack)-1]
		if last.taken++; last.taken < len(last.choices) {
			return
		}
		e.stack = e.stack[:len(e.stack)-1]
	}
	e.exhausted = true
}

func (e *Exhaustive) price(p *Point, i int) (preemptions, faults int) {
	if e.cost != nil {
		return e.cost(p, i)
	}
	if p.Kind == Verdict {
		if i > 0 {
			faults = 1
		}
		return preemptions, faults
	}
	if p.idle && i == 0 {
		return 0, 0
	}
	if gate, isGate := p.Enabled(i); !isGate || gate.Optional {
		return 0, 1
	}
	if p.Preempts(i) {
		preemptions = 1
	}
	return preemptions, 0
}

func within(n, bound int) bool { return bound == Unbounded || n <= bound }

// MarshalText writes where the search is, so that it can be resumed in another process.
func (e *Exhaustive) MarshalText() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "exhaustive 1 %d %d %d %t", e.Preemptions, e.Faults, e.runs, e.exhausted)
	for _, br := range e.stack {
		fmt.Fprintf(&b, " %d:%x:%d", br.n, br.names, br.taken)
		for _, c := range br.choices {
			fmt.Fprintf(&b, ",%d", c)
		}
	}
	return []byte(b.String()), nil
}

// UnmarshalText puts the search where MarshalText found it.
func (e *Exhaustive) UnmarshalText(text []byte) error {
	fields := strings.Fields(string(text))
	if len(fields) < 6 || fields[0] != "exhaustive" {
		return fmt.Errorf("sim: not the state of an exhaustive search")
	}
	if fields[1] != "1" {
		return fmt.Errorf("sim: state of an exhaustive search in the unknown version %q", fields[1])
	}
	var next Exhaustive
	_, err := fmt.Sscanf(strings.Join(fields[2:6], " "), "%d %d %d %t", &next.Preemptions, &next.Faults, &next.runs, &next.exhausted)
	if err != nil {
		return fmt.Errorf("sim: state of an exhaustive search: %w", err)
	}
	for i, field := range fields[6:] {
		b, err := parseBranch(field)
		if err != nil {
			return fmt.Errorf("sim: state of an exhaustive search: decision %d, %q: %w", i+1, field, err)
		}
		next.stack = append(next.stack, b)
	}
	*e = next
	return nil
}

func parseBranch(text string) (branch, error) {
	n, rest, _ := strings.Cut(text, ":")
	names, rest, found := strings.Cut(rest, ":")
	parts := strings.Split(rest, ",")
	if !found || len(parts) < 2 {
		return branch{}, fmt.Errorf("not a decision")
	}
	var b branch
	var err error
	if b.n, err = strconv.Atoi(n); err != nil {
		return branch{}, err
	}
	if b.names, err = strconv.ParseUint(names, 16, 64); err != nil {
		return branch{}, err
	}
	if b.taken, err = strconv.Atoi(parts[0]); err != nil {
		return branch{}, err
	}
	for _, part := range parts[1:] {
		c, err := strconv.Atoi(part)
		if err != nil {
			return branch{}, err
		}
		if c < 0 || c >= b.n {
			return branch{}, fmt.Errorf("choice %d of %d", c, b.n)
		}
		b.choices = append(b.choices, c)
	}
	if b.taken < 0 || b.taken >= len(b.choices) {
		return branch{}, fmt.Errorf("choice %d of %d", b.taken, len(b.choices))
	}
	return b, nil
}
