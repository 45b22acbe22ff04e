package fakes

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
)

// Life is one life of the loop: its ports. When it has crashed they are dead: what is asked of them is refused and not
// noted.
type Life struct {
	stage   *Stage
	number  int
	store   *Store
	crashed atomic.Bool
}

// ErrDead is what the ports of a crashed loop answer.
var ErrDead = errors.New("fakes: the process has crashed " + Canary)

// Begin begins the next life, on the store of an earlier one or on a new one.
func (s *Stage) Begin(store *Store) *Life {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives++
	if store == nil {
		store = &Store{number: s.lives}
	}
	s.life = &Life{stage: s, number: s.lives, store: store}
	return s.life
}

func (s *Stage) latest() *Life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life
}

// Number counts the lives of a run from 1.
func (l *Life) Number() int { return l.number }

// Store is what the life's journal keeps.
func (l *Life) Store() *Store { return l.store }

// Mode returns the mode that the life's journal ends in; the base mode if it has no change of mode.
func (l *Life) Mode() loop.ModeName {
	mode := loop.BaseMode
	for _, e := range l.store.Events() {
		if e, is := e.(event.LoopModeChanged); is {
			mode = e.Mode
		}
	}
	return mode
}

// Journal returns the life's journal.
func (l *Life) Journal() journal.Journal { return &Journal{life: l} }

// Client returns the life's model client.
func (l *Life) Client() model.Client { return &Client{life: l} }

// Bindings returns what tool definitions are handed when they are built.
func (l *Life) Bindings() tool.Bindings { return tool.Bindings{"token": Canary} }

// Crash ends the life as kill -9 does: its ports are dead from here on.
func (l *Life) Crash() {
	l.stage.mu.Lock()
	l.crashed.Store(true)
	l.stage.asked = nil
	l.stage.turns = nil
	l.stage.mu.Unlock()
	l.stage.Log.Add(trace.Entry{Kind: trace.Crashed, Life: l.number})
	l.stage.World.Note("life", "crashed")
}

func (l *Life) dead() bool { return l.crashed.Load() }

// add notes an entry of this life.
func (l *Life) add(e trace.Entry) {
	if l.dead() {
		return
	}
	e.Life = l.number
	l.stage.Log.Add(e)
}

// Started notes that the life has begun, or why it has not.
func (l *Life) Started(definition *trace.Definition, err error) {
	d := *definition
	d.Journal = l.store.number
	l.add(trace.Entry{Kind: trace.Started, Definition: &d, Err: err})
	l.stage.World.Note("life", "started "+Outcome(err))
}

// Logf notes a line of the subject's.
func (l *Life) Logf(format string, args ...any) {
	l.add(trace.Entry{Kind: trace.Logged, Text: fmt.Sprintf(format, args...)})
}

// ended reports whether ctx has.
func ended(ctx context.Context) bool { return ctx.Err() != nil }

// Outcome words an error of a loop without what differs from run to run: its kinds.
func Outcome(err error) string {
	if err == nil {
		return "ok"
	}
	var (
		change  *loop.ChangeError
		submit  *loop.SubmitError
		turn    *loop.TurnError
		restore *loop.RestoreError
	)
	switch {
	case errors.As(err, &change) && change != nil:
		switch {
		case change.Mode != "":
			return string(change.Kind) + " " + string(change.Mode)
		case change.Tool != "":
			return string(change.Kind) + " " + change.Tool
		}
		return string(change.Kind)
	case errors.As(err, &submit) && submit != nil:
		return string(submit.Kind)
	case errors.As(err, &turn) && turn != nil:
		return string(turn.Kind)
	case errors.As(err, &restore) && restore != nil:
		return string(restore.Kind)
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "error"
}

// Panic is what the fakes panic with when they are told to. A loop must outlive it (TURN-6, EXT-11).
type Panic struct{ What string }

// String says that the panic is on purpose, for whoever finds it at the end of a dead process.
func (p Panic) String() string {
	return "loopcheck: a deliberate panic of " + p.What + ", which a loop must outlive (TURN-6, EXT-11) " + Canary
}

// Error makes a recovered panic an error where the value is taken for one.
func (p Panic) Error() string { return p.String() }
