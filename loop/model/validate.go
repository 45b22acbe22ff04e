package model

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText bounds provider, API format, name and each stop string, in bytes; MaxBaseURL bounds the base URL.
const (
	MaxText    = 256
	MaxBaseURL = 2048
)

// InvalidError says which field of a model is not valid, and why. Field is the field's JSON path, as "sampling.top_p"
// or "efforts[1]".
type InvalidError struct {
	Field  string
	Reason string
}

// Error names the field and the reason.
func (e *InvalidError) Error() string { return fmt.Sprintf("model: invalid %s: %s", e.Field, e.Reason) }

// Validate reports, as an [*InvalidError], the first field that makes the structure or the key of m invalid. Whether
// its transport is declared and an effort supported depends on the loop and is not checked here.
func (m Model) Validate() error {
	if err := m.Transport().Validate(); err != nil {
		return err
	}
	if reason := checkText(m.Name); reason != "" {
		return &InvalidError{Field: "name", Reason: reason}
	}
	seen := make(map[Effort]bool, len(m.Efforts))
	for i, e := range m.Efforts {
		field := fmt.Sprintf("efforts[%d]", i)
		switch {
		case e == EffortNone:
			return &InvalidError{Field: field, Reason: "empty: every model supports no effort, it is not listed"}
		case !e.Valid():
			return &InvalidError{Field: field, Reason: fmt.Sprintf("unknown effort %q", e)}
		case seen[e]:
			return &InvalidError{Field: field, Reason: fmt.Sprintf("effort %q is listed twice", e)}
		}
		seen[e] = true
	}
	if err := m.Limits.validate(); err != nil {
		return err
	}
	return m.Sampling.validate()
}

// Validate reports, as an [*InvalidError], the first field that no valid model can have.
func (t Transport) Validate() error {
	if reason := checkText(t.Provider); reason != "" {
		return &InvalidError{Field: "provider", Reason: reason}
	}
	if reason := checkText(t.APIFormat); reason != "" {
		return &InvalidError{Field: "api_format", Reason: reason}
	}
	if reason := checkBaseURL(t.BaseURL); reason != "" {
		return &InvalidError{Field: "base_url", Reason: reason}
	}
	return nil
}

func (l Limits) validate() error {
	switch {
	case l.Context < 0:
		return &InvalidError{Field: "limits.context", Reason: "negative"}
	case l.Output < 0:
		return &InvalidError{Field: "limits.output", Reason: "negative"}
	case l.Context > 0 && l.Output > l.Context:
		return &InvalidError{Field: "limits.output", Reason: "larger than the context"}
	}
	return nil
}

func (s Sampling) validate() error {
	if !s.Effort.Valid() {
		return &InvalidError{Field: "sampling.effort", Reason: fmt.Sprintf("unknown effort %q", s.Effort)}
	}
	if t := s.Temperature; t != nil && (math.IsNaN(*t) || *t < 0 || *t > 2) {
		return &InvalidError{Field: "sampling.temperature", Reason: fmt.Sprintf("%v is not within 0 to 2", *t)}
	}
	if p := s.TopP; p != nil && (math.IsNaN(*p) || *p <= 0 || *p > 1) {
		return &InvalidError{Field: "sampling.top_p", Reason: fmt.Sprintf("%v is not above 0 and up to 1", *p)}
	}
	for i, stop := range s.Stop {
		field := fmt.Sprintf("sampling.stop[%d]", i)
		switch {
		case stop == "":
			return &InvalidError{Field: field, Reason: "empty"}
		case len(stop) > MaxText:
			return &InvalidError{Field: field, Reason: fmt.Sprintf("longer than %d bytes", MaxText)}
		case !utf8.ValidString(stop):
			return &InvalidError{Field: field, Reason: "not valid UTF-8"}
		}
	}
	return nil
}

func checkText(s string) string {
	switch {
	case s == "":
		return "empty"
	case len(s) > MaxText:
		return fmt.Sprintf("longer than %d bytes", MaxText)
	}
	return checkPrintable(s)
}

func checkPrintable(s string) string {
	if !utf8.ValidString(s) {
		return "not valid UTF-8"
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Sprintf("has the control character %U", r)
		}
	}
	return ""
}

func checkBaseURL(s string) string {
	if s == "" {
		return ""
	}
	if len(s) > MaxBaseURL {
		return fmt.Sprintf("longer than %d bytes", MaxBaseURL)
	}
	// The parser lets some of this pass: broken UTF-8, and control characters outside of ASCII.
	if reason := checkPrintable(s); reason != "" {
		return reason
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		// The parser's error repeats the URL, which may carry a credential; what it says of the place is not worth that.
		return "not a URL"
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "not an absolute http or https URL"
	// The whole descriptor is journalled, and credentials never enter the journal (DUR-4): they come in these places.
	case u.User != nil:
		return "carries a user name or password"
	case u.RawQuery != "" || u.ForceQuery:
		return "carries a query"
	case u.Fragment != "" || strings.HasSuffix(s, "#"):
		return "carries a fragment"
	}
	return ""
}
