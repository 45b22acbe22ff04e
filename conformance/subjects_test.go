package conformance

import (
	"context"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/foreign"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

// oneRequest is the agent behind the reference foreign loop: a turn is one model request.
type oneRequest struct{}

func (oneRequest) Capabilities() foreign.Capabilities {
	return foreign.Capabilities{Modes: true, Inference: true}
}

func (oneRequest) RunTurn(ctx context.Context, t foreign.Turn) error {
	request := model.Request{
		Instructions: t.Instructions, Model: t.Model, Effort: t.Effort,
		Messages: []model.Message{{Role: model.RoleUser, Text: t.Input}},
	}
	for _, err := range t.Client.Stream(ctx, request) {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// referenceSubject is the reference loop, and the reference foreign loop.
func referenceSubject() Subject {
	config := func(e Env) native.Config {
		return native.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings}
	}
	return Subject{
		Name:    "reference",
		Start:   func(ctx context.Context, e Env) (loop.Loop, error) { return native.New(ctx, config(e)) },
		Restore: func(ctx context.Context, e Env) (loop.Loop, error) { return native.Restore(ctx, config(e)) },
		Foreign: func(ctx context.Context, e Env) (loop.Loop, error) {
			return foreign.New(ctx, foreign.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Backend: oneRequest{}})
		},
	}
}

// faultySubject is the loop of package faulty with that fault; "" is none.
func faultySubject(fault string) Subject {
	config := func(e Env) faulty.Config {
		return faulty.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings, Fault: fault}
	}
	return Subject{
		Name:    "faulty",
		Start:   func(ctx context.Context, e Env) (loop.Loop, error) { return faulty.New(ctx, config(e)) },
		Restore: func(ctx context.Context, e Env) (loop.Loop, error) { return faulty.Restore(ctx, config(e)) },
		Foreign: func(ctx context.Context, e Env) (loop.Loop, error) { return faulty.NewForeign(ctx, config(e)) },
	}
}
