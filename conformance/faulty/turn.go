package faulty

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// errTurnEnded is what a call fails with that a turn's goroutine would begin after the turn has ended (TURN-8).
var errTurnEnded = errors.New("faulty: the turn has ended")

// turn is one accepted input.
type turn struct {
	input   string
	values  context.Context // the submitter's, without its end (REF-8)
	capture *capture
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	err     error // written before done is closed, not after
	ended   bool  // under the mutex

	// What follows is for faults only.
	from        *state // captured
	side        bool   // it runs beside the turn in flight
	interrupted bool   // the interrupt waits for the turn's calls
}

func (t *turn) Done() <-chan struct{} { return t.done }

func (t *turn) Err() error {
	if !isDone(t.done) {
		return nil
	}
	return t.err
}

// Format prints a name only: what fmt would print by itself is being written to.
func (t *turn) Format(state fmt.State, _ rune) { fmt.Fprint(state, "faulty.Turn") }

// capture is the configuration of a turn (TURN-1). Nothing of it is written to.
type capture struct {
	instructions string
	model        model.Model
	effort       model.Effort
	tools        []*installed
}

func (l *Loop) capture() *capture {
	s := l.state
	if l.has(changeSliceKept) && l.planted.changedTo == s {
		s = l.keptChanges(s)
	}
	return &capture{instructions: s.instructions, model: s.model, effort: s.effort, tools: l.tools(s)}
}

func (c *capture) infos() []tool.Info {
	infos := make([]tool.Info, len(c.tools))
	for i, t := range c.tools {
		infos[i] = t.info
	}
	return infos
}

func (c *capture) find(name string) *installed {
	for _, t := range c.tools {
		if t.info.Name == name {
			return t
		}
	}
	return nil
}

// advance starts the next turn where that has become possible. It ends where nothing can have.
func (l *Loop) advance() {
	if l.inDoubt && !l.has(turnsInDoubt) || l.has(buildHoldsTurns) && l.planted.building > 0 {
		return
	}
	for l.turn == nil && len(l.queue) > 0 {
		l.startTurn()
	}
}

// startTurn starts the turn of the oldest input with what is in force now.
func (l *Loop) startTurn() {
	if l.turn != nil {
		l.turn.side = true
	}
	next := 0
	if l.has(lifoQueue) {
		next = len(l.queue) - 1
	}
	t := l.queue[next]
	l.queue = slices.Delete(l.queue, next, next+1)
	l.turn = t
	l.launch(t)
	if l.has(interruptLatched) && l.planted.latched {
		l.planted.latched = false
		l.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
	}
}

func (l *Loop) launch(t *turn) {
	if t.capture == nil {
		t.capture = l.capture()
	}
	if l.planted.reuse != nil {
		t.capture, l.planted.reuse = l.planted.reuse, nil
	}
	t.from, l.planted.view = l.state, l.state
	t.ctx, t.cancel = context.WithCancel(t.values)
	go l.run(t)
	if l.has(turnWatcherLeft) {
		go func() { <-l.planted.never }()
	}
}

// run is the turn's goroutine. The turn may end before it does, and what comes of it then has no effect.
func (l *Loop) run(t *turn) {
	err := fmt.Errorf("turn: %w", loop.ErrGoexit) // unless what follows gets to its end
	defer func() { l.finish(t, err) }()
	l.plantBeforeTurn(t)
	err = guard("turn", func() error { return l.steps(t) })
}

func (l *Loop) finish(t *turn, err error) {
	if l.plantFinish(t, err) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case t.interrupted && l.turn == t:
		l.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
	case l.turn == t && err != nil:
		l.endTurn(&loop.TurnError{Kind: loop.TurnFailed, Cause: err})
		l.plantFailed(err)
	case l.turn == t:
		l.endTurn(nil)
	case t.side && !t.ended:
		l.end(t, nil)
	}
	l.exitIfAtRest()
	l.advance()
	l.cond.Broadcast()
}

// endTurn ends the turn in flight, if there is one. Its calls may not have returned (INT-2).
func (l *Loop) endTurn(outcome *loop.TurnError) {
	if t := l.turn; t != nil {
		l.turn = nil
		l.end(t, outcome)
	}
}

// end gives a turn its outcome. The turn's context descends from none that is somebody else's, so that cancelling it
// under the mutex calls nobody.
func (l *Loop) end(t *turn, outcome *loop.TurnError) {
	t.ended = true
	if t.cancel != nil {
		t.cancel()
	}
	if outcome != nil { // a typed nil would be a failure
		t.err = outcome
	}
	close(t.done)
}

// begins admits a call of the turn, unless the turn has ended. One that is admitted just before sees its context cancelled
// from the start.
func (l *Loop) begins(t *turn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !t.ended
}

// drop ends the turns that have not started.
func (l *Loop) drop(cause error) {
	for _, t := range l.queue {
		switch {
		case l.has(queueDroppedSilently):
		case l.has(droppedWithoutError):
			l.end(t, nil)
		default:
			l.end(t, &loop.TurnError{Kind: loop.TurnDropped, Cause: cause})
		}
	}
	l.queue = nil
}
