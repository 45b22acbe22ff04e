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
	if len(w.atRests) > 0 {
		for _, f := range w.atRests {
			f()
		}
		synctest.Wait() // they may have woken somebody
	}
	enabled := w.enabled()
	if w.over() {
		return false
	}
	due := slices.ContainsFunc(enabled, func(p *parked) bool { return !p.Optional })
	switch {
	case !due && w.unfinished() == 0:
		return false
	case !due && len(enabled) == 0:
		return w.wait()
	case w.trace.step >= w.options.MaxSteps:
		w.fail(CheckNoProgress, fmt.Sprintf("the run has not ended within %d decisions", w.options.MaxSteps))
		return false
	}
	w.progress.Add(1)
	w.decidedAt = time.Now()
	return w.decide(enabled, !due)
}

// decide makes one decision. Idle is a run in which nobody is at a gate that must be passed: it may wait, as it would if
// nobody interfered, or take an option meanwhile.
func (w *World) decide(enabled []*parked, idle bool) bool {
	p := &w.point
	*p = Point{Kind: Switch, Step: w.trace.step, enabled: enabled, tick: w.options.Tick > 0 && !idle, idle: idle, running: w.last,
		site: site{Switch, w.lastPlace, w.lastNth}}
	chosen := w.choose(p)
	gate := p.gate(chosen)
	// Locked although all is at rest: who is woken by a timer has not been told of what was written before it.
	w.mu.Lock()
	w.trace.enter(enabled, p.tick)
	if gate == nil && !idle {
		w.trace.ticked()
	}
	w.mu.Unlock()
	switch {
	case gate == nil && idle:
		return w.wait()
	case gate == nil:
		w.ticks++
		w.lastPlace, w.lastNth = place{clock, "tick"}, w.ticks
		time.Sleep(w.options.Tick)
		return true
	}
	w.lastNth = w.passed[gate.place] + 1
	w.passed[gate.place] = w.lastNth
	w.last, w.lastPlace = gate.Thread, gate.place
	*p = Point{Kind: Verdict, Step: w.trace.step, Gate: gate.Gate, site: site{Verdict, gate.place, w.lastNth}}
	verdict := gate.Verdicts[w.choose(p)]
	w.release(gate, verdict)
	return true
}

// wait lets time pass until somebody arrives, and fails the run if nobody does within the patience left since the last
// decision.
func (w *World) wait() bool {
	w.waits++
	w.lastPlace, w.lastNth = place{clock, "wait"}, w.waits
	if w.passTime(w.options.Patience - time.Since(w.decidedAt)) {
		return true
	}
	w.fail(CheckStuck, fmt.Sprintf("nothing happens within %v, and these threads have not finished: %s", w.options.Patience, w.names()))
	return false
}

// choose asks the chooser, and records a deviation. It does so under the lock: a run that was abandoned as hung, and goes on
// after all, must leave the chooser alone.
func (w *World) choose(p *Point) int {
	n := p.N()
	if n == 1 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return 0
	}
	i := w.chooser.Choose(p)
	if i < 0 || i >= n {
		w.failLocked(CheckMisuse, fmt.Sprintf("the strategy chose %d of %d", i, n))
		return 0
	}
	w.decisions++
	if i != 0 {
		w.schedule = append(w.schedule, Deviation{Kind: p.Kind, Owner: p.site.owner, Gate: p.site.gate, Nth: p.site.nth, Choice: p.Choice(i)})
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
