package model_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
)

func requireInvalid(t require.TestingT, err error, field string) {
	var invalid *model.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, field, invalid.Field)
	require.NotEmpty(t, invalid.Reason)
	require.Contains(t, err.Error(), field)
}

func TestCHG3_AModelsStructureIsValidated(t *testing.T) {
	float := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		name  string
		spoil func(*model.Model)
		field string
	}{
		{"no provider", func(m *model.Model) { m.Provider = "" }, "provider"},
		{"long provider", func(m *model.Model) { m.Provider = strings.Repeat("p", model.MaxText+1) }, "provider"},
		{"no format", func(m *model.Model) { m.APIFormat = "" }, "api_format"},
		{"control character in the format", func(m *model.Model) { m.APIFormat = "a\nb" }, "api_format"},
		{"no name", func(m *model.Model) { m.Name = "" }, "name"},
		{"broken name", func(m *model.Model) { m.Name = "a\xffb" }, "name"},
		{"DEL in the name", func(m *model.Model) { m.Name = "a\x7f" }, "name"},
		{"C1 in the name", func(m *model.Model) { m.Name = "a\u0085" }, "name"},
		{"long name, by bytes", func(m *model.Model) { m.Name = strings.Repeat("é", model.MaxText/2) + "x" }, "name"},
		{"no listed effort", func(m *model.Model) { m.Efforts = []model.Effort{model.EffortLow, ""} }, "efforts[1]"},
		{"unknown effort", func(m *model.Model) { m.Efforts = []model.Effort{"Low"} }, "efforts[0]"},
		{"repeated effort", func(m *model.Model) { m.Efforts = []model.Effort{"low", "max", "low"} }, "efforts[2]"},
		{"negative context", func(m *model.Model) { m.Limits.Context = -1 }, "limits.context"},
		{"negative output", func(m *model.Model) { m.Limits.Output = -1 }, "limits.output"},
		{"output over context", func(m *model.Model) { m.Limits.Output = m.Limits.Context + 1 }, "limits.output"},
		{"unknown reported effort", func(m *model.Model) { m.Sampling.Effort = "more" }, "sampling.effort"},
		{"cold", func(m *model.Model) { m.Sampling.Temperature = float(-1e-9) }, "sampling.temperature"},
		{"hot", func(m *model.Model) { m.Sampling.Temperature = float(math.Nextafter(2, 3)) }, "sampling.temperature"},
		{"no temperature", func(m *model.Model) { m.Sampling.Temperature = float(math.NaN()) }, "sampling.temperature"},
		{"infinite", func(m *model.Model) { m.Sampling.Temperature = float(math.Inf(1)) }, "sampling.temperature"},
		{"top p of nothing", func(m *model.Model) { m.Sampling.TopP = float(0) }, "sampling.top_p"},
		{"top p over all", func(m *model.Model) { m.Sampling.TopP = float(math.Nextafter(1, 2)) }, "sampling.top_p"},
		{"top p is no number", func(m *model.Model) { m.Sampling.TopP = float(math.NaN()) }, "sampling.top_p"},
		{"empty stop", func(m *model.Model) { m.Sampling.Stop = []string{"a", ""} }, "sampling.stop[1]"},
		{"long stop", func(m *model.Model) { m.Sampling.Stop = []string{strings.Repeat("s", model.MaxText+1)} }, "sampling.stop[0]"},
		{"broken stop", func(m *model.Model) { m.Sampling.Stop = []string{"\xed\xa0\x80"} }, "sampling.stop[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := looptest.Model("m")
			require.NoError(t, m.Validate())
			c.spoil(&m)
			requireInvalid(t, m.Validate(), c.field)
		})
	}
}

func TestCHG3_BoundariesAreInside(t *testing.T) {
	m := looptest.Model(strings.Repeat("é", model.MaxText/2))
	two, one := 2.0, 1.0
	m.Sampling.Temperature, m.Sampling.TopP = &two, &one
	m.Sampling.Stop = []string{strings.Repeat("s", model.MaxText), "\x00"}
	m.Limits.Output = m.Limits.Context
	m.BaseURL = "https://a.example/" + strings.Repeat("x", model.MaxBaseURL-len("https://a.example/"))
	assert.NoError(t, m.Validate())
	m.Limits = model.Limits{Output: 10} // the context is not known
	assert.NoError(t, m.Validate())
}

func TestCHG3_ABaseURLIsAbsoluteAndPlain(t *testing.T) {
	for _, good := range []string{"", "http://localhost:8080", "https://a.example/v1/x%3Fy", "https://[::1]/", "https://bücher.example"} {
		m := looptest.Model("m")
		m.BaseURL = good
		assert.NoError(t, m.Validate(), "%q", good)
		assert.NoError(t, m.Transport().Validate(), "%q", good)
	}
	for _, bad := range []string{
		"a.example", "/v1", "//a.example", "ftp://a.example", "https:", "https://", "https:///v1", "https://:443", "https:a.example",
		"https://a.example/%zz", "https://a.example:port", " https://a.example", "https://a.example/\x7f", "https://a.example/\u0085",
		"https://a.example/\xff", "https://a.example/v1?version=2", "https://a.example?", "https://a.example#", "https://a.example/" + strings.Repeat("x", model.MaxBaseURL),
	} {
		m := looptest.Model("m")
		m.BaseURL = bad
		requireInvalid(t, m.Validate(), "base_url")
		requireInvalid(t, m.Transport().Validate(), "base_url")
	}
}

func TestDUR4_ABaseURLCarriesNoCredentialAndItsErrorRepeatsNone(t *testing.T) {
	for _, secret := range []string{"https://user:canary@a.example", "https://canary@a.example", "https://user:canary@a.example/%zz", "https://canary\x00",
		"https://a.example/v1?api_key=canary", "https://a.example/v1#canary"} {
		m := looptest.Model("m")
		m.BaseURL = secret
		err := m.Validate()
		requireInvalid(t, err, "base_url")
		assert.NotContains(t, err.Error(), "canary")
	}
}

func TestCHG3_GeneratedModelsAreValidAndBrokenTextIsNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := looptest.Models().Draw(t, "model")
		require.NoError(t, m.Validate())
		broken := looptest.BrokenText(model.MaxText).Draw(t, "broken")
		parts := map[string]*string{"provider": &m.Provider, "api_format": &m.APIFormat, "name": &m.Name}
		field := rapid.SampledFrom([]string{"provider", "api_format", "name"}).Draw(t, "field")
		*parts[field] = broken
		requireInvalid(t, m.Validate(), field)
	})
}
