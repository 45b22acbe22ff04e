package faulty_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

func TestConfigIsChecked(t *testing.T) {
	ctx := t.Context()
	native, err := loop.Define(loop.WithName("n"), loop.WithModel(modelOf("m")))
	require.NoError(t, err)
	other, err := loop.Define(loop.WithName("n"), loop.WithModel(modelOf("m")), loop.WithEngine(loop.EngineForeign))
	require.NoError(t, err)
	good := faulty.Config{Definition: native, Journal: &diary{}, Client: &script{}}
	for field, spoil := range map[string]func(c *faulty.Config){
		"Definition":      func(c *faulty.Config) { c.Definition = loop.Definition{} },
		"Definition has":  func(c *faulty.Config) { c.Definition = other },
		"Journal":         func(c *faulty.Config) { c.Journal = nil },
		"Client":          func(c *faulty.Config) { c.Client = nil },
		`Fault "no-such"`: func(c *faulty.Config) { c.Fault = "no-such" },
	} {
		c := good
		spoil(&c)
		for _, start := range []func(context.Context, faulty.Config) (*faulty.Loop, error){faulty.New, faulty.Restore} {
			_, err := start(ctx, c)
			var wrong *faulty.ConfigError
			require.ErrorAs(t, err, &wrong)
			assert.ErrorContains(t, err, field)
		}
	}
	var wrong *faulty.ConfigError
	_, err = faulty.NewForeign(ctx, good)
	assert.ErrorAs(t, err, &wrong)
	good.Definition = other
	l, err := faulty.NewForeign(ctx, good)
	require.NoError(t, err)
	assert.Empty(t, l.(loop.ModeCatalog).Modes())
	assert.NoError(t, l.Shutdown(ctx))
}

func TestNewWantsAnEmptyJournal(t *testing.T) {
	ctx := t.Context()
	d, err := loop.Define(loop.WithName("n"), loop.WithModel(modelOf("m", model.EffortLow)), loop.WithMode("quick"))
	require.NoError(t, err)
	j := &diary{}
	c := faulty.Config{Definition: d, Journal: j, Client: &script{}}
	l, err := faulty.Restore(ctx, c) // an empty journal is a new loop's
	require.NoError(t, err)
	assert.Equal(t, []loop.ModeName{"quick"}, l.Modes())
	require.NoError(t, l.SetMode(ctx, "quick"))
	require.NoError(t, l.Shutdown(ctx))

	var refused *loop.RestoreError
	_, err = faulty.New(ctx, c)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, loop.RestoreNotEmpty, refused.Kind)
	j.planReads(plan{before: errDisk})
	_, err = faulty.New(ctx, c)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, loop.RestoreUnreadable, refused.Kind)

	strange := modelOf("m")
	strange.BaseURL = "https://elsewhere.example"
	require.NoError(t, j.Memory.Append(ctx, event.LoopInferenceChanged{Runtime: event.Runtime{Model: strange}}))
	_, err = faulty.Restore(ctx, c)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, loop.RestoreInvalidRuntime, refused.Kind)
}

func TestPrintingShowsNoBindings(t *testing.T) {
	found := play(t, "", func(b *bench) {
		turn, _ := b.submitHeld("t", true)
		b.check(fmt.Sprintf("%v %+v", turn, b.Loop) == fmt.Sprintf("faulty.Turn faulty.Loop(%s)", b.ID()), "%v %+v", turn, b.Loop)
	})
	assert.Empty(t, found)
}
