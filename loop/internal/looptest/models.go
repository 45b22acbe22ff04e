package looptest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

// Model returns a valid model of that name with every part filled in. Each call returns memory of its own.
func Model(name string) model.Model {
	temperature, topP := 0.7, 0.95
	return model.Model{
		Provider:  "acme",
		APIFormat: "messages",
		BaseURL:   "https://api.acme.example/v1",
		Name:      name,
		Efforts:   []model.Effort{model.EffortLow, model.EffortHigh},
		Limits:    model.Limits{Context: 200_000, Output: 8_000},
		Sampling:  model.Sampling{Temperature: &temperature, TopP: &topP, Stop: []string{"END", "\n\n"}},
	}
}

// Overwrite writes to every piece of memory that m refers to.
func Overwrite(m *model.Model) {
	for i := range m.Efforts {
		m.Efforts[i] = "overwritten"
	}
	for i := range m.Sampling.Stop {
		m.Sampling.Stop[i] = "overwritten"
	}
	if m.Sampling.Temperature != nil {
		*m.Sampling.Temperature = -1
	}
	if m.Sampling.TopP != nil {
		*m.Sampling.TopP = -1
	}
}

// Models generates valid models. Lists without elements are nil or empty.
func Models() *rapid.Generator[model.Model] {
	return rapid.Custom(func(t *rapid.T) model.Model {
		efforts := rapid.Permutation(model.Efforts()[1:]).Draw(t, "efforts")
		m := model.Model{
			Provider:  Identifier(model.MaxText).Draw(t, "provider"),
			APIFormat: Identifier(model.MaxText).Draw(t, "format"),
			BaseURL: rapid.SampledFrom([]string{
				"", "https://a.example", "http://[::1]:8080/v1/", "https://a.example/%22%3C&x=1", "HTTPS://A.EXAMPLE/世",
			}).Draw(t, "url"),
			Name:     Identifier(model.MaxText).Draw(t, "name"),
			Efforts:  efforts[:rapid.IntRange(0, len(efforts)).Draw(t, "supported")],
			Sampling: model.Sampling{Effort: Efforts().Draw(t, "reported")},
		}
		m.Limits.Context = rapid.SampledFrom([]int{0, 1, 200_000, math.MaxInt}).Draw(t, "context")
		m.Limits.Output = rapid.SampledFrom([]int{0, m.Limits.Context}).Draw(t, "output")
		m.Sampling.Temperature = rapid.Ptr(rapid.OneOf(rapid.Float64Range(0, 2), rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, 0.1, 1e-7, 1.0 / 3, math.Nextafter(2, 0), 2,
		})), true).Draw(t, "temperature")
		m.Sampling.TopP = rapid.Ptr(rapid.SampledFrom([]float64{
			math.SmallestNonzeroFloat64, 1e-21, 0.30000000000000004, math.Nextafter(1, 0), 1,
		}), true).Draw(t, "top p")
		m.Sampling.Stop = rapid.SliceOfN(Text(model.MaxText), 0, 3).Draw(t, "stop")
		if len(m.Sampling.Stop) == 0 && rapid.Bool().Draw(t, "no stop") {
			m.Sampling.Stop = nil
		}
		return m
	})
}

// Efforts generates the declared efforts.
func Efforts() *rapid.Generator[model.Effort] { return rapid.SampledFrom(model.Efforts()) }

// Runtimes generates what an event records of a loop: a model that reports the effort.
func Runtimes() *rapid.Generator[event.Runtime] {
	return rapid.Custom(func(t *rapid.T) event.Runtime {
		m := Models().Draw(t, "model")
		effort := rapid.SampledFrom(slices.Concat(m.Efforts, []model.Effort{model.EffortNone})).Draw(t, "effort")
		return event.Runtime{Model: m.WithEffort(effort), Effort: effort}
	})
}
