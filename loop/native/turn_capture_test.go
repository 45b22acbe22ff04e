package native_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// describe says all there is to a request's configuration, descriptions of tools included.
func describe(mode loop.ModeName, instructions string, m model.Model, effort model.Effort, infos []tool.Info) string {
	var tools []string
	for _, info := range infos {
		tools = append(tools, info.Name+"@"+info.Description)
	}
	return fmt.Sprintf("%s|%s|%s %s|%s|%s", mode, instructions, m.Name, m.Sampling.Effort, effort, strings.Join(tools, " "))
}

func describeCapture(c native.Capture) string {
	var infos []tool.Info
	for _, t := range c.Tools {
		infos = append(infos, t.Info)
	}
	return describe(c.Mode, c.Instructions, c.Model, c.Effort, infos)
}

func TestTURN1_TurnKeepsItsCapture(t *testing.T) {
	for name, c := range map[string]struct {
		during func(t *testing.T, b *bench, replacement *fixture.Tool)
		later  string
	}{
		"model (F02)": {func(t *testing.T, b *bench, _ *fixture.Tool) {
			require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
		}, "|be brief|m2 low|low|declared@ x@old"},
		"effort": {func(t *testing.T, b *bench, _ *fixture.Tool) {
			require.NoError(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)))
		}, "|be brief|m1 high|high|declared@ x@old"},
		"mode": {func(t *testing.T, b *bench, _ *fixture.Tool) {
			require.NoError(t, b.SetMode(t.Context(), "plan"))
		}, "|only plan|planner max|max|outline@ x@old"},
		"slot replaced": {func(_ *testing.T, b *bench, r *fixture.Tool) {
			b.install("mcp", "g2", r)
		}, "|be brief|m1 low|low|declared@ x@new"},
		"slot cleared (F03)": {func(_ *testing.T, b *bench, _ *fixture.Tool) {
			b.install("mcp", "g2")
		}, "|be brief|m1 low|low|declared@"},
		"everything": {func(t *testing.T, b *bench, r *fixture.Tool) {
			require.NoError(t, b.SetMode(t.Context(), "plan"))
			require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow), loop.ChangeEffort(model.EffortNone)))
			b.install("mcp", "g2", r)
			b.install("other", "g1", &fixture.Tool{Name: "more"})
		}, "|only plan|m2 ||outline@ x@new more@"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				x, replacement := &fixture.Tool{Name: "x", Description: "old"}, &fixture.Tool{Name: "x", Description: "new"}
				b.install("mcp", "g1", x)
				inRequest, inTool := make(chan struct{}), make(chan struct{})
				x.OnRun = func(context.Context, string) (string, error) { <-inTool; return "", nil }
				b.client.Answer = func(_ context.Context, _ model.Request, step int) ([]model.Chunk, error) {
					switch step {
					case 1:
						return fixture.Calls("x"), nil
					case 2:
						<-inRequest
						return fixture.Calls("x", "x", "more", "outline"), nil
					}
					return nil, nil
				}
				turn := b.submit("a1")
				synctest.Wait()
				c.during(t, b, replacement) // while a tool runs
				close(inTool)
				synctest.Wait()
				c.during(t, b, replacement) // and while the model is asked
				close(inRequest)
				require.Empty(t, outcome(turn))
				requests := b.client.RequestsOf("a1")
				require.Len(t, requests, 3)
				for _, r := range requests {
					require.Equal(t, "|be brief|m1 low|low|declared@ x@old", describe("", r.Instructions, r.Model, r.Effort, r.Tools))
				}
				told := results(requests[2])
				require.Equal(t, []bool{false, false, false, true, true},
					[]bool{told[0].Failed, told[1].Failed, told[2].Failed, told[3].Failed, told[4].Failed}, "only what was captured runs")
				require.Equal(t, 3, x.Runs(), "the captured instance stays callable")
				require.Zero(t, replacement.Runs())

				b.client.Answer = answering("x")
				require.NoError(t, b.run("a2"))
				r := b.client.RequestsOf("a2")[0]
				require.Equal(t, c.later, describe("", r.Instructions, r.Model, r.Effort, r.Tools))
				if strings.Contains(c.later, "x@old") {
					require.Equal(t, []int{4, 0}, []int{x.Runs(), replacement.Runs()})
				} else {
					require.Equal(t, 3, x.Runs(), "what the slot no longer has is not run")
					require.Equal(t, strings.Count(c.later, "x@new"), replacement.Runs())
				}
			})
		})
	}
}

// Captures taken while one writer commits are whole states of its history, none from before what was acknowledged when the
// input was handed in, and none older than the capture before (F21).
func TestTURN2_CapturesAreWholeAndNeverGoBack(t *testing.T) {
	var captured []string // by turns, one at a time
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Engine: engineFunc(func(_ context.Context, r native.TurnRequest) error {
			captured = append(captured, describeCapture(r.Capture))
			return nil
		})}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		const rounds = 60
		slot := func(generation string) string {
			return fmt.Sprintf(" %s@%s %s@%s", "a"+generation, generation, "b", generation)
		}
		type step struct {
			change func() error
			state  string
		}
		var steps []step
		external := ""
		for i := range rounds {
			g, effort := fmt.Sprint("g", i), []model.Effort{model.EffortLow, model.EffortHigh}[i%2]
			set := func() error {
				return b.swap("mcp", g, &fixture.Tool{Name: "a" + g, Description: g}, &fixture.Tool{Name: "b", Description: g})
			}
			name := fmt.Sprint("m", i)
			steps = append(steps,
				step{func() error { return b.SetMode(t.Context(), "plan") }, "plan|only plan|planner max|max|outline@" + external},
				step{set, "plan|only plan|planner max|max|outline@" + slot(g)},
				step{func() error { return b.SetMode(t.Context(), "") }, "|be brief|m1 low|low|declared@" + slot(g)},
				step{func() error {
					return b.Change(t.Context(), changeModel(name, effort), loop.ChangeEffort(effort))
				}, fmt.Sprintf("|be brief|%s %s|%s|declared@%s", name, effort, effort, slot(g))},
			)
			external = slot(g)
		}
		var acknowledged atomic.Int64
		writer := async(func() error {
			for _, s := range steps {
				if err := s.change(); err != nil {
					return err
				}
				acknowledged.Add(1)
			}
			return nil
		})
		states := []string{"|be brief|m1 low|low|declared@"}
		for _, s := range steps {
			states = append(states, s.state)
		}
		at := 0
		for turn := 0; ; turn++ {
			floor := int(acknowledged.Load())
			require.NoError(t, b.run(fmt.Sprint(turn)))
			at = max(at, floor)
			found := slices.Index(states[at:], captured[turn])
			require.GreaterOrEqual(t, found, 0, "turn %d has no state from %d on: %s", turn, at, captured[turn])
			at += found
			if floor == len(steps) {
				break
			}
		}
		require.NoError(t, <-writer)
		require.Equal(t, len(steps), at)
	})
}

func TestTURN4_WhatIsAcknowledgedBeforeTheEndIsInTheNextCapture(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		external := &fixture.Tool{Name: "x"}
		b.client.Answer = func(_ context.Context, r model.Request, _ int) ([]model.Chunk, error) {
			// The last that the turn does. The next input waits already.
			switch r.Messages[0].Text {
			case "mode":
				return nil, b.SetMode(t.Context(), "plan")
			case "model":
				return nil, b.Change(t.Context(), changeModel("m2", model.EffortLow), loop.ChangeEffort(model.EffortLow))
			case "tools":
				return nil, b.swap("mcp", "g1", external)
			}
			return nil, nil
		}
		var turns []loop.Turn
		for _, input := range []string{"mode", "model", "tools", "last"} {
			turns = append(turns, b.submit(input))
		}
		for _, turn := range turns {
			require.Empty(t, outcome(turn))
		}
		require.NoError(t, b.SetMode(t.Context(), "")) // while idle
		require.NoError(t, b.run("idle"))
		var got []string
		for _, r := range b.client.Requests() {
			got = append(got, describe("", r.Instructions, r.Model, r.Effort, r.Tools))
		}
		require.Equal(t, []string{
			"|be brief|m1 low|low|declared@",
			"|only plan|planner max|max|outline@",
			"|only plan|m2 low|low|outline@",
			"|only plan|m2 low|low|outline@ x@",
			"|be brief|m1 low|low|declared@ x@",
		}, got)
	})
}

func TestTURN2_WhatIsNotCommittedIsNotInACapture(t *testing.T) {
	failure := errors.New("disk on fire")
	for name, change := range everyChange {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				b.install("mcp", "g0", &fixture.Tool{Name: "x"})
				now := func(input string) string {
					require.NoError(t, b.run(input), "a turn waits for no append")
					r := b.client.RequestsOf(input)[0]
					return describe("", r.Instructions, r.Model, r.Effort, r.Tools)
				}
				before := now("before")
				failing, hold := make(chan struct{}), make(chan struct{})
				b.journal.PlanAppends(fixture.Plan{Hold: failing, Before: failure}, fixture.Plan{Hold: hold})
				failed := async(func() error { return change(t.Context(), b) })
				require.True(t, pending(failed))
				require.Equal(t, before, now("while the append is outstanding"))
				close(failing)
				require.ErrorIs(t, <-failed, failure)
				require.Equal(t, before, now("when it has failed"))
				succeeding := async(func() error { return change(t.Context(), b) })
				require.True(t, pending(succeeding))
				require.Equal(t, before, now("while another is outstanding"))
				close(hold)
				require.NoError(t, <-succeeding)
				require.NotEqual(t, before, now("when that has succeeded"))
			})
		})
	}
}

func TestTURN3_F05_ClearingASlotRemovesNothingOfAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.install("a", "g1", &fixture.Tool{Name: "x"})
		err := b.swap("b", "g1", &fixture.Tool{Name: "x"})
		require.Equal(t, loop.ChangeExternalToolCollision, kind(err))
		require.Equal(t, "x", err.(*loop.ChangeError).Tool)
		y, x := &fixture.Tool{Name: "y"}, &fixture.Tool{Name: "x"}
		b.install("b", "g2", y)
		b.install("a", "g2")
		b.client.Answer = answering("y", "x")
		require.NoError(t, b.run("a1"))
		require.Equal(t, []string{"declared", "y"}, fixture.ToolNames(b.client.RequestsOf("a1")[0]))
		require.Equal(t, 1, y.Runs())
		b.install("b", "g3", y, x) // the name is free again
		require.NoError(t, b.run("a2"))
		require.Equal(t, []int{2, 1}, []int{y.Runs(), x.Runs()})
	})
}

// F29: there are no child loops here; what must not be shared is anything between loops of one configuration.
func TestTURN3_F29_LoopsOfOneConfigurationShareNoSlots(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		config := b.config
		config.Journal = &fixture.Journal{}
		second, err := native.New(t.Context(), config)
		require.NoError(t, err)
		x := &fixture.Tool{Name: "x"}
		b.install("mcp", "g1", x)
		b.client.Answer = answering("x")
		turn, err := second.Submit(t.Context(), "other loop")
		require.NoError(t, err)
		require.Empty(t, outcome(turn))
		requests := b.client.RequestsOf("other loop")
		require.Equal(t, []string{"declared"}, fixture.ToolNames(requests[0]))
		require.True(t, results(requests[1])[0].Failed)
		require.Zero(t, x.Runs())
		require.NoError(t, second.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "other", Generation: "g1", Definitions: defs(x)}))
		require.NoError(t, second.Shutdown(t.Context()))
	})
}

func TestTURN1_F32_RacingReplacementsLeaveOneWholeSet(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for round := range 40 {
			var racing []<-chan error
			for i := range 3 {
				g := fmt.Sprint(round, ".", i)
				racing = append(racing, async(func() error {
					return b.swap("mcp", g, &fixture.Tool{Name: "x", Description: g}, &fixture.Tool{Name: "x" + g, Description: g})
				}))
			}
			for _, result := range racing {
				require.NoError(t, <-result)
			}
			require.NoError(t, b.run(fmt.Sprint(round)))
			events := b.journal.Durable()
			g := events[len(events)-1].(event.LoopExternalToolsetChanged).Generation
			r := b.client.Requests()[round]
			require.Equal(t, fmt.Sprintf("|be brief|m1 low|low|declared@ x@%s x%s@%s", g, g, g),
				describe("", r.Instructions, r.Model, r.Effort, r.Tools), "the last set committed, and none of the others")
		}
	})
}

// retained is a tool that goes on writing to what it handed out.
func retained(name string) (*fixture.Tool, *tool.Info) {
	info := &tool.Info{Name: name, Description: "old", Schema: json.RawMessage(`{"a":1}`)}
	return &fixture.Tool{Name: name, OnInfo: func(context.Context) (*tool.Info, error) { return info, nil }}, info
}
