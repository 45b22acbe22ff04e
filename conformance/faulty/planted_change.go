package faulty

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

func (l *Loop) plantBeforeChange(ctx context.Context, batch *loop.Batch) (err error, refused bool) {
	both := batch.Model != nil && batch.Effort != nil
	switch {
	case both && l.has(batchFieldByField):
		if err := l.commit(ctx, opChange, l.proposeInference(loop.Batch{Model: batch.Model})); err != nil {
			return err, true
		}
		batch.Model = nil
	case both && l.has(batchInTwoEvents):
		if err := l.checkEffort(*batch.Model, *batch.Effort); err != nil {
			return &loop.ChangeError{Kind: loop.ChangeInvalidEffort, Cause: err}, true
		}
		carried := l.read().effort
		if !batch.Model.Supports(carried) {
			carried = model.EffortNone
		}
		if err := l.commit(ctx, opChange, l.proposeInference(loop.Batch{Model: batch.Model, Effort: &carried})); err != nil {
			return err, true
		}
		batch.Model = nil
	case l.has(validatedAgainstPending):
		l.mu.Lock()
		pending := l.current
		l.mu.Unlock()
		if pending == nil {
			break
		}
		m, effort := pending.next.model, pending.next.effort
		if batch.Model != nil {
			m = *batch.Model
		}
		if batch.Effort != nil {
			effort = *batch.Effort
		}
		if err := l.checkEffort(m, effort); err != nil {
			return &loop.ChangeError{Kind: loop.ChangeInvalidEffort, Cause: err}, true
		}
	}
	return nil, false
}

// keptChanges asks the caller's slice once more.
func (l *Loop) keptChanges(s *state) *state {
	batch := l.merge(l.planted.changes)
	m, effort := s.model, s.effort
	if batch.Model != nil {
		m = *batch.Model
	}
	if batch.Effort != nil {
		effort = *batch.Effort
	}
	return l.inForce(s, m, effort)
}

func (l *Loop) plantBeforeMode(ctx context.Context) {
	if !l.has(slotsRebuiltOnMode) {
		return
	}
	rebuilt := make(map[string]*slot)
	for source, s := range l.read().slots {
		if again, ok := l.rebuild(ctx, s); ok {
			rebuilt[source] = again
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.planted.rebuilt = rebuilt
}

// rebuild builds a slot from the slice of definitions that its caller handed over at the time.
func (l *Loop) rebuild(ctx context.Context, s *slot) (*slot, bool) {
	again := *s
	again.tools = nil
	for _, d := range s.definitions {
		tools, err := l.buildOne(ctx, d, len(again.tools))
		if err != nil {
			return nil, false
		}
		again.tools = append(again.tools, tools...)
	}
	return &again, true
}

func (l *Loop) plantMode(s, next *state) {
	if l.has(slotsRebuiltOnMode) {
		for source, again := range l.planted.rebuilt {
			if s.slots[source] != nil {
				*next = *l.withSlot(next, source, again)
			}
		}
	}
}

func (l *Loop) plantRuntime(prior *state, r event.Runtime) event.Runtime {
	switch {
	case l.has(eventWithPriorEffort):
		r.Effort, r.Model.Sampling.Effort = prior.effort, prior.effort
	case l.has(eventModelKeyOnly):
		r.Model.Limits, r.Model.Sampling = model.Limits{}, model.Sampling{Effort: r.Effort}
	}
	return r
}

func (l *Loop) ignoresClosing(op operation, why reason) bool {
	switch {
	case why != exited && why != shuttingDown:
		return false
	case op == opMode && l.has(modeAfterExit), op == opReplace && l.has(replaceAfterExit):
		return true
	case op == opOwn && l.has(shutdownFlushesWaiting):
		return true
	}
	return l.has(exitCheckedLate) && why == shuttingDown
}

func (l *Loop) plantRefused(ctx context.Context, op operation, why reason, waited bool, p prepare) {
	switch {
	case !waited || op == opOwn:
	case l.has(withdrawnChangeCommits) && why == contextDone, l.has(shutdownFlushesWaiting) && why == shuttingDown:
		go func() { _ = l.commit(context.WithoutCancel(ctx), opOwn, p) }()
	case l.has(refusalsUnlocked):
		l.planted.refusals++
	}
}

// plantReply keeps one reply in a channel, so to speak, that all callers share.
func (l *Loop) plantReply(err error, withdrawn bool) error {
	if !l.has(replyToNextCaller) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var refused *loop.ChangeError
	if withdrawn && errors.As(err, &refused) && refused.Kind == loop.ChangeContextDone {
		l.planted.mailbox = err
	} else if l.planted.mailbox != nil {
		err, l.planted.mailbox = l.planted.mailbox, nil
	}
	return err
}

// plantBeforeAppend is called with the mutex held. Where it is done it has given it up.
func (l *Loop) plantBeforeAppend(c *commit, values context.Context) (done bool, err error) {
	if l.has(turnSeesPending) {
		c.pending = c.next
	}
	if c.pending != nil {
		l.state = c.pending
	}
	tools, external := c.event.(event.LoopExternalToolsetChanged)
	switch {
	case l.has(schemaJournalled) && external:
		l.mu.Unlock()
		<-l.append(values, l.other("tools_offered", c.next.slots[tools.Source]))
		l.mu.Lock()
		return false, nil
	case l.has(retryDeduped) && !l.planted.claimed[c.key]:
		set(&l.planted.claimed, c.key, true)
		return false, nil
	case l.has(retryDeduped):
		l.release()
	case l.has(persistenceDisabled) && l.planted.dead, l.has(clearNotRecorded) && external && len(tools.Tools) == 0:
		l.takeOver(c)
	case l.has(persistedAtTurn) && !external:
		l.planted.unsaved = c.event
		l.takeOver(c)
	case l.has(successBeforeAppend):
		l.state, l.current = c.next, c
		appended := l.append(values, c.event)
		go func() {
			<-appended
			l.mu.Lock()
			defer l.mu.Unlock()
			l.release()
		}()
	case l.has(lockHeldOverAppend):
		err := <-l.append(values, c.event)
		l.mu.Unlock()
		return true, l.settle(values, values, c, err)
	default:
		return false, nil
	}
	l.mu.Unlock()
	return true, nil
}

func (l *Loop) plantDuringAppend(ctx, values context.Context, c *commit, appended <-chan error) (err error, answered bool) {
	var early <-chan struct{}
	switch {
	case l.has(cancelledButCommits):
		early = ctx.Done()
	case l.has(exitDuringAppend):
		early = l.exited
	}
	if early == nil {
		return nil, false
	}
	select {
	case err := <-appended:
		return l.settle(ctx, values, c, err), true
	case <-early:
	}
	go func() { _ = l.settle(values, values, c, <-appended) }()
	if l.has(exitDuringAppend) {
		return l.refusedChange(ctx, exited, nil), true
	}
	return l.refusedChange(ctx, contextDone, nil), true
}

func (l *Loop) plantAfterAppend(c *commit, err *error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case *err == nil:
		delete(l.planted.claimed, c.key)
	case l.has(appendErrorIgnored):
		*err = nil
	case l.has(persistenceDisabled):
		*err, l.planted.dead = nil, true
	case l.has(fatalOnAppendError):
		os.Exit(1)
	}
}

func (l *Loop) plantTakenOver(c *commit) {
	p := &l.planted
	switch c.event.(type) {
	case event.LoopModeChanged:
		if l.has(modeToolsOneTurnLate) {
			p.late = append([]*installed{}, c.prior.declared...)
		}
	case event.LoopInferenceChanged:
		p.modelView = c.next
		if l.has(changeEditsMode) {
			edited := l.configuration(c.next.mode)
			edited.Model, edited.Effort = c.next.model, c.next.effort
			set(&p.edited, c.next.mode, edited)
		}
	case event.LoopExternalToolsetChanged:
		for name := range c.next.owners {
			delete(p.leaked, name)
		}
		if l.has(clearedToolStillRuns) {
			for _, s := range c.next.slots {
				for _, t := range s.tools {
					set(&p.ever, t.info.Name, t)
				}
			}
		}
	}
	if l.has(definitionRemembers) || l.has(slotsOnDefinition) {
		bequeath(l.config.Definition, c.next)
	}
}

func (l *Loop) plantGivenUp(c *commit) {
	if c.pending != nil {
		l.state = c.prior
	}
	tools, external := c.event.(event.LoopExternalToolsetChanged)
	switch {
	case l.has(failedChangeStays):
		l.state = c.next
	case l.has(failedNamesStayTaken) && external:
		for _, t := range tools.Tools {
			set(&l.planted.leaked, t.Name, tools.Source)
		}
	}
}

// other is an event of a type that is not declared, and may hold anything.
func (l *Loop) other(tag event.Type, about any) event.Event {
	type described struct{ Name, Description, Schema string }
	content := struct {
		Type  event.Type  `json:"type"`
		Text  string      `json:"text,omitempty"`
		Tools []described `json:"tools,omitempty"`
	}{Type: tag}
	switch about := about.(type) {
	case *slot:
		if about != nil {
			for _, t := range about.tools {
				content.Tools = append(content.Tools, described{t.info.Name, t.info.Description, string(t.info.Schema)})
			}
		}
	case string:
		content.Text = about
	}
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err) // strings only
	}
	return event.Other{Tag: tag, Raw: raw}
}
