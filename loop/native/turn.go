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
	input  string
	values context.Context // the submitter's, without its end (REF-8)
	done   chan struct{}
	err    error // written before done is closed, not after

	ctx      context.Context
	cancel   context.CancelFunc
	returned chan error

	mu    sync.Mutex
	ended bool
	calls map[*context.CancelFunc]struct{} // of the calls in progress
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

// Format prints a name only. What fmt would print by itself is being written to, and is nobody's business.
func (t *turn) Format(state fmt.State, _ rune) { fmt.Fprint(state, "native.Turn") }

func (t *turn) engineReturned() <-chan error {
	if t == nil {
		return nil
	}
	return t.returned
}

// end gives the turn its outcome. From here on none of its calls begins, and those in progress see their context cancelled.
func (t *turn) end(outcome *loop.TurnError) {
	t.mu.Lock()
	calls := t.calls
	t.ended, t.calls = true, nil
	t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
	}
	for cancel := range calls {
		(*cancel)()
	}
	if outcome != nil { // a typed nil would be a failure
		t.err = outcome
	}
	close(t.done)
}

// begin admits a call that is about to begin: it returns a context for it and what to do when it is over. That the turn may
// end between the two is no breach, for a call that is about to begin cannot be told from one that just has; but such a
// call must see its context cancelled from the start (INT-2), also if the engine's is not one of the turn's. So end cancels
// each itself; and the engine's context is followed rather than built on, for end runs on the actor, and cancelling a child
// calls its parents.
func (t *turn) begin(engine context.Context) (context.Context, func(), error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(engine))
	deadline, expires := engine.Deadline()
	expire := func() {}
	if expires {
		ctx, expire = context.WithDeadline(ctx, deadline)
	}
	ended := func() {
		if !expires || engine.Err() != context.DeadlineExceeded { // then the call has a deadline of its own, which says so
			cancel()
		}
	}
	if engine.Err() != nil {
		ended()
	}
	unfollow := context.AfterFunc(engine, ended)
	over := func() {
		unfollow()
		expire()
		cancel()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		over()
		return nil, nil, ErrTurnEnded
	}
	if t.calls == nil {
		t.calls = make(map[*context.CancelFunc]struct{})
	}
	t.calls[&cancel] = struct{}{}
	return ctx, func() {
		over()
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.calls, &cancel)
	}, nil
}

// enqueue accepts an input.
func (a *actor) enqueue(r *request) {
	cmd := r.cmd.(command.SubmitLoopInput)
	t := &turn{input: cmd.Input, values: r.values, done: make(chan struct{})}
	a.queue = append(a.queue, t)
	cmd.Reply(command.LoopInputResult{Turn: t})
}

// startTurn starts the turn of the oldest input with what is in force now.
func (a *actor) startTurn() {
	t := a.queue[0]
	a.queue[0] = nil
	a.queue = a.queue[1:]
	a.turn = t
	t.ctx, t.cancel = context.WithCancel(t.values)
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
		request := request.Clone() // what the client does to its request must not reach the engine's next one
		ctx, over, err := c.turn.begin(ctx)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		defer over()
		for chunk, err := range c.client.Stream(ctx, request) {
			if err == nil && ctx.Err() != nil {
				// A stream that goes on regardless, for ever perhaps, would keep a goroutine of the loop at it (LIFE-2).
				chunk, err = model.Chunk{}, ctx.Err()
			}
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
	what := fmt.Sprintf("tool %q", g.tool.name())
	ctx, over, err := g.turn.begin(ctx)
	if err != nil {
		return "", err
	}
	defer over()
	err = surroundings.Call(what, func() error {
		var err error
		result, err = g.tool.InvokableRun(ctx, arguments)
		return err
	})
	return result, err
}
