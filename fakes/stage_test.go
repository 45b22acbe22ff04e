package fakes_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
)

// scene runs f as the program of a run whose gates are in force, on the first life of its stage. The schedule has a deviation a
// line, and the run must come to all of them. A program runs on a goroutine of the run: it asserts, and does not require.
func scene(t *testing.T, schedule string, f func(s *fakes.Stage, l *fakes.Life)) *sim.Result {
	t.Helper()
	var deviations sim.Schedule
	for line := range strings.Lines(schedule) {
		if line = strings.TrimSpace(line); line != "" {
			d, err := sim.ParseDeviation(line)
			require.NoError(t, err)
			deviations = append(deviations, d)
		}
	}
	follower := sim.Replay{Schedule: deviations.Sorted()}.Follow()
	ended := false
	r := sim.Run(func(w *sim.World) {
		s := fakes.NewStage(w)
		l := s.Begin(nil)
		s.Curtain()
		f(s, l)
		ended = true
	}, follower, sim.Options{KeepTrace: true})
	require.Nil(t, r.Failure, "%v", r.Failure)
	require.True(t, ended)
	require.Empty(t, follower.Unused(), "the run does not come to these:\n%s", sim.Transcript(r.Trace))
	return r
}

// kinds are those of the entries.
func kinds(s *fakes.Stage) (kinds []trace.Kind) {
	for _, e := range s.Log.Entries() {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// last is the last entry of the kind.
func last(t *testing.T, s *fakes.Stage, kind trace.Kind) (last trace.Entry) {
	t.Helper()
	for _, e := range s.Log.Entries() {
		if e.Kind == kind {
			last = e
		}
	}
	assert.Equal(t, kind, last.Kind, "there is none")
	return last
}

// changed is an event that a loop would append.
func changed(name string) event.LoopInferenceChanged {
	return event.LoopInferenceChanged{
		Header:  event.Header{EventID: uuid.New(), LoopID: uuid.New()},
		Runtime: event.Runtime{Model: model.Model{Provider: "acme", Name: name, Efforts: []model.Effort{model.EffortLow}}},
	}
}

// fakeTurn is a turn that ends when the test says so.
type fakeTurn struct {
	done chan struct{}
	err  error
}

func (t *fakeTurn) Done() <-chan struct{} { return t.done }
func (t *fakeTurn) Err() error            { return t.err }

// The end of a turn is found ahead of the next thing that is seen, so that an entry without one before it was made while the turn
// was going on. The outcome is asked for when the run is at rest.
func TestTheEndOfATurnIsFound(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		turn := &fakeTurn{done: make(chan struct{}), err: &loop.TurnError{Kind: loop.TurnFailed}}
		s.Asked(l, "a1", "", trace.Submit{Input: "hello"})
		s.Returned(l, trace.Entry{Op: "a1", Turn: turn})
		l.Logf("line %d", 1)
		close(turn.done)
		l.Logf("line %d", 2)
		assert.Equal(t, []trace.Kind{trace.Called, trace.Returned, trace.Logged, trace.TurnEnded, trace.Logged}, kinds(s))
		assert.NoError(t, s.Log.Entries()[3].Err, "nobody asked yet")

		s.Rest(func(entries []trace.Entry) {
			assert.Len(t, entries, 5)
			assert.Equal(t, turn.err, entries[3].Err)
			assert.Equal(t, "a1", entries[3].Op)
		})
		s.Rest(func(entries []trace.Entry) { assert.Empty(t, entries, "each once") })
		assert.Equal(t, 2, s.Log.Entries()[4].Seq-s.Log.Entries()[2].Seq)
	})
}

// A turn that ends while nobody looks is found when the run comes to rest.
func TestTheEndOfATurnIsFoundAtRest(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		turn := &fakeTurn{done: make(chan struct{})}
		s.Returned(l, trace.Entry{Op: "a1", Turn: turn})
		s.Rest(func([]trace.Entry) {})
		close(turn.done)
		s.Rest(func(entries []trace.Entry) {
			if assert.Len(t, entries, 1) {
				assert.Equal(t, trace.TurnEnded, entries[0].Kind)
				assert.Equal(t, 1, entries[0].Step)
			}
		})
	})
}

func TestCallsInTheTrace(t *testing.T) {
	r := scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		s.Asked(l, "a1", "b1", trace.Interrupt{})
		s.Cancelled(l, "a1")
		s.Returned(l, trace.Entry{Op: "a1", Err: &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: context.Canceled}})
		assert.Equal(t, []trace.Kind{trace.Called, trace.ContextEnded, trace.Returned}, kinds(s))
		called := s.Log.Entries()[0]
		assert.Equal(t, "b1", called.Inside)
		assert.Equal(t, trace.Interrupt{}, called.Asked)
		assert.Equal(t, 1, called.Life)
		assert.Equal(t, 1, s.Log.Entries()[2].Life)
	})
	assert.Equal(t, "a1: called\na1: context ended\na1: returned context_done\n", sim.Transcript(r.Trace))
}

func TestLives(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		act(s, func() { assert.NoError(t, l.Journal().Append(s.World.Context(), event.LoopModeChanged{Mode: "plan"})) })
		assert.Equal(t, loop.ModeName("plan"), l.Mode())
		next, other := s.Begin(l.Store()), s.Begin(nil)
		assert.Equal(t, []int{1, 2, 3}, []int{l.Number(), next.Number(), other.Number()})
		assert.Equal(t, loop.ModeName("plan"), next.Mode(), "the store outlives its life")
		assert.Equal(t, loop.BaseMode, other.Mode())
		assert.Empty(t, other.Store().Events())

		// The oracle tells from the number of the journal whether a life goes on with that of another.
		for _, l := range []*fakes.Life{l, next, other} {
			l.Started(&trace.Definition{}, nil)
		}
		var journals []int
		for _, e := range s.Log.Entries() {
			if e.Kind == trace.Started {
				journals = append(journals, e.Definition.Journal)
			}
		}
		assert.Equal(t, []int{1, 1, 3}, journals)
	})
}

// What a crashed loop still does is refused, and nobody sees it.
func TestCrash(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		ctx := s.World.Context()
		definitions, _ := l.Set("b1", "s1", "g1", tools("x"))
		var built []tool.InvokableTool
		act(s, func() {
			assert.NoError(t, l.Journal().Append(ctx, changed("m1")))
			var err error
			built, err = definitions[0].Build(ctx, l.Bindings())
			assert.NoError(t, err)
		})
		request := l.Client().Stream(ctx, model.Request{})
		s.Asked(l, "a1", "", trace.Submit{})

		l.Crash()
		before := len(s.Log.Entries())
		assert.Equal(t, trace.Crashed, s.Log.Entries()[before-1].Kind)
		assert.ErrorIs(t, l.Journal().Append(ctx, changed("m2")), fakes.ErrDead)
		for e, err := range l.Journal().Events(ctx) {
			assert.Nil(t, e, "it has none")
			assert.ErrorIs(t, err, fakes.ErrDead)
		}
		act(s, func() {
			for _, stream := range []func(func(model.Chunk, error) bool){request, l.Client().Stream(ctx, model.Request{})} {
				for _, err := range stream {
					assert.ErrorIs(t, err, fakes.ErrDead)
				}
			}
		})
		_, err := definitions[0].Build(ctx, l.Bindings())
		assert.ErrorIs(t, err, fakes.ErrDead)
		_, err = built[0].Info(ctx)
		assert.ErrorIs(t, err, fakes.ErrDead)
		_, err = built[0].InvokableRun(ctx, "{}")
		assert.ErrorIs(t, err, fakes.ErrDead)
		l.Logf("I am alive")
		s.Cancelled(l, "a1")
		s.Returned(l, trace.Entry{Op: "a1"})
		assert.Len(t, s.Log.Entries(), before, "nothing of that is noted")
		assert.Len(t, l.Store().Events(), 1)
	})
}

// Two who park for the same reason at one time are told apart, in a way that a schedule can name.
func TestNamesakes(t *testing.T) {
	r := scene(t, `after start run "append loop#2"`, func(s *fakes.Stage, l *fakes.Life) {
		for _, name := range []string{"m1", "m2"} {
			go func() { assert.NoError(t, l.Journal().Append(s.World.Context(), changed(name))) }()
		}
		assert.True(t, s.World.Settle())
		assert.Len(t, l.Store().Events(), 2)
		act(s, func() {
			assert.NoError(t, l.Journal().Append(s.World.Context(), changed("m3")), "a name is given back")
		})
	})
	var threads []string
	for _, e := range r.Trace {
		if strings.Contains(e.Text, "wrote") {
			threads = append(threads, e.Thread)
		}
	}
	assert.Equal(t, []string{"append loop#2", "append loop", "append loop"}, threads)
}

// Until the curtain everything goes through: a loop starts, and nothing of it is decided.
func TestBeforeTheCurtain(t *testing.T) {
	r := sim.Run(func(w *sim.World) {
		s := fakes.NewStage(w)
		l := s.Begin(nil)
		assert.NoError(t, l.Journal().Append(w.Context(), changed("m")))
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		_, err := s.Park(ctx, sim.Gate{Thread: "a", Name: "x"})
		assert.ErrorIs(t, err, context.Canceled)
	}, sim.Boring{}.Begin(0), sim.Options{})
	require.Nil(t, r.Failure)
	assert.Zero(t, r.Steps)
}

// Outcomes are what two runs of a schedule are compared by: of an error its kind, and what it names.
func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "ok"},
		{&loop.ChangeError{Kind: loop.ChangeNoChanges, Cause: errors.New("0xc000")}, "no_changes"},
		{&loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: "nowhere"}, "invalid_mode nowhere"},
		{&loop.ChangeError{Kind: loop.ChangeExternalToolCollision, Tool: "x"}, "external_tool_collision x"},
		{&loop.SubmitError{Kind: loop.SubmitExited}, "exited"},
		{&loop.TurnError{Kind: loop.TurnInterrupted}, "interrupted"},
		{&loop.RestoreError{Kind: loop.RestoreUnreadable}, string(loop.RestoreUnreadable)},
		{context.Canceled, "canceled"},
		{errors.New("0xc000"), "error"},
	} {
		assert.Equal(t, c.want, fakes.Outcome(c.err))
	}
}

// DUR-4 is checked by looking for one word in everything that is recorded: it must be in everything that must not be.
func TestCanary(t *testing.T) {
	for _, err := range []error{
		fakes.ErrAppend, fakes.ErrRead, fakes.ErrStream, fakes.ErrBuild, fakes.ErrInfo, fakes.ErrRun, fakes.ErrDead, fakes.Panic{What: "x"},
	} {
		assert.ErrorContains(t, err, fakes.Canary)
	}
	assert.Contains(t, fakes.Panic{What: "tool x"}.String(), "a deliberate panic of tool x, which a loop must outlive")
	scene(t, "", func(_ *fakes.Stage, l *fakes.Life) {
		assert.Contains(t, l.Bindings(), "token")
		assert.Equal(t, fakes.Canary, l.Bindings()["token"])
	})
}

// park parks at a gate of the test's, and reports whether the schedule let it go on.
func park(s *fakes.Stage, thread string) bool {
	_, err := s.Park(s.World.Context(), sim.Gate{Thread: thread, Owner: thread, Name: "go"})
	return err == nil
}

// act has f done by a thread of the run, to its end: the program itself cannot park.
func act(s *fakes.Stage, f func()) {
	s.World.Go("a", f)
	s.World.Settle()
}
