package native_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

func TestCHG1_EmptyBatchIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.refuses(loop.ChangeNoChanges, func() error { return b.Change(t.Context()) })
		b.refuses(loop.ChangeNoChanges, func() error { return b.Change(t.Context(), nil, nil) })
	})
}

func TestCHG1_LastValueForAFieldWins(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		// What is overridden is not judged either: neither "broken" nor the effort max could be selected.
		require.NoError(t, b.Change(t.Context(),
			nil, loop.ChangeModel(model.Model{Name: "broken"}), loop.ChangeEffort(model.EffortMax),
			changeModel("m2", model.EffortMedium), loop.ChangeEffort(model.EffortMedium), nil))
		require.Len(t, b.journal.Durable(), 1)
		require.Equal(t, "m2", b.Model().Name)
		require.Equal(t, model.EffortMedium, b.Model().Sampling.Effort)
	})
}

// F06: a batch whose effort its model does not support must not leave half of itself behind.
func TestCHG2_WholeBatchOrNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.refuses(loop.ChangeInvalidEffort, func() error {
			return b.Change(t.Context(), changeModel("m2", model.EffortLow), loop.ChangeEffort(model.EffortHigh))
		})
		b.refuses(loop.ChangeInvalidModel, func() error {
			return b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh), loop.ChangeModel(model.Model{Name: "m2"}))
		})
		r := b.capture("a1")
		require.Equal(t, "m1", r.Model.Name)
		require.Equal(t, model.EffortLow, r.Effort)

		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		r = b.capture("a2")
		require.Equal(t, "m2", r.Model.Name)
		require.Equal(t, model.EffortHigh, r.Effort)
		require.Equal(t, model.EffortHigh, r.Model.Sampling.Effort)

		events := b.journal.Durable()
		require.Len(t, events, 1, "model and effort of one batch are one event")
		changed := events[0].(event.LoopInferenceChanged)
		require.Equal(t, "m2", changed.Runtime.Model.Name)
		require.Equal(t, model.EffortHigh, changed.Runtime.Effort)
		require.Equal(t, b.ID(), changed.LoopID)
		b.settled()
	})
}

func TestCHG2_BatchEqualToTheStateCommits(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		before := b.inForce()
		require.NoError(t, b.Change(t.Context(), loop.ChangeModel(b.Model()), loop.ChangeEffort(model.EffortLow)))
		require.NoError(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortLow)))
		require.Len(t, b.journal.Durable(), 2)
		require.Equal(t, before, b.inForce())
	})
}

func TestCHG3_InvalidModels(t *testing.T) {
	but := func(change func(*model.Model)) model.Model {
		m := fixture.Model("m2", model.EffortLow)
		change(&m)
		return m
	}
	negative := -1.0
	invalid := map[string]model.Model{
		"zero":                    {},
		"no name":                 but(func(m *model.Model) { m.Name = "" }),
		"no provider":             but(func(m *model.Model) { m.Provider = "" }),
		"negative limit":          but(func(m *model.Model) { m.Limits.Context = -1 }),
		"bad sampling":            but(func(m *model.Model) { m.Sampling.Temperature = &negative }),
		"unknown listed effort":   but(func(m *model.Model) { m.Efforts = append(m.Efforts, "colossal") }),
		"credentials in the URL":  but(func(m *model.Model) { m.BaseURL = "https://me:secret@models.example/v1" }),
		"undeclared provider":     but(func(m *model.Model) { m.Provider = "other" }),
		"undeclared API format":   but(func(m *model.Model) { m.APIFormat = "messages" }),
		"undeclared base URL":     but(func(m *model.Model) { m.BaseURL = "https://models.example/v2" }),
		"default for another URL": but(func(m *model.Model) { m.BaseURL = "" }),
	}
	inBubble(t, func(t *testing.T, b *bench) {
		for what, m := range invalid {
			refusal := b.refuses(loop.ChangeInvalidModel, func() error { return b.Change(t.Context(), loop.ChangeModel(m)) })
			require.Error(t, refusal.Cause, what)
			require.NotContains(t, refusal.Error(), "secret")
		}
	})
}

func TestCHG3_DeclaredTransportsAreOpenInEveryMode(t *testing.T) {
	direct := model.Transport{Provider: "acme", APIFormat: "messages", BaseURL: "https://direct.example"}
	local := model.Model{Provider: "local", APIFormat: "chat", Name: "small"}
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t,
			loop.WithTransports(direct), loop.WithMode("offline", loop.WithModel(local), loop.WithEffort(model.EffortNone)))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		m := model.Model{Provider: "acme", APIFormat: "messages", BaseURL: "https://direct.example", Name: "m2"}
		require.NoError(t, b.Change(t.Context(), loop.ChangeModel(m), loop.ChangeEffort(model.EffortNone)))
		local.Name = "large"
		require.NoError(t, b.Change(t.Context(), loop.ChangeModel(local)), "the transport of another mode's model")
		require.Equal(t, "large", b.Model().Name)
	})
}

func TestCHG4_EffortIsJudgedByTheModelThatWillHaveIt(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		change := func(changes ...loop.Change) func() error {
			return func() error { return b.Change(t.Context(), changes...) }
		}
		b.refuses(loop.ChangeInvalidEffort, change(loop.ChangeEffort(model.EffortMax)))
		b.refuses(loop.ChangeInvalidEffort, change(loop.ChangeEffort("colossal")))
		b.refuses(loop.ChangeInvalidEffort, change(changeModel("m2", model.EffortMax)), "the current effort stays, and m2 lacks it")

		// Either order: the effort is the batch's model's, not the current one's.
		require.NoError(t, change(loop.ChangeEffort(model.EffortMax), changeModel("m2", model.EffortMax))())
		require.NoError(t, change(changeModel("m3", model.EffortMinimal), loop.ChangeEffort(model.EffortMinimal))())
		require.Equal(t, model.EffortMinimal, b.Model().Sampling.Effort)

		// The effort in a model's sampling selects nothing.
		m4 := fixture.Model("m4", model.EffortMinimal, model.EffortHigh).WithEffort(model.EffortHigh)
		require.NoError(t, change(loop.ChangeModel(m4))())
		require.Equal(t, model.EffortMinimal, b.Model().Sampling.Effort)

		require.NoError(t, change(loop.ChangeEffort(model.EffortNone))(), "every model supports none")
		require.NoError(t, change(changeModel("m5"))())
		require.Equal(t, model.EffortNone, b.Model().Sampling.Effort)

		require.NoError(t, b.SetMode(t.Context(), "plan"))
		b.refuses(loop.ChangeInvalidEffort, change(loop.ChangeEffort(model.EffortLow)), "the mode's model is the current one")
		b.settled()
	})
}

// F24: what was read before the commit must not overwrite what another committed since.
func TestCHG4_ConcurrentModelAndEffortBothStay(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		m := async(func() error { return b.Change(t.Context(), changeModel("m2", model.EffortLow, model.EffortHigh)) })
		e := async(func() error { return b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh)) })
		synctest.Wait()
		close(hold)
		require.NoError(t, <-m)
		require.NoError(t, <-e)
		r := b.capture("a1")
		require.Equal(t, "m2", r.Model.Name)
		require.Equal(t, model.EffortHigh, r.Effort)
		b.settled()
	})
}

func TestCHG5_CallersMemoryIsNotTheLoops(t *testing.T) {
	sample := func() model.Model {
		m := looptest.Model("m2")
		m.APIFormat, m.BaseURL = "chat", "https://models.example/v1"
		return m
	}
	inBubble(t, func(t *testing.T, b *bench) {
		m := sample()
		change := loop.ChangeModel(m)
		looptest.Overwrite(&m)
		hold := make(chan struct{})
		b.journal.PlanAppends(fixture.Plan{Hold: hold})
		changed := async(func() error { return b.Change(t.Context(), change) })
		synctest.Wait()
		selected, _ := change.InferenceModel()
		looptest.Overwrite(&selected)
		close(hold)
		require.NoError(t, <-changed)
		require.Equal(t, sample().WithEffort(model.EffortLow), b.Model())

		reported := b.Model()
		looptest.Overwrite(&reported)
		b.client.Answer = func(_ context.Context, r model.Request, _ int) ([]model.Chunk, error) {
			looptest.Overwrite(&r.Model)
			return nil, nil
		}
		require.Equal(t, sample().WithEffort(model.EffortLow), b.capture("a1").Model)
		require.Equal(t, sample().WithEffort(model.EffortLow), b.capture("a2").Model)
		require.NoError(t, b.Change(t.Context(), change), "a change value can be used again")
		b.settled()
	})
}

func TestCHG6_DefinitionStartsTheNextLoopAlike(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		start := b.inForce()
		first := b.capture("a1")
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.Change(t.Context(), changeModel("m2"), loop.ChangeEffort(model.EffortNone)))
		require.NoError(t, b.replace("mcp", "g1", fixture.Defines("x")...))

		config := b.config
		config.Journal = &fixture.Journal{}
		other, err := native.New(t.Context(), config)
		require.NoError(t, err)
		second := &bench{Loop: other, t: t, journal: config.Journal.(*fixture.Journal), client: b.client, config: config}
		require.Equal(t, start, second.inForce())
		again := second.capture("b1")
		again.Messages = first.Messages
		require.Equal(t, first, again)
		require.NoError(t, second.SetMode(t.Context(), "plan"))
		require.Equal(t, []string{"outline"}, second.offers("b2"), "slots are a loop's own")
		require.NoError(t, second.Shutdown(t.Context()))
	})
}
