package loop

import (
	"fmt"
	"strings"

	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
)

// PanicError is a recovered panic of a tool, a tool definition, a model client, a turn engine or a journal. It is the
// cause of the error that the call or the turn ended with.
type PanicError = surroundings.PanicError

// ErrGoexit is the cause of an error that came of such code ending its goroutine with runtime.Goexit.
var ErrGoexit = surroundings.ErrGoexit

// ChangeErrorKind says why a call of a Controller was refused.
type ChangeErrorKind string

// The kinds of refusal.
const (
	ChangeInvalidMode   ChangeErrorKind = "invalid_mode"   // not declared (MODE-1); Mode is set
	ChangeInvalidModel  ChangeErrorKind = "invalid_model"  // structure, key or transport (CHG-3)
	ChangeInvalidEffort ChangeErrorKind = "invalid_effort" // not supported by the model (CHG-3, CHG-4)
	ChangeNoChanges     ChangeErrorKind = "no_changes"     // an empty batch (CHG-1)

	// ChangeLoopShuttingDown and ChangeLoopExited mean that the change did not and will not commit (REF-4).
	ChangeLoopShuttingDown ChangeErrorKind = "loop_shutting_down"
	ChangeLoopExited       ChangeErrorKind = "loop_exited"
	// ChangeContextDone wraps the context's error, and means that the change did not and will not commit (REF-3).
	ChangeContextDone ChangeErrorKind = "context_done"
	// ChangeDurableAppendFailed wraps the journal's error. Either the event is not in the journal, or the loop has
	// faulted (REF-5).
	ChangeDurableAppendFailed ChangeErrorKind = "durable_append_failed"
	// ChangeLoopFaulted refuses every change after a failed append whose event may be durable (DUR-6).
	ChangeLoopFaulted ChangeErrorKind = "loop_faulted"
	// ChangeUnsupported refuses a change of mode or model that a foreign loop cannot make.
	ChangeUnsupported ChangeErrorKind = "unsupported"

	ChangeInvalidExternalSource     ChangeErrorKind = "invalid_external_source"     // EXT-1
	ChangeInvalidExternalGeneration ChangeErrorKind = "invalid_external_generation" // EXT-1
	ChangeExternalBuildFailed       ChangeErrorKind = "external_build_failed"       // EXT-4; Tool is set where it is known
	ChangeExternalToolCollision     ChangeErrorKind = "external_tool_collision"     // EXT-5; Tool is set
	ChangeExternalToolsUnsupported  ChangeErrorKind = "external_tools_unsupported"  // EXT-10
)

// ChangeError is a refusal by a [Controller] or an [ExternalToolInstaller]: nothing changed (REF-1; for a failed append see
// [ChangeDurableAppendFailed]).
type ChangeError struct {
	Kind  ChangeErrorKind
	Mode  ModeName // the mode refused, of ChangeInvalidMode
	Tool  string   // the tool or definition concerned, of the external kinds
	Cause error    // may be nil
}

// Error names the kind, the mode or tool concerned, and the cause.
func (e *ChangeError) Error() string {
	var b strings.Builder
	b.WriteString("loop: change refused: ")
	b.WriteString(string(e.Kind))
	if e.Kind == ChangeInvalidMode {
		fmt.Fprintf(&b, ": mode %q", e.Mode)
	}
	if e.Tool != "" {
		fmt.Fprintf(&b, ": tool %q", e.Tool)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *ChangeError) Unwrap() error { return e.Cause }

// SubmitErrorKind says why an input was not accepted.
type SubmitErrorKind string

// The kinds of a [SubmitError].
const (
	SubmitShuttingDown SubmitErrorKind = "shutting_down"
	SubmitExited       SubmitErrorKind = "exited"
	SubmitFaulted      SubmitErrorKind = "faulted"
	SubmitContextDone  SubmitErrorKind = "context_done" // wraps the context's error; the input was not accepted
)

// SubmitError refuses an input: no turn will run for it (LIFE-3).
type SubmitError struct {
	Kind  SubmitErrorKind
	Cause error // may be nil
}

// Error names the kind and the cause.
func (e *SubmitError) Error() string { return describe("loop: input refused", string(e.Kind), e.Cause) }

// Unwrap returns the cause.
func (e *SubmitError) Unwrap() error { return e.Cause }

// TurnErrorKind says how a turn ended that did not complete.
type TurnErrorKind string

// The kinds of a [TurnError].
const (
	TurnInterrupted TurnErrorKind = "interrupted" // by Interrupt or Shutdown
	TurnFailed      TurnErrorKind = "failed"      // by its own model request, tools or step limit
	TurnDropped     TurnErrorKind = "dropped"     // it never started: a shutdown or a fault dropped its input (LIFE-3)
)

// TurnError is the outcome of a turn that did not complete.
type TurnError struct {
	Kind  TurnErrorKind
	Cause error // may be nil
}

// Error names the kind and the cause.
func (e *TurnError) Error() string { return describe("loop: turn", string(e.Kind), e.Cause) }

// Unwrap returns the cause.
func (e *TurnError) Unwrap() error { return e.Cause }

// RestoreErrorKind says why a loop could not be made from a journal.
type RestoreErrorKind string

// The kinds of a [RestoreError].
const (
	RestoreUnreadable     RestoreErrorKind = "unreadable"        // the journal could not be read to its end
	RestoreUnknownMode    RestoreErrorKind = "unknown_mode"      // the definition no longer has the mode in force (MODE-3)
	RestoreInvalidRuntime RestoreErrorKind = "invalid_runtime"   // the model or effort in force could not be selected today
	RestoreNotEmpty       RestoreErrorKind = "journal_not_empty" // a new loop was to begin on the journal of another
)

// RestoreError refuses to make a loop from what its journal holds. The journal is as it was.
type RestoreError struct {
	Kind  RestoreErrorKind
	Mode  ModeName // of RestoreUnknownMode
	Cause error    // may be nil
}

// Error names the kind, the mode concerned, and the cause.
func (e *RestoreError) Error() string {
	what := string(e.Kind)
	if e.Kind == RestoreUnknownMode {
		what += fmt.Sprintf(": mode %q", e.Mode)
	}
	return describe("loop: restore refused", what, e.Cause)
}

// Unwrap returns the cause.
func (e *RestoreError) Unwrap() error { return e.Cause }

func describe(subject, what string, cause error) string {
	if cause == nil {
		return subject + ": " + what
	}
	return fmt.Sprintf("%s: %s: %v", subject, what, cause)
}
