package variants

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

// change is what a call asks to be committed.
type change struct {
	line  int
	check func(*state) error // against the state in force
	event func(*state, event.Header) event.Event
	apply func(*state) *state
}

// SetMode selects a mode.
func (l *Loop) SetMode(ctx context.Context, mode loop.ModeName) error {
	return l.commit(ctx, change{
		check: func(*state) error {
			if _, declared := l.Definition.Configuration(mode); !declared {
				return &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: mode}
			}
			return nil
		},
		event: func(s *state, h event.Header) event.Event {
			return event.LoopModeChanged{Header: h, PreviousMode: s.mode, Mode: mode, Runtime: l.inMode(s, mode).runtime()}
		},
		apply: func(s *state) *state { return l.inMode(s, mode) },
	})
}

// Change selects a model, an effort or both.
func (l *Loop) Change(ctx context.Context, changes ...loop.Change) error {
	batch := loop.MergeChanges(changes...)
	apply := func(s *state) *state {
		next := *s
		if batch.Model != nil {
			next.model = *batch.Model
		}
		if batch.Effort != nil {
			next.effort = *batch.Effort
		}
		next.model = next.model.WithEffort(next.effort)
		return &next
	}
	return l.commit(ctx, change{
		check: func(s *state) error {
			if batch.Empty() {
				return &loop.ChangeError{Kind: loop.ChangeNoChanges}
			}
			if batch.Model != nil {
				if err := l.checkModel(*batch.Model); err != nil {
					return &loop.ChangeError{Kind: loop.ChangeInvalidModel, Cause: err}
				}
			}
			if next := apply(s); !next.effort.Valid() || !next.model.Supports(next.effort) {
				return &loop.ChangeError{Kind: loop.ChangeInvalidEffort, Cause: fmt.Errorf("effort %q", next.effort)}
			}
			return nil
		},
		event: func(s *state, h event.Header) event.Event {
			return event.LoopInferenceChanged{Header: h, Runtime: apply(s).runtime()}
		},
		apply: apply,
	})
}

func (l *Loop) checkModel(m model.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if !slices.Contains(l.Definition.Transports(), m.Transport()) {
		return errors.New("the transport is not declared")
	}
	return nil
}

// commit carries out a change.
func (l *Loop) commit(ctx context.Context, c change) error {
	own := &l.lines[0]
	if l.policy.TwoLines {
		own = &l.lines[c.line]
	}
	l.mu.Lock()
	if l.policy.LifeFirst {
		if err := l.refusal(ctx); err != nil {
			l.mu.Unlock()
			return err
		}
	}
	if l.policy.Validation == Early {
		if err := c.check(l.state); err != nil {
			l.mu.Unlock()
			return err
		}
	}
	if err := l.enter(ctx, own); err != nil {
		l.signal() // a shutdown may have waited for it
		l.mu.Unlock()
		return err
	}
	if err := c.check(l.state); err != nil {
		l.leave(own)
		l.mu.Unlock()
		return err
	}
	e := c.event(l.state, l.header())
	l.mu.Unlock()

	to := context.WithoutCancel(ctx)
	if l.policy.CallerContext {
		to = ctx
	}
	append := func() error {
		if l.policy.Notes {
			if err := l.Journal.Append(to, other("change-to-come")); err != nil {
				return err
			}
		}
		return l.Journal.Append(to, e)
	}
	err := l.on(own, append)
	if err != nil {
		return l.failed(ctx, own, c, e, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = c.apply(l.state)
	l.leave(own)
	for l.doubts > 0 && l.fault == nil { // of the other line: nothing succeeds meanwhile (DUR-6)
		if ctx.Err() != nil { // and nobody waits past a context: so nothing more may be built on it
			l.faultWith(errors.New("variants: the end of a doubt could not be waited for"))
			break
		}
		l.wait(ctx)
	}
	return nil
}

// enter takes the line. The mutex is held.
func (l *Loop) enter(ctx context.Context, own *line) error {
	drains := l.policy.Drains && !l.stopping // it commits all the same if a shutdown comes now
	if drains {
		l.draining++
		defer func() { l.draining-- }()
	}
	for {
		switch kind := l.closed(); {
		case l.fault != nil && !l.gone:
			return &loop.ChangeError{Kind: loop.ChangeLoopFaulted, Cause: l.fault}
		case kind != "" && !drains:
			return &loop.ChangeError{Kind: kind}
		case ctx.Err() != nil:
			return &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: ctx.Err()}
		case !own.busy && l.doubts == 0 && !l.inLazyDoubt():
			own.busy = true
			return nil
		}
		l.wait(ctx)
	}
}

func (l *Loop) leave(own *line) {
	own.busy = false
	l.signal()
}

// on calls f where the policy says, and waits.
func (l *Loop) on(own *line, f func() error) error {
	returned := make(chan error, 1)
	job := func() { returned <- f() }
	switch l.policy.Where {
	case OnCaller:
		return f()
	case Apart:
		go job()
	case OnWorker:
		own.jobs <- job
	}
	return <-returned
}

// failed finds out what a failed append has come to, or faults.
func (l *Loop) failed(ctx context.Context, own *line, c change, e event.Event, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused := &loop.ChangeError{Kind: loop.ChangeDurableAppendFailed, Cause: err}
	switch l.policy.Failed {
	case Faults:
		l.faultWith(err)
		l.leave(own)
		return refused
	case Lazily:
		l.lazy = e.EventHeader().EventID
		l.leave(own)
		return refused
	}
	d := &doubt{err: err}
	l.doubts++
	go l.resolve(ctx, d, own, c, e)
	for !d.settled {
		if ctx.Err() != nil && !d.appending { // its append is not outstanding (REF-7)
			d.left = true
			return refused
		}
		if d.appending {
			l.wait(context.Background())
		} else {
			l.wait(ctx)
		}
	}
	switch {
	case d.committed:
		return nil
	case !d.known:
		return &loop.ChangeError{Kind: loop.ChangeDurableAppendFailed, Cause: d.err}
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: err}
	}
	return refused
}

// doubt is a failed append of which it is not known whether its event is durable.
type doubt struct {
	err       error
	appending bool // once more
	left      bool // the caller was told that it failed
	settled   bool
	committed bool
	known     bool // that it is not there
}

// resolve reads back, and appends once more what is not there.
func (l *Loop) resolve(ctx context.Context, d *doubt, own *line, c change, e event.Event) {
	present, err := l.recorded(e.EventHeader().EventID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.policy.Failed == Retries && err == nil && !present && !d.left && !l.stopping && ctx.Err() == nil {
		d.appending = true
		l.mu.Unlock()
		err = l.Journal.Append(context.WithoutCancel(ctx), e)
		l.mu.Lock()
		d.appending, present = false, err == nil
	}
	l.doubts--
	d.settled = true
	switch {
	case err != nil:
		d.err = errors.Join(d.err, err)
		l.faultWith(d.err)
	case present && d.left:
		l.faultWith(d.err)
	case present:
		d.committed = true
		l.state = c.apply(l.state)
	default:
		d.known = true
	}
	l.leave(own)
}

// recorded reads the journal to its end.
func (l *Loop) recorded(id uuid.UUID) (present bool, err error) {
	for e, err := range l.Journal.Events(context.Background()) {
		if err != nil {
			return false, err
		}
		present = present || e.EventHeader().EventID == id
	}
	return present, nil
}

// inLazyDoubt reports whether an append has failed that was not looked at yet, and begins to.
func (l *Loop) inLazyDoubt() bool {
	if l.lazy == uuid.Nil || l.fault != nil {
		return false
	}
	if !l.reading {
		l.reading = true
		id := l.lazy
		go func() {
			present, err := l.recorded(id)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.reading, l.lazy = false, uuid.Nil
			if present || err != nil {
				l.faultWith(errors.Join(errors.New("variants: the journal contradicts the state"), err))
			}
			l.signal()
		}()
	}
	return true
}

func (l *Loop) faultWith(err error) {
	if l.fault == nil {
		l.fault = err
	}
	if !l.policy.LateDrop {
		l.drop(err)
	}
	l.signal()
}
