package event

import (
	"errors"
	"fmt"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// InvalidError says what is wrong with an event or its encoding (DUR-5).
type InvalidError struct {
	Type  Type   // "" when the type could not be told
	Field string // the JSON path, as "tools[1].name"; "" for the event as a whole
	Cause error
}

// Error names the type, the field and the cause, as far as they are known.
func (e *InvalidError) Error() string {
	kind := "event"
	if e.Type != "" {
		kind = fmt.Sprintf("event %q", e.Type)
	}
	if e.Field != "" {
		return fmt.Sprintf("%s: field %s: %v", kind, e.Field, e.Cause)
	}
	return fmt.Sprintf("%s: %v", kind, e.Cause)
}

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Cause }

// Validate checks what can be told of the event alone: names, the runtime's structure.
func (e LoopModeChanged) Validate() error {
	return first(e.Type(), e.Header.check(), checkMode("previous_mode", e.PreviousMode), checkMode("mode", e.Mode), e.Runtime.check())
}

// Validate checks the runtime's structure.
func (e LoopInferenceChanged) Validate() error {
	return first(e.Type(), e.Header.check(), e.Runtime.check())
}

// Validate checks source, generation, and that the tools have valid, distinct names and well-formed digests.
func (e LoopExternalToolsetChanged) Validate() error {
	return first(e.Type(), e.Header.check(),
		problem("source", cause(loop.ValidateSource(e.Source))),
		problem("generation", cause(loop.ValidateGeneration(e.Generation))),
		checkTools(e.Tools))
}

// Validate checks the loop's and the mode's name, and the runtime's structure.
func (e LoopStarted) Validate() error {
	return first(e.Type(), e.Header.check(),
		problem("name", loop.ValidateName(e.Name)), checkMode("mode", e.Mode), e.Runtime.check())
}

// Validate checks the header.
func (e LoopStopped) Validate() error { return first(e.Type(), e.Header.check()) }

// Validate checks the mode's name.
func (e TurnStarted) Validate() error {
	return first(e.Type(), e.Header.check(), checkMode("mode", e.Mode))
}

// Validate checks the outcome.
func (e TurnEnded) Validate() error {
	err := e.Header.check()
	switch e.Outcome {
	case TurnCompleted, TurnInterrupted, TurnFailed:
	default:
		err = first("", err, problem("outcome", fmt.Errorf("unknown outcome %q", e.Outcome)))
	}
	return first(e.Type(), err)
}

// Validate checks that Raw is a JSON object whose type tag is Tag, and that Tag is not a type of this package.
func (e Other) Validate() error {
	if blank(e.Tag) != nil {
		return &InvalidError{Type: e.Tag, Field: "type", Cause: errors.New("a declared type cannot be an Other")}
	}
	tag, err := typeOf(e.Raw)
	if err != nil {
		return err
	}
	if tag != e.Tag {
		return &InvalidError{Type: e.Tag, Field: "type", Cause: fmt.Errorf("the encoding says %q", tag)}
	}
	return nil
}

func (h Header) check() error {
	if year := h.Time.UTC().Year(); year < 0 || year > 9999 {
		return problem("time", fmt.Errorf("the year %d is not within 0 to 9999", year))
	}
	return nil
}

func (r Runtime) check() error {
	var invalid *model.InvalidError
	if err := r.Model.Validate(); errors.As(err, &invalid) {
		return problem("runtime.model."+invalid.Field, errors.New(invalid.Reason))
	}
	if !r.Effort.Valid() {
		return problem("runtime.effort", fmt.Errorf("unknown effort %q", r.Effort))
	}
	return nil
}

func checkMode(field string, mode loop.ModeName) error { return problem(field, mode.Validate()) }

func checkTools(tools []ExternalToolIdentity) error {
	if len(tools) > tool.MaxSet {
		return problem("tools", fmt.Errorf("%d tools, more than %d", len(tools), tool.MaxSet))
	}
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		switch {
		case !tool.ValidName(t.Name):
			return problem(fmt.Sprintf("tools[%d].name", i), tool.ErrName)
		case seen[t.Name]:
			return problem(fmt.Sprintf("tools[%d].name", i), fmt.Errorf("tool %q is listed twice", t.Name))
		case !tool.ValidDigest(t.SchemaDigest):
			return problem(fmt.Sprintf("tools[%d].schema_digest", i), errors.New("not a lowercase hexadecimal SHA-256"))
		}
		seen[t.Name] = true
	}
	return nil
}

// problem names the field of an error; nil stays nil.
func problem(field string, err error) error {
	if err == nil {
		return nil
	}
	return &InvalidError{Field: field, Cause: err}
}

// cause takes the reason out of a refusal: an event was not refused by a loop.
func cause(err error) error {
	if err == nil {
		return nil
	}
	return errors.Unwrap(err)
}

// first returns the first error, as an error of type t.
func first(t Type, errs ...error) error {
	for _, err := range errs {
		var invalid *InvalidError
		if errors.As(err, &invalid) {
			invalid.Type = t
			return invalid
		}
	}
	return nil
}
