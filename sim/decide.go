package sim

import (
	"fmt"
	"slices"
	"testing/synctest"
	"time"
)

// Settle makes decisions until nothing is left to decide: every thread of the world has finished and no gate is parked
// but optional ones; or until the run has failed. It reports whether the run may go on. Only the program calls it: a run in
// which a thread does fails with [CheckMisuse].
func (w *World) Settle() bool {
	if !w.settling.CompareAndSwap(false, true) {
		w.fail(CheckMisuse, "Settle was called while it was at work: it is for the program, and not for its threads")
		return false
	}
	defer w.settling.Store(false)
	for w.advance() {
	}
	return !w.over()
}

// advance comes to rest and makes one decision. It reports false when there is none to make.
func (w *World) advance() bool {
	synctest.Wait()
	w.atRest()
	enabled := w.enabled()
	if w.over() {
		return false
	}
	due := slices.ContainsFunc(enabled, func(p *parked) bool { return !p.Optional })
	if !due {
		if w.unfinished() == 0 {
			return false
		}
		// Nobody is at a gate that must be passed, and somebody has not finished: only time, or an option, can help.
		if w.passTime(w.options.Patience) {
			return true
		}
		if len(enabled) == 0 {
			w.fail(CheckStuck, "no gate is parked and no timer is set, but these threads have not finished: "+w.names())
			return false
		}
	}
	if w.step >= w.options.MaxSteps {
		w.fail(CheckNoProgress, fmt.Sprintf("the run has not ended within %d decisions", w.options.MaxSteps))
		return false
	}
	w.decide(enabled)
	return true
}

func (w *World) decide(enabled []*parked) {
	tick := w.options.Tick > 0
	p := &w.point
	*p = Point{Kind: Switch, Step: w.step, enabled: enabled, tick: tick, running: w.last,
		site: site{Switch, w.lastPlace, w.lastNth}}
	chosen := w.choose(p)
	passes := chosen == len(enabled)
	// Locked although all is at rest: who is woken by a timer has not been told of what was written before it.
	w.mu.Lock()
	w.step++
	w.trace.enter(enabled, tick)
	if passes {
		w.trace.ticked()
	}
	w.mu.Unlock()
	if passes {
		w.ticks++
		w.last, w.lastPlace, w.lastNth = clock, place{clock, "tick"}, w.ticks
		time.Sleep(w.options.Tick)
		return
	}
	gate := enabled[chosen]
	w.lastNth = w.passed[gate.place] + 1
	w.passed[gate.place] = w.lastNth
	w.last, w.lastPlace = gate.Thread, gate.place
	*p = Point{Kind: Verdict, Step: w.step, Gate: gate.Gate, site: site{Verdict, gate.place, w.lastNth}}
	verdict := gate.Verdicts[w.choose(p)]
	w.release(gate, verdict)
}

// choose asks the chooser, and records a deviation.
func (w *World) choose(p *Point) int {
	n := p.N()
	if n == 1 {
		return 0
	}
	i := w.chooser.Choose(p)
	if i < 0 || i >= n {
		w.fail(CheckMisuse, fmt.Sprintf("the strategy chose %d of %d", i, n))
		return 0
	}
	w.decisions++
	if i != 0 {
		w.mu.Lock()
		w.schedule = append(w.schedule, Deviation{Kind: p.Kind, Owner: p.site.owner, Gate: p.site.gate, Nth: p.site.nth, Choice: p.Choice(i)})
		w.mu.Unlock()
	}
	return i
}

func (w *World) release(p *parked, verdict string) {
	w.mu.Lock()
	w.parked = slices.DeleteFunc(w.parked, func(other *parked) bool { return other == p })
	w.trace.decided(p, verdict)
	w.mu.Unlock()
	p.answer <- verdict
}

// passTime lets virtual time run until somebody arrives at a gate or a thread finishes, at most d.
func (w *World) passTime(d time.Duration) bool {
	arrived := make(chan struct{}, 1)
	w.mu.Lock()
	w.arrived = arrived
	w.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	defer func() {
		w.mu.Lock()
		w.arrived = nil
		w.mu.Unlock()
	}()
	select {
	case <-arrived:
		return true
	case <-timer.C:
		return false
	}
}

// wake ends the passing of time: there is something to decide.
func (w *World) wake() {
	select {
	case w.arrived <- struct{}{}:
	default: // time does not pass, or has been told already
	}
}
