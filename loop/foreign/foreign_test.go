package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/foreign"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var everything = foreign.Capabilities{Modes: true, Inference: true}

// agent is a backend that keeps its turns and does in them what OnTurn says.
type agent struct {
	capabilities   foreign.Capabilities
	OnCapabilities func()
	OnTurn         func(ctx context.Context, turn foreign.Turn) error

	mu    sync.Mutex
	asked int
	turns []foreign.Turn
}

func (a *agent) Capabilities() foreign.Capabilities {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked++; a.OnCapabilities != nil {
		a.OnCapabilities()
	}
	return a.capabilities
}

func (a *agent) RunTurn(ctx context.Context, turn foreign.Turn) error {
	a.mu.Lock()
	a.turns = append(a.turns, turn)
	a.mu.Unlock()
	if a.OnTurn != nil {
		return a.OnTurn(ctx, turn)
	}
	return nil
}

// last says what the last turn was run with.
func (a *agent) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.turns[len(a.turns)-1]
	return fmt.Sprintf("%s|%s|%s %s|%s|%s", t.Mode, t.Instructions, t.Model.Name, t.Model.Sampling.Effort, t.Effort, t.Input)
}

func (a *agent) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.turns)
}

func define(t *testing.T, more ...loop.Option) loop.Definition {
	t.Helper()
	definition, err := loop.Define(append([]loop.Option{
		loop.WithName("foreign"), loop.WithEngine(loop.EngineForeign), loop.WithInstructions("be brief"),
		loop.WithModel(fixture.Model("m1", model.EffortLow, model.EffortHigh)), loop.WithEffort(model.EffortLow),
		loop.WithMode("plan", loop.WithInstructions("only plan"), loop.WithModel(fixture.Model("planner", model.EffortMax)),
			loop.WithEffort(model.EffortMax)),
	}, more...)...)
	require.NoError(t, err)
	return definition
}

type bench struct {
	*foreign.Loop
	t       *testing.T
	agent   *agent
	journal *fixture.Journal
	client  *fixture.Client
}

// inBubble runs f on a loop of that agent, then shuts the loop down; the bubble checks that no goroutine is left.
func inBubble(t *testing.T, a *agent, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, agent: a, journal: &fixture.Journal{}, client: &fixture.Client{}}
		var err error
		b.Loop, err = foreign.New(t.Context(), foreign.Config{Definition: define(t), Journal: b.journal, Backend: a, Client: b.client})
		require.NoError(t, err)
		f(t, b)
		require.NoError(t, b.Shutdown(context.Background()))
	})
}

func (b *bench) submit(input string) loop.Turn {
	b.t.Helper()
	turn, err := b.Submit(b.t.Context(), input)
	require.NoError(b.t, err)
	return turn
}

func (b *bench) run(input string) error {
	b.t.Helper()
	turn := b.submit(input)
	<-turn.Done()
	return turn.Err()
}

func kind(err error) loop.ChangeErrorKind {
	if refusal, ok := err.(*loop.ChangeError); ok {
		return refusal.Kind
	}
	return ""
}

func outcome(turn loop.Turn) loop.TurnErrorKind {
	<-turn.Done()
	var failed *loop.TurnError
	errors.As(turn.Err(), &failed)
	if failed == nil {
		return ""
	}
	return failed.Kind
}

func TestTURN1_TurnsAreRunByTheBackendWithTheConfigurationInForce(t *testing.T) {
	a := &agent{capabilities: everything}
	inBubble(t, a, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		a.OnTurn = func(ctx context.Context, turn foreign.Turn) error {
			<-hold
			assert.Equal(t, []model.Effort{model.EffortLow, model.EffortHigh}, turn.Model.Efforts)
			turn.Model.Efforts[0] = "changed" // it is the backend's own
			for _, err := range turn.Client.Stream(ctx, model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: turn.Input}}}) {
				assert.NoError(t, err)
			}
			return nil
		}
		turn := b.submit("a1")
		synctest.Wait()
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.SetMode(t.Context(), ""))
		require.NoError(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)))
		close(hold)
		require.Empty(t, outcome(turn))
		require.Equal(t, "|be brief|m1 low|low|a1", a.last())
		require.Len(t, b.client.RequestsOf("a1"), 1)
		require.NoError(t, b.run("a2"))
		require.Equal(t, "|be brief|m1 high|high|a2", a.last())
		a.OnTurn = nil
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.run("a3"))
		require.Equal(t, "plan|only plan|planner max|max|a3", a.last())
		require.Equal(t, []loop.ModeName{"plan"}, b.Modes())
	})
}

func TestChanges_ArePassedOnOrRefusedAsTheBackendSays(t *testing.T) {
	for _, capabilities := range []foreign.Capabilities{{}, {Modes: true}, {Inference: true}, everything} {
		t.Run(fmt.Sprintf("%+v", capabilities), func(t *testing.T) {
			a := &agent{capabilities: capabilities}
			inBubble(t, a, func(t *testing.T, b *bench) {
				a.mu.Lock()
				a.capabilities = foreign.Capabilities{Modes: !capabilities.Modes, Inference: !capabilities.Inference} // asked once
				a.mu.Unlock()
				committed := 0
				check := func(supported bool, err error) {
					t.Helper()
					if supported {
						committed++
						require.NoError(t, err)
					} else {
						require.Equal(t, loop.ChangeUnsupported, kind(err))
					}
					require.Len(t, b.journal.Begun(), committed)
				}
				mode, m, effort := loop.BaseMode, "m1", model.EffortLow
				check(capabilities.Modes, b.SetMode(t.Context(), "plan"))
				if capabilities.Modes {
					mode, m, effort = "plan", "planner", model.EffortMax
				}
				require.Equal(t, mode, b.Mode())
				check(capabilities.Inference, b.Change(t.Context(), loop.ChangeModel(fixture.Model("m2", model.EffortLow)), loop.ChangeEffort(model.EffortLow)))
				if capabilities.Inference {
					m, effort = "m2", model.EffortLow
				}
				require.Equal(t, m, b.Model().Name)
				require.Equal(t, effort, b.Model().Sampling.Effort)
				require.NoError(t, b.run("a1"))
				instructions := map[loop.ModeName]string{"": "be brief", "plan": "only plan"}[mode]
				require.Equal(t, fmt.Sprintf("%s|%s|%s %s|%s|a1", mode, instructions, m, effort, effort), a.last())
				require.Equal(t, 1, a.asked)

				if capabilities.Modes {
					require.Equal(t, loop.ChangeInvalidMode, kind(b.SetMode(t.Context(), "nope")))
				} else {
					require.Equal(t, loop.ChangeUnsupported, kind(b.SetMode(t.Context(), "")), "also the mode in force")
				}
				if capabilities.Inference {
					require.Equal(t, loop.ChangeNoChanges, kind(b.Change(t.Context())))
				} else {
					require.Equal(t, loop.ChangeUnsupported, kind(b.Change(t.Context(), loop.ChangeEffort(model.EffortLow))))
				}
			})
		})
	}
}

func TestREF5_AFailedAppendNeverReachesTheBackend(t *testing.T) {
	a := &agent{capabilities: everything}
	inBubble(t, a, func(t *testing.T, b *bench) {
		failure := errors.New("disk on fire")
		b.journal.PlanAppends(fixture.Plan{Before: failure}, fixture.Plan{Before: failure})
		require.ErrorIs(t, b.SetMode(t.Context(), "plan"), failure)
		require.ErrorIs(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)), failure)
		require.NoError(t, b.run("a1"))
		require.Equal(t, "|be brief|m1 low|low|a1", a.last())
	})
}

// F01: keyed on the engine, and not on what there is to build or to bind.
func TestEXT10_F01_ExternalToolsAreRefusedAtOnce(t *testing.T) {
	a := &agent{capabilities: everything}
	inBubble(t, a, func(t *testing.T, b *bench) {
		definition := fixture.Define(&fixture.Tool{Name: "x"})
		stuck := &fixture.Definition{DefinitionName: "stuck", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			panic("built")
		}}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		installers := map[string]loop.ExternalToolInstaller{"foreign": b.Loop}
		// Package native keeps EXT-10 by itself as well, for a foreign engine that is plugged in there.
		plugged, err := native.New(t.Context(), native.Config{Definition: define(t), Journal: &fixture.Journal{}, Engine: nothing{}})
		require.NoError(t, err)
		installers["native"] = plugged
		refuse := func() {
			t.Helper()
			for name, installer := range installers {
				for _, ctx := range []context.Context{t.Context(), ended, context.Background()} {
					for _, set := range []loop.ExternalToolset{
						{Source: "mcp", Generation: "g1", Definitions: []tool.Definition{definition, stuck}},
						{Source: "mcp", Generation: "g1"},
						{Source: "mcp", Generation: "g1", Definitions: []tool.Definition{nil}},
						{},
					} {
						require.Equal(t, loop.ChangeExternalToolsUnsupported, kind(installer.ReplaceExternalTools(ctx, set)), name)
					}
				}
			}
		}
		refuse()
		hold := make(chan struct{})
		a.OnTurn = func(context.Context, foreign.Turn) error { <-hold; return nil }
		turn := b.submit("a1")
		synctest.Wait()
		refuse()
		close(hold)
		require.Empty(t, outcome(turn))
		require.NoError(t, b.Shutdown(t.Context()))
		require.NoError(t, plugged.Shutdown(t.Context()))
		refuse()
		require.Zero(t, definition.Builds()+stuck.Builds())
		require.Empty(t, b.journal.Begun())
	})
}

type nothing struct{}

func (nothing) RunTurn(context.Context, native.TurnRequest) error { return nil }

// F29: what one loop has installed is nothing to a foreign one beside it.
func TestEXT10_F29_ToolsOfANativeLoopAreNotAForeignOnes(t *testing.T) {
	var offered []native.Tool
	synctest.Test(t, func(t *testing.T) {
		definition, err := loop.Define(loop.WithName("native"), loop.WithModel(fixture.Model("m1")))
		require.NoError(t, err)
		root, err := native.New(t.Context(), native.Config{Definition: definition, Journal: &fixture.Journal{}, Client: &fixture.Client{}})
		require.NoError(t, err)
		require.NoError(t, root.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g1", Definitions: fixture.Defines("x")}))
		child, err := native.New(t.Context(), native.Config{Definition: define(t), Journal: &fixture.Journal{}, Engine: recorder{&offered}})
		require.NoError(t, err)
		turn, err := child.Submit(t.Context(), "a1")
		require.NoError(t, err)
		require.Empty(t, outcome(turn))
		require.Empty(t, offered)
		require.NoError(t, child.Shutdown(t.Context()))
		require.NoError(t, root.Shutdown(t.Context()))
	})
}

type recorder struct{ offered *[]native.Tool }

func (r recorder) RunTurn(_ context.Context, request native.TurnRequest) error {
	*r.offered = request.Tools
	return nil
}

func TestTURN6_FailingBackendEndsItsOwnTurnOnly(t *testing.T) {
	failure := errors.New("the agent gave up")
	for name, c := range map[string]struct {
		run   func() error
		cause error
	}{
		"error":  {func() error { return failure }, failure},
		"panic":  {func() error { panic(failure) }, failure},
		"Goexit": {func() error { runtime.Goexit(); return nil }, loop.ErrGoexit},
	} {
		t.Run(name, func(t *testing.T) {
			a := &agent{capabilities: everything, OnTurn: func(_ context.Context, turn foreign.Turn) error {
				if turn.Input == "bad" {
					return c.run()
				}
				return nil
			}}
			inBubble(t, a, func(t *testing.T, b *bench) {
				bad, next := b.submit("bad"), b.submit("next")
				require.Equal(t, loop.TurnFailed, outcome(bad))
				require.ErrorIs(t, bad.Err(), c.cause)
				require.Empty(t, outcome(next))
				require.NoError(t, b.SetMode(t.Context(), "plan"))
			})
		})
	}
}

func TestINT2_StubbornBackendHoldsUpNothing(t *testing.T) {
	var hold chan struct{}
	var late chan error
	a := &agent{capabilities: everything, OnTurn: func(_ context.Context, turn foreign.Turn) error {
		if turn.Input == "a1" {
			<-hold
			for _, err := range turn.Client.Stream(context.Background(), model.Request{}) {
				late <- err
			}
		}
		return nil
	}}
	inBubble(t, a, func(t *testing.T, b *bench) {
		hold, late = make(chan struct{}), make(chan error, 2)
		turn := b.submit("a1")
		synctest.Wait()
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(turn))
		require.NoError(t, b.run("a2"))
		queued := b.submit("a1")
		dropped := b.submit("a3")
		synctest.Wait()
		require.NoError(t, b.Shutdown(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(queued))
		require.Equal(t, loop.TurnDropped, outcome(dropped))
		close(hold)
		synctest.Wait()
		require.Len(t, late, 2)
		for range 2 {
			require.ErrorIs(t, <-late, native.ErrTurnEnded)
		}
		require.Empty(t, b.client.Requests())
		require.Equal(t, 3, a.count())
		require.Equal(t, loop.ChangeLoopExited, kind(b.SetMode(t.Context(), "plan")))
		require.Equal(t, loop.ChangeLoopExited, kind(b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh))))
	})
}
