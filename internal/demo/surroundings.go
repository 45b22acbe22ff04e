package main

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// client stands for a model: it takes a moment, and asks for each offered tool once before it is done.
type client struct {
	seen *watch
	seed uint64

	mu sync.Mutex
	n  uint64
}

func (c *client) Stream(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	c.mu.Lock()
	c.n++
	random := rand.New(rand.NewPCG(c.seed, 1000+c.n))
	c.mu.Unlock()
	c.seen.request(request)
	return func(yield func(model.Chunk, error) bool) {
		pause(ctx, random)
		if err := ctx.Err(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		asked := 0
		for _, m := range request.Messages {
			asked += len(m.ToolCalls)
		}
		if asked >= len(request.Tools) {
			yield(model.Chunk{Text: "done"}, nil)
			return
		}
		yield(model.Chunk{ToolCall: &model.ToolCall{ID: "call", Name: request.Tools[asked].Name}}, nil)
	}
}

// echo defines a tool of that name which gives back what it is handed.
func echo(name string) tool.Definition { return echoTool(name) }

type echoTool string

func (t echoTool) Name() string { return string(t) }

func (t echoTool) Build(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
	return []tool.InvokableTool{t}, nil
}

func (t echoTool) Info(context.Context) (*tool.Info, error) {
	return &tool.Info{Name: string(t), Schema: []byte(`{"type":"object"}`)}, nil
}

func (t echoTool) InvokableRun(_ context.Context, arguments string) (string, error) {
	return arguments, nil
}

// flakyJournal fails every ninth append: every second of these after the event was written.
type flakyJournal struct {
	journal.Journal
	mu sync.Mutex
	n  int
}

var errFlaky = errors.New("the demo's journal fails on purpose")

func (j *flakyJournal) Append(ctx context.Context, e event.Event) error {
	j.mu.Lock()
	j.n++
	n := j.n
	j.mu.Unlock()
	if n%18 == 9 {
		return errFlaky
	}
	if err := j.Journal.Append(ctx, e); err != nil {
		return err
	}
	if n%18 == 0 {
		return errFlaky
	}
	return nil
}

// configuration is what a model request tells of the capture of its turn.
type configuration struct {
	instructions, model, effort, tools string
}

func configurationOf(r model.Request) configuration {
	names := make([]string, len(r.Tools))
	for i, info := range r.Tools {
		names[i] = info.Name
	}
	return configuration{r.Instructions, r.Model.Name, string(r.Effort), strings.Join(names, " ")}
}

// started is when the demonstration began.
var started = time.Now()
