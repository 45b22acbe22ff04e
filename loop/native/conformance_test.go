package native_test

import (
	"context"
	"testing"

	"github.com/loopcheck/loopcheck/conformance"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/foreign"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

// oneRequest is the agent behind the foreign loop: a turn is one model request.
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

func subject() conformance.Subject {
	config := func(e conformance.Env) native.Config {
		return native.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings}
	}
	return conformance.Subject{
		Name:    "native",
		Start:   func(ctx context.Context, e conformance.Env) (loop.Loop, error) { return native.New(ctx, config(e)) },
		Restore: func(ctx context.Context, e conformance.Env) (loop.Loop, error) { return native.Restore(ctx, config(e)) },
		Foreign: func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
			return foreign.New(ctx, foreign.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Backend: oneRequest{}})
		},
	}
}

// TestConformance runs the kit on the reference loop, as every author of a loop does on hers.
func TestConformance(t *testing.T) { conformance.Run(t, subject()) }

func FuzzConformance(f *testing.F) { conformance.Fuzz(f, subject()) }
