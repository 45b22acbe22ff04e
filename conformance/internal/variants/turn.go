package variants

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// input is an accepted input: a [loop.Turn].
type input struct {
	text string
	done chan struct{}
	err  error
}

func (i *input) Done() <-chan struct{} { return i.done }

func (i *input) Err() error {
	select {
	case <-i.done:
		return i.err
	default:
		return nil
	}
}

func (i *input) end(outcome *loop.TurnError) {
	if outcome != nil {
		i.err = outcome
	}
	close(i.done)
}

// turn is the turn in flight.
type turn struct {
	inputs      []*input // the first, and those that joined
	taken       int      // of them, how many the model was told of
	captured    *state
	tools       []tool.Described
	ctx         context.Context
	cancel      context.CancelFunc
	ending      bool // its outcome is settled
	interrupted bool
	outcome     *loop.TurnError
	recorded    event.TurnOutcome
	early       map[string]chan result // of calls that run already, by their ids
	id          uuid.UUID
}

// Submit hands in an input.
func (l *Loop) Submit(ctx context.Context, text string) (loop.Turn, error) {
	l.mu.Lock()
	if l.policy.Notes && l.closed() == "" {
		l.appends++ // a shutdown waits for it
		l.mu.Unlock()
		_ = l.Journal.Append(context.Background(), other("input-to-come"))
		l.mu.Lock()
		l.appends--
		l.signal()
	}
	for {
		refuse := func(kind loop.SubmitErrorKind, cause error) (loop.Turn, error) {
			l.mu.Unlock()
			return nil, &loop.SubmitError{Kind: kind, Cause: cause}
		}
		switch kind := l.closed(); {
		case kind == loop.ChangeLoopExited:
			return refuse(loop.SubmitExited, nil)
		case kind == loop.ChangeLoopShuttingDown:
			return refuse(loop.SubmitShuttingDown, nil)
		case kind != "":
			return refuse(loop.SubmitFaulted, l.fault)
		case ctx.Err() != nil:
			return refuse(loop.SubmitContextDone, ctx.Err())
		}
		if l.doubts == 0 && !l.inLazyDoubt() && !(l.policy.Monolith && l.busy()) {
			break
		}
		l.wait(ctx)
	}
	i := &input{text: text, done: make(chan struct{})}
	if t := l.turn; l.policy.Joins && t != nil && !t.ending && !t.interrupted {
		t.inputs = append(t.inputs, i)
	} else {
		l.queue = append(l.queue, i)
		l.signal()
	}
	if l.policy.SubmitAppend {
		l.appends++
		l.mu.Unlock()
		_ = l.Journal.Append(context.Background(), other("input"))
		l.mu.Lock()
		l.appends--
		l.signal()
	}
	l.mu.Unlock()
	return i, nil
}

// advance starts the next turn where it can.
func (l *Loop) advance() {
	switch {
	case l.turn != nil, len(l.queue) == 0, l.stopping, l.doubts > 0:
		return
	case l.fault != nil: // a late drop
		l.drop(l.fault)
		return
	case (l.policy.TwoLines || l.policy.Monolith) && l.busy(): // no state is a whole one now
		return
	case l.inLazyDoubt():
		return
	}
	t := &turn{inputs: l.queue[:1:1], captured: l.state, tools: l.tools(l.state), id: uuid.New(), early: make(map[string]chan result)}
	l.queue = l.queue[1:]
	t.ctx, t.cancel = context.WithCancel(context.Background())
	l.turn = t
	go l.run(t)
}

func (l *Loop) drop(cause error) {
	for _, i := range l.queue {
		i.end(&loop.TurnError{Kind: loop.TurnDropped, Cause: cause})
	}
	l.queue = nil
}

// interrupt cancels the turn in flight. The mutex is held.
func (l *Loop) interrupt() {
	t := l.turn
	switch {
	case t == nil, t.interrupted, t.ending && l.policy.Unknown != FailsMid:
		return
	}
	t.cancel()
	if t.ending { // it waits for its calls: no longer
		l.end(t)
		return
	}
	t.interrupted = true
	end := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conclude(t, nil)
	}
	switch {
	case l.policy.Grace > 0:
		time.AfterFunc(l.policy.Grace, end)
	case l.policy.AckFirst:
		go end()
	default:
		l.conclude(t, nil)
	}
}

// run is the turn's goroutine.
func (l *Loop) run(t *turn) {
	_ = l.record(event.TurnStarted{Header: l.header(), TurnID: t.id, Mode: t.captured.mode})
	err := l.steps(t)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conclude(t, err)
}

// conclude settles the turn's outcome, and ends it. The mutex is held.
func (l *Loop) conclude(t *turn, err error) {
	if l.settle(t, err) {
		l.finish(t)
	}
}

// settle settles the turn's outcome: no call of it begins any more. It reports whether it was open.
func (l *Loop) settle(t *turn, err error) bool {
	if t.ending || l.turn != t {
		return false
	}
	t.ending = true
	t.cancel()
	t.recorded = event.TurnCompleted
	switch {
	case t.interrupted:
		t.outcome, t.recorded = &loop.TurnError{Kind: loop.TurnInterrupted}, event.TurnInterrupted
	case err != nil:
		t.outcome, t.recorded = &loop.TurnError{Kind: loop.TurnFailed, Cause: err}, event.TurnFailed
	}
	return true
}

// finish ends a turn whose outcome is settled, and records that before, after, or not at all.
func (l *Loop) finish(t *turn) {
	if l.turn != t { // a shutdown did not wait
		return
	}
	if l.policy.Records == NoRecords {
		l.end(t)
		return
	}
	l.appends++
	if l.policy.Records == Alongside {
		l.end(t)
	}
	go func() {
		_ = l.Journal.Append(context.Background(), event.TurnEnded{Header: l.header(), TurnID: t.id, Outcome: t.recorded})
		l.mu.Lock()
		defer l.mu.Unlock()
		l.appends--
		l.end(t)
		l.signal()
	}()
}

// end ends the turn, once.
func (l *Loop) end(t *turn) {
	if l.turn != t {
		return
	}
	l.turn = nil
	for _, i := range t.inputs {
		i.end(t.outcome)
	}
	l.signal()
}

// begins admits a call of the turn.
func (l *Loop) begins(t *turn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn == t && !t.ending
}

// joined adds the inputs that have joined the turn to its messages.
func (l *Loop) joined(t *turn, messages []model.Message) []model.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; t.taken < len(t.inputs); t.taken++ {
		messages = append(messages, model.Message{Role: model.RoleUser, Text: t.inputs[t.taken].text})
	}
	return messages
}

// over completes the turn if nobody has joined meanwhile.
func (l *Loop) over(t *turn, messages []model.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.taken < len(t.inputs) {
		return false
	}
	if l.policy.History && l.turn == t && !t.ending {
		l.history = messages
	}
	l.conclude(t, nil)
	return true
}

func (l *Loop) steps(t *turn) error {
	var messages []model.Message
	l.mu.Lock()
	messages = slices.Clone(l.history)
	l.mu.Unlock()
	for {
		messages = l.joined(t, messages)
		answer, err := l.ask(t, messages)
		if err != nil && l.policy.RetryModel && t.ctx.Err() == nil {
			answer, err = l.ask(t, messages)
		}
		if err != nil {
			return err
		}
		messages = append(messages, answer)
		if len(answer.ToolCalls) == 0 {
			if l.over(t, messages) {
				return nil
			}
			continue
		}
		results, err := l.call(t, answer.ToolCalls)
		if err != nil {
			return err
		}
		messages = append(messages, results...)
	}
}

// ask makes one model request.
func (l *Loop) ask(t *turn, messages []model.Message) (answer model.Message, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("variants: the model client panicked: %v", v)
		}
	}()
	s := t.captured
	request := model.Request{Instructions: s.instructions, Model: s.model, Effort: s.effort, Messages: messages}
	for _, described := range t.tools {
		request.Tools = append(request.Tools, described.Info)
	}
	ctx, cancel := l.limited(t.ctx)
	defer cancel()
	answer.Role = model.RoleAssistant
	if !l.begins(t) {
		return answer, t.ctx.Err()
	}
	stream := l.Client.Stream(ctx, request.Clone())
	if l.policy.Eager && (ctx.Err() != nil || !l.begins(t)) {
		return answer, context.Canceled
	}
	for chunk, err := range stream {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if l.policy.InRange && !l.policy.RetryModel {
				l.mu.Lock()
				l.conclude(t, err)
				l.mu.Unlock()
			}
			return answer, err
		}
		answer.Text += chunk.Text
		if chunk.ToolCall != nil {
			l.early(t, *chunk.ToolCall)
			answer.ToolCalls = append(answer.ToolCalls, *chunk.ToolCall)
		}
	}
	return answer, ctx.Err()
}

func (l *Loop) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	if l.policy.CallLimit > 0 {
		timer := time.AfterFunc(l.policy.CallLimit, cancel)
		return limited, func() { timer.Stop(); cancel() }
	}
	return limited, cancel
}
