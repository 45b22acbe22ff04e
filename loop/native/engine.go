package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Engine runs one turn from a capture. It is the port through which another framework's agent runs the turns of a [Loop].
//
// What is captured, when a turn is cancelled, what its outcome is and which comes next stays with the loop. RunTurn returns
// nil for a turn that completed, else why it failed. When ctx ends the turn has ended already: RunTurn returns when it can,
// and what it returns is not looked at. Client and tools of the request refuse what is begun after that (TURN-8). A panic
// on RunTurn's own goroutine fails the turn; an engine that asks the client on another recovers it there. RunTurn may be called while an interrupted turn's call has not returned yet.
type Engine interface {
	RunTurn(ctx context.Context, request TurnRequest) error
}

// TurnRequest is what an engine gets for one turn. It shares no memory with the loop.
type TurnRequest struct {
	Capture
	Input string
	// Client is the loop's model client; nil if it has none. It begins a request when its sequence is ranged over, each time.
	Client model.Client
}

// Capture is the configuration that a turn took when it started: one whole committed state (TURN-2).
type Capture struct {
	Mode         loop.ModeName
	Instructions string
	Model        model.Model // its sampling reports Effort
	Effort       model.Effort
	Tools        []Tool // declared ones first, then the slots by source (TURN-9)
}

// Tool is a tool of a capture: what to tell the model of it, and the live instance to call.
type Tool struct {
	Info     tool.Info
	Instance tool.InvokableTool
}

// Defaults of [Steps].
const (
	DefaultMaxSteps    = 64
	DefaultMaxParallel = 16
)

// ErrStepLimit fails a turn whose model goes on asking for tools.
var ErrStepLimit = errors.New("native: the turn reached its step limit")

// Steps is the reference engine. It asks the model, runs the tool calls of the answer side by side, hands the results back
// and asks again, until an answer asks for none. A failing or panicking tool, and a call that names no tool of the
// capture, is told to the model (TURN-5, TURN-6). A failing or panicking model request fails the turn. Turns do not share a
// conversation: each begins with its own input. The text of the answers goes no further than the next request; who wants it
// takes it in the model client.
type Steps struct {
	// MaxSteps bounds the model requests of a turn; 0 is [DefaultMaxSteps]. Beyond it the turn fails with [ErrStepLimit].
	MaxSteps int
	// MaxParallel bounds the tool calls of a step that run at one time; 0 is [DefaultMaxParallel].
	MaxParallel int
}

// RunTurn runs one turn.
func (s Steps) RunTurn(ctx context.Context, request TurnRequest) error {
	infos := make([]tool.Info, len(request.Tools))
	instances := make(map[string]tool.InvokableTool, len(request.Tools))
	for i, t := range request.Tools {
		infos[i], instances[t.Info.Name] = t.Info, t.Instance
	}
	messages := []model.Message{{Role: model.RoleUser, Text: request.Input}}
	for range orDefault(s.MaxSteps, DefaultMaxSteps) {
		answer, err := ask(ctx, request.Client, model.Request{
			Instructions: request.Instructions, Model: request.Model, Effort: request.Effort, Tools: infos, Messages: messages,
		})
		if err != nil {
			return err
		}
		if len(answer.ToolCalls) == 0 {
			return nil
		}
		results, err := s.callTools(ctx, instances, answer.ToolCalls)
		if err != nil {
			return err
		}
		messages = append(append(messages, answer), results...)
	}
	return ErrStepLimit
}

// ask makes one model request and puts the parts of the answer together.
func ask(ctx context.Context, client model.Client, request model.Request) (model.Message, error) {
	answer := model.Message{Role: model.RoleAssistant}
	err := surroundings.Call("model client", func() error {
		for chunk, err := range client.Stream(ctx, request) {
			if err != nil {
				return err
			}
			answer.Text += chunk.Text
			if chunk.ToolCall != nil {
				answer.ToolCalls = append(answer.ToolCalls, *chunk.ToolCall)
			}
		}
		// A client that ends its stream early when the context ends, without an error, has not given an answer.
		return ctx.Err()
	})
	return answer, err
}

// callTools runs the calls and returns their results in the order of the calls. It does not outlast ctx: a tool that
// ignores its context is left behind on its own goroutine (LIFE-2).
func (s Steps) callTools(ctx context.Context, instances map[string]tool.InvokableTool, calls []model.ToolCall) ([]model.Message, error) {
	type result struct {
		index   int
		message model.Message
	}
	finished := make(chan result, len(calls)) // room for all: those left behind must not wait for a reader
	free := make(chan struct{}, orDefault(s.MaxParallel, DefaultMaxParallel))
	for i, call := range calls {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		m := model.Message{Role: model.RoleTool, ToolCallID: call.ID, ToolName: call.Name}
		surroundings.Go(fmt.Sprintf("tool %q", call.Name), func() error {
			instance, known := instances[call.Name]
			if !known {
				return fmt.Errorf("there is no tool %q", call.Name)
			}
			text, err := instance.InvokableRun(ctx, call.Arguments)
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
			finished <- result{i, m}
			<-free
		})
	}
	messages := make([]model.Message, len(calls))
	for range calls {
		select {
		case r := <-finished:
			messages[r.index] = r.message
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return messages, nil
}

func orDefault(n, standard int) int {
	if n <= 0 {
		return standard
	}
	return n
}
