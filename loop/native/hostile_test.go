package native_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// The methods of errors and contexts that the surroundings hand over are code of the surroundings: they may panic, end
// their goroutine, block, or call the loop.

// brittle panics on its nil pointer whatever it is asked.
type brittle struct{ inner error }

func (e *brittle) Error() string { return e.inner.Error() }
func (e *brittle) Unwrap() error { return e.inner }

type exiting struct{}

func (exiting) Error() string { runtime.Goexit(); return "" }

func TestTURN6_ToolErrorThatCannotBeWorded(t *testing.T) {
	for name, failure := range map[string]error{"it panics": (*brittle)(nil), "it ends its goroutine": exiting{}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				b.install("mcp", "g1", &fixture.Tool{Name: "x", OnRun: func(context.Context, string) (string, error) { return "", failure }})
				b.client.Answer = answering("x")
				require.NoError(t, b.run("a1"))
				told := results(b.client.RequestsOf("a1")[1])
				require.True(t, told[0].Failed)
				require.NotEmpty(t, told[0].Text)
			})
		})
	}
}

func TestEXT11_BuildErrorThatCannotBeAsked(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		bad := &fixture.Definition{DefinitionName: "bad", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			return nil, (*brittle)(nil)
		}}
		err := b.ReplaceExternalTools(t.Context(), loop.ExternalToolset{Source: "mcp", Generation: "g1", Definitions: []tool.Definition{bad}})
		require.Equal(t, loop.ChangeExternalBuildFailed, kind(err))
		require.Equal(t, "bad", err.(*loop.ChangeError).Tool)
		require.NoError(t, b.run("a1"))
	})
}

// blocking blocks until it is released, when it is asked for its text.
type blocking struct{ release chan struct{} }

func (e blocking) Error() string { <-e.release; return "at last" }

func TestLIFE1_JournalErrorThatBlocksHoldsUpNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		release := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Before: errors.New("disk on fire")})
		b.journal.PlanReads(fixture.Plan{Before: blocking{release}})
		err := b.SetMode(t.Context(), "plan")
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(err))
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.ChangeLoopFaulted, kind(b.SetMode(t.Context(), "plan")))
		require.NoError(t, b.Shutdown(t.Context()))
		close(release)
		require.ErrorContains(t, err, "at last")
	})
}

// meddling is a context that calls the loop from its own methods once it is armed.
type meddling struct {
	context.Context
	loop  **native.Loop
	armed *atomic.Bool
}

func (c meddling) Err() error {
	c.meddle()
	return c.Context.Err()
}

func (c meddling) Value(key any) any {
	c.meddle()
	return c.Context.Value(key)
}

func (c meddling) meddle() {
	if c.armed.Load() {
		_ = (*c.loop).Interrupt(context.Background())
	}
}

func TestREF7_CallersContextMayCallTheLoop(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold}, fixture.Plan{Before: errors.New("no")})
		outstanding := async(func() error { return b.SetMode(t.Context(), "plan") })
		synctest.Wait()
		var armed atomic.Bool
		inner, cancel := context.WithCancel(t.Context())
		ctx := meddling{inner, &b.Loop, &armed}
		queued := async(func() error { return b.SetMode(ctx, "") })
		synctest.Wait()
		last := async(func() error { return b.SetMode(ctx, "plan") })
		synctest.Wait()
		armed.Store(true)
		close(hold)
		require.NoError(t, <-outstanding)
		require.Equal(t, loop.ChangeDurableAppendFailed, kind(<-queued))
		require.NoError(t, <-last)
		cancel()
	})
}

func TestINT2_EnginesContextMayCallTheLoop(t *testing.T) {
	hold := make(chan struct{})
	x := &fixture.Tool{Name: "x", OnRun: func(context.Context, string) (string, error) { <-hold; return "", nil }}
	var armed atomic.Bool
	var l *native.Loop
	engine := engineFunc(func(_ context.Context, r native.TurnRequest) error {
		own, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, err := r.Tools[0].Instance.InvokableRun(meddling{own, &l, &armed}, "")
		return err
	})
	configure := func(t *testing.T) native.Config {
		hold = make(chan struct{})
		return native.Config{Definition: standard(t, loop.WithTools(defs(x)...)), Engine: engine}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		l = b.Loop
		turn := b.submit("a1")
		synctest.Wait()
		armed.Store(true)
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(turn))
		armed.Store(false)
		close(hold)
	})
}

// A build that ignores its context returns after the exit: what it built is not described.
func TestLIFE2_NothingIsDescribedAfterTheExit(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		var described atomic.Int64
		late := &fixture.Tool{Name: "late", OnInfo: func(context.Context) (*tool.Info, error) {
			described.Add(1)
			return &tool.Info{Name: "late"}, nil
		}}
		slow := &fixture.Definition{DefinitionName: "slow", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			<-hold
			return []tool.InvokableTool{late}, nil
		}}
		next := fixture.Define(&fixture.Tool{Name: "next"})
		call := async(func() error {
			return b.ReplaceExternalTools(context.Background(), loop.ExternalToolset{
				Source: "mcp", Generation: "g1", Definitions: []tool.Definition{slow, next},
			})
		})
		require.True(t, pending(call))
		require.NoError(t, b.Shutdown(t.Context()))
		require.Contains(t, []loop.ChangeErrorKind{loop.ChangeLoopShuttingDown, loop.ChangeLoopExited}, kind(<-call))
		close(hold)
		synctest.Wait()
		require.Zero(t, described.Load())
		require.Zero(t, next.Builds())
	})
}

// A chain of turns, each submitted by a tool of the one before with its own context, does not grow the contexts.
func TestREF8_ContextsOfTurnsDoNotPileUp(t *testing.T) {
	type key struct{}
	var depths []bool
	configure := func(t *testing.T) native.Config { return native.Config{Definition: standard(t)} }
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		b.client.Answer = func(ctx context.Context, r model.Request, _ int) ([]model.Chunk, error) {
			depths = append(depths, ctx.Value(key{}) != nil)
			if len(depths) < 3 {
				_, err := b.Submit(ctx, "next")
				return nil, err
			}
			return nil, nil
		}
		_, err := b.Submit(context.WithValue(t.Context(), key{}, "mine"), "first")
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []bool{true, false, false}, depths)
	})
}

// Logging a turn or a loop reads nothing that is being written to, and shows no credential.
func TestDUR4_PrintingALoopOrATurnShowsNothingOfIt(t *testing.T) {
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Bindings: tool.Bindings{"token": "canary"}}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		b.client.Answer = answering("declared", "declared", "declared")
		turn := b.submit("canary too")
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			for _, text := range []string{fmt.Sprintf(verb, turn), fmt.Sprintf(verb, b.Loop)} {
				require.NotContains(t, text, "canary")
				require.Contains(t, text, "native.")
			}
		}
		<-turn.Done()
	})
}
