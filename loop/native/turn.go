package native

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// ErrTurnEnded is what a model request or tool call fails with that an engine starts after its turn has ended: it was not
// begun (TURN-8).
var ErrTurnEnded = errors.New("native: the turn has ended")

// turn is one accepted input. The actor starts and ends it; the engine's calls go through begin.
type turn struct {
	input    string
	accepted context.Context // the submitter's values, without its end (REF-8)
	done     chan struct{}
	err      error // written before done is closed, not after

	ctx      context.Context
	cancel   context.CancelFunc
	returned chan error

	mu    sync.Mutex
	ended bool
}

func (t *turn) Done() <-chan struct{} { return t.done }

func (t *turn) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

func (t *turn) engineReturned() <-chan error {
	if t == nil {
		return nil
	}
	return t.returned
}

// end gives the turn its outcome. From here on none of its calls begins, and those in progress see their context cancelled.
func (t *turn) end(outcome *loop.TurnError) {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
	}
	if outcome != nil { // a typed nil would be a failure
		t.err = outcome
	}
	close(t.done)
}

// begin reports whether a call of the turn may still begin. It is asked immediately before the call; that the turn may
// end between the two is no breach, for a call that is about to begin cannot be told from one that just has.
func (t *turn) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return ErrTurnEnded
	}
	return nil
}

// join returns ctx bounded by the turn as well: an engine may pass a context of its own.
func (t *turn) join(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// enqueue accepts an input.
func (a *actor) enqueue(r *request) {
	cmd := r.cmd.(command.SubmitLoopInput)
	t := &turn{input: cmd.Input, accepted: context.WithoutCancel(r.ctx), done: make(chan struct{})}
	a.queue = append(a.queue, t)
	cmd.Reply(command.LoopInputResult{Turn: t})
}

// startTurn starts the turn of the oldest input with what is in force now.
func (a *actor) startTurn() {
	t := a.queue[0]
	a.queue[0] = nil
	a.queue = a.queue[1:]
	a.turn = t
	t.ctx, t.cancel = context.WithCancel(t.accepted)
	t.returned = make(chan error, 1)
	request := TurnRequest{Capture: capture(a.state, t), Input: t.input}
	if client := a.loop.config.Client; client != nil {
		request.Client = &guardedClient{turn: t, client: client}
	}
	engine := a.loop.config.Engine
	surroundings.Go("turn engine", func() error { return engine.RunTurn(t.ctx, request) },
		func(err error) { t.returned <- err })
}

func engineOutcome(err error) *loop.TurnError {
	if err == nil {
		return nil
	}
	return &loop.TurnError{Kind: loop.TurnFailed, Cause: err}
}

// endTurn ends the turn in flight, if there is one. Its engine may still be in a call that does not return; what comes of
// that goes nowhere (INT-2).
func (a *actor) endTurn(outcome *loop.TurnError) {
	if a.turn == nil {
		return
	}
	t := a.turn
	a.turn = nil
	t.end(outcome)
}

// capture copies the state for one turn: the engine may do with it what it likes.
func capture(s *state, t *turn) Capture {
	c := Capture{Mode: s.mode, Instructions: s.instructions, Model: s.model.Clone(), Effort: s.effort}
	for _, i := range s.tools() {
		c.Tools = append(c.Tools, Tool{Info: i.described.Info.Clone(), Instance: &guardedTool{turn: t, tool: i}})
	}
	return c
}

// guardedClient is the model client as a turn may use it: nothing begins after the turn's end.
type guardedClient struct {
	turn   *turn
	client model.Client
}

func (c *guardedClient) Stream(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		ctx, cancel := c.turn.join(ctx)
		defer cancel()
		request := request.Clone() // what the client does to its request must not reach the engine's next one
		if err := c.turn.begin(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		for chunk, err := range c.client.Stream(ctx, request) {
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// guardedTool is a captured tool as a turn may use it.
type guardedTool struct {
	turn *turn
	tool *installed
}

func (g *guardedTool) Info(ctx context.Context) (*tool.Info, error) { return g.tool.Info(ctx) }

func (g *guardedTool) InvokableRun(ctx context.Context, arguments string) (result string, err error) {
	ctx, cancel := g.turn.join(ctx)
	defer cancel()
	if err := g.turn.begin(); err != nil {
		return "", err
	}
	err = surroundings.Call(fmt.Sprintf("tool %q", g.tool.name()), func() error {
		var err error
		result, err = g.tool.InvokableRun(ctx, arguments)
		return err
	})
	return result, err
}
