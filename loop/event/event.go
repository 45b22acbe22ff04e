// Package event declares what a loop records in its journal, and how it is written.
//
// An event is encoded as one JSON object with a type tag; see [Encode] and [Decode]. [LoopModeChanged],
// [LoopInferenceChanged] and [LoopExternalToolsetChanged] are what a loop must record; the others are optional, and
// [Other] stands for what a loop of another make records.
package event

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

// Type is an event's type tag.
type Type string

// The types.
const (
	TypeLoopModeChanged            Type = "loop_mode_changed"
	TypeLoopInferenceChanged       Type = "loop_inference_changed"
	TypeLoopExternalToolsetChanged Type = "loop_external_toolset_changed"
	TypeLoopStarted                Type = "loop_started"
	TypeLoopStopped                Type = "loop_stopped"
	TypeTurnStarted                Type = "turn_started"
	TypeTurnEnded                  Type = "turn_ended"
)

// Event is one durable record. The interface is sealed: its implementations are the types of this package, as values.
type Event interface {
	Type() Type
	// EventHeader returns the header; of an [Other], the zero Header.
	EventHeader() Header
	// Scope says what the event is about.
	Scope() Scope
	// Validate reports, as an [*InvalidError], the first field that an event of the type cannot have.
	Validate() error
	isEnduring()
}

// Scope says what an event is about.
type Scope string

// The scopes.
const (
	ScopeLoop  Scope = "loop"
	ScopeTurn  Scope = "turn"
	ScopeOther Scope = "other" // not known: an event of another make
)

// Header is common to all events.
type Header struct {
	EventID uuid.UUID `json:"event_id"`
	LoopID  uuid.UUID `json:"loop_id"`
	// Time is kept to the nanosecond, in UTC.
	Time time.Time `json:"time"`
}

// EventHeader returns the header.
func (h Header) EventHeader() Header { return h }

// enduring marks what the journal keeps, and seals Event.
type enduring struct{}

func (enduring) isEnduring() {}

type loopScoped struct{}

// Scope returns ScopeLoop.
func (loopScoped) Scope() Scope { return ScopeLoop }

type turnScoped struct{}

// Scope returns ScopeTurn.
func (turnScoped) Scope() Scope { return ScopeTurn }

// Runtime is the whole model and the effort in force. Model.Sampling.Effort equals Effort in what a loop reports; a
// journal of another make may leave it out there, and [journal.Fold] puts it in.
//
// [journal.Fold]: https://pkg.go.dev/github.com/loopcheck/loopcheck/loop/journal#Fold
type Runtime struct {
	Model  model.Model  `json:"model"`
	Effort model.Effort `json:"effort"`
}

// Clone returns a copy that shares no memory with r.
func (r Runtime) Clone() Runtime {
	r.Model = r.Model.Clone()
	return r
}

// LoopModeChanged records that a mode was selected, and what the model and the effort became with it.
type LoopModeChanged struct {
	enduring
	loopScoped
	Header
	PreviousMode loop.ModeName `json:"previous_mode"`
	Mode         loop.ModeName `json:"mode"`
	Runtime      Runtime       `json:"runtime"`
}

// LoopInferenceChanged records that model, effort or both were changed.
type LoopInferenceChanged struct {
	enduring
	loopScoped
	Header
	Runtime Runtime `json:"runtime"`
}

// ExternalToolIdentity is what is recorded of an installed tool: never its schema, description or instance (DUR-4).
type ExternalToolIdentity struct {
	Name         string `json:"name"`
	SchemaDigest string `json:"schema_digest"`
}

// LoopExternalToolsetChanged records that a source's slot was replaced. Tools is in install order (EXT-7); none when the
// slot was cleared (EXT-3).
type LoopExternalToolsetChanged struct {
	enduring
	loopScoped
	Header
	Source     string                 `json:"source"`
	Generation string                 `json:"generation"`
	Tools      []ExternalToolIdentity `json:"tools,omitempty"`
}

// LoopStarted records that a loop started, or was restored, and with what. Optional.
type LoopStarted struct {
	enduring
	loopScoped
	Header
	Name    string        `json:"name"`
	Mode    loop.ModeName `json:"mode"`
	Runtime Runtime       `json:"runtime"`
}

// LoopStopped records that a loop exited. Optional.
type LoopStopped struct {
	enduring
	loopScoped
	Header
}

// TurnStarted records that a turn started. Inputs are not recorded. Optional.
type TurnStarted struct {
	enduring
	turnScoped
	Header
	TurnID uuid.UUID     `json:"turn_id"`
	Mode   loop.ModeName `json:"mode"`
}

// TurnOutcome says how a recorded turn ended.
type TurnOutcome string

// The outcomes.
const (
	TurnCompleted   TurnOutcome = "completed"
	TurnInterrupted TurnOutcome = "interrupted"
	TurnFailed      TurnOutcome = "failed"
)

// TurnEnded records that a turn ended, and how. Optional.
type TurnEnded struct {
	enduring
	turnScoped
	Header
	TurnID  uuid.UUID   `json:"turn_id"`
	Outcome TurnOutcome `json:"outcome"`
}

// Other is an event whose type is not declared here. Raw is the whole JSON object, type tag included; folds ignore it.
type Other struct {
	enduring
	Tag Type
	Raw json.RawMessage
}

// EventHeader returns the zero Header: where another make keeps such things is not known.
func (Other) EventHeader() Header { return Header{} }

// Scope returns ScopeOther.
func (Other) Scope() Scope { return ScopeOther }

// Type returns TypeLoopModeChanged.
func (LoopModeChanged) Type() Type { return TypeLoopModeChanged }

// Type returns TypeLoopInferenceChanged.
func (LoopInferenceChanged) Type() Type { return TypeLoopInferenceChanged }

// Type returns TypeLoopExternalToolsetChanged.
func (LoopExternalToolsetChanged) Type() Type { return TypeLoopExternalToolsetChanged }

// Type returns TypeLoopStarted.
func (LoopStarted) Type() Type { return TypeLoopStarted }

// Type returns TypeLoopStopped.
func (LoopStopped) Type() Type { return TypeLoopStopped }

// Type returns TypeTurnStarted.
func (TurnStarted) Type() Type { return TypeTurnStarted }

// Type returns TypeTurnEnded.
func (TurnEnded) Type() Type { return TypeTurnEnded }

// Type returns the tag.
func (e Other) Type() Type { return e.Tag }
