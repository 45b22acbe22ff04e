package native_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// errDisk is what the tests' journals fail with.
var errDisk = errors.New("disk on fire")

// inForce is what the handle says.
func (b *bench) inForce() journal.State {
	m := b.Model()
	return journal.State{Mode: b.Mode(), Model: m, Effort: m.Sampling.Effort}
}

// folded is what the journal stands for.
func (b *bench) folded() journal.State {
	b.t.Helper()
	state, err := journal.Fold(journal.Initial(b.config.Definition), b.journal.Memory.Events(context.Background()))
	require.NoError(b.t, err)
	return state
}

// settled checks that journal and handle agree, as they must whenever nothing is outstanding (DUR-2).
func (b *bench) settled() {
	b.t.Helper()
	require.Equal(b.t, b.folded(), b.inForce())
}

// crashed is the journal as a crash at this instant would leave it.
func (b *bench) crashed() *fixture.Journal {
	b.t.Helper()
	left := &fixture.Journal{}
	for _, e := range b.journal.Durable() {
		require.NoError(b.t, left.Memory.Append(context.Background(), e))
	}
	return left
}

// restored is a loop restored with the configuration; it is shut down with the test.
func (b *bench) restored(config native.Config) *bench {
	b.t.Helper()
	l, err := native.Restore(b.t.Context(), config)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = l.Shutdown(context.Background()) })
	return &bench{Loop: l, t: b.t, journal: config.Journal.(*fixture.Journal), client: b.client, config: config}
}

// refuses checks that f is refused with that kind, and that nothing changed by it (REF-1).
func (b *bench) refuses(want loop.ChangeErrorKind, f func() error, why ...any) *loop.ChangeError {
	b.t.Helper()
	state, begun := b.inForce(), b.journal.Begun()
	err := f()
	require.IsType(b.t, &loop.ChangeError{}, err, why...)
	require.Equal(b.t, want, kind(err), why...)
	require.Equal(b.t, state, b.inForce())
	require.Equal(b.t, begun, b.journal.Begun(), "a refusal appends nothing")
	return err.(*loop.ChangeError)
}

// submitKind returns the kind of a refused input.
func submitKind(err error) loop.SubmitErrorKind {
	if refusal, ok := err.(*loop.SubmitError); ok {
		return refusal.Kind
	}
	return ""
}

// trap is a journal whose appends and readings can be replaced.
type trap struct {
	fixture.Journal
	onAppend func(ctx context.Context, e event.Event, write func() error) error
	onEvents func(ctx context.Context, events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error]
}

func (j *trap) Append(ctx context.Context, e event.Event) error {
	write := func() error { return j.Journal.Append(ctx, e) }
	if j.onAppend == nil {
		return write()
	}
	return j.onAppend(ctx, e, write)
}

func (j *trap) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	events := j.Journal.Events(ctx)
	if j.onEvents == nil {
		return events
	}
	return j.onEvents(ctx, events)
}

// inTrap is inBubble on a trap.
func inTrap(t *testing.T, f func(t *testing.T, b *bench, j *trap)) {
	t.Helper()
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Journal: &trap{}}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		j := b.config.Journal.(*trap)
		b.journal = &j.Journal
		f(t, b, j)
	})
}

// isFaulted checks that every change and input is refused as faulted.
func (b *bench) isFaulted() {
	b.t.Helper()
	ctx := b.t.Context()
	b.refuses(loop.ChangeLoopFaulted, func() error { return b.SetMode(ctx, "plan") })
	b.refuses(loop.ChangeLoopFaulted, func() error { return b.Change(ctx, loop.ChangeEffort(model.EffortNone)) })
	b.refuses(loop.ChangeLoopFaulted, func() error { return b.replace("other", "g") })
	_, err := b.Submit(ctx, "refused")
	require.Equal(b.t, loop.SubmitFaulted, submitKind(err))
}

// pendingTurn reports, when all is at rest, whether the turn has not ended.
func pendingTurn(turn loop.Turn) bool {
	synctest.Wait()
	select {
	case <-turn.Done():
		return false
	default:
		return true
	}
}

// replace replaces the slot of a source.
func (b *bench) replace(source, generation string, definitions ...tool.Definition) error {
	return b.ReplaceExternalTools(b.t.Context(), loop.ExternalToolset{
		Source: source, Generation: generation, Definitions: definitions,
	})
}

// capture runs a turn that must complete, and returns its first model request.
func (b *bench) capture(input string) model.Request {
	b.t.Helper()
	require.NoError(b.t, b.run(input))
	requests := b.client.RequestsOf(input)
	require.NotEmpty(b.t, requests)
	return requests[0]
}

// offers runs a turn and returns the names of the tools that it offers.
func (b *bench) offers(input string) []string {
	b.t.Helper()
	return fixture.ToolNames(b.capture(input))
}

// toolsEvent returns the last event of the journal, which must be one of external tools.
func (b *bench) toolsEvent() event.LoopExternalToolsetChanged {
	b.t.Helper()
	events := b.journal.Durable()
	require.NotEmpty(b.t, events)
	return events[len(events)-1].(event.LoopExternalToolsetChanged)
}

func digest(compacted string) string {
	sum := sha256.Sum256([]byte(compacted))
	return hex.EncodeToString(sum[:])
}

// callOnce is an answer that calls the tools of those names in the first step and ends in the second.
func callOnce(names ...string) func(context.Context, model.Request, int) ([]model.Chunk, error) {
	return func(_ context.Context, _ model.Request, step int) ([]model.Chunk, error) {
		if step == 1 {
			return fixture.Calls(names...), nil
		}
		return nil, nil
	}
}

// submitHeld starts a turn that lasts until it is interrupted.
func (b *bench) submitHeld(input string) loop.Turn {
	b.t.Helper()
	answer := b.client.Answer
	b.client.Answer = func(ctx context.Context, _ model.Request, _ int) ([]model.Chunk, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	turn := b.submit(input)
	synctest.Wait()
	b.client.Answer = answer
	return turn
}

// changers are one valid call of each kind.
func (b *bench) changers(ctx context.Context) map[string]func() error {
	return map[string]func() error{
		"SetMode": func() error { return b.SetMode(ctx, "plan") },
		"Change":  func() error { return b.Change(ctx, loop.ChangeEffort(model.EffortNone)) },
		"ReplaceExternalTools": func() error {
			return b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: fixture.Defines("x")})
		},
	}
}
