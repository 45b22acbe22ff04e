package fakes_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

func TestAppendVerdicts(t *testing.T) {
	began, written, returned := trace.AppendBegan, trace.AppendWritten, trace.AppendReturned
	for name, c := range map[string]struct {
		schedule string
		ended    bool // the context of the append
		err      error
		kinds    []trace.Kind
	}{
		"ok":                         {kinds: []trace.Kind{began, written, returned}},
		"ok ignores its context":     {ended: true, kinds: []trace.Kind{began, written, returned}},
		"fail-before":                {schedule: "at loop append 1 verdict fail-before", err: fakes.ErrAppend, kinds: []trace.Kind{began, returned}},
		"fail-after":                 {schedule: "at loop append 1 verdict fail-after", err: fakes.ErrAppend, kinds: []trace.Kind{began, written, returned}},
		"slow":                       {schedule: "at loop append 1 verdict slow", kinds: []trace.Kind{began, written, returned}},
		"context honoured":           {schedule: "at loop append 1 verdict context", ended: true, err: context.Canceled, kinds: []trace.Kind{began, returned}},
		"context that has not ended": {schedule: "at loop append 1 verdict context", kinds: []trace.Kind{began, written, returned}},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, c.schedule, func(s *fakes.Stage, l *fakes.Life) {
				ctx, cancel := context.WithCancel(s.World.Context())
				defer cancel()
				if c.ended {
					cancel()
				}
				s.World.Go("a", func() { assert.ErrorIs(t, l.Journal().Append(ctx, changed("m")), c.err) })
				assert.True(t, s.World.Settle())
				assert.Equal(t, c.kinds, kinds(s))
				for _, e := range s.Log.Entries() {
					assert.Equal(t, 1, e.Call, "one append")
					assert.Equal(t, c.ended && e.Kind == began, e.Cancelled)
				}
				assert.ErrorIs(t, last(t, s, returned).Err, c.err)
				if len(c.kinds) == 3 {
					assert.Len(t, l.Store().Events(), 1)
				} else {
					assert.Empty(t, l.Store().Events())
				}
			})
		})
	}
}

// A slow append has written before it returns, and anybody may read it meanwhile.
func TestSlowAppend(t *testing.T) {
	scene(t, "at loop append 1 verdict slow\nafter loop append 1 run read", func(s *fakes.Stage, l *fakes.Life) {
		go func() { assert.NoError(t, l.Journal().Append(s.World.Context(), changed("m"))) }()
		go func() {
			for range l.Journal().Events(s.World.Context()) {
				assert.NotContains(t, kinds(s), trace.AppendReturned)
				l.Logf("read")
			}
		}()
		assert.True(t, s.World.Settle())
		last(t, s, trace.Logged)
	})
}

// What is held goes on only because the run is about to end, or because the schedule takes the option.
func TestHeldAppend(t *testing.T) {
	held := func(t *testing.T, schedule string, let bool) {
		scene(t, schedule, func(s *fakes.Stage, l *fakes.Life) {
			ctx, cancel := context.WithCancel(s.World.Context())
			go func() { assert.NoError(t, l.Journal().Append(ctx, changed("m"))) }()
			cancel()
			if !let {
				go func() { assert.NoError(t, l.Journal().Append(s.World.Context(), changed("other"))) }()
			}
			assert.True(t, s.World.Settle())
			if let {
				assert.Empty(t, l.Store().Events(), "it is held before the write, whatever becomes of its context")
				s.LetGo()
				assert.True(t, s.World.Settle())
				assert.Len(t, l.Store().Events(), 1)
			} else {
				assert.Len(t, l.Store().Events(), 2, "nobody let go")
			}
		})
	}
	t.Run("let go", func(t *testing.T) { held(t, "at loop append 1 verdict held", true) })
	t.Run("taken", func(t *testing.T) {
		held(t, "at loop append 1 verdict held\nafter loop append 1 run \"append loop\"", false)
	})
}

// Gates are named after the operation that asked for the event, as far as that can be told.
func TestAppendsBelongToOperations(t *testing.T) {
	mode := event.LoopModeChanged{Mode: "plan"}
	toolset := event.LoopExternalToolsetChanged{Source: "s1", Generation: "g1"}
	effort := event.LoopInferenceChanged{Runtime: event.Runtime{Effort: model.EffortHigh}}
	high := model.EffortHigh
	for name, c := range map[string]struct {
		asked any
		event event.Event
		mine  bool
	}{
		"model":            {trace.Change{Model: &model.Model{Name: "m"}}, changed("m"), true},
		"another model":    {trace.Change{Model: &model.Model{Name: "n"}}, changed("m"), false},
		"effort":           {trace.Change{Effort: &high}, effort, true},
		"mode":             {trace.SetMode{Mode: "plan"}, mode, true},
		"another mode":     {trace.SetMode{Mode: "quick"}, mode, false},
		"set":              {trace.Replace{Source: "s1", Generation: "g1"}, toolset, true},
		"another source":   {trace.Replace{Source: "s2", Generation: "g1"}, toolset, false},
		"event of no one":  {trace.Submit{}, event.LoopStopped{}, false},
		"interrupt, other": {trace.Interrupt{}, mode, false},
	} {
		t.Run(name, func(t *testing.T) {
			owner, op := "loop", ""
			if c.mine {
				owner, op = "a1", "a1"
			}
			scene(t, "at "+owner+" append 1 verdict fail-before", func(s *fakes.Stage, l *fakes.Life) {
				s.Asked(l, "a1", "", c.asked)
				go func() { assert.ErrorIs(t, l.Journal().Append(s.World.Context(), c.event), fakes.ErrAppend) }()
				assert.True(t, s.World.Settle())
				assert.Equal(t, op, last(t, s, trace.AppendReturned).Op)
				s.Returned(l, trace.Entry{Op: "a1"})
				go func() { assert.NoError(t, l.Journal().Append(s.World.Context(), c.event)) }()
				assert.True(t, s.World.Settle())
				assert.Empty(t, last(t, s, trace.AppendReturned).Op, "it has returned")
			})
		})
	}
}

func TestReads(t *testing.T) {
	read := func(s *fakes.Stage, l *fakes.Life, names *[]string) (err error) {
		for e, failed := range l.Journal().Events(s.World.Context()) {
			if failed != nil {
				err = failed
				continue
			}
			*names = append(*names, e.(event.LoopInferenceChanged).Runtime.Model.Name)
		}
		return err
	}
	for schedule, c := range map[string]struct {
		err   error
		names []string
	}{
		"":                               {nil, []string{"m1", "m2", "m3", "m4"}},
		"at loop read 1 verdict fail":    {fakes.ErrRead, []string{"m1", "m2"}},
		"at loop append 4 verdict slow ": {nil, []string{"m1", "m2", "m3", "m4"}},
	} {
		scene(t, schedule, func(s *fakes.Stage, l *fakes.Life) {
			var names []string
			s.World.Go("a", func() {
				for _, name := range []string{"m1", "m2", "m3", "m4"} {
					assert.NoError(t, l.Journal().Append(s.World.Context(), changed(name)))
				}
				assert.ErrorIs(t, read(s, l, &names), c.err)
			})
			assert.True(t, s.World.Settle())
			assert.Equal(t, c.names, names)
			assert.ErrorIs(t, last(t, s, trace.ReadEnded).Err, c.err)
			assert.Equal(t, last(t, s, trace.ReadBegan).Call, last(t, s, trace.ReadEnded).Call)
		})
	}
}

// Who stops reading does not read any more.
func TestReadsThatStop(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		s.World.Go("a", func() {
			assert.NoError(t, l.Journal().Append(s.World.Context(), changed("m1")))
			assert.NoError(t, l.Journal().Append(s.World.Context(), changed("m2")))
			for range l.Journal().Events(s.World.Context()) {
				break
			}
		})
		assert.True(t, s.World.Settle())
		assert.NoError(t, last(t, s, trace.ReadEnded).Err)
	})
}

// What is durable shares no memory with who wrote it, nor with who reads it.
func TestTheJournalSharesNoMemory(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		s.World.Go("a", func() {
			e := changed("m")
			raw := event.Other{Tag: "x", Raw: json.RawMessage(`{"a":1}`)}
			tools := event.LoopExternalToolsetChanged{Tools: []event.ExternalToolIdentity{{Name: "x"}}}
			for _, e := range []event.Event{e, raw, tools} {
				assert.NoError(t, l.Journal().Append(s.World.Context(), e))
			}
			e.Runtime.Model.Efforts[0], raw.Raw[2], tools.Tools[0].Name = "scribbled", 'z', "scribbled"
			for range 2 { // the second time it would see what the first one wrote
				for e := range l.Journal().Events(s.World.Context()) {
					switch e := e.(type) {
					case event.LoopInferenceChanged:
						assert.Equal(t, model.EffortLow, e.Runtime.Model.Efforts[0])
						e.Runtime.Model.Efforts[0] = "scribbled"
					case event.Other:
						assert.Equal(t, `{"a":1}`, string(e.Raw))
						e.Raw[2] = 'z'
					case event.LoopExternalToolsetChanged:
						assert.Equal(t, "x", e.Tools[0].Name)
						e.Tools[0].Name = "scribbled"
					}
				}
			}
			assert.NoError(t, l.Journal().Close())
			assert.NoError(t, l.Journal().Append(s.World.Context(), changed("n")), "the store outlives the loop")
		})
		assert.True(t, s.World.Settle())
	})
}

// Of a crash during an append, what was written is kept, and what was not is lost. Neither is acknowledged.
func TestCrashDuringAnAppend(t *testing.T) {
	for name, c := range map[string]struct {
		schedule string
		kept     int
	}{
		"before the write": {"after start run crash", 0},
		"after the write":  {"at loop append 1 verdict slow\nafter loop append 1 run crash", 1},
		"while it is held": {"at loop append 1 verdict held\nafter loop append 1 run crash", 0},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, c.schedule, func(s *fakes.Stage, l *fakes.Life) {
				s.Asked(l, "a1", "", trace.SetMode{Mode: loop.BaseMode})
				go func() { assert.ErrorIs(t, l.Journal().Append(s.World.Context(), changed("m")), fakes.ErrDead) }()
				go func() {
					if park(s, "crash") {
						l.Crash()
					}
				}()
				assert.True(t, s.World.Settle())
				s.LetGo()
				assert.True(t, s.World.Settle())
				assert.Len(t, l.Store().Events(), c.kept)
				all := kinds(s)
				assert.Equal(t, trace.Crashed, all[len(all)-1], "what came later was not seen")
				assert.Len(t, s.Begin(l.Store()).Store().Events(), c.kept)
			})
		})
	}
}
