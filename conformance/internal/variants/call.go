package variants

import (
	"context"
	"fmt"
	"slices"

	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// result is what became of one call.
type result struct {
	index int
	text  string
	err   error
}

// call runs the calls of an answer.
func (l *Loop) call(t *turn, calls []model.ToolCall) ([]model.Message, error) {
	messages := make([]model.Message, len(calls))
	for i, c := range calls {
		messages[i] = model.Message{Role: model.RoleTool, ToolCallID: c.ID, ToolName: c.Name}
	}
	unknown := slices.IndexFunc(calls, func(c model.ToolCall) bool { return t.tool(c.Name) == nil })
	if unknown >= 0 && l.policy.Unknown == Rejects {
		for i := range messages {
			messages[i].Text, messages[i].Failed = "the answer calls an unknown tool, so none of it was done", true
		}
		return messages, nil
	}
	if unknown >= 0 && l.policy.Unknown == Fails {
		return nil, fmt.Errorf("variants: there is no tool %q", calls[unknown].Name)
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	results := make(chan result, len(calls))
	begin := func(i int) {
		if early := t.early[calls[i].ID]; early != nil {
			r := <-early
			results <- result{i, r.text, r.err}
			return
		}
		text, err := l.callOne(t, ctx, calls[i])
		results <- result{i, text, err}
	}
	if l.policy.Sequential {
		go func() {
			for i := range calls {
				begin(i)
			}
		}()
	} else {
		for i := range calls {
			go begin(i)
		}
	}
	ended := t.ctx.Done()
	if l.policy.Grace > 0 || l.policy.Unknown == FailsMid {
		ended = t.inputs[0].done // it waits for its calls, as long as it is in flight
	}
	for range calls {
		var r result
		select {
		case r = <-results:
		case <-ended:
			return nil, context.Canceled
		}
		m := &messages[r.index]
		if m.Text = r.text; r.err == nil {
			continue
		}
		m.Text, m.Failed = r.err.Error(), true
		switch {
		case t.tool(calls[r.index].Name) == nil && l.policy.Unknown == FailsMid:
			l.mu.Lock()
			settled := l.settle(t, r.err)
			l.mu.Unlock()
			if settled {
				defer func() {
					l.mu.Lock()
					defer l.mu.Unlock()
					l.finish(t)
				}()
			}
		case l.policy.Trouble == Ends:
			return nil, r.err
		case l.policy.Trouble == Cancels:
			cancel()
		}
	}
	return messages, t.ctx.Err()
}

// early begins a call before its answer has ended.
func (l *Loop) early(t *turn, c model.ToolCall) {
	if !l.policy.Streams || t.tool(c.Name) == nil {
		return
	}
	returned := make(chan result, 1)
	t.early[c.ID] = returned
	go func() {
		text, err := l.callOne(t, t.ctx, c)
		returned <- result{text: text, err: err}
	}()
}

func (t *turn) tool(name string) tool.InvokableTool {
	for _, described := range t.tools {
		if described.Info.Name == name {
			return described.Instance
		}
	}
	return nil
}

// callOne runs one call, on a goroutine of its own if the loop may have to leave it behind.
func (l *Loop) callOne(t *turn, ctx context.Context, c model.ToolCall) (text string, err error) {
	instance := t.tool(c.Name)
	switch {
	case instance == nil:
		return "", fmt.Errorf("there is no tool %q", c.Name)
	case !l.begins(t):
		return "", context.Canceled
	case ctx.Err() != nil && l.policy.Trouble == Cancels:
		return "", ctx.Err()
	}
	ctx, cancel := l.limited(ctx)
	type answer struct {
		text string
		err  error
	}
	returned := make(chan answer, 1)
	run := func() {
		defer cancel()
		a := answer{err: fmt.Errorf("the tool panicked")}
		defer func() {
			_ = recover()
			returned <- a
		}()
		a.text, a.err = instance.InvokableRun(ctx, c.Arguments)
	}
	if l.policy.CallLimit == 0 {
		run()
		a := <-returned
		return a.text, a.err
	}
	go run()
	select {
	case a := <-returned:
		return a.text, a.err
	case <-ctx.Done():
		return "", errCut
	}
}
