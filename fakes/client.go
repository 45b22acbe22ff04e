package fakes

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"

	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
)

// ErrStream is what a model request fails with.
var ErrStream = errors.New("fakes: the stream broke " + Canary)

// Client is a [model.Client] that answers as the workload's submits say.
type Client struct{ life *Life }

var requestVerdicts = []string{"ok", "error", "cut", "panic", "held"}

// Expect tells what the model answers to an input: for each step the names of the tools that it calls, "*" standing for
// all that are offered. After the last step it answers without a call.
func (s *Stage) Expect(op, input string, steps [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs[input] = &submit{op: op, steps: steps}
}

// Stream answers one request. It keeps nothing of it, and overwrites what it was handed: a request is its client's.
func (c *Client) Stream(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	l := c.life
	if l.dead() {
		return func(yield func(model.Chunk, error) bool) { yield(model.Chunk{}, ErrDead) }
	}
	call, seen := l.stage.number(), l.stage.see(request)
	l.add(trace.Entry{Kind: trace.RequestBegan, Op: seen.Turn, Call: call, Request: seen, Cancelled: ended(ctx), Context: ctx})
	l.stage.World.Note("model "+seen.Turn, "asked "+seen.Model.Name+" "+string(seen.Effort)+" "+seen.Instructions)
	scribble(request)
	return func(yield func(model.Chunk, error) bool) {
		end := trace.Entry{Kind: trace.RequestEnded, Op: seen.Turn, Call: call, Request: seen}
		noted := false
		note := func() {
			if !noted {
				noted, end.Cancelled = true, ended(ctx)
				l.add(end)
			}
		}
		defer note()
		end.Err = c.answer(ctx, seen, &end, func(chunk model.Chunk) bool { return yield(chunk, nil) })
		if end.Err != nil {
			note() // a loop may end the turn while it is told of the failure
			yield(model.Chunk{}, end.Err)
		}
	}
}

func (c *Client) answer(ctx context.Context, seen *trace.Request, end *trace.Entry, yield func(model.Chunk) bool) error {
	l, s := c.life, c.life.stage
	owner := seen.Turn
	if owner == "" {
		owner = "loop"
	}
	thread, free := s.thread("model " + owner)
	defer free()
	gate := sim.Gate{Thread: thread, Owner: owner, Name: "request", Verdicts: requestVerdicts}
	verdict, err := s.Park(ctx, gate)
	if verdict == "held" {
		end.Held = s.hold(l, gate)
	}
	switch {
	case l.dead():
		return ErrDead
	case err != nil:
		return err
	case verdict == "error":
		return ErrStream
	case verdict == "panic":
		end.Panic, end.Err = true, ErrStream
		panic(Panic{"the model client in turn " + owner})
	case !yield(model.Chunk{Text: "answer "}):
		seen.Calls = nil // the loop hears of none
		return nil
	case verdict == "cut":
		return ErrStream
	}
	for i := range seen.Calls {
		call := seen.Calls[i]
		if !yield(model.Chunk{ToolCall: &call}) {
			seen.Calls = seen.Calls[:i+1]
			return nil
		}
	}
	return nil
}

// see copies what the request asks, and says what is going to be answered.
func (s *Stage) see(r model.Request) *trace.Request {
	seen := &trace.Request{Model: r.Model.Clone(), Effort: r.Effort, Instructions: r.Instructions, Tools: tool.CloneInfos(r.Tools), Step: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The last one: a loop may keep the turns before it in the conversation.
	var script *submit
	for i := len(r.Messages) - 1; i >= 0 && script == nil; i-- {
		switch m := r.Messages[i]; m.Role {
		case model.RoleUser:
			if script = s.inputs[m.Text]; script == nil {
				continue
			}
			seen.Turn = script.op
		case model.RoleAssistant:
			seen.Step++
		case model.RoleTool:
			seen.Told = append(seen.Told, m.ToolCallID)
		}
	}
	if script == nil || seen.Step > len(script.steps) {
		return seen
	}
	names := script.steps[seen.Step-1]
	if slices.Contains(names, "*") {
		names = nil
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
	}
	for i, name := range names {
		id := seen.Turn + "." + strconv.Itoa(seen.Step) + "." + strconv.Itoa(i)
		arguments := `{"call":` + strconv.Quote(id) + `}`
		s.called[arguments] = wish{turn: seen.Turn, step: seen.Step, name: name, id: id}
		seen.Calls = append(seen.Calls, model.ToolCall{ID: id, Name: name, Arguments: arguments})
	}
	return seen
}

// scribble overwrites what a client was handed.
func scribble(r model.Request) {
	for i := range r.Tools {
		r.Tools[i].Name, r.Tools[i].Description = ByClient, ByClient
		for j := range r.Tools[i].Schema {
			r.Tools[i].Schema[j] = '!'
		}
	}
	for i := range r.Messages {
		for j := range r.Messages[i].ToolCalls {
			r.Messages[i].ToolCalls[j].Name = ByClient
		}
		r.Messages[i].Text = ByClient
	}
	Scribble(r.Model, ByClient)
}

// What is written over memory that its owner may write to, by whose it is.
const (
	ByClient = "scribbled-by-client" // a request that a client was handed
	ByCaller = "scribbled-by-caller" // a model that a change was made of
	ByReader = "scribbled-by-reader" // a model that Handle.Model returned
)

// Decoy is the name of the tool whose definition is written over a slice of definitions that its owner may write to.
const Decoy = "decoy"

// Mark is the number that stands for a mark of [Scribble].
func Mark(mark string) float64 {
	switch mark {
	case ByClient:
		return -1
	case ByCaller:
		return -2
	}
	return -3
}

// Scribble overwrites the memory that a model refers to.
func Scribble(m model.Model, mark string) {
	for i := range m.Efforts {
		m.Efforts[i] = model.Effort(mark)
	}
	for i := range m.Sampling.Stop {
		m.Sampling.Stop[i] = mark
	}
	if m.Sampling.Temperature != nil {
		*m.Sampling.Temperature = Mark(mark)
	}
	if m.Sampling.TopP != nil {
		*m.Sampling.TopP = Mark(mark)
	}
}
