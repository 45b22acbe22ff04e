// Package foreign is the reference foreign loop: turns are run by another agent, behind a small port, and the rest of the
// contract is kept by the controller of package native.
//
// What the agent cannot do is refused: a change of mode or model with [loop.ChangeUnsupported] unless the backend says that
// it takes such changes, and external tools always, with [loop.ChangeExternalToolsUnsupported] and nothing built (EXT-10):
// the tools of a foreign agent are its own. A change that the backend takes is committed like any other and handed to it with
// the next turn, so that a failed append never leaves the agent ahead of the journal.
package foreign

import (
	"context"
	"errors"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

// Backend is the port to a foreign agent. Its methods may be called from several goroutines at once.
type Backend interface {
	// Capabilities says which changes the agent takes. It is asked once, when the loop starts.
	Capabilities() Capabilities
	// RunTurn runs one turn and returns nil if it completed, else why it failed. When ctx ends the turn has ended already,
	// and what RunTurn then does or returns is not looked at.
	RunTurn(ctx context.Context, turn Turn) error
}

// Capabilities says which changes are passed on to a backend. The others are refused.
type Capabilities struct {
	Modes     bool // SetMode
	Inference bool // Change
}

// Turn is what a backend gets for one turn: the configuration in force when it started, and the input.
type Turn struct {
	Mode         loop.ModeName
	Instructions string
	Model        model.Model // its sampling reports Effort
	Effort       model.Effort
	Input        string
	// Client is the loop's model client, for an agent that asks through it; nil if the loop has none. It begins no request
	// after the turn has ended.
	Client model.Client
}

// Config is what a foreign loop is made of. The definition's engine must be [loop.EngineForeign].
type Config struct {
	Definition loop.Definition
	Journal    journal.Journal
	Backend    Backend
	Client     model.Client // may be nil
}

// New starts a foreign loop on an empty journal. Its errors are those of [native.New], a [*native.ConfigError] among
// them, and for a backend that panics when it is asked for its capabilities a [*loop.PanicError].
func New(ctx context.Context, config Config) (*Loop, error) { return start(ctx, config, native.New) }

// Restore starts a foreign loop from what its journal holds. Its errors are those of [New], with those of [native.Restore].
func Restore(ctx context.Context, config Config) (*Loop, error) {
	return start(ctx, config, native.Restore)
}

func start(ctx context.Context, config Config, start func(context.Context, native.Config) (*native.Loop, error)) (*Loop, error) {
	if config.Backend == nil {
		return nil, &native.ConfigError{Field: "Backend", Reason: "is missing"}
	}
	if config.Definition.Defined() && config.Definition.Engine() != loop.EngineForeign {
		return nil, &native.ConfigError{Field: "Definition", Reason: "has no foreign engine"}
	}
	var capabilities Capabilities
	err := surroundings.Call("foreign backend", func() error {
		capabilities = config.Backend.Capabilities()
		return nil
	})
	if err != nil {
		return nil, err
	}
	l, err := start(ctx, native.Config{
		Definition: config.Definition, Journal: config.Journal, Client: config.Client, Engine: engine{config.Backend},
	})
	if err != nil {
		return nil, err
	}
	return &Loop{controller: l, capabilities: capabilities}, nil
}

// engine runs turns by handing them to the backend.
type engine struct{ backend Backend }

func (e engine) RunTurn(ctx context.Context, request native.TurnRequest) error {
	return e.backend.RunTurn(ctx, Turn{
		Mode: request.Mode, Instructions: request.Instructions, Model: request.Model, Effort: request.Effort,
		Input: request.Input, Client: request.Client,
	})
}

type controller = native.Loop

// Loop is a live foreign loop: a [loop.Loop] and a [loop.ModeCatalog], safe for concurrent use. It has the installer's method so that an application that forgets
// to ask gets a refusal with a name rather than nothing.
type Loop struct {
	*controller
	capabilities Capabilities
}

var (
	_ loop.Loop                  = (*Loop)(nil)
	_ loop.ExternalToolInstaller = (*Loop)(nil)
	_ loop.ModeCatalog           = (*Loop)(nil)
)

// SetMode selects a mode, or is refused with [loop.ChangeUnsupported]; see [loop.Controller].
func (l *Loop) SetMode(ctx context.Context, mode loop.ModeName) error {
	if !l.capabilities.Modes {
		return &loop.ChangeError{Kind: loop.ChangeUnsupported, Cause: errors.New("the backend takes no change of mode")}
	}
	return l.controller.SetMode(ctx, mode)
}

// Change selects a model, an effort or both, or is refused with [loop.ChangeUnsupported]; see [loop.Controller].
func (l *Loop) Change(ctx context.Context, changes ...loop.Change) error {
	if !l.capabilities.Inference {
		return &loop.ChangeError{Kind: loop.ChangeUnsupported, Cause: errors.New("the backend takes no change of model or effort")}
	}
	return l.controller.Change(ctx, changes...)
}

// ReplaceExternalTools is refused at once; nothing is built (EXT-10).
func (l *Loop) ReplaceExternalTools(context.Context, loop.ExternalToolset) error {
	return &loop.ChangeError{Kind: loop.ChangeExternalToolsUnsupported}
}
