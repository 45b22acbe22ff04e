package sim

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What the world itself finds wrong with a run.
const (
	CheckPanic      = "panic"       // a thread or the program panicked
	CheckStuck      = "stuck"       // threads wait, and nothing can happen any more
	CheckLeak       = "leak"        // goroutines are left after the run was drained
	CheckNoProgress = "no progress" // the run did not end within Options.MaxSteps
	CheckHang       = "hang"        // the run did not come to rest within Options.Hang
	CheckMisuse     = "misuse"      // the program or the strategy broke the world's own rules
)

// Failure is why a run failed.
type Failure struct {
	Check   string // what was broken: a name of the program's, or one of the Check constants
	Message string
	Step    int    // the switch decisions made by then
	Stack   string // of a panic, a leak or a hang: the goroutines concerned
}

func (f *Failure) Error() string { return f.Check + ": " + f.Message }

// Result is what became of a run.
type Result struct {
	// Schedule reproduces the run: replayed on the same program it gives the same trace, as far as the runtime's own coin
	// flips allow.
	Schedule  Schedule
	Steps     int      // switch decisions
	Decisions int      // decisions that had more than one choice
	Hash      uint64   // of the whole trace
	StepHash  []uint16 // the trace's hash, and what could happen, at each switch decision, folded
	Trace     []Event  // with Options.KeepTrace
	Failure   *Failure // the first one; nil for a run that was as it should be
	// Hang says why the run was abandoned; nil for one that came to its end. It may have failed in something else before.
	Hang *Failure
	// Diverged is the first step, from 1, at which the run was not the one of Options.Expect; 0 if there was none.
	Diverged int
}

// Failed reports whether the run failed with that check.
func (r *Result) Failed(check string) bool { return r.Failure != nil && r.Failure.Check == check }

// Run runs the program once in a bubble of its own, from a test or any other program, but not from inside another bubble.
// It always drains the run and looks for goroutines that are left. A run that hangs is abandoned: its goroutines stay, and
// Run returns all the same. Several runs may go on at one time.
func Run(program Program, chooser Chooser, options Options) *Result {
	options = options.withDefaults()
	w := newWorld(chooser, options)
	ended := make(chan any, 1)
	go func() {
		// A bubble whose goroutines are all blocked for ever after its function has returned panics here.
		defer func() { ended <- recover() }()
		// A test is what the package testing/synctest asks for; it is not used, as long as nobody logs to it.
		synctest.Test(new(testing.T), func(*testing.T) { w.live(program) })
	}()
	left, hung := w.guard(ended)
	switch {
	case hung:
		return w.abandon()
	case left != nil && !w.started:
		w.failure = &Failure{Check: CheckMisuse, Message: fmt.Sprintf("the run did not start: %v", left)}
	case left != nil && w.failure == nil:
		message, stack := leaked(left)
		w.failure = &Failure{Check: CheckLeak, Message: message, Step: w.trace.step, Stack: stack}
		if !w.draining { // the bubble died while the program ran
			w.failure.Check = CheckStuck
			w.failure.Message = fmt.Sprintf("the program waits for what only a decision could bring about, and decisions are made in Settle (%v)", left)
		}
	}
	return w.result()
}

// result says what became of the run, and tells the chooser.
func (w *World) result() *Result {
	w.trace.rest()
	slices.SortFunc(w.schedule, Deviation.Compare)
	r := &Result{
		Schedule: w.schedule, Steps: w.trace.step, Decisions: w.decisions,
		Hash: w.trace.hash, StepHash: w.trace.steps, Trace: w.trace.events, Failure: w.failure,
	}
	if w.options.Expect != nil {
		r.Diverged = divergence(r.StepHash, w.options.Expect)
	}
	if learner, ok := w.chooser.(Learner); ok {
		learner.Ended(r)
	}
	return r
}

// abandon gives up on a run that does not come to rest. Its goroutines stay as they are; should they go on one day, the run
// makes no more decisions. What it had failed in before stays its failure.
func (w *World) abandon() *Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	message, stack := diagnose(w)
	hang := &Failure{
		Check: CheckHang, Message: fmt.Sprintf("not at rest after %v: %s%s", w.options.Hang, message, w.gates()),
		Step: w.trace.step, Stack: stack,
	}
	if w.failure == nil {
		w.failure = hang
	}
	w.draining = true
	r := w.result()
	r.Hang = hang
	// The run may write to these yet.
	r.Schedule, r.StepHash, r.Trace = slices.Clone(r.Schedule), slices.Clone(r.StepHash), slices.Clone(r.Trace)
	return r
}

// guard waits for the end of the bubble. It watches from outside, in real time: inside, time stands still as long as
// somebody runs, and a Wait that somebody's lock holds up never returns (synctest counts a locked mutex as running).
func (w *World) guard(ended <-chan any) (left any, hung bool) {
	timer := time.NewTimer(w.options.Hang)
	defer timer.Stop()
	for seen := int64(-1); ; {
		select {
		case left := <-ended:
			return left, false
		case <-timer.C:
		}
		now := w.progress.Load()
		if now == seen {
			select {
			case left := <-ended: // it ended while the timer did
				return left, false
			default:
				return nil, true
			}
		}
		seen = now
		timer.Reset(w.options.Hang)
	}
}

func divergence(got, want []uint16) int {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return i + 1
		}
	}
	if len(got) > len(want) {
		return len(want) + 1
	}
	return 0
}
