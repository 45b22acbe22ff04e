package foreign_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/foreign"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

func TestDUR3_RestoreTakesUpWhatWasCommitted(t *testing.T) {
	j := &fixture.Journal{}
	config := func(a *agent) foreign.Config { return foreign.Config{Definition: define(t), Journal: j, Backend: a} }
	shut := func(l *foreign.Loop) {
		t.Helper()
		require.NoError(t, l.Shutdown(t.Context()))
	}
	first, err := foreign.New(t.Context(), config(&agent{capabilities: everything}))
	require.NoError(t, err)
	require.NoError(t, first.SetMode(t.Context(), "plan"))
	require.NoError(t, first.Change(t.Context(), loop.ChangeModel(fixture.Model("m2", model.EffortLow)), loop.ChangeEffort(model.EffortLow)))
	shut(first)

	_, err = foreign.New(t.Context(), config(&agent{}))
	var refused *loop.RestoreError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, loop.RestoreNotEmpty, refused.Kind)

	a := &agent{} // which takes no changes any more, and yet has those of before
	restored, err := foreign.Restore(t.Context(), config(a))
	require.NoError(t, err)
	require.Equal(t, first.ID(), restored.ID())
	require.Equal(t, loop.ModeName("plan"), restored.Mode())
	turn, err := restored.Submit(t.Context(), "a1")
	require.NoError(t, err)
	require.Empty(t, outcome(turn))
	require.Equal(t, "plan|only plan|m2 low|low|a1", a.last())
	require.Equal(t, loop.ChangeUnsupported, kind(restored.SetMode(t.Context(), "")))
	shut(restored)
	require.Len(t, j.Durable(), 2)

	modeless, err := loop.Define(loop.WithName("foreign"), loop.WithEngine(loop.EngineForeign), loop.WithModel(fixture.Model("m1")))
	require.NoError(t, err)
	_, err = foreign.Restore(t.Context(), foreign.Config{Definition: modeless, Journal: j, Backend: a})
	require.ErrorAs(t, err, &refused)
	require.Equal(t, loop.RestoreUnknownMode, refused.Kind)
	require.Equal(t, loop.ModeName("plan"), refused.Mode)
	require.True(t, slices.ContainsFunc(j.Durable(), func(e event.Event) bool { return e.Type() == event.TypeLoopModeChanged }))
}

func TestConfig_ErrorsSayWhatIsWrong(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	nativeOne, err := loop.Define(loop.WithName("native"), loop.WithModel(fixture.Model("m1")))
	require.NoError(t, err)
	failure := errors.New("no idea")
	for name, c := range map[string]struct {
		config foreign.Config
		check  func(t *testing.T, err error)
	}{
		"no backend": {foreign.Config{Definition: define(t), Journal: &fixture.Journal{}}, badField("Backend")},
		"not foreign": {
			foreign.Config{Definition: nativeOne, Journal: &fixture.Journal{}, Backend: &agent{}}, badField("Definition"),
		},
		"no definition": {foreign.Config{Journal: &fixture.Journal{}, Backend: &agent{}}, badNativeField("Definition")},
		"no journal":    {foreign.Config{Definition: define(t), Backend: &agent{}}, badNativeField("Journal")},
		"a backend that panics": {
			foreign.Config{Definition: define(t), Journal: &fixture.Journal{}, Backend: &agent{OnCapabilities: func() { panic(failure) }}},
			func(t *testing.T, err error) {
				require.ErrorAs(t, err, new(*loop.PanicError))
				require.ErrorIs(t, err, failure)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, start := range []func(context.Context, foreign.Config) (*foreign.Loop, error){foreign.New, foreign.Restore} {
				l, err := start(t.Context(), c.config)
				require.Nil(t, l)
				c.check(t, err)
			}
		})
	}
}

func badField(field string) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var invalid *native.ConfigError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, field, invalid.Field)
		require.Contains(t, invalid.Error(), field)
	}
}

func badNativeField(field string) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var invalid *native.ConfigError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, field, invalid.Field)
	}
}
