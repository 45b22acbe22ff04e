package native_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

type engineFunc func(ctx context.Context, request native.TurnRequest) error

func (f engineFunc) RunTurn(ctx context.Context, request native.TurnRequest) error {
	return f(ctx, request)
}

// withEngine is inBubble with an engine of the test's own.
func withEngine(t *testing.T, engine native.Engine, f func(t *testing.T, b *bench)) {
	t.Helper()
	inBubbleWith(t, func(t *testing.T) native.Config { return native.Config{Definition: standard(t), Engine: engine} }, f)
}

// ask makes one request as an engine does, and returns what it ended with.
func ask(ctx context.Context, client model.Client, input string) error {
	for _, err := range client.Stream(ctx, model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: input}}}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSteps_ToolsOfAStepRunSideBySide(t *testing.T) {
	withEngine(t, native.Steps{MaxParallel: 3}, func(t *testing.T, b *bench) {
		finish := make(chan struct{})
		running := func(context.Context, string) (string, error) { <-finish; return "", nil }
		var tools []*fixture.Tool
		var names []string
		for i := range 5 {
			names = append(names, fmt.Sprint("t", i))
			tools = append(tools, &fixture.Tool{Name: names[i], OnRun: running})
		}
		b.install("mcp", "g1", tools...)
		b.client.Answer = answering(names...)
		turn := b.submit("a1")
		begun := func() (n int) {
			synctest.Wait()
			for _, x := range tools {
				n += x.Runs()
			}
			return n
		}
		for _, want := range []int{3, 4, 5, 5, 5} {
			require.Equal(t, want, begun(), "as many as may run, and no more")
			require.Len(t, b.client.Requests(), 1, "the model waits for all results")
			finish <- struct{}{}
		}
		require.Empty(t, outcome(turn))
		require.Len(t, b.client.Requests(), 2)
	})
}

func TestSteps_ResultsComeInTheOrderOfTheCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		const calls = native.DefaultMaxParallel
		turns := make([]chan struct{}, calls+1)
		for i := range turns {
			turns[i] = make(chan struct{})
		}
		// Each waits for the one after it: they finish in the reverse order of the calls.
		x := &fixture.Tool{Name: "x", OnRun: func(_ context.Context, arguments string) (string, error) {
			var i int
			_, err := fmt.Sscan(arguments, &i)
			<-turns[i+1]
			close(turns[i])
			return "result " + arguments, err
		}}
		close(turns[calls])
		b.install("mcp", "g1", x)
		b.client.Answer = func(_ context.Context, _ model.Request, step int) ([]model.Chunk, error) {
			if step > 1 {
				return nil, nil
			}
			chunks := []model.Chunk{{Text: "let me "}}
			for i := range calls {
				chunks = append(chunks, model.Chunk{ToolCall: &model.ToolCall{ID: fmt.Sprint("id", i), Name: "x", Arguments: fmt.Sprint(i)}})
			}
			return append(chunks, model.Chunk{Text: "look"}), nil
		}
		require.NoError(t, b.run("a1"))
		messages := b.client.Requests()[1].Messages
		require.Equal(t, model.Message{Role: model.RoleUser, Text: "a1"}, messages[0])
		require.Equal(t, model.RoleAssistant, messages[1].Role)
		require.Equal(t, "let me look", messages[1].Text)
		require.Len(t, messages[1].ToolCalls, calls)
		require.Len(t, messages, 2+calls)
		for i := range calls {
			id := fmt.Sprint("id", i)
			require.Equal(t, model.ToolCall{ID: id, Name: "x", Arguments: fmt.Sprint(i)}, messages[1].ToolCalls[i])
			require.Equal(t, model.Message{Role: model.RoleTool, ToolCallID: id, ToolName: "x", Text: fmt.Sprint("result ", i)}, messages[2+i])
		}
	})
}

func TestSteps_TheClientMayReuseItsToolCall(t *testing.T) {
	x, y := &fixture.Tool{Name: "x"}, &fixture.Tool{Name: "y"}
	client := streamFunc(func(_ context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
		return func(yield func(model.Chunk, error) bool) {
			if fixture.Step(r) == 1 {
				call := &model.ToolCall{ID: "1", Name: "x"}
				yield(model.Chunk{ToolCall: call}, nil)
				call.ID, call.Name = "2", "y"
				yield(model.Chunk{ToolCall: call}, nil)
			}
		}
	})
	configure := func(t *testing.T) native.Config { return native.Config{Definition: standard(t), Client: client} }
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		b.install("mcp", "g1", x, y)
		require.NoError(t, b.run("a1"))
		require.Equal(t, []int{1, 1}, []int{x.Runs(), y.Runs()})
	})
}

func TestTURN6_StepLimitFailsTheTurn(t *testing.T) {
	for limit, requests := range map[int]int{1: 1, 3: 3, 0: native.DefaultMaxSteps, -1: native.DefaultMaxSteps} {
		withEngine(t, native.Steps{MaxSteps: limit}, func(t *testing.T, b *bench) {
			b.client.Answer = func(_ context.Context, r model.Request, _ int) ([]model.Chunk, error) {
				if r.Messages[0].Text == "endless" {
					return fixture.Calls("declared"), nil
				}
				return nil, nil
			}
			endless, next := b.submit("endless"), b.submit("next")
			require.Equal(t, loop.TurnFailed, outcome(endless))
			require.ErrorIs(t, endless.Err(), native.ErrStepLimit)
			require.Len(t, b.client.RequestsOf("endless"), requests)
			require.Empty(t, outcome(next))
		})
	}
}

func TestSteps_ReturnsTheContextsErrorWhenItEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := &fixture.Client{Answer: func(context.Context, model.Request, int) ([]model.Chunk, error) { cancel(); return nil, nil }}
	err := native.Steps{}.RunTurn(ctx, native.TurnRequest{Client: client})
	require.ErrorIs(t, err, context.Canceled, "an answer cut short is none")
}

func TestSteps_DoesNotOutlastItsContextForAStubbornTool(t *testing.T) {
	steps := native.Steps{MaxParallel: 2}
	returned := make(chan error, 1)
	withEngine(t, engineFunc(func(ctx context.Context, r native.TurnRequest) error {
		err := steps.RunTurn(ctx, r)
		returned <- err
		return err
	}), func(t *testing.T, b *bench) {
		s := &stage{stubborn: true, release: make(chan struct{})}
		b.install("mcp", "g1", slow("slow", s))
		b.client.Answer = answering("slow", "declared")
		turn := b.submit("a1")
		synctest.Wait()
		require.NoError(t, b.Interrupt(t.Context()))
		require.Equal(t, loop.TurnInterrupted, outcome(turn))
		synctest.Wait()
		require.Len(t, returned, 1, "left behind is the tool's goroutine, and no other (LIFE-2)")
		require.ErrorIs(t, <-returned, context.Canceled)
		close(s.release)
	})
}

func TestTURN6_OutcomeOfACustomEngine(t *testing.T) {
	failure := errors.New("the agent gave up")
	for name, c := range map[string]struct {
		run   engineFunc
		kind  loop.TurnErrorKind
		cause error
	}{
		"nil":                                   {func(context.Context, native.TurnRequest) error { return nil }, "", nil},
		"error":                                 {func(context.Context, native.TurnRequest) error { return failure }, loop.TurnFailed, failure},
		"panic":                                 {func(context.Context, native.TurnRequest) error { panic(failure) }, loop.TurnFailed, failure},
		"Goexit":                                {func(context.Context, native.TurnRequest) error { runtime.Goexit(); return nil }, loop.TurnFailed, loop.ErrGoexit},
		"an error that looks like an interrupt": {func(context.Context, native.TurnRequest) error { return context.Canceled }, loop.TurnFailed, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			withEngine(t, engineFunc(func(ctx context.Context, r native.TurnRequest) error {
				if r.Input == "next" {
					return nil
				}
				return c.run(ctx, r)
			}), func(t *testing.T, b *bench) {
				turn, next := b.submit("a1"), b.submit("next")
				require.Equal(t, c.kind, outcome(turn))
				if c.cause != nil {
					require.ErrorIs(t, turn.Err(), c.cause)
				} else {
					require.NoError(t, turn.Err())
				}
				require.Empty(t, outcome(next))
			})
		})
	}
}

func TestEngine_GetsTheInputAndTheSubmittersValues(t *testing.T) {
	type key struct{}
	var hold chan struct{}
	withEngine(t, engineFunc(func(ctx context.Context, r native.TurnRequest) error {
		<-hold
		assert.Equal(t, "a\x00 input", r.Input)
		assert.Equal(t, "value", ctx.Value(key{}))
		assert.NoError(t, ctx.Err())
		result, err := r.Tools[0].Instance.InvokableRun(ctx, "{}")
		assert.NoError(t, err)
		assert.Equal(t, "declared ok", result)
		return ask(ctx, r.Client, r.Input)
	}), func(t *testing.T, b *bench) {
		hold = make(chan struct{})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		turn, err := b.Submit(ctx, "a\x00 input")
		require.NoError(t, err)
		cancel() // bounds the call alone
		close(hold)
		require.Empty(t, outcome(turn))
		require.Len(t, b.client.Requests(), 1)
	})
}

func TestTURN8_EngineWithAContextOfItsOwnBeginsNothingAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(b *bench, finish chan struct{}) error{
		"interrupt":  func(b *bench, _ chan struct{}) error { return b.Interrupt(b.t.Context()) },
		"completion": func(_ *bench, finish chan struct{}) error { close(finish); return nil },
		"shutdown":   func(b *bench, _ chan struct{}) error { return b.Shutdown(b.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			var finish, release chan struct{}
			var late chan []error
			engine := engineFunc(func(_ context.Context, r native.TurnRequest) error {
				stream := r.Client.Stream(context.Background(), model.Request{Messages: []model.Message{{Text: "late"}}})
				go func() {
					<-release
					var errs []error
					for _, err := range stream { // made before the end, begun after it
						errs = append(errs, err)
					}
					_, err := r.Tools[0].Instance.InvokableRun(context.Background(), "{}")
					late <- append(errs, ask(context.Background(), r.Client, "late"), err)
				}()
				<-finish
				return nil
			})
			declared := &fixture.Tool{Name: "declared"}
			configure := func(t *testing.T) native.Config {
				finish, release, late = make(chan struct{}), make(chan struct{}), make(chan []error, 1)
				return native.Config{Definition: standard(t, loop.WithTools(defs(declared)...)), Engine: engine}
			}
			inBubbleWith(t, configure, func(t *testing.T, b *bench) {
				turn := b.submit("a1")
				synctest.Wait()
				require.NoError(t, end(b, finish))
				<-turn.Done()
				close(release)
				errs := <-late
				require.Len(t, errs, 3)
				for _, err := range errs {
					require.ErrorIs(t, err, native.ErrTurnEnded)
				}
				require.Empty(t, b.client.Requests())
				require.Zero(t, declared.Runs())
				if name != "completion" {
					close(finish)
				}
			})
		})
	}
}

func TestTURN6_ToolsRecoverAlsoUnderACustomEngine(t *testing.T) {
	withEngine(t, engineFunc(func(ctx context.Context, r native.TurnRequest) error {
		_, err := r.Tools[1].Instance.InvokableRun(ctx, "{}")
		return err
	}), func(t *testing.T, b *bench) {
		require.NoError(t, b.ReplaceExternalTools(t.Context(),
			loop.ExternalToolset{Source: "mcp", Generation: "g1", Definitions: append(fixture.Defines(), panicking("run"))}))
		err := b.run("a1")
		require.Equal(t, loop.TurnFailed, outcomeOf(err))
		var panicked *loop.PanicError
		require.ErrorAs(t, err, &panicked)
		require.Equal(t, "run", panicked.Value)
		require.NoError(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)))
	})
}

func TestEngine_WithoutAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := native.New(t.Context(), native.Config{Definition: standard(t), Journal: &fixture.Journal{},
			Engine: engineFunc(func(_ context.Context, r native.TurnRequest) error {
				assert.Nil(t, r.Client)
				return nil
			})})
		require.NoError(t, err)
		turn, err := l.Submit(t.Context(), "a1")
		require.NoError(t, err)
		require.Empty(t, outcome(turn))
		require.NoError(t, l.Shutdown(t.Context()))
	})
}

func TestConfig_NamesWhatIsMissing(t *testing.T) {
	foreign, err := loop.Define(loop.WithName("f"), loop.WithEngine(loop.EngineForeign), loop.WithModel(fixture.Model("m")))
	require.NoError(t, err)
	engine := engineFunc(func(context.Context, native.TurnRequest) error { return nil })
	for field, config := range map[string]native.Config{
		"Definition": {Journal: &fixture.Journal{}, Client: &fixture.Client{}},
		"Journal":    {Definition: standard(t), Client: &fixture.Client{}},
		"Client":     {Definition: standard(t), Journal: &fixture.Journal{}},
		"Engine":     {Definition: foreign, Journal: &fixture.Journal{}, Client: &fixture.Client{}},
	} {
		for _, start := range []func(context.Context, native.Config) (*native.Loop, error){native.New, native.Restore} {
			_, err := start(t.Context(), config)
			var invalid *native.ConfigError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, field, invalid.Field)
			require.Contains(t, invalid.Error(), field)
		}
	}
	_, err = native.New(t.Context(), native.Config{Definition: foreign, Engine: engine})
	require.ErrorAs(t, err, new(*native.ConfigError))
}
