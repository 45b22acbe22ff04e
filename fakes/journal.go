package fakes

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
)

// What a journal fails with.
var (
	ErrAppend = errors.New("fakes: the append failed " + Canary)
	ErrRead   = errors.New("fakes: the journal cannot be read " + Canary)
)

// Store is what survives a crash: the events that are durable. Safe for concurrent use.
type Store struct {
	number int
	mu     sync.Mutex
	events []event.Event
}

// Events returns the durable events. They share no memory with the loop.
func (s *Store) Events() []event.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// write writes the event, and calls written before anybody can read it.
func (s *Store) write(e event.Event, written func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	written()
}

// Journal is a [github.com/loopcheck/loopcheck/loop/journal.Journal] that fails when the schedule says so.
type Journal struct{ life *Life }

var (
	appendVerdicts = []string{"ok", "fail-before", "fail-after", "slow", "context", "held"}
	readVerdicts   = []string{"ok", "fail"}
)

// Append writes the event, or does not, as the schedule says.
func (j *Journal) Append(ctx context.Context, e event.Event) error {
	l, s := j.life, j.life.stage
	if l.dead() {
		return ErrDead
	}
	e = cloneEvent(e)
	call, op := s.number(), s.owner(e)
	l.add(trace.Entry{Kind: trace.AppendBegan, Op: op, Call: call, Event: e, Cancelled: ended(ctx)})
	err := j.append(ctx, e, call, op)
	l.add(trace.Entry{Kind: trace.AppendReturned, Op: op, Call: call, Event: e, Err: err})
	return err
}

func (j *Journal) append(ctx context.Context, e event.Event, call int, op string) error {
	l, s := j.life, j.life.stage
	owner := op
	if owner == "" {
		owner = "loop"
	}
	thread, free := s.thread("append " + owner)
	defer free()
	gate := sim.Gate{Thread: thread, Owner: owner, Name: "append", Verdicts: appendVerdicts}
	verdict, err := s.Park(s.World.Context(), gate)
	if verdict == "held" {
		s.hold(l, gate)
	}
	switch {
	case l.dead():
		return ErrDead
	case err != nil, verdict == "fail-before":
		return ErrAppend
	case verdict == "context" && ended(ctx):
		return ctx.Err()
	}
	l.store.write(e, func() { l.add(trace.Entry{Kind: trace.AppendWritten, Op: op, Call: call, Event: e}) })
	s.World.Note(thread, "wrote "+string(e.Type()))
	switch verdict {
	case "fail-after":
		return ErrAppend
	case "slow":
		gate.Name, gate.Verdicts = "return", nil
		if _, err := s.Park(s.World.Context(), gate); err != nil {
			return ErrAppend
		}
		if l.dead() {
			return ErrDead
		}
	}
	return nil
}

// owner returns the operation that asked for the event, as far as the event tells: gates are named after it.
func (s *Stage) owner(e event.Event) string {
	return s.took(func(what any) bool {
		switch what := what.(type) {
		case trace.Change:
			e, is := e.(event.LoopInferenceChanged)
			return is && (what.Model != nil && e.Runtime.Model.Name == what.Model.Name ||
				what.Model == nil && what.Effort != nil && e.Runtime.Effort == *what.Effort)
		case trace.SetMode:
			e, is := e.(event.LoopModeChanged)
			return is && e.Mode == what.Mode
		case trace.Replace:
			e, is := e.(event.LoopExternalToolsetChanged)
			return is && e.Generation == what.Generation && e.Source == what.Source
		}
		return false
	})
}

// Events yields the durable events, or half of them and an error, as the schedule says.
func (j *Journal) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		l, s := j.life, j.life.stage
		if l.dead() {
			yield(nil, ErrDead)
			return
		}
		call := s.number()
		l.add(trace.Entry{Kind: trace.ReadBegan, Call: call, Cancelled: ended(ctx)})
		stopped := false
		err := j.read(ctx, func(e event.Event) bool {
			stopped = !yield(e, nil)
			return !stopped
		})
		l.add(trace.Entry{Kind: trace.ReadEnded, Call: call, Err: err}) // without an error also if the reader stopped
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

func (j *Journal) read(ctx context.Context, yield func(event.Event) bool) error {
	l, s := j.life, j.life.stage
	thread, free := s.thread("read")
	defer free()
	verdict, err := s.Park(ctx, sim.Gate{Thread: thread, Owner: "loop", Name: "read", Verdicts: readVerdicts})
	switch {
	case l.dead():
		return ErrDead
	case err != nil:
		return err
	}
	events := l.store.Events()
	if verdict == "fail" {
		events = events[:len(events)/2]
	}
	for _, e := range events {
		if !yield(cloneEvent(e)) {
			return nil
		}
	}
	if verdict == "fail" {
		return ErrRead
	}
	return nil
}

// Close does nothing: the store outlives the loop.
func (j *Journal) Close() error { return nil }

// cloneEvent returns a copy that shares no memory with e.
func cloneEvent(e event.Event) event.Event {
	switch e := e.(type) {
	case event.LoopModeChanged:
		e.Runtime = e.Runtime.Clone()
		return e
	case event.LoopInferenceChanged:
		e.Runtime = e.Runtime.Clone()
		return e
	case event.LoopExternalToolsetChanged:
		e.Tools = slices.Clone(e.Tools)
		return e
	case event.LoopStarted:
		e.Runtime = e.Runtime.Clone()
		return e
	case event.Other:
		e.Raw = slices.Clone(e.Raw)
		return e
	}
	return e
}
