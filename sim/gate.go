package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Gate is where code of a run stops and lets the schedule decide when it goes on, and with which verdict.
//
// Thread, Owner and Name are what a schedule says of it.
type Gate struct {
	// Thread is who parks. A thread is at one place at a time: a run in which two gates of one thread are parked fails
	// with [CheckMisuse], for a schedule could not tell them apart.
	Thread string
	// Owner is the operation on whose behalf the thread parks, as "a2". A deviation at the gate belongs to it: when
	// shrinking takes the operation away, its deviations go too, and those of others keep their meaning. Empty stands for
	// the thread.
	Owner string
	// Name says what for, as "append".
	Name string
	// Verdicts are what the gate can answer, the boring one first; none stands for "ok". The slice is not written to.
	Verdicts []string
	// Optional marks what need never happen, as a cancellation or a crash: it comes last in the canonical order, a run is
	// not kept going for it, and one in which nothing else can happen any more is stuck.
	Optional bool
}

// ErrDrained is returned by every gate once the run is being drained: whoever gets it is to fail and finish.
var ErrDrained = errors.New("sim: the run is being drained")

const ok = "ok"

var boring = []string{ok}

// parked is a gate with somebody at it.
type parked struct {
	Gate
	born int
	// Set by World.prepare.
	prepared bool
	place    place
	hash     uint64 // of thread and place
	answer   chan string
}

// Park waits at the gate until the schedule lets it go on, and returns the verdict. If ctx ends first the gate is withdrawn
// and the context's error is returned; once the run is being drained, [ErrDrained]. Any goroutine of the bubble may
// call it. It must not be called with a lock held that another goroutine of the run may wait for: the run would never come to
// rest, and ends as a [CheckHang].
func (w *World) Park(ctx context.Context, gate Gate) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if len(gate.Verdicts) == 0 {
		gate.Verdicts = boring
	}
	if gate.Owner == "" {
		gate.Owner = gate.Thread
	}
	if w.options.Open {
		return gate.Verdicts[0], nil
	}
	p, err := w.arrive(gate)
	if err != nil {
		return "", err
	}
	if ctx == w.ctx { // it ends when the gates are drained, and not before: one thing to wait for is cheaper than two
		verdict, decided := <-p.answer
		return w.pass(p, verdict, decided)
	}
	select {
	case verdict, decided := <-p.answer:
		return w.pass(p, verdict, decided)
	case <-ctx.Done():
	}
	w.mu.Lock()
	// Let go and cancelled in one step: the decision was made, and is not taken back.
	select {
	case verdict, decided := <-p.answer:
		w.mu.Unlock()
		return w.pass(p, verdict, decided)
	default:
	}
	defer w.mu.Unlock()
	w.parked = slices.DeleteFunc(w.parked, func(other *parked) bool { return other == p })
	if !w.draining {
		w.trace.note(gate.Thread, "gives up at "+place{gate.Owner, gate.Name}.String())
	}
	return "", ctx.Err()
}

// pass takes the answer that p was given, and keeps p for the next to park.
func (w *World) pass(p *parked, verdict string, decided bool) (string, error) {
	if !decided {
		return "", ErrDrained
	}
	w.mu.Lock()
	w.free = append(w.free, p)
	w.mu.Unlock()
	return verdict, nil
}

// arrive puts a gate among the parked ones. It does no more than it must: it runs on the stacks of the code under test, many
// of which are small and new, and growing them is what would cost most. [World.prepare] does the rest.
func (w *World) arrive(gate Gate) (*parked, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return nil, ErrDrained
	}
	var p *parked
	if n := len(w.free); n > 0 {
		p, w.free = w.free[n-1], w.free[:n-1]
	} else {
		p = &parked{answer: make(chan string, 1)}
	}
	p.Gate, p.born, p.prepared = gate, w.trace.step, false
	w.parked = append(w.parked, p)
	w.wake()
	return p, nil
}

// prepare names a gate that has just been parked.
func (w *World) prepare(p *parked) {
	for _, other := range w.parked {
		if other != p && other.prepared && other.Thread == p.Thread {
			w.failLocked(CheckMisuse, fmt.Sprintf("thread %q is parked at %s and %s at one time", p.Thread, other.place, place{p.Owner, p.Name}))
		}
	}
	switch {
	case p.Thread == "" || p.Name == "":
		w.failLocked(CheckMisuse, fmt.Sprintf("a gate without a thread or a name is parked: %q, %q", p.Thread, p.Name))
	case p.Thread == clock || p.Owner == clock:
		w.failLocked(CheckMisuse, fmt.Sprintf("%q is the name of the passing of time, and not of a thread or an owner", clock))
	}
	for i, verdict := range p.Verdicts {
		if slices.Contains(p.Verdicts[:i], verdict) {
			w.failLocked(CheckMisuse, fmt.Sprintf("the gate %q has the verdict %q twice", p.Name, verdict))
		}
	}
	p.prepared = true
	p.place = place{p.Owner, p.Name}
	p.hash = mixHash(mix(mix(mix(fnvOffset, p.Thread), p.Owner), p.Name), uint64(len(p.Verdicts)))
}

// gates lists who is parked where, for a diagnosis.
func (w *World) gates() string {
	var b strings.Builder
	for _, p := range w.parked {
		fmt.Fprintf(&b, "; %s is parked at %s", p.Thread, place{p.Owner, p.Name})
	}
	return b.String()
}

// enabled returns the parked gates in canonical order: the thread that ran last, then who waits longest, then by name;
// optional ones after all others. The first is what would happen if nobody interfered.
func (w *World) enabled() []*parked {
	w.mu.Lock()
	for _, p := range w.parked {
		if !p.prepared {
			w.prepare(p)
		}
	}
	w.order = append(w.order[:0], w.parked...)
	last := w.last
	w.mu.Unlock()
	if len(w.order) > 1 {
		slices.SortFunc(w.order, func(a, b *parked) int {
			if a.Optional != b.Optional {
				return before(b.Optional)
			}
			if la, lb := a.Thread == last, b.Thread == last; la != lb {
				return before(la)
			}
			if a.born != b.born {
				return a.born - b.born
			}
			return strings.Compare(a.Thread, b.Thread)
		})
	}
	return w.order
}

func before(yes bool) int {
	if yes {
		return -1
	}
	return 1
}
