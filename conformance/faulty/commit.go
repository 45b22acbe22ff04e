package faulty

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

// operation says which call it is that commits; the correct loop treats them alike.
type operation int

const (
	opMode operation = iota
	opChange
	opReplace
	opOwn // of the loop's own: only a faulty one has a need
)

// proposal is what a change comes to from the state in force.
type proposal struct {
	event event.Event
	next  *state
	taken func() // called, if set, under the mutex when the change has been taken over

	// What follows is for faults only.
	pending *state // shown while the append is outstanding
	key     string // of what is proposed
}

// prepare checks a change against the state in force, under the mutex and in the commit section: no append is outstanding,
// so this is the state that the change will follow (EXT-5, REF-11).
type prepare func(s *state, header event.Header) (*proposal, error)

// errNothing is what a fault's prepare returns for a change that succeeds without being committed.
var errNothing = errors.New("nothing to commit")

// commit is a change on its way into the journal.
type commit struct {
	*proposal
	prior    *state
	err      error              // the append's
	abandon  context.CancelFunc // ends the reading back
	answered bool               // the caller was told of the failure before it was known whether the event is durable
	settled  bool
	outcome  error // once settled
}

// commit carries out a change, on the goroutine of its caller.
func (l *Loop) commit(ctx context.Context, op operation, p prepare) error {
	values := carried(ctx)
	defer context.AfterFunc(ctx, l.wake)()
	if err := l.enter(ctx, op, p); err != nil {
		return l.plantReply(err, true)
	}
	return l.plantReply(l.proceed(ctx, values, p), false)
}

// enter takes the commit section. It returns nil with the mutex held, or the refusal without.
func (l *Loop) enter(ctx context.Context, op operation, p prepare) error {
	ended := ctx.Done()
	l.mu.Lock()
	own, waited := l.changers.join(), false
	for {
		why := l.closed()
		if l.ignoresClosing(op, why) {
			why = open
		}
		if why == open && isDone(ended) && !(waited && l.has(cancelledWaiterStays)) {
			why = contextDone
		}
		if why != open {
			fault := l.fault
			l.changers.leave(own)
			l.cond.Broadcast()
			l.mu.Unlock()
			l.plantRefused(ctx, op, why, waited, p)
			return l.refusedChange(ctx, why, fault)
		}
		if !l.busy && l.changers.first(own) && !(l.has(changeWaitsForTurn) && l.turn != nil) {
			break
		}
		waited = true
		l.cond.Wait()
	}
	l.changers.leave(own)
	l.busy = true
	return nil
}

// proceed carries out a change in the commit section, and gives it up. It is called with the mutex held and returns
// without.
func (l *Loop) proceed(ctx, values context.Context, p prepare) error {
	proposed, err := p(l.state, l.header())
	if err != nil {
		l.release()
		l.mu.Unlock()
		if errors.Is(err, errNothing) {
			return nil
		}
		return err
	}
	c := &commit{proposal: proposed, prior: l.state}
	if done, err := l.plantBeforeAppend(c, values); done {
		return err
	}
	l.current = c
	l.mu.Unlock()
	appended := l.append(values, c.event)
	if err, answered := l.plantDuringAppend(ctx, values, c, appended); answered {
		return err
	}
	return l.settle(ctx, values, c, <-appended)
}

// append is not bounded by the caller's context: one that is cut short has an open outcome, and the caller waits in any
// case (REF-7).
func (l *Loop) append(values context.Context, e event.Event) <-chan error {
	appended := make(chan error, 1)
	apart("journal append", func() error { return l.config.Journal.Append(values, e) }, func(err error) { appended <- err })
	return appended
}

// settle takes the append's return. An error leaves open whether the event is durable: until the journal has been read
// back no turn starts and no call succeeds (DUR-6). The caller waits for the outcome, but not past its context, for its
// append is no longer outstanding (REF-7); then the loop faults if the event turns out to be durable (REF-5).
func (l *Loop) settle(ctx, values context.Context, c *commit, err error) error {
	l.plantAfterAppend(c, &err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.takeOver(c)
		return nil
	}
	c.err = err
	if l.stopping && !l.has(ambiguousIgnored) {
		// To read back may take for ever, and the shutdown waits for no more than the append.
		l.fail(c, err)
		return c.outcome
	}
	if l.has(ambiguousIgnored) {
		l.giveUp(c)
		return c.outcome
	}
	l.inDoubt = true
	reading, abandon := context.WithCancel(values)
	c.abandon = abandon
	var present bool
	apart("journal read-back", func() (err error) {
		present, err = l.recorded(reading, c.event.EventHeader().EventID)
		return err
	}, func(err error) {
		abandon()
		l.resolve(c, present, err)
	})
	ended := ctx.Done()
	for !c.settled && !isDone(ended) {
		l.cond.Wait()
	}
	if !c.settled {
		c.answered = true
		return l.appendFailed(c.err)
	}
	return c.outcome
}

// recorded reads the journal to its end: one that cannot be has said nothing.
func (l *Loop) recorded(ctx context.Context, id uuid.UUID) (bool, error) {
	present := false
	for e, err := range l.config.Journal.Events(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil && l.has(readBackPrefix) {
			return present, nil
		}
		if err != nil {
			return false, err
		}
		present = present || e != nil && e.EventHeader().EventID == id
	}
	return present, nil
}

// resolve ends a doubt with what the journal said.
func (l *Loop) resolve(c *commit, present bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.settled: // by a shutdown, which did not wait
	case err != nil:
		l.fail(c, &doubtError{append: c.err, readBack: err})
	case present && c.answered:
		l.fail(c, &doubtError{append: c.err})
	case present:
		l.takeOver(c)
	default:
		l.giveUp(c)
	}
}

// takeOver puts the committed state in force.
func (l *Loop) takeOver(c *commit) {
	if l.has(lostUpdate) {
		l.release()
		l.window()
	}
	c.settled = true
	l.state = c.next
	if c.taken != nil {
		c.taken()
	}
	l.plantTakenOver(c)
	l.release()
}

// giveUp ends a commit whose event is not durable: the prior state stays.
func (l *Loop) giveUp(c *commit) {
	c.settled, c.outcome = true, l.appendFailed(c.err)
	l.plantGivenUp(c)
	l.release()
}

// fail faults the loop: the journal may say what the state does not, and nothing more may be built on either.
func (l *Loop) fail(c *commit, cause error) {
	c.settled, c.outcome = true, l.appendFailed(cause)
	if c.abandon != nil {
		c.abandon()
	}
	l.fault = cause
	l.drop(cause)
	l.release()
}

// release gives up the commit section.
func (l *Loop) release() {
	l.busy, l.current, l.inDoubt = false, nil, false
	if l.has(exitCheckedLate) && l.stopping {
		// Who waits for the section may take it before the exit.
		l.cond.Broadcast()
		l.window()
		l.exit()
		return
	}
	if l.stopping {
		l.exitIfAtRest()
	}
	l.advance()
	l.cond.Broadcast()
}

func (l *Loop) appendFailed(cause error) error {
	if l.has(appendCauseDropped) {
		return &loop.ChangeError{Kind: loop.ChangeDurableAppendFailed}
	}
	return &loop.ChangeError{Kind: loop.ChangeDurableAppendFailed, Cause: cause}
}

func (l *Loop) header() event.Header {
	id := uuid.New()
	if l.has(eventIDsFromCounter) {
		l.planted.eventIDs++
		id = uuid.UUID{15: byte(l.planted.eventIDs)}
	}
	return event.Header{EventID: id, LoopID: l.id, Time: time.Now().UTC()}
}

// doubtError is why a loop faulted. It words the journal's errors when it is asked to, for they are the journal's code.
type doubtError struct {
	append   error
	readBack error // nil: the event is durable, but its change was reported as failed before that was known
}

func (e *doubtError) Error() string {
	if e.readBack == nil {
		return fmt.Sprintf("an event is durable whose change was reported as failed: %v", e.append)
	}
	return fmt.Sprintf("an append failed: %v; and whether its event is durable cannot be told: %v", e.append, e.readBack)
}

func (e *doubtError) Unwrap() []error {
	if e.readBack == nil {
		return []error{e.append}
	}
	return []error{e.append, e.readBack}
}

// proposeMode selects a mode.
func (l *Loop) proposeMode(mode loop.ModeName) prepare {
	return func(s *state, header event.Header) (*proposal, error) {
		next := l.inMode(s, mode)
		l.plantMode(s, next)
		runtime := next.runtime()
		if l.has(modeEventOldRuntime) {
			runtime = s.runtime()
		}
		return &proposal{
			event: event.LoopModeChanged{Header: header, PreviousMode: s.mode, Mode: mode, Runtime: l.plantRuntime(s, runtime)},
			next:  next,
			key:   "mode " + string(mode),
		}, nil
	}
}

// proposeInference selects model and effort. The effort is checked against the model that the batch ends with (CHG-4).
func (l *Loop) proposeInference(batch loop.Batch) prepare {
	return func(s *state, header event.Header) (*proposal, error) {
		m, effort := s.model, s.effort
		if batch.Model != nil {
			m = *batch.Model
		}
		if batch.Effort != nil {
			effort = *batch.Effort
		}
		if l.has(modelAloneResetsEffort) && batch.Effort == nil {
			effort = ""
		}
		if err := l.checkBatch(s, batch, m, effort); err != nil {
			return nil, &loop.ChangeError{Kind: loop.ChangeInvalidEffort, Cause: err}
		}
		next := l.inForce(s, m, effort)
		if l.has(equalBatchSkipped) && next.model.Key() == s.model.Key() && effort == s.effort {
			return nil, errNothing
		}
		return &proposal{
			event: event.LoopInferenceChanged{Header: header, Runtime: l.plantRuntime(s, next.runtime())},
			next:  next,
			key:   fmt.Sprintf("inference %s %q", m.Key(), effort),
		}, nil
	}
}

func (l *Loop) checkBatch(s *state, batch loop.Batch, m model.Model, effort model.Effort) error {
	switch {
	case l.has(carriedEffortUnchecked) && batch.Effort == nil:
		return nil
	case l.has(effortAgainstCurrent) && batch.Effort != nil:
		return l.checkEffort(s.model, effort)
	}
	return l.checkEffort(m, effort)
}
