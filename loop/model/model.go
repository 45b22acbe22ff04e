// Package model describes the models that a loop may ask, and the port through which it asks them.
//
// Everything here is a plain value. [Model] holds slices and pointers: a value that crosses a boundary between a loop
// and its caller is passed on as a [Model.Clone], so that no two sides share memory (CHG-5, VIEW-3).
package model

import (
	"slices"
)

// Model is the whole descriptor of a model: what the journal records and what a request carries.
type Model struct {
	Provider  string `json:"provider"`
	APIFormat string `json:"api_format"`
	// BaseURL is where the provider is reached: an absolute http or https URL, or empty for the provider's default.
	BaseURL string `json:"base_url,omitempty"`
	Name    string `json:"name"`
	// Efforts lists the efforts that the model supports besides [EffortNone], which every model does.
	Efforts  []Effort `json:"efforts,omitempty"`
	Limits   Limits   `json:"limits"`
	Sampling Sampling `json:"sampling"`
}

// Limits bounds one request, in tokens. Zero means that the limit is not known.
type Limits struct {
	Context int `json:"context,omitempty"`
	Output  int `json:"output,omitempty"`
}

// Sampling says how answers are drawn. A nil pointer leaves the value to the provider.
type Sampling struct {
	// Effort is a report, never a request: a loop sets it to the effort in force in what Handle.Model returns, and
	// ignores it in a model that it is given, but for that it must be a known one. Effort is selected by a definition, a mode or ChangeEffort (CHG-4).
	Effort      Effort   `json:"effort,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2
	TopP        *float64 `json:"top_p,omitempty"`       // above 0, up to 1
	Stop        []string `json:"stop,omitempty"`
}

// Key names a model durably: two descriptors with one key are descriptors of one model.
type Key struct {
	Provider string
	Name     string
}

// Complete reports whether both parts of the key are there.
func (k Key) Complete() bool { return k.Provider != "" && k.Name != "" }

// Transport is the way to a model. A definition declares the transports that its loop may use (CHG-3).
type Transport struct {
	Provider  string
	APIFormat string
	BaseURL   string
}

// Key returns the model's durable key.
func (m Model) Key() Key { return Key{Provider: m.Provider, Name: m.Name} }

// Transport returns the way to the model.
func (m Model) Transport() Transport {
	return Transport{Provider: m.Provider, APIFormat: m.APIFormat, BaseURL: m.BaseURL}
}

// Supports reports whether the model can be asked with effort e. [EffortNone] is supported by every model: such a
// request says nothing about effort.
func (m Model) Supports(e Effort) bool { return e == EffortNone || slices.Contains(m.Efforts, e) }

// Clone returns a copy that shares no memory with m.
func (m Model) Clone() Model {
	m.Efforts = slices.Clone(m.Efforts)
	m.Sampling.Stop = slices.Clone(m.Sampling.Stop)
	m.Sampling.Temperature = clonePointer(m.Sampling.Temperature)
	m.Sampling.TopP = clonePointer(m.Sampling.TopP)
	return m
}

// WithEffort returns a copy of m, sharing no memory with it, that reports e as the effort in force.
func (m Model) WithEffort(e Effort) Model {
	m = m.Clone()
	m.Sampling.Effort = e
	return m
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
