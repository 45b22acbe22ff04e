package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

type toolInfo = tool.Info

// life is what is known of one life of the loop.
type life struct {
	number     int
	definition *trace.Definition
	states     []*state // by commit order; the first is what the life started with
	ops        map[string]*op
	order      []*op
	turns      []*turn // by their first request
	appends    []*appending
	restored   bool
	anew       bool
	lost       bool // crashed
	timed      bool // something happened only because time passed: calls may have been cut short by a limit

	failed        int // Seq of the first append that failed; -1
	faulted       int // Seq of the first call that reported a fault; -1
	faultedStep   int
	mustFault     int // Seq at which a durable event was reported as failed; -1
	buildPanicked int // Seq at which a definition or a tool panicked last while it was built; -1
	troubled      int // Seq at which a model request or a tool run failed or panicked last; -1
	interrupted   int // Seq at which an interrupt returned nil last; -1
	shutdown      int // Seq of the first call of Shutdown; -1
	exited        int // Seq of the first Shutdown that returned nil; -1
	exitStep      int
	exitedBy      string // the operation that it was
	mustExit      int    // Seq at which nothing was left that a shutdown could wait for; -1
	stopRefused   int    // Seq of the first refusal of a change as shutting down or exited; -1
	doubts        []*appending
	orders        []offerOrder
	readSeqs      []readBound
	steps         map[string]int // in which an operation returned
	settled       bool           // whether the turns were looked at after the exit
}

// op is an operation of a client.
type op struct {
	id       string
	asked    any
	called   int
	returned int // -1 while it has not
	err      error
	ctxEnded int  // -1 while it has not
	inside   bool // it was called from inside a tool
	// From the events that were attributed to it.
	outstanding *appending // the append that is asked for on its behalf
	failedWith  []error
	committed   *state
	unsure      bool // one of several that an event fitted
	// Of a replace.
	building   int
	builds     int      // begun
	describes  int      // tools asked for their info, and
	describing int      // not done with it
	broken     []string // names of what failed to build
	buildErrs  []error
	panicked   bool
	buildCtx   bool // a build was cut short by its context
	turn       *turn
	// The states in force at the call are at least these, by the last changes acknowledged before it: of mode, model and effort, and
	// of the slots. They are two, for a loop may commit the ones beside the others and acknowledge each as it is durable.
	inference, slots int
}

func (o *op) open() bool { return o.returned < 0 }

// appending is one append.
type appending struct {
	op       *op
	event    event.Event
	began    int
	step     int    // in which it began
	fits     []*op  // whose it may be, as far as its beginning tells
	state    *state // once it is durable
	returned int
	err      error
}

// beforeStart notes what a life does before it has started: it says why it may fail to, and its appends may outlast the start.
func (j *Judge) beforeStart(e *trace.Entry) {
	switch e.Kind {
	case trace.ReadEnded:
		if e.Err != nil {
			j.unreadable = e.Life
		}
	case trace.AppendBegan:
		a := &appending{event: e.Event, began: e.Seq, returned: -1}
		if j.starting == nil {
			j.starting = make(map[int][]*appending, 1)
		}
		j.starting[e.Life] = append(j.starting[e.Life], a)
		j.keep(e.Call, a)
	case trace.AppendWritten:
		j.early = e.Life
		j.secrets(e)
	case trace.AppendReturned:
		if a := j.byCall[e.Call]; a != nil {
			a.returned, a.err = e.Seq, e.Err
		}
	}
}

// started begins a life.
func (j *Judge) started(e *trace.Entry) {
	d := e.Definition
	l := &life{
		number: e.Life, definition: d, ops: make(map[string]*op, 16), steps: make(map[string]int, 16),
		failed: -1, faulted: -1, mustFault: -1, buildPanicked: -1, troubled: -1, interrupted: -1, shutdown: -1, exited: -1, mustExit: -1, stopRefused: -1,
	}
	base := d.Modes[loop.BaseMode]
	first := &state{mode: base, model: base.Model, effort: base.Effort, written: e.Seq, acked: e.Seq}
	before, restored := j.journals[d.Journal]
	var without bool
	if restored {
		l.restored = true
		mode := d.Modes[before.mode.Name]
		if without = mode == nil; without {
			mode = before.mode
		}
		first.mode, first.model, first.effort = mode, before.model, before.effort
	} else {
		l.anew = e.Life > 1
	}
	switch {
	case without:
		j.put("MODE-3")
		if e.Err == nil {
			j.blame("MODE-3", e.Op, "the restore: the journal ends in mode %q, the definition does not have it, and a loop started", before.mode.Name)
		} else if j.early == e.Life {
			j.blame("MODE-3", e.Op, "the restore: it failed, and wrote to the journal")
		} else if !typed(e.Err) {
			j.blame("MODE-3", e.Op, "the restore: it failed with %T, which is none of the contract's error types: %v", e.Err, e.Err)
		}
		return // there is no such life
	case e.Err != nil && (j.unreadable == e.Life || slices.ContainsFunc(j.starting[e.Life], func(a *appending) bool { return a.err != nil })):
		return // its journal failed
	case e.Err != nil && restored:
		j.blame("DUR-3", e.Op, "the restore: it failed although the journal could be read: %v", e.Err)
		return
	case e.Err != nil:
		id := "TURN-2"
		if l.anew {
			id = "CHG-6"
		}
		j.blame(id, e.Op, "the start: a loop could not be started from a valid definition and an empty journal: %v", e.Err)
		return
	}
	if restored {
		j.put("DUR-3")
	}
	for _, a := range j.starting[e.Life] {
		l.appends = append(l.appends, a)
		if a.err != nil && l.failed < 0 {
			l.failed = a.returned
		}
	}
	l.states = append(l.states, first)
	j.life, j.lives[e.Life] = l, l
	j.journals[d.Journal] = first
}

func typed(err error) bool {
	return as[loop.RestoreError](err) != nil || as[loop.ChangeError](err) != nil || as[loop.DefinitionError](err) != nil
}

// crashed ends a life: what is open stays open, and nothing more is expected of it.
func (l *life) crashed(*Judge) { l.lost = true }

func (l *life) last() *state { return l.states[len(l.states)-1] }

// doubtful reports whether the loop may have faulted: then it may refuse and drop, and what it shows need not be the last commit.
func (l *life) doubtful() bool { return l.failed >= 0 }

// begun notes that something of the loop's began, and judges whether it may begin at all (LIFE-2).
func (j *Judge) begun(l *life, e *trace.Entry, what string) bool {
	if l.exited >= 0 && e.Step > l.exitStep {
		j.put("LIFE-2")
		j.blame("LIFE-2", e.Op, "%s, which began after the loop had exited", what)
		return false
	}
	return true
}

// Mode returns the mode that the journal of the present life comes to, and false if there is no life.
func (j *Judge) Mode() (loop.ModeName, bool) {
	if j.life == nil {
		return "", false
	}
	return j.life.last().mode.Name, true
}

// Open reports whether the run has come to its end only if time passes: a call has not returned, or an accepted input has no
// outcome.
func (j *Judge) Open() bool {
	l := j.life
	if l == nil || l.lost {
		return false
	}
	for _, o := range l.order {
		if o.open() || o.turn != nil && o.turn.accepted && !o.turn.over() {
			return true
		}
	}
	return l.shutdown >= 0 && l.exited < 0 && l.mustExit < 0
}

// Exited reports whether a Shutdown of the present life has returned nil.
func (j *Judge) Exited() bool { return j.life != nil && j.life.exited >= 0 }

// Passes notes that time is about to pass, because nothing else can happen: calls may be cut short by a limit of the loop's.
func (j *Judge) Passes() {
	for _, l := range j.lives {
		l.timed = true
	}
	j.outside = j.life != nil && j.life.outside()
}

// outside reports whether something outside the loop is outstanding.
func (l *life) outside() bool {
	return l.appending() || slices.ContainsFunc(l.order, func(o *op) bool {
		return o.building > 0 || o.describing > 0 || o.turn != nil && len(o.turn.calls) > 0
	})
}

// Timed notes that something happened only because time passed. Where nothing outside was outstanding that was a timer of the
// loop's own (REF-9).
func (j *Judge) Timed() {
	l := j.life
	if l == nil || l.lost || j.breach != nil || j.outside || l.outside() {
		return
	}
	j.blame("REF-9", "", "the loop: a call, turn or shutdown waited for a timer of its own")
}
