package native_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// bench is a loop with surroundings that the test controls, inside a synctest bubble.
type bench struct {
	*native.Loop
	t       *testing.T
	journal *fixture.Journal
	client  *fixture.Client
	config  native.Config
}

// standard is the definition that most tests use: two modes with models of their own, and one declared tool in each.
func standard(t *testing.T, more ...loop.Option) loop.Definition {
	t.Helper()
	definition, err := loop.Define(append([]loop.Option{
		loop.WithName("test"),
		loop.WithInstructions("be brief"),
		loop.WithModel(fixture.Model("m1", model.EffortLow, model.EffortHigh)),
		loop.WithEffort(model.EffortLow),
		loop.WithTools(fixture.Defines("declared")...),
		loop.WithMode("plan",
			loop.WithInstructions("only plan"),
			loop.WithModel(fixture.Model("planner", model.EffortMax)),
			loop.WithEffort(model.EffortMax),
			loop.WithTools(fixture.Defines("outline")...)),
	}, more...)...)
	require.NoError(t, err)
	return definition
}

// inBubble runs f on a fresh standard loop, then shuts the loop down; the bubble checks that no goroutine is left.
func inBubble(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	inBubbleWith(t, func(t *testing.T) native.Config { return native.Config{Definition: standard(t)} }, f)
}

// inBubbleWith is inBubble with a configuration made in the bubble; journal and client are added to it if it has none.
func inBubbleWith(t *testing.T, configure func(t *testing.T) native.Config, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, config: configure(t)}
		if b.config.Journal == nil {
			b.config.Journal = &fixture.Journal{}
		}
		if b.config.Client == nil {
			b.config.Client = &fixture.Client{}
		}
		b.journal, _ = b.config.Journal.(*fixture.Journal)
		b.client, _ = b.config.Client.(*fixture.Client)
		var err error
		b.Loop, err = native.New(t.Context(), b.config)
		require.NoError(t, err)
		// Deferred, for a failed assertion to be told by itself and not by the goroutines that it leaves; and bounded, in the
		// bubble's time, because it may have failed with an append held.
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			assert.NoError(t, b.Shutdown(ctx))
		}()
		f(t, b)
	})
}

// submit hands in an input that must be accepted.
func (b *bench) submit(input string) loop.Turn {
	b.t.Helper()
	turn, err := b.Submit(b.t.Context(), input)
	require.NoError(b.t, err)
	return turn
}

// run runs one turn to its end.
func (b *bench) run(input string) error {
	b.t.Helper()
	turn := b.submit(input)
	<-turn.Done()
	return turn.Err()
}

// async calls f on a goroutine of its own and returns where its result will be.
func async(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

// pending reports, when all is at rest, whether there is no result yet.
func pending(result <-chan error) bool {
	synctest.Wait()
	return len(result) == 0
}

// kind returns the kind of a refusal; "" for what is none.
func kind(err error) loop.ChangeErrorKind {
	if refusal, ok := err.(*loop.ChangeError); ok {
		return refusal.Kind
	}
	return ""
}

func changeModel(name string, efforts ...model.Effort) loop.Change {
	return loop.ChangeModel(fixture.Model(name, efforts...))
}

func defs(tools ...*fixture.Tool) []tool.Definition {
	var definitions []tool.Definition
	for _, t := range tools {
		definitions = append(definitions, fixture.Define(t))
	}
	return definitions
}
