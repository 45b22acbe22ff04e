package fakes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// tools is a set of good tools.
func tools(names ...string) (set []workload.Tool) {
	for _, name := range names {
		set = append(set, workload.Tool{Name: name})
	}
	return set
}

// openly runs f as the program of a run whose gates are open.
func openly(t *testing.T, f func(s *fakes.Stage, l *fakes.Life)) {
	t.Helper()
	r := sim.Run(func(w *sim.World) {
		s := fakes.NewStage(w)
		f(s, s.Begin(nil))
	}, sim.Boring{}.Begin(0), sim.Options{})
	require.Nil(t, r.Failure, "%v", r.Failure)
}

// What a set comes to, as the oracle is told, is what a loop finds that builds and describes it.
func TestSetsComeToWhatTheySay(t *testing.T) {
	for _, behaviour := range append(workload.Behaviours(), "") {
		t.Run("behaviour "+behaviour, func(t *testing.T) {
			openly(t, func(s *fakes.Stage, l *fakes.Life) {
				ctx := s.World.Context()
				definitions, asked := l.Set("b1", "s1", "g1", []workload.Tool{{Name: "x", Behaviour: behaviour}, {Name: "y"}})
				assert.Equal(t, "s1", asked.Source)
				assert.Equal(t, "g1", asked.Generation)
				described, err := tool.Describe(ctx, definitions, l.Bindings())
				assert.Equal(t, err != nil, len(asked.Broken) > 0, "%v", err)
				panics := false
				for _, e := range s.Log.Entries() {
					panics = panics || e.Panic
				}
				assert.Equal(t, behaviour == workload.BuildPanics || behaviour == workload.InfoPanics, asked.Panics)
				if behaviour == workload.BuildPanics {
					assert.True(t, panics)
				}
				if err != nil {
					var wrong *tool.BuildError
					if assert.ErrorAs(t, err, &wrong) {
						assert.Contains(t, asked.Broken, wrong.Name())
					}
					return
				}
				if !assert.Len(t, described, len(asked.Tools)) {
					return
				}
				for i, want := range asked.Tools {
					got := described[i]
					assert.Equal(t, want.Name, got.Info.Name)
					assert.Equal(t, want.Description, got.Info.Description)
					assert.Equal(t, want.Schema, string(got.Info.Schema))
					_, err := got.Instance.InvokableRun(ctx, "{}")
					assert.NoError(t, err)
					assert.Equal(t, want.Instance, last(t, s, trace.ToolBegan).Run.Instance)
					assert.Contains(t, got.Info.Description, fakes.Canary)
					if behaviour != workload.BlankSchema || want.Name == "y" {
						assert.Contains(t, string(got.Info.Schema), fakes.Canary)
					}
				}
			})
		})
	}
}

func TestSets(t *testing.T) {
	openly(t, func(s *fakes.Stage, l *fakes.Life) {
		definitions, asked := l.Set("b1", "s1", "g1", nil)
		assert.Empty(t, definitions)
		assert.Equal(t, trace.Replace{Source: "s1", Generation: "g1"}, asked)

		many := func(n int) (set []workload.Tool) {
			for i := range n {
				set = append(set, workload.Tool{Name: fmt.Sprint("t", i)})
			}
			return set
		}
		_, asked = l.Set("b1", "s1", "g1", many(tool.MaxSet))
		assert.Empty(t, asked.Broken)
		definitions, asked = l.Set("b1", "s1", "g1", many(tool.MaxSet+1))
		_, err := tool.Describe(s.World.Context(), definitions, nil)
		var wrong *tool.BuildError
		if assert.ErrorAs(t, err, &wrong) {
			assert.Contains(t, asked.Broken, wrong.Name())
		}
		assert.Contains(t, asked.Broken, "", "whom to blame is a matter of taste")

		_, asked = l.Set("b1", "s1", "g1", []workload.Tool{{Name: strings.Repeat("x", tool.MaxName), Behaviour: workload.Pair}})
		assert.Len(t, asked.Broken, 2, "the second name of the pair is too long")

		// Source and generation identify the content: what the tools say is the same, and only the instances are others.
		_, one := l.Set("b1", "s1", "g1", tools("x"))
		_, two := l.Set("b2", "s1", "g1", tools("x"))
		_, other := l.Set("b2", "s1", "g2", tools("x"))
		assert.Equal(t, one.Tools[0].Schema, two.Tools[0].Schema)
		assert.Equal(t, one.Tools[0].Description, two.Tools[0].Description)
		assert.NotEqual(t, one.Tools[0].Instance, two.Tools[0].Instance)
		assert.NotEqual(t, one.Tools[0].Schema, other.Tools[0].Schema)

		decoy := l.Decoy("b1")
		assert.Equal(t, fakes.Decoy, decoy.Name())
	})
}

// A tool that changes says something else once it is installed, and then overwrites what it had handed out.
func TestChangingTools(t *testing.T) {
	openly(t, func(s *fakes.Stage, l *fakes.Life) {
		ctx := s.World.Context()
		for _, behaviour := range []string{workload.Changing, ""} {
			definitions, _ := l.Set("b1", "s1", "g1", []workload.Tool{{Name: "x", Behaviour: behaviour}})
			built, err := definitions[0].Build(ctx, nil)
			assert.NoError(t, err)
			first, err := built[0].Info(ctx)
			assert.NoError(t, err)
			kept := first.Clone()
			later, err := built[0].Info(ctx)
			assert.NoError(t, err)
			assert.False(t, fakes.Changed(kept))
			assert.Equal(t, behaviour == workload.Changing, fakes.Changed(*later))
			definitions[0].(*fakes.Definition).Spoil()
			assert.Equal(t, behaviour == workload.Changing, fakes.Changed(*first), "the memory that was handed out")
			assert.False(t, fakes.Changed(kept))
			assert.True(t, json.Valid(first.Schema), "no error tells who keeps it")
		}
		described := 0
		for _, e := range s.Log.Entries() {
			if e.Kind == trace.DescribeBegan {
				described++
			}
		}
		assert.Equal(t, 2, described, "of each the first is the description, and later ones are not asked for")
	})
}

func TestBuildVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		verdict string
		err     error
		panics  bool
	}{
		"ok":    {verdict: "ok"},
		"fail":  {verdict: "fail", err: fakes.ErrBuild},
		"panic": {verdict: "panic", err: fakes.ErrBuild, panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			schedule := "at b1 build 1 verdict " + c.verdict
			if c.verdict == "ok" {
				schedule = "" // it is no deviation
			}
			scene(t, schedule, func(s *fakes.Stage, l *fakes.Life) {
				definitions, _ := l.Set("b1", "s1", "g1", tools("x"))
				act(s, func() {
					defer func() { assert.Equal(t, c.panics, recover() != nil) }()
					built, err := definitions[0].Build(s.World.Context(), nil)
					assert.ErrorIs(t, err, c.err)
					assert.Equal(t, err == nil, len(built) == 1)
				})
				end := last(t, s, trace.BuildEnded)
				assert.ErrorIs(t, end.Err, c.err)
				assert.Equal(t, c.panics, end.Panic)
				assert.Equal(t, "b1", end.Op)
				assert.Equal(t, "x", end.Text)
			})
		})
	}
}

// A build that is held ignores its context, and so does an info.
func TestHeldBuilds(t *testing.T) {
	for verdict, at := range map[string]trace.Kind{"held": trace.BuildBegan, "held-info": trace.DescribeBegan} {
		scene(t, "at b1 build 1 verdict "+verdict, func(s *fakes.Stage, l *fakes.Life) {
			definitions, _ := l.Set("b1", "s1", "g1", tools("x"))
			ctx, cancel := context.WithCancel(s.World.Context())
			go func() {
				built, err := definitions[0].Build(ctx, nil)
				if assert.NoError(t, err) {
					_, err = built[0].Info(ctx)
					assert.NoError(t, err)
				}
			}()
			assert.True(t, s.World.Settle())
			cancel()
			assert.True(t, s.World.Settle())
			all := kinds(s)
			assert.Equal(t, at, all[len(all)-1], "there it is")
			s.LetGo()
			assert.True(t, s.World.Settle())
			last(t, s, trace.DescribeEnded)
			assert.Equal(t, verdict == "held", last(t, s, trace.BuildEnded).Held)
		})
	}
}

func TestRunVerdicts(t *testing.T) {
	for verdict, want := range map[string]error{"ok": nil, "fail": fakes.ErrRun, "panic": fakes.ErrRun, "cancelled": context.Canceled} {
		t.Run(verdict, func(t *testing.T) {
			schedule := "at a1 run 1 verdict " + verdict
			if verdict == "ok" || verdict == "cancelled" {
				schedule = ""
			}
			scene(t, schedule, func(s *fakes.Stage, l *fakes.Life) {
				ctx, cancel := context.WithCancel(s.World.Context())
				defer cancel()
				if verdict == "cancelled" {
					cancel()
				}
				s.Expect("a1", "hello", [][]string{{"x"}})
				definitions, _ := l.Set("b1", "s1", "g1", tools("x"))
				var inside []string
				s.Inside = func(turn, thread string) { inside = append(inside, turn+" by "+thread) }
				act(s, func() {
					built, err := definitions[0].Build(s.World.Context(), nil)
					assert.NoError(t, err)
					_, calls, err := answer(s.World.Context(), l, asking("hello"))
					assert.NoError(t, err)
					defer func() { assert.Equal(t, verdict == "panic", recover() != nil) }()
					text, err := built[0].InvokableRun(ctx, calls[0].Arguments)
					assert.ErrorIs(t, err, want)
					assert.Equal(t, verdict == "ok", text == "result of b1/0/x")
					_, err = built[0].InvokableRun(ctx, calls[0].Arguments)
					assert.ErrorIs(t, err, map[bool]error{true: want}[verdict == "cancelled"])
				})
				run := last(t, s, trace.ToolEnded).Run
				assert.Equal(t, trace.Run{Instance: "b1/0/x", Turn: "a1", Step: 1, Called: "x", ID: "a1.1.0"}, *run)
				if verdict == "ok" || verdict == "fail" { // then the second one is
					assert.Equal(t, []string{"a1 by tool a1"}, inside, "from the first run that goes on, and once a turn")
				} else {
					assert.Empty(t, inside)
				}
			})
		})
	}
}

// A held run ignores its context. One that nobody's model asked for belongs to nobody.
func TestHeldRun(t *testing.T) {
	scene(t, "at loop run 1 verdict held", func(s *fakes.Stage, l *fakes.Life) {
		definitions, _ := l.Set("b1", "s1", "g1", tools("x"))
		ctx, cancel := context.WithCancel(s.World.Context())
		go func() {
			built, err := definitions[0].Build(s.World.Context(), nil)
			assert.NoError(t, err)
			_, err = built[0].InvokableRun(ctx, "{}")
			assert.NoError(t, err)
		}()
		assert.True(t, s.World.Settle())
		cancel()
		assert.True(t, s.World.Settle())
		assert.NotContains(t, kinds(s), trace.ToolEnded)
		s.LetGo()
		assert.True(t, s.World.Settle())
		end := last(t, s, trace.ToolEnded)
		assert.True(t, end.Held)
		assert.True(t, end.Cancelled)
		assert.Empty(t, end.Run.Turn)
	})
}

// In a large set the builds would be all that happens in a run.
func TestBuildsOfLargeSetsDoNotPark(t *testing.T) {
	for size, parks := range map[int]bool{16: true, 17: false} {
		r := scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
			set := make([]workload.Tool, size)
			for i := range set {
				set[i].Name = fmt.Sprint("t", i)
			}
			definitions, _ := l.Set("b1", "s1", "g1", set)
			act(s, func() {
				_, err := definitions[0].Build(s.World.Context(), nil)
				assert.NoError(t, err)
				ended, cancel := context.WithCancel(s.World.Context())
				cancel()
				_, err = definitions[0].Build(ended, nil)
				assert.ErrorIs(t, err, context.Canceled)
			})
		})
		assert.Equal(t, parks, r.Steps > 0)
	}
}
