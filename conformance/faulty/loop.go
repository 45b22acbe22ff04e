package faulty

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

// Loop is a live loop: a [loop.Loop], a [loop.ExternalToolInstaller] and a [loop.ModeCatalog], safe for concurrent use.
type Loop struct {
	faults
	id         uuid.UUID
	config     Config
	transports []model.Transport
	bound      *loop.Bound
	declared   map[loop.ModeName][]*installed // built once, of every mode; not written to after the start
	life       context.Context                // ends when a shutdown begins
	endLife    context.CancelFunc
	exited     chan struct{}

	mu   sync.Mutex
	cond *sync.Cond

	state      *state
	busy       bool    // the commit section is taken
	current    *commit // whose append is outstanding, or in doubt
	inDoubt    bool    // an append failed, and whether its event is durable is not known yet
	changers   line    // wait for the commit section
	submitters line    // wait for the end of a doubt

	turn  *turn   // in flight
	queue []*turn // accepted, in order

	fault    error // why the loop faulted
	stopping bool
	gone     bool // exited

	planted planted
}

var (
	_ loop.Loop                  = (*Loop)(nil)
	_ loop.ExternalToolInstaller = (*Loop)(nil)
	_ loop.ModeCatalog           = (*Loop)(nil)
)

// ID returns the loop's id.
func (l *Loop) ID() uuid.UUID { return l.id }

// Modes returns the declared modes.
func (l *Loop) Modes() []loop.ModeName { return l.config.Definition.Modes() }

// Mode returns the mode in force.
func (l *Loop) Mode() loop.ModeName { return l.read().mode }

// Model returns the model in force with the effort in force, in memory of its own.
func (l *Loop) Model() model.Model {
	s := l.read()
	m := s.model
	l.plantModelRead(&m)
	switch {
	case l.has(modelSharedWithReader):
		return m
	case l.has(modelShallowCopy):
		clone := m.Clone()
		clone.Sampling.Temperature, clone.Sampling.TopP = m.Sampling.Temperature, m.Sampling.TopP
		return clone
	}
	return m.Clone()
}

func (l *Loop) read() *state {
	if l.has(viewUnlocked) {
		return l.state
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.has(readsWaitForBuild) && l.planted.building > 0 {
		l.cond.Wait()
	}
	if l.has(viewAtTurn) {
		return l.planted.view
	}
	return l.state
}

// Format prints the loop's id only: what fmt would print by itself is being written to, and holds the bindings.
func (l *Loop) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "faulty.Loop(%s)", l.id) }

// SetMode selects a mode; see [loop.Controller].
func (l *Loop) SetMode(ctx context.Context, mode loop.ModeName) error {
	switch {
	case !l.declares(mode) && l.has(unknownModeIsBase):
		mode = loop.BaseMode
	case !l.declares(mode) && l.has(refusedModeUnnamed):
		return &loop.ChangeError{Kind: loop.ChangeInvalidMode}
	case !l.declares(mode) || mode == loop.BaseMode && l.has(baseModeRefused):
		return &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: mode}
	case l.has(currentModeSkipped) && mode == l.Mode():
		return nil
	}
	l.plantBeforeMode(ctx)
	err := l.commit(ctx, opMode, l.proposeMode(mode))
	if err == nil && l.has(modeInTwoEvents) {
		c := l.configuration(mode)
		return l.commit(ctx, opMode, l.proposeInference(loop.Batch{Model: &c.Model, Effort: &c.Effort}))
	}
	return err
}

func (l *Loop) declares(mode loop.ModeName) bool {
	_, declared := l.config.Definition.Configuration(mode)
	return declared
}

// Change selects a model, an effort or both; see [loop.Controller].
func (l *Loop) Change(ctx context.Context, changes ...loop.Change) error {
	batch := l.merge(changes)
	if batch.Empty() {
		if l.has(emptyBatchSucceeds) {
			return nil
		}
		return &loop.ChangeError{Kind: loop.ChangeNoChanges}
	}
	if batch.Model != nil {
		if err := l.checkModel(*batch.Model); err != nil {
			return &loop.ChangeError{Kind: loop.ChangeInvalidModel, Cause: err}
		}
	}
	if err, refused := l.plantBeforeChange(ctx, &batch); refused {
		return err
	}
	err := l.commit(ctx, opChange, l.proposeInference(batch))
	if err == nil && l.has(changeSliceKept) {
		l.mu.Lock()
		l.planted.changes, l.planted.changedTo = changes, l.state
		l.mu.Unlock()
	}
	return err
}

// Submit hands in an input; see [loop.Loop].
func (l *Loop) Submit(ctx context.Context, input string) (loop.Turn, error) {
	values := carried(ctx)
	if l.has(turnBoundToSubmit) {
		values = ctx
	}
	defer context.AfterFunc(ctx, l.wake)()
	l.plantBeforeSubmit(values, input)

	ended := ctx.Done()
	l.mu.Lock()
	own := l.submitters.join()
	leave := func() {
		l.submitters.leave(own)
		l.cond.Broadcast()
	}
	for {
		why := l.closed()
		if why == open && isDone(ended) {
			why = contextDone
		}
		if why == faulted && l.has(faultAcceptsInputs) || (why == exited || why == shuttingDown) && l.has(submitAfterExit) {
			why = open
		}
		if why != open {
			cause := l.fault
			leave()
			l.mu.Unlock()
			return nil, l.refusedInput(ctx, why, cause)
		}
		waits := l.inDoubt && !l.has(turnsInDoubt) || l.has(submitWaitsForTurn) && l.turn != nil
		if !waits && l.submitters.first(own) {
			break
		}
		l.cond.Wait()
	}
	t := &turn{input: input, values: values, done: make(chan struct{})}
	if l.has(captureAtSubmit) {
		t.capture = l.capture()
	}
	l.queue = append(l.queue, t)
	if l.has(turnStartedTwice) && l.turn == nil {
		// Others that wait may take the loop for idle, too.
		l.cond.Broadcast()
		leave()
		l.window()
		if len(l.queue) > 0 {
			l.startTurn()
		}
		l.mu.Unlock()
		return t, nil
	}
	leave()
	l.advance()
	l.mu.Unlock()
	return t, nil
}

// wake has every waiter look again. It takes the mutex so that none of them is between its look and its wait.
func (l *Loop) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cond.Broadcast()
}

// reason is why the loop does not carry out a call.
type reason int

const (
	open reason = iota
	contextDone
	shuttingDown
	exited
	faulted
)

// closed says why the loop takes nothing any more.
func (l *Loop) closed() reason {
	switch {
	case l.gone && l.has(exitAsShuttingDown):
		return shuttingDown
	case l.gone:
		return exited
	case l.stopping:
		return shuttingDown
	case l.fault != nil:
		return faulted
	}
	return open
}

// refusedChange words a reason. It asks the context, so it is not called under the mutex.
func (l *Loop) refusedChange(ctx context.Context, why reason, fault error) error {
	switch why {
	case contextDone:
		if l.has(contextErrorUnwrapped) {
			return &loop.ChangeError{Kind: loop.ChangeContextDone}
		}
		return &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: ctx.Err()}
	case shuttingDown:
		return &loop.ChangeError{Kind: loop.ChangeLoopShuttingDown}
	case exited:
		return &loop.ChangeError{Kind: loop.ChangeLoopExited}
	}
	return &loop.ChangeError{Kind: loop.ChangeLoopFaulted, Cause: fault}
}

func (l *Loop) refusedInput(ctx context.Context, why reason, fault error) error {
	switch why {
	case contextDone:
		return &loop.SubmitError{Kind: loop.SubmitContextDone, Cause: ctx.Err()}
	case shuttingDown:
		return &loop.SubmitError{Kind: loop.SubmitShuttingDown}
	case exited:
		return &loop.SubmitError{Kind: loop.SubmitExited}
	}
	return &loop.SubmitError{Kind: loop.SubmitFaulted, Cause: fault}
}

// ticket is a place in a line. It has a size, for pointers to it must differ.
type ticket struct{ _ byte }

// line holds the waiters in the order of their arrival.
type line []*ticket

func (q *line) join() *ticket {
	t := new(ticket)
	*q = append(*q, t)
	return t
}

func (q line) first(t *ticket) bool { return len(q) > 0 && q[0] == t }

func (q *line) leave(t *ticket) {
	for i, other := range *q {
		if other == t {
			*q = append((*q)[:i:i], (*q)[i+1:]...)
			return
		}
	}
}
