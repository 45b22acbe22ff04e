package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestCHG5_ACloneSharesNoMemory(t *testing.T) {
	for name, copied := range map[string]func(model.Model) model.Model{
		"Clone":      model.Model.Clone,
		"WithEffort": func(m model.Model) model.Model { return m.WithEffort(model.EffortNone) },
	} {
		t.Run(name, func(t *testing.T) {
			original := looptest.Model("m")
			clone := copied(original)
			require.Equal(t, original, clone)

			looptest.Overwrite(&original)
			assert.Equal(t, looptest.Model("m"), clone, "writing to the original changed the copy")

			original = looptest.Model("m")
			clone = copied(original)
			looptest.Overwrite(&clone)
			assert.Equal(t, looptest.Model("m"), original, "writing to the copy changed the original")
		})
	}
}

func TestCHG5_AppendingToACloneLeavesTheOriginalsSpareCapacityAlone(t *testing.T) {
	efforts := append(make([]model.Effort, 0, 4), model.EffortLow)
	m := looptest.Model("m")
	m.Efforts = efforts
	clone := m.Clone()
	_ = append(clone.Efforts, model.EffortMax)
	assert.Equal(t, model.EffortNone, efforts[:2][1])
}

func TestVIEW3_WithEffortReportsTheEffortAndKeepsTheRest(t *testing.T) {
	m := looptest.Model("m")
	reported := m.WithEffort(model.EffortHigh)
	assert.Equal(t, model.EffortHigh, reported.Sampling.Effort)
	assert.Equal(t, model.EffortNone, m.Sampling.Effort, "the original was written to")
	reported.Sampling.Effort = model.EffortNone
	assert.Equal(t, m, reported)
}

func TestCHG3_TheKeyIsProviderAndName(t *testing.T) {
	m := looptest.Model("m")
	assert.Equal(t, model.Key{Provider: "acme", Name: "m"}, m.Key())
	assert.True(t, m.Key().Complete())
	assert.False(t, model.Key{Provider: "acme"}.Complete())
	assert.False(t, model.Key{Name: "m"}.Complete())
	assert.Equal(t, model.Transport{Provider: "acme", APIFormat: "messages", BaseURL: "https://api.acme.example/v1"}, m.Transport())
}

func TestCHG4_AModelSupportsWhatItListsAndNoEffort(t *testing.T) {
	m := looptest.Model("m")
	for _, effort := range model.Efforts() {
		listed := effort == model.EffortNone || effort == model.EffortLow || effort == model.EffortHigh
		assert.Equal(t, listed, m.Supports(effort), "effort %q", effort)
		assert.True(t, effort.Valid(), "effort %q", effort)
	}
	assert.False(t, m.Supports("LOW"))
	assert.True(t, model.Model{}.Supports(model.EffortNone))
	for _, unknown := range []model.Effort{"LOW", "low ", "none", "highest"} {
		assert.False(t, unknown.Valid(), "effort %q", unknown)
	}
}

func TestCHG4_EffortsAreThoseOfTheContract(t *testing.T) {
	assert.Equal(t, []model.Effort{"", "minimal", "low", "medium", "high", "xhigh", "max"}, model.Efforts())
	model.Efforts()[0] = "overwritten"
	assert.Equal(t, model.EffortNone, model.Efforts()[0], "the list is shared")
}

func TestDUR2_AModelSurvivesItsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := looptest.Models().Draw(t, "model")
		encoded, err := json.Marshal(m)
		require.NoError(t, err)
		var decoded model.Model
		require.NoError(t, json.Unmarshal(encoded, &decoded))
		require.Empty(t, cmp.Diff(m, decoded, cmpopts.EquateEmpty()))
	})
}

func TestEXT13_ARequestsCloneSharesNoMemory(t *testing.T) {
	request := func() model.Request {
		return model.Request{
			Instructions: "be brief",
			Model:        looptest.Model("m"),
			Tools:        []tool.Info{{Name: "search", Schema: json.RawMessage(`{"a":1}`)}},
			Messages: []model.Message{
				{Role: model.RoleUser, Text: "hello"},
				{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "search"}}},
			},
		}
	}
	overwrite := func(r *model.Request) {
		looptest.Overwrite(&r.Model)
		copy(r.Tools[0].Schema, "overwritten")
		r.Tools[0].Name = "overwritten"
		r.Messages[1].ToolCalls[0].Name = "overwritten"
		r.Messages[0].Text = "overwritten"
	}
	original := request()
	clone := original.Clone()
	require.Equal(t, original, clone)
	overwrite(&original)
	assert.Equal(t, request(), clone)

	original = request()
	clone = original.Clone()
	overwrite(&clone)
	assert.Equal(t, request(), original)
}
