package native_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

type streamFunc func(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error]

func (f streamFunc) Stream(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return f(ctx, request)
}

// answering is a client's first step that calls the tools of those names, and every later one that calls none.
func answering(names ...string) func(context.Context, model.Request, int) ([]model.Chunk, error) {
	return func(_ context.Context, _ model.Request, step int) ([]model.Chunk, error) {
		if step == 1 {
			return fixture.Calls(names...), nil
		}
		return nil, nil
	}
}

// install replaces a slot, which must succeed.
func (b *bench) install(source, generation string, tools ...*fixture.Tool) {
	b.t.Helper()
	require.NoError(b.t, b.swap(source, generation, tools...))
}

func (b *bench) swap(source, generation string, tools ...*fixture.Tool) error {
	return b.ReplaceExternalTools(b.t.Context(), loop.ExternalToolset{Source: source, Generation: generation, Definitions: defs(tools...)})
}

// outcome waits for the end of a turn and says how it ended; "" is a turn that completed.
func outcome(turn loop.Turn) loop.TurnErrorKind {
	<-turn.Done()
	return outcomeOf(turn.Err())
}

func outcomeOf(err error) loop.TurnErrorKind {
	if failed, ok := err.(*loop.TurnError); ok {
		return failed.Kind
	}
	if err != nil {
		return "not a turn error"
	}
	return ""
}

// results returns what a request tells of the tool calls before it.
func results(request model.Request) []model.Message {
	return slices.DeleteFunc(slices.Clone(request.Messages), func(m model.Message) bool { return m.Role != model.RoleTool })
}

func TestTURN3_NamesAreUniqueAndEachIsItsOwnInstance(t *testing.T) {
	// The base and the mode declare tools of one name: two instances.
	base, other, mode, external := &fixture.Tool{Name: "x"}, &fixture.Tool{Name: "y"}, &fixture.Tool{Name: "x"}, &fixture.Tool{Name: "z"}
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t, loop.WithTools(defs(base, other)...), loop.WithMode("twin", loop.WithTools(defs(mode)...)))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		b.install("mcp", "g1", external)
		require.Equal(t, loop.ChangeExternalToolCollision, kind(b.swap("other", "g1", &fixture.Tool{Name: "z"})))
		require.Equal(t, loop.ChangeExternalToolCollision, kind(b.swap("other", "g1", &fixture.Tool{Name: "outline"})))
		b.client.Answer = answering("x", "y", "z")
		require.NoError(t, b.run("a1"))
		require.Equal(t, []string{"x", "y", "z"}, fixture.ToolNames(b.client.RequestsOf("a1")[0]))
		require.Equal(t, []int{1, 1, 0, 1}, []int{base.Runs(), other.Runs(), mode.Runs(), external.Runs()})

		require.NoError(t, b.SetMode(t.Context(), "twin"))
		b.client.Answer = answering("x", "z")
		require.NoError(t, b.run("a2"))
		require.Equal(t, []string{"x", "z"}, fixture.ToolNames(b.client.RequestsOf("a2")[0]))
		require.Equal(t, []int{1, 1, 1, 2}, []int{base.Runs(), other.Runs(), mode.Runs(), external.Runs()})
	})
}

func TestTURN5_UnknownToolRunsNothing(t *testing.T) {
	declared, outline, gone := &fixture.Tool{Name: "declared"}, &fixture.Tool{Name: "sketch"}, &fixture.Tool{Name: "gone"}
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t, loop.WithTools(defs(declared)...), loop.WithMode("draw", loop.WithTools(defs(outline)...)))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		b.install("mcp", "g1", gone)
		b.install("mcp", "g2")
		b.client.Answer = answering("nope", "declared", "", "Declared", "declared ", "sketch", "gone")
		require.NoError(t, b.run("a1"))
		told := results(b.client.RequestsOf("a1")[1])
		require.Len(t, told, 7, "the model is told of every call")
		for _, m := range told {
			require.Equal(t, m.ToolName != "declared", m.Failed, "%q", m.ToolName)
		}
		require.Equal(t, []int{1, 0, 0}, []int{declared.Runs(), outline.Runs(), gone.Runs()})
	})
}

func TestTURN6_FailingModelRequestEndsItsOwnTurnOnly(t *testing.T) {
	failure := errors.New("the provider is away")
	call := fixture.Calls("declared")[0]
	for name, c := range map[string]struct {
		stream streamFunc
		cause  error
	}{
		"an error at once": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
			return func(yield func(model.Chunk, error) bool) { yield(model.Chunk{}, failure) }
		}, failure},
		"an error after a call": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
			return func(yield func(model.Chunk, error) bool) { _ = yield(call, nil) && yield(call, failure) }
		}, failure},
		"a panic":  {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] { panic(failure) }, failure},
		"a Goexit": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] { runtime.Goexit(); return nil }, loop.ErrGoexit},
		"a panic after a call": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
			return func(yield func(model.Chunk, error) bool) { yield(call, nil); panic(failure) }
		}, failure},
		"a Goexit after a call": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
			return func(yield func(model.Chunk, error) bool) { yield(call, nil); runtime.Goexit() }
		}, loop.ErrGoexit},
		"no sequence": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] { return nil }, nil},
		"more after its error": {func(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
			return func(yield func(model.Chunk, error) bool) { yield(call, failure); yield(call, nil) }
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			declared := &fixture.Tool{Name: "declared"}
			good := &fixture.Client{}
			configure := func(t *testing.T) native.Config {
				return native.Config{
					Definition: standard(t, loop.WithTools(defs(declared)...)),
					Client: streamFunc(func(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
						if r.Messages[0].Text == "bad" {
							return c.stream(ctx, r)
						}
						return good.Stream(ctx, r)
					}),
				}
			}
			inBubbleWith(t, configure, func(t *testing.T, b *bench) {
				require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortLow)))
				bad, next := b.submit("bad"), b.submit("next")
				require.Equal(t, loop.TurnFailed, outcome(bad))
				if c.cause != nil {
					require.ErrorIs(t, bad.Err(), c.cause)
				}
				require.Empty(t, outcome(next), "the queued input stays")
				require.Equal(t, "m2", good.RequestsOf("next")[0].Model.Name)
				require.Equal(t, "m2", b.Model().Name)
				require.Zero(t, declared.Runs(), "an answer that failed asks for nothing")
				require.Len(t, b.journal.Begun(), 1)
			})
		})
	}
}

func TestTURN6_FailingToolIsToldToTheModel(t *testing.T) {
	failure := errors.New("no such file")
	for name, c := range map[string]struct {
		run  func(context.Context, string) (string, error)
		text string
	}{
		"an error":  {func(context.Context, string) (string, error) { return "half a result", failure }, "no such file"},
		"a panic":   {func(context.Context, string) (string, error) { panic("out of bounds") }, "out of bounds"},
		"nil panic": {func(context.Context, string) (string, error) { panic(error(nil)) }, "panic"},
		"a Goexit":  {func(context.Context, string) (string, error) { runtime.Goexit(); return "", nil }, loop.ErrGoexit.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				b.install("mcp", "g1", &fixture.Tool{Name: "bad", OnRun: c.run}, &fixture.Tool{Name: "good"})
				b.client.Answer = answering("bad", "good")
				first, next := b.submit("a1"), b.submit("a2")
				require.Empty(t, outcome(first))
				told := results(b.client.RequestsOf("a1")[1])
				require.Len(t, told, 2)
				require.True(t, told[0].Failed)
				require.Equal(t, []string{"bad", "bad#0"}, []string{told[0].ToolName, told[0].ToolCallID})
				require.Contains(t, told[0].Text, c.text)
				require.NotContains(t, told[0].Text, "half a result")
				require.Equal(t, model.Message{Role: model.RoleTool, ToolCallID: "good#1", ToolName: "good", Text: "good ok"}, told[1])
				require.Empty(t, outcome(next))
				require.Equal(t, []string{"declared", "bad", "good"}, fixture.ToolNames(b.client.RequestsOf("a2")[0]))
			})
		})
	}
}

func TestTURN6_F25_PanicsOfAToolAreFailuresAtEveryStage(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		set := func(d *fixture.Definition) loop.ExternalToolset {
			return loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: append(defs(&fixture.Tool{Name: "x"}), d)}
		}
		require.Equal(t, loop.ChangeExternalBuildFailed, kind(b.ReplaceExternalTools(t.Context(), set(panicking("factory")))))
		require.Equal(t, loop.ChangeExternalBuildFailed, kind(b.ReplaceExternalTools(t.Context(), set(panicking("info")))))
		require.NoError(t, b.run("after failed builds"))
		require.Equal(t, []string{"declared"}, fixture.ToolNames(b.client.Requests()[0]))
		require.NoError(t, b.ReplaceExternalTools(t.Context(), set(panicking("run"))))
		b.client.Answer = answering("run")
		require.NoError(t, b.run("runs it"))
		require.NoError(t, b.run("again"))
		require.True(t, results(b.client.RequestsOf("again")[1])[0].Failed)
	})
}

// panicking returns a definition of a tool that panics at that stage.
func panicking(stage string) *fixture.Definition {
	d := fixture.Define(&fixture.Tool{Name: stage})
	switch stage {
	case "factory":
		d.OnBuild = func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { panic(stage) }
	case "info":
		d.Tools[0].(*fixture.Tool).OnInfo = func(context.Context) (*tool.Info, error) { panic(stage) }
	case "run":
		d.Tools[0].(*fixture.Tool).OnRun = func(context.Context, string) (string, error) { panic(stage) }
	}
	return d
}

func TestTURN7_TurnsRunOneAtATimeInTheOrderOfTheirInputs(t *testing.T) {
	var order []string // by turns that run one at a time: the race detector checks that too
	var running atomic.Int32
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Engine: engineFunc(func(_ context.Context, r native.TurnRequest) error {
			assert.EqualValues(t, 1, running.Add(1))
			order = append(order, r.Input)
			runtime.Gosched()
			running.Add(-1)
			if len(order)%3 == 0 {
				return errors.New("failed")
			}
			return nil
		})}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		const submitters, inputs = 4, 25
		done := make(chan []loop.Turn, submitters)
		for s := range submitters {
			go func() {
				var turns []loop.Turn
				for i := range inputs {
					turn, err := b.Submit(t.Context(), fmt.Sprint(s, "/", i))
					assert.NoError(t, err)
					turns = append(turns, turn)
				}
				done <- turns
			}()
		}
		failed := 0
		for range submitters {
			for _, turn := range <-done {
				if outcome(turn) == loop.TurnFailed {
					failed++
				}
			}
		}
		require.Len(t, order, submitters*inputs)
		require.Equal(t, submitters*inputs/3, failed)
		for s := range submitters {
			mine := slices.DeleteFunc(slices.Clone(order), func(input string) bool { return input[0] != byte('0'+s) })
			for i, input := range mine {
				require.Equal(t, fmt.Sprint(s, "/", i), input, "accepted before its submitter handed in the next")
			}
		}
	})
}

func TestTURN7_TurnHasNoOutcomeBeforeItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.client.Answer = func(context.Context, model.Request, int) ([]model.Chunk, error) {
			<-hold
			return nil, errors.New("late")
		}
		inFlight, queued := b.submit("a1"), b.submit("a2")
		synctest.Wait()
		for _, turn := range []loop.Turn{inFlight, queued} {
			require.NoError(t, turn.Err())
			select {
			case <-turn.Done():
				require.Fail(t, "done before its end")
			default:
			}
		}
		require.Len(t, b.client.Requests(), 1, "the second turn waits")
		close(hold)
		require.Equal(t, loop.TurnFailed, outcome(inFlight))
		require.Equal(t, loop.TurnFailed, outcome(queued))
		require.Same(t, inFlight.Err(), inFlight.Err())
	})
}

func TestTURN8_ToolThatWaitsForItsTurnIsNotBegunAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(b *bench) error{
		"interrupt": func(b *bench) error { return b.Interrupt(b.t.Context()) },
		"shutdown":  func(b *bench) error { return b.Shutdown(b.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			configure := func(t *testing.T) native.Config {
				return native.Config{Definition: standard(t), Engine: native.Steps{MaxParallel: 1}}
			}
			inBubbleWith(t, configure, func(t *testing.T, b *bench) {
				hold := make(chan struct{})
				slow := &fixture.Tool{Name: "slow", OnRun: func(context.Context, string) (string, error) { <-hold; return "late", nil }}
				second := &fixture.Tool{Name: "second"}
				b.install("mcp", "g1", slow, second)
				b.client.Answer = answering("slow", "second", "second")
				turn := b.submit("a1")
				synctest.Wait()
				require.Equal(t, 1, slow.Runs())
				require.NoError(t, end(b))
				require.Equal(t, loop.TurnInterrupted, outcome(turn))
				close(hold)
				synctest.Wait()
				require.Zero(t, second.Runs())
				require.Len(t, b.client.Requests(), 1)
				require.Equal(t, loop.TurnInterrupted, outcome(turn))
			})
		})
	}
}

func TestTURN9_EqualConfigurationsOfferEqualOrder(t *testing.T) {
	sources := []string{"é", "b", "a", "zz", "z", "B", "10", "9"}
	want := []string{"outline", "10.2", "10.1", "9.2", "9.1", "B.2", "B.1", "a.2", "a.1", "b.2", "b.1", "z.2", "z.1", "zz.2", "zz.1", "é.2", "é.1"}
	for seed := range uint64(8) {
		inBubble(t, func(t *testing.T, b *bench) {
			random := rand.New(rand.NewPCG(seed, 0))
			random.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
			for i, source := range sources {
				if random.IntN(2) == 0 {
					b.install(source, "g0", &fixture.Tool{Name: source + ".1"})
				}
				if random.IntN(2) == 0 {
					b.install(source, "g1")
				}
				if i == len(sources)/2 {
					require.NoError(t, b.SetMode(t.Context(), "plan"))
				}
			}
			random.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
			for _, source := range sources {
				b.install(source, "g2", &fixture.Tool{Name: source + ".2"}, &fixture.Tool{Name: source + ".1"})
			}
			for range 3 {
				require.NoError(t, b.run("a"))
			}
			for _, r := range b.client.Requests() {
				require.Equal(t, want, fixture.ToolNames(r), "declared first, then the slots by source, each in its own order")
			}
		})
	}
}
