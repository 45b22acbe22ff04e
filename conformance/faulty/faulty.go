// Package faulty is a second, independent loop, with faults on request: it is what the conformance kit must catch.
//
// Without a fault it keeps every requirement of the loop contract. It is built otherwise than the reference loop: there is
// no actor. One mutex guards everything that changes; a caller commits from its own goroutine, in a section that one call
// at a time can hold; who must wait does so on one condition variable, in a line, so that the order is that of the arrivals.
//
// Two rules make that safe. The mutex is never held during a call to the surroundings: journal, client, definitions, tools,
// their errors, and the contexts of callers, of which only Done is looked at under the mutex. And whatever changes what a
// waiter may wait for ends with a broadcast. A context that ends wakes its waiter by [context.AfterFunc].
//
// With a fault, named in [Config], the loop breaks the contract in one precise way. [Faults] lists them. A planted spot is a
// condition on l.has with the fault's name; what only faults remember is in [Loop.planted].
package faulty

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Config is what a loop is made of.
type Config struct {
	Definition loop.Definition
	Journal    journal.Journal
	Client     model.Client
	Bindings   tool.Bindings
	// Fault names what is wrong with the loop; "" is nothing.
	Fault string
}

// ConfigError says which field of a [Config] is wrong.
type ConfigError struct {
	Field  string
	Reason string
}

func (e *ConfigError) Error() string {
	return "faulty loop: configuration: " + e.Field + " " + e.Reason
}

func (c Config) validate(engine loop.Engine) error {
	switch {
	case !c.Definition.Defined():
		return &ConfigError{"Definition", "is missing"}
	case c.Definition.Engine() != engine:
		return &ConfigError{"Definition", fmt.Sprintf("has the engine %q, not %q", c.Definition.Engine(), engine)}
	case c.Journal == nil:
		return &ConfigError{"Journal", "is missing"}
	case c.Client == nil:
		return &ConfigError{"Client", "is missing"}
	}
	if _, known := Lookup(c.Fault); c.Fault != "" && !known {
		return &ConfigError{"Fault", fmt.Sprintf("%q is not in the catalogue", c.Fault)}
	}
	return nil
}

// New starts a loop in its definition's base mode. The journal must be empty. Errors are a [*ConfigError], a
// [*loop.RestoreError] and, from building the declared tools, a [*loop.DefinitionError].
func New(ctx context.Context, c Config) (*Loop, error) {
	if err := c.validate(loop.EngineNative); err != nil {
		return nil, err
	}
	return begin(ctx, c)
}

func begin(ctx context.Context, c Config) (*Loop, error) {
	empty, err := await(ctx, "journal", func() (bool, error) {
		for _, err := range c.Journal.Events(ctx) {
			return false, err
		}
		return true, nil
	})
	switch {
	case err != nil:
		return nil, &loop.RestoreError{Kind: loop.RestoreUnreadable, Cause: err}
	case !empty:
		return nil, &loop.RestoreError{Kind: loop.RestoreNotEmpty, Cause: errors.New("the journal has events already")}
	}
	l, err := start(ctx, c, journal.Initial(c.Definition), uuid.New())
	if err == nil {
		l.plantNew()
	}
	return l, err
}

// start makes a live loop. There is no goroutine to start: an idle loop has none.
func start(ctx context.Context, c Config, from journal.State, id uuid.UUID) (*Loop, error) {
	bound := &loop.Bound{}
	if c.Definition.Engine() == loop.EngineNative {
		var err error
		if bound, err = c.Definition.Bind(ctx, c.Bindings); err != nil {
			return nil, err
		}
	}
	l := &Loop{
		faults:     faults(c.Fault),
		id:         id,
		config:     c,
		transports: c.Definition.Transports(),
		bound:      bound,
		declared:   make(map[loop.ModeName][]*installed),
		exited:     make(chan struct{}),
	}
	for _, mode := range append(c.Definition.Modes(), loop.BaseMode) {
		for _, d := range bound.Tools(mode) {
			l.declared[mode] = append(l.declared[mode], &installed{info: d.Info, digest: d.Digest, instance: d.Instance})
		}
	}
	l.cond = sync.NewCond(&l.mu)
	l.life, l.endLife = context.WithCancel(context.Background())
	l.state = l.inForce(l.stateOf(from.Mode), from.Model, from.Effort)
	l.plantAtStart(ctx)
	return l, nil
}
