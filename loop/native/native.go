// Package native is the reference loop: it keeps every requirement of the loop contract.
//
// A [Loop] has two sides. The caller's side runs on the goroutine of whoever calls: it checks what needs no knowledge of
// the loop's state, builds and describes external tools, and sends the actor a command. The actor is one goroutine that owns
// mode, model, effort, slots, the turn in flight and the queue. It never waits for anything but its next message: appends,
// read-backs and turns run on goroutines of their own and report back. What follows from that:
//
//   - At most one append is outstanding, and changes wait for it in a queue. Each is checked against the committed state
//     when its turn has come, so a refusal never rests on a change that was pending and then failed (REF-11), and two
//     replacements that race on one name are checked against each other (EXT-5).
//   - Every command is answered by the actor alone. A caller whose context ends asks the actor to withdraw its command
//     and takes the answer it gets: withdrawn, if the append has not begun; else what became of it. So there is no instant
//     at which caller and actor disagree about who decides (REF-3, REF-7).
//   - A committed state is immutable, and one pointer publishes it: captures and reads are whole (TURN-2, VIEW-2).
//   - An interrupted turn ends at once, whatever its calls do, and from then on none of its calls begins (INT-2, TURN-8).
//     There is no period of grace: it would be a timer of the loop's own (REF-9).
//
// A failed append leaves the loop in doubt: the event may be durable all the same. The actor then reads the journal back.
// Until it knows, no turn starts and no call succeeds but Interrupt and Shutdown; if it cannot know, the loop faults (DUR-6).
package native

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Config is what a loop is made of.
type Config struct {
	Definition loop.Definition
	// Journal is used until the loop has exited, and is not closed.
	Journal journal.Journal
	// Client is whom turns ask. It may be nil if Engine does without.
	Client model.Client
	// Bindings are handed to every tool definition that is built.
	Bindings tool.Bindings
	// Engine runs the turns; nil stands for [Steps] with its defaults. A definition with a foreign engine needs one.
	Engine Engine
}

// ConfigError says which field of a configuration is wrong: of a [Config], or of one of package foreign.
type ConfigError struct {
	Field  string
	Reason string
}

func (e *ConfigError) Error() string { return "loop configuration: " + e.Field + " " + e.Reason }

func (c Config) validate() error {
	switch {
	case !c.Definition.Defined():
		return &ConfigError{Field: "Definition", Reason: "is missing"}
	case c.Journal == nil:
		return &ConfigError{Field: "Journal", Reason: "is missing"}
	case c.Engine == nil && c.Definition.Engine() == loop.EngineForeign:
		return &ConfigError{Field: "Engine", Reason: "is missing, and the definition's engine is foreign"}
	case c.Engine == nil && c.Client == nil:
		return &ConfigError{Field: "Client", Reason: "is missing, and so is an engine that does without"}
	}
	return nil
}

// New starts a loop in its definition's base mode. The journal must be empty: on the journal of another loop it fails with a
// [*loop.RestoreError] and [Restore] is what is wanted. Other errors are a [*ConfigError] and, from building the declared
// tools, a [*loop.DefinitionError]. The end of ctx ends New, and not the loop (REF-8).
func New(ctx context.Context, config Config) (*Loop, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	empty, err := surroundings.Await(ctx, "journal", func() (bool, error) {
		for _, err := range config.Journal.Events(ctx) {
			return false, err
		}
		return true, nil
	})
	if err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnreadable, Cause: err}
	}
	if !empty {
		return nil, &loop.RestoreError{Kind: loop.RestoreNotEmpty, Cause: errNotEmpty}
	}
	return start(ctx, config, journal.Initial(config.Definition), uuid.New())
}

// Restore starts a loop in the state that its journal stands for: mode, whole model and effort as they were last committed;
// no external tools, no queued inputs (DUR-3, EXT-9). It keeps the loop's id. A journal that cannot be read to its end, a mode
// that the definition no longer has, or a model or effort that it would refuse today fails with a [*loop.RestoreError], and
// the journal is as it was (MODE-3). Restoring from an empty journal is starting anew.
func Restore(ctx context.Context, config Config) (*Loop, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	type folded struct {
		state journal.State
		id    uuid.UUID
	}
	found, err := surroundings.Await(ctx, "journal", func() (f folded, err error) {
		f.state, err = journal.Fold(journal.Initial(config.Definition), observeLoopID(config.Journal.Events(ctx), &f.id))
		return f, err
	})
	if err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnreadable, Cause: err}
	}
	state, id := found.state, found.id
	if _, known := config.Definition.Configuration(state.Mode); !known {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: state.Mode}
	}
	if err := checkModel(state.Model, config.Definition.Transports()); err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreInvalidRuntime, Cause: err}
	}
	if err := checkEffort(state.Model, state.Effort); err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreInvalidRuntime, Cause: err}
	}
	if id == uuid.Nil {
		id = uuid.New()
	}
	return start(ctx, config, state, id)
}

var errNotEmpty = errors.New("the journal has events already: Restore takes them up, and starts anew where there are none")

func start(ctx context.Context, config Config, from journal.State, id uuid.UUID) (*Loop, error) {
	bound := &loop.Bound{}
	if config.Definition.Engine() == loop.EngineNative {
		var err error
		// A foreign engine's tools are its own: there is nothing to build.
		if bound, err = config.Definition.Bind(ctx, config.Bindings); err != nil {
			return nil, err
		}
	}
	if config.Engine == nil {
		config.Engine = Steps{}
	}
	life, stop := context.WithCancel(context.Background())
	l := &Loop{
		life:        life,
		id:          id,
		config:      config,
		transports:  config.Definition.Transports(),
		bound:       bound,
		inbox:       make(chan *request),
		withdrawals: make(chan withdrawal),
		exited:      make(chan struct{}),
	}
	a := &actor{loop: l, endLife: stop, state: initialState(l, from)}
	l.view.Store(a.state)
	go a.run()
	return l, nil
}

// Loop is a live reference loop. It is a [loop.Loop], a [loop.ExternalToolInstaller] and a [loop.ModeCatalog], and safe for
// concurrent use.
type Loop struct {
	id         uuid.UUID
	config     Config
	transports []model.Transport
	bound      *loop.Bound

	inbox       chan *request // unbuffered: what the actor has taken it answers, what it has not taken the caller still has
	withdrawals chan withdrawal
	life        context.Context // ends when a shutdown begins
	exited      chan struct{}   // closed when the actor has answered everything and does nothing more

	view atomic.Pointer[state]
}

var (
	_ loop.Loop                  = (*Loop)(nil)
	_ loop.ExternalToolInstaller = (*Loop)(nil)
	_ loop.ModeCatalog           = (*Loop)(nil)
)
