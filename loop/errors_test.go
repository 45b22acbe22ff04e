package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

func TestREF1_KindsAreThoseOfTheContract(t *testing.T) {
	assert.Equal(t, []loop.ChangeErrorKind{
		"invalid_mode", "invalid_model", "invalid_effort", "no_changes", "loop_shutting_down", "loop_exited", "context_done",
		"durable_append_failed", "loop_faulted", "unsupported", "invalid_external_source", "invalid_external_generation",
		"external_build_failed", "external_tool_collision", "external_tools_unsupported",
	}, []loop.ChangeErrorKind{
		loop.ChangeInvalidMode, loop.ChangeInvalidModel, loop.ChangeInvalidEffort, loop.ChangeNoChanges, loop.ChangeLoopShuttingDown,
		loop.ChangeLoopExited, loop.ChangeContextDone, loop.ChangeDurableAppendFailed, loop.ChangeLoopFaulted, loop.ChangeUnsupported,
		loop.ChangeInvalidExternalSource, loop.ChangeInvalidExternalGeneration, loop.ChangeExternalBuildFailed,
		loop.ChangeExternalToolCollision, loop.ChangeExternalToolsUnsupported,
	})
	assert.Equal(t, []loop.SubmitErrorKind{"shutting_down", "exited", "faulted", "context_done"},
		[]loop.SubmitErrorKind{loop.SubmitShuttingDown, loop.SubmitExited, loop.SubmitFaulted, loop.SubmitContextDone})
	assert.Equal(t, []loop.TurnErrorKind{"interrupted", "failed", "dropped"},
		[]loop.TurnErrorKind{loop.TurnInterrupted, loop.TurnFailed, loop.TurnDropped})
}

func TestREF1_ErrorsWrapTheirCauseAndSayWhatTheyKnow(t *testing.T) {
	cause := errors.New("the cause")
	for text, err := range map[string]error{
		"loop: change refused: no_changes":                                                    &loop.ChangeError{Kind: loop.ChangeNoChanges},
		`loop: change refused: invalid_mode: mode "plan"`:                                     &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: "plan"},
		`loop: change refused: external_tool_collision: tool "x"`:                             &loop.ChangeError{Kind: loop.ChangeExternalToolCollision, Tool: "x"},
		`loop: change refused: external_build_failed: tool "x": the cause`:                    &loop.ChangeError{Kind: loop.ChangeExternalBuildFailed, Tool: "x", Cause: cause},
		"loop: input refused: exited":                                                         &loop.SubmitError{Kind: loop.SubmitExited},
		"loop: input refused: faulted: the cause":                                             &loop.SubmitError{Kind: loop.SubmitFaulted, Cause: cause},
		"loop: turn: interrupted":                                                             &loop.TurnError{Kind: loop.TurnInterrupted},
		"loop: turn: failed: the cause":                                                       &loop.TurnError{Kind: loop.TurnFailed, Cause: cause},
		`loop: restore refused: unknown_mode: mode "plan"`:                                    &loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: "plan"},
		"loop: restore refused: unreadable: the cause":                                        &loop.RestoreError{Kind: loop.RestoreUnreadable, Cause: cause},
		"loop: bad definition: invalid_name: the cause":                                       &loop.DefinitionError{Kind: loop.DefinitionInvalidName, Cause: cause},
		`loop: bad definition: duplicate_tool: mode "plan": tool "x"`:                         &loop.DefinitionError{Kind: loop.DefinitionDuplicateTool, Mode: "plan", Tool: "x"},
		`loop: bad definition: build_failed: mode "plan": tool "x": the cause`:                &loop.DefinitionError{Kind: loop.DefinitionBuildFailed, Mode: "plan", Tool: "x", Cause: cause},
		"loop: bad definition: invalid_model: model: invalid name: empty":                     &loop.DefinitionError{Kind: loop.DefinitionInvalidModel, Cause: &model.InvalidError{Field: "name", Reason: "empty"}},
		"loop: change refused: invalid_external_source: 65 bytes long, more than 64":          loop.ValidateSource(string(make([]byte, 65))),
		"loop: change refused: invalid_external_generation: has the control character U+0000": loop.ValidateGeneration("\x00"),
	} {
		assert.EqualError(t, err, text)
		if errors.Unwrap(err) == cause {
			assert.ErrorIs(t, err, cause)
		} else {
			assert.NotContains(t, text, "the cause", "the cause is named and not wrapped")
		}
	}
}

func TestREF3_ContextDoneWrapsTheContextsError(t *testing.T) {
	var err error = &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: context.DeadlineExceeded}
	require.ErrorIs(t, err, context.DeadlineExceeded)
	err = &loop.SubmitError{Kind: loop.SubmitContextDone, Cause: context.Canceled}
	require.ErrorIs(t, err, context.Canceled)
}
