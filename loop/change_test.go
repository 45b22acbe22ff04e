package loop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
)

func TestCHG1_ABatchWithoutAModelOrAnEffortIsEmpty(t *testing.T) {
	for name, changes := range map[string][]loop.Change{
		"nil":          nil,
		"none":         {},
		"nil element":  {nil},
		"nil elements": {nil, nil},
	} {
		batch := loop.MergeChanges(changes...)
		assert.True(t, batch.Empty(), name)
		assert.Equal(t, loop.Batch{}, batch, name)
	}
	assert.False(t, loop.MergeChanges(loop.ChangeEffort(model.EffortNone)).Empty(), "no effort is an effort")
	assert.False(t, loop.MergeChanges(loop.ChangeModel(model.Model{})).Empty(), "an invalid model is not none")
}

func TestCHG1_TheLastValueForAFieldWinsAndNilIsIgnored(t *testing.T) {
	m1, m2 := looptest.Model("m1"), looptest.Model("m2")
	low, high := model.EffortLow, model.EffortHigh
	for name, c := range map[string]struct {
		changes []loop.Change
		want    loop.Batch
	}{
		"model":           {[]loop.Change{loop.ChangeModel(m1)}, loop.Batch{Model: &m1}},
		"effort":          {[]loop.Change{loop.ChangeEffort(low)}, loop.Batch{Effort: &low}},
		"model, effort":   {[]loop.Change{loop.ChangeModel(m1), loop.ChangeEffort(low)}, loop.Batch{Model: &m1, Effort: &low}},
		"effort, model":   {[]loop.Change{loop.ChangeEffort(low), loop.ChangeModel(m1)}, loop.Batch{Model: &m1, Effort: &low}},
		"the last model":  {[]loop.Change{loop.ChangeModel(m1), nil, loop.ChangeModel(m2)}, loop.Batch{Model: &m2}},
		"the last effort": {[]loop.Change{nil, loop.ChangeEffort(low), loop.ChangeEffort(high), nil}, loop.Batch{Effort: &high}},
		"the last of each": {
			[]loop.Change{loop.ChangeEffort(high), loop.ChangeModel(m2), loop.ChangeEffort(low), loop.ChangeModel(m1)},
			loop.Batch{Model: &m1, Effort: &low},
		},
	} {
		assert.Equal(t, c.want, loop.MergeChanges(c.changes...), name)
	}
}

func TestCHG1_AnyBatchComesToItsLastValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want loop.Batch
		var changes []loop.Change
		for range rapid.IntRange(0, 6).Draw(t, "length") {
			switch rapid.SampledFrom([]string{"nil", "model", "effort"}).Draw(t, "kind") {
			case "nil":
				changes = append(changes, nil)
			case "model":
				m := looptest.Models().Draw(t, "model")
				want.Model, changes = &m, append(changes, loop.ChangeModel(m))
			case "effort":
				effort := rapid.Map(rapid.String(), func(s string) model.Effort { return model.Effort(s) }).Draw(t, "effort")
				want.Effort, changes = &effort, append(changes, loop.ChangeEffort(effort))
			}
		}
		got := loop.MergeChanges(changes...)
		require.Empty(t, cmp.Diff(want, got, cmpopts.EquateEmpty()))
		require.Equal(t, want.Model == nil && want.Effort == nil, got.Empty())
	})
}

func TestCHG5_AChangeIsImmutable(t *testing.T) {
	given := looptest.Model("m")
	change := loop.ChangeModel(given)
	unchanged := func(what string) {
		t.Helper()
		m, ok := change.InferenceModel()
		require.True(t, ok)
		require.Equal(t, looptest.Model("m"), m, what)
		require.Equal(t, looptest.Model("m"), *loop.MergeChanges(change).Model, what)
	}
	looptest.Overwrite(&given)
	unchanged("the model that it was made of was written to")

	returned, _ := change.InferenceModel()
	looptest.Overwrite(&returned)
	unchanged("the model that it returned was written to")

	merged := loop.MergeChanges(change)
	looptest.Overwrite(merged.Model)
	merged.Model.Name = "overwritten"
	unchanged("the model of a batch was written to")

	effort := loop.ChangeEffort(model.EffortLow)
	*loop.MergeChanges(effort).Effort = model.EffortMax
	selected, ok := effort.InferenceEffort()
	assert.True(t, ok)
	assert.Equal(t, model.EffortLow, selected)
	assert.Equal(t, model.EffortLow, *loop.MergeChanges(effort).Effort)
}

func TestCHG5_AChangeSelectsOneThing(t *testing.T) {
	_, ok := loop.ChangeModel(looptest.Model("m").WithEffort(model.EffortHigh)).InferenceEffort()
	assert.False(t, ok, "a model's sampling selects no effort (CHG-4)")
	_, ok = loop.ChangeEffort(model.EffortHigh).InferenceModel()
	assert.False(t, ok)
}

// disguised embeds a change, which is the one way for another package to have a type of this interface.
type disguised struct {
	loop.Change
	model model.Model
}

func (d disguised) InferenceModel() (model.Model, bool)   { return d.model, true }
func (d disguised) InferenceEffort() (model.Effort, bool) { return "invented", true }

func TestCHG5_AnEmbeddedChangeCountsAsItselfWhateverTheOuterTypeSays(t *testing.T) {
	low := model.EffortLow
	batch := loop.MergeChanges(disguised{Change: loop.ChangeEffort(low), model: looptest.Model("m")})
	assert.Equal(t, loop.Batch{Effort: &low}, batch)
}

func TestCHG1_AnEmbeddedNilChangeIsANilElement(t *testing.T) {
	assert.True(t, loop.MergeChanges(struct{ loop.Change }{}).Empty())
	batch := loop.MergeChanges(loop.ChangeEffort(model.EffortLow), struct{ loop.Change }{})
	assert.Equal(t, model.EffortLow, *batch.Effort)
}
