package native

import (
	"context"
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
)

// actor owns everything about the loop that changes. Only its own goroutine touches it. It calls nothing of the loop's
// surroundings itself, so it is always about to take the next message; whoever sends it one can rely on that. An error of a
// journal and a context of a caller are surroundings too: the actor passes them on, and does not ask them anything.
type actor struct {
	loop    *Loop
	endLife context.CancelFunc
	state   *state

	turn  *turn   // in flight
	queue []*turn // accepted, in order

	commit  *commit    // an outstanding append, or one whose failure left the loop in doubt
	changes []*request // wait for their append to begin
	inputs  []*request // wait for the end of a doubt

	fault     error // why the loop faulted
	stopping  bool
	shutdowns []command.ShutdownLoop
}

func (a *actor) run() {
	for !a.stopping || a.commit != nil {
		select {
		case r := <-a.loop.inbox:
			a.accept(r)
		case w := <-a.loop.withdrawals:
			a.withdraw(w.request, w.err)
		case err := <-a.commit.appendReturned():
			a.settle(err)
		case found := <-a.commit.readBackReturned():
			a.resolve(found)
		case err := <-a.turn.engineReturned():
			a.endTurn(engineOutcome(err))
		}
		a.advance()
	}
	// Everything taken from the inbox has been answered, and nothing is taken any more: who still tries sees exited.
	close(a.loop.exited)
	for _, cmd := range a.shutdowns {
		cmd.Reply(command.LoopResult{})
	}
}

// accept takes a command in. What cannot wait is done at once; a change waits for the appends before it, an input for the
// end of a doubt.
func (a *actor) accept(r *request) {
	if err := r.cmd.Validate(); err != nil {
		r.cmd.Refuse(err)
		return
	}
	switch cmd := r.cmd.(type) {
	case command.InterruptLoop:
		a.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
		cmd.Reply(command.LoopResult{})
		return
	case command.ShutdownLoop:
		a.shutdowns = append(a.shutdowns, cmd)
		a.stop()
		return
	}
	switch _, input := r.cmd.(command.SubmitLoopInput); {
	case a.stopping:
		r.cmd.Refuse(refusal(r.cmd, shuttingDown, nil))
	case a.fault != nil:
		r.cmd.Refuse(refusal(r.cmd, faulted, a.fault))
	case input:
		a.inputs = append(a.inputs, r)
	default:
		a.changes = append(a.changes, r)
	}
}

// withdraw takes back the command of a caller whose context has ended, with err. One whose append has begun goes on, and
// its caller waits; one that has been answered is no longer here.
func (a *actor) withdraw(r *request, err error) {
	same := func(other *request) bool { return other == r }
	switch {
	case slices.ContainsFunc(a.changes, same):
		a.changes = slices.DeleteFunc(a.changes, same)
		r.cmd.Refuse(refusal(r.cmd, contextDone, err))
	case slices.ContainsFunc(a.inputs, same):
		a.inputs = slices.DeleteFunc(a.inputs, same)
		r.cmd.Refuse(refusal(r.cmd, contextDone, err))
	case a.inDoubt() && a.commit.request == r:
		a.commit.giveUp()
	}
}

// advance does what has become possible.
func (a *actor) advance() {
	if a.inDoubt() {
		return
	}
	for len(a.inputs) > 0 {
		r := a.inputs[0]
		a.inputs = slices.Delete(a.inputs, 0, 1)
		a.enqueue(r)
	}
	for a.commit == nil {
		// An abandoned one is about to be withdrawn. Appending it first would make its caller wait for what it no longer wants.
		next := slices.IndexFunc(a.changes, func(r *request) bool { return !r.abandoned() })
		if next < 0 {
			break
		}
		r := a.changes[next]
		a.changes = slices.Delete(a.changes, next, next+1)
		a.begin(r)
	}
	if a.turn == nil && len(a.queue) > 0 {
		a.startTurn()
	}
}

// stop begins the shutdown. What has not begun is refused or dropped; an append that has begun is waited for (LIFE-1); a
// doubt is not: reading back may take for ever, and a loop that faults instead has told no lie (REF-5).
func (a *actor) stop() {
	if a.stopping {
		return
	}
	a.stopping = true
	a.endLife()
	a.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
	a.drop(nil)
	a.refuseWaiting(shuttingDown, nil)
	if a.inDoubt() {
		a.fail(a.commit.err)
	}
}

// fail faults the loop: the journal may say what the state does not, and nothing more may be built on either.
func (a *actor) fail(cause error) {
	if a.commit.abandon != nil {
		a.commit.abandon()
	}
	a.commit.giveUp()
	a.commit = nil
	a.fault = cause
	a.drop(cause)
	a.refuseWaiting(faulted, cause)
}

func (a *actor) drop(cause error) {
	for _, t := range a.queue {
		t.end(&loop.TurnError{Kind: loop.TurnDropped, Cause: cause})
	}
	a.queue = nil
}

func (a *actor) refuseWaiting(why reason, cause error) {
	for _, r := range slices.Concat(a.changes, a.inputs) {
		r.cmd.Refuse(refusal(r.cmd, why, cause))
	}
	a.changes, a.inputs = nil, nil
}
