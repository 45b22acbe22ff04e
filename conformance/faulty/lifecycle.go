package faulty

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/loopcheck/loopcheck/loop"
)

// Interrupt cancels the turn in flight; see [loop.Controller].
func (l *Loop) Interrupt(ctx context.Context) error {
	ended := ctx.Done()
	l.mu.Lock()
	if !l.gone && isDone(ended) {
		l.mu.Unlock()
		return l.refusedChange(ctx, contextDone, nil)
	}
	defer l.mu.Unlock()
	switch {
	case l.turn == nil:
		l.planted.latched = l.has(interruptLatched)
		return nil
	case l.has(interruptAtNextStep):
		l.planted.interruptPending = true
		return nil
	case l.has(interruptWaitsForCalls):
		return l.interruptAndWait(ctx)
	}
	if l.has(interruptInTwoSteps) {
		l.turn.cancel()
		l.window()
	}
	l.plantInterrupt(l.turn)
	l.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
	l.advance()
	l.cond.Broadcast()
	if l.has(outcomeUnlocked) {
		l.mu.Unlock()
		l.planted.lastOutcome = "interrupted"
		l.mu.Lock()
	}
	return nil
}

// interruptAndWait waits for the turn's calls to return, which is a fault.
func (l *Loop) interruptAndWait(ctx context.Context) error {
	t := l.turn
	t.interrupted = true
	t.cancel()
	l.mu.Unlock()
	select {
	case <-t.done:
	case <-ctx.Done():
	}
	l.mu.Lock()
	return nil
}

// Shutdown ends the loop; see [loop.Loop]. It begins the shutdown also if ctx has ended already.
func (l *Loop) Shutdown(ctx context.Context) error {
	l.mu.Lock()
	again := l.stopping
	l.stop()
	l.mu.Unlock()
	switch {
	case again && l.has(secondShutdownFails):
		return errors.New("faulty: the loop is shut down already")
	case again && l.has(exitClosedTwice):
		close(l.exited)
	case l.has(shutdownIgnoresContext):
		<-l.exited
	case l.has(shutdownSpins):
		for !isDone(l.exited) {
			runtime.Gosched()
		}
	}
	select {
	case <-l.exited:
		return nil
	case <-ctx.Done():
	}
	if isDone(l.exited) { // both came about: the exit is the better news
		return nil
	}
	if l.has(shutdownUndone) {
		l.mu.Lock()
		l.stopping = false
		l.mu.Unlock()
	}
	return ctx.Err()
}

// stop begins the shutdown. What has not begun is refused or dropped; an append that has is waited for (LIFE-1); a doubt is
// not: reading back may take for ever, and a loop that faults instead has told no lie (REF-5).
func (l *Loop) stop() {
	if l.stopping {
		return
	}
	found := l.turn
	if l.has(shutdownInTwoSteps) && found != nil {
		// The turn's goroutine may see its end, and start the next one, before the loop is said to stop.
		found.cancel()
		l.window()
	}
	l.stopping = true
	l.endLife()
	switch {
	case l.has(shutdownWaitsForCalls) && l.turn != nil:
		l.turn.interrupted = true
		l.turn.cancel()
	case l.turn != found: // only in two steps
	default:
		l.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
	}
	l.drop(nil)
	if l.inDoubt {
		l.fail(l.current, l.current.err) // which exits
	}
	l.exitIfAtRest()
	l.cond.Broadcast()
}

// exitIfAtRest exits when a shutdown has begun and nothing is outstanding.
func (l *Loop) exitIfAtRest() {
	switch {
	case !l.stopping || l.gone:
	case l.busy && !l.has(exitDuringAppend):
	case l.has(shutdownWaitsForCalls) && l.turn != nil:
	case l.has(shutdownWaitsForBuild) && l.planted.building > 0:
	case l.has(shutdownGrace) && !l.planted.grace:
		l.planted.grace = true
		time.AfterFunc(5*time.Second, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.exitIfAtRest()
		})
	default:
		l.exit()
	}
}

func (l *Loop) exit() {
	if l.gone {
		return
	}
	l.gone = true
	close(l.exited)
	l.cond.Broadcast()
	l.plantExited()
}
