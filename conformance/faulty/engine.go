package faulty

import (
	"context"
	"errors"
	"fmt"

	"github.com/loopcheck/loopcheck/loop/model"
)

const maxSteps = 64

var errStepLimit = errors.New("faulty: the turn reached its step limit")

// steps asks the model, runs the tool calls of the answer side by side, hands the results back and asks again, until an
// answer asks for none.
func (l *Loop) steps(t *turn) error {
	messages := []model.Message{{Role: model.RoleUser, Text: t.input}}
	for range maxSteps {
		answer, err := l.ask(t, messages)
		if err != nil {
			return err
		}
		if len(answer.ToolCalls) == 0 {
			return nil
		}
		results, err := l.callTools(t, answer.ToolCalls)
		if err != nil {
			return err
		}
		messages = append(append(messages, answer), results...)
	}
	return errStepLimit
}

// ask makes one model request and puts the parts of the answer together.
func (l *Loop) ask(t *turn, messages []model.Message) (model.Message, error) {
	answer := model.Message{Role: model.RoleAssistant}
	request := l.request(t, messages)
	ctx := t.ctx
	if l.has(requestContextDetached) {
		ctx = context.WithoutCancel(ctx)
	}
	l.plantBeforeStep()
	if !l.begins(t) && !l.has(stepAfterEnd) {
		return answer, errTurnEnded
	}
	err := guard("model client", func() error {
		for chunk, err := range l.config.Client.Stream(ctx, request) {
			if err == nil {
				// A stream that goes on regardless would keep the goroutine at it (LIFE-2).
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			answer.Text += chunk.Text
			if chunk.ToolCall != nil {
				answer.ToolCalls = append(answer.ToolCalls, *chunk.ToolCall)
			}
		}
		// A client that ends its stream early, because the context did, has not given an answer.
		return ctx.Err()
	})
	if err != nil {
		l.plantRequestFailed(t, err)
	}
	return answer, err
}

// request is the client's own: it shares no memory with the capture or the next request.
func (l *Loop) request(t *turn, messages []model.Message) model.Request {
	r := model.Request{
		Instructions: t.capture.instructions, Model: t.capture.model, Effort: t.capture.effort, Tools: t.capture.infos(),
		Messages: messages,
	}
	l.plantRequest(t, &r)
	return r.Clone()
}

// callTools runs the calls and returns their results in the order of the calls. It does not outlast the turn: a tool that
// ignores its context is left behind on its own goroutine (INT-2).
func (l *Loop) callTools(t *turn, calls []model.ToolCall) ([]model.Message, error) {
	type result struct {
		index   int
		message model.Message
	}
	results := make(chan result, len(calls)) // room for all: those left behind must not wait for a reader
	call := func(i int) {
		m := model.Message{Role: model.RoleTool, ToolCallID: calls[i].ID, ToolName: calls[i].Name}
		l.toolApart(fmt.Sprintf("tool %q", calls[i].Name), func() error {
			text, err := l.callTool(t, calls[i])
			if err != nil {
				// Worded in here: a tool's error may panic when it is asked for its text.
				text, m.Failed = err.Error(), true
			}
			m.Text = text
			return nil
		}, func(err error) {
			if err != nil {
				m.Text, m.Failed = err.Error(), true
			}
			results <- result{i, m}
		})
	}
	l.plantBeforeTools(t)
	if l.has(remainingToolsAfterEnd) {
		l.inSequence(t, calls, func(i int, m model.Message) { results <- result{i, m} })
	} else {
		for i := range calls {
			call(i)
		}
	}
	ended := t.ctx.Done()
	if l.waitsForTools() {
		ended = nil
	}
	messages := make([]model.Message, len(calls))
	for range calls {
		select {
		case r := <-results:
			messages[r.index] = r.message
		case <-ended:
			return nil, t.ctx.Err()
		}
	}
	return l.plantResults(t, messages), nil
}

// callTool runs one call. A name that is not in the capture runs nothing, and the model is told (TURN-5).
func (l *Loop) callTool(t *turn, call model.ToolCall) (string, error) {
	l.plantToolCall(call.Name)
	instance := t.capture.find(call.Name)
	if other, planted := l.plantDispatch(t, call.Name); planted {
		instance = other
	}
	if instance == nil {
		return "", fmt.Errorf("there is no tool %q", call.Name)
	}
	ctx := t.ctx
	if l.has(toolContextDetached) {
		ctx = context.WithoutCancel(ctx)
	}
	if instance.until != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(instance.until, cancel)()
	}
	if !l.begins(t) && !l.has(remainingToolsAfterEnd) {
		return "", errTurnEnded
	}
	return instance.instance.InvokableRun(ctx, call.Arguments)
}
