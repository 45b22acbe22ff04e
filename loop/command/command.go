// Package command declares what a loop's actor is asked: the contract between the two sides of a loop that is built so, for
// who builds one. An application does not meet it.
//
// Each valid command gets exactly one reply on its Ack, by a send that cannot block the actor: Validate insists on a
// buffered channel, and Refuse and the Reply methods give up rather than wait (CMD-2).
package command

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

// CommandName names a kind of command.
type CommandName string

// CommandField names a field of a command.
type CommandField string

// Header routes a command.
type Header struct {
	LoopID uuid.UUID
}

// Command is what an actor can be sent.
type Command interface {
	CommandName() CommandName
	// Validate reports, as an [*InvalidError], what makes the command impossible to carry out or to answer.
	Validate() error
	// Refuse replies with err and nothing done.
	Refuse(err error)
}

// InvalidErrorKind says what is wrong with a command.
type InvalidErrorKind string

// The kinds of an [InvalidError].
const (
	MissingAck      InvalidErrorKind = "missing_ack"
	UnbufferedAck   InvalidErrorKind = "unbuffered_ack"
	EmptySource     InvalidErrorKind = "empty_source"
	MisalignedTools InvalidErrorKind = "misaligned_tools" // Tools and Identities differ in length
)

// InvalidError says which field of which command is wrong (CMD-1).
type InvalidError struct {
	Command CommandName
	Field   CommandField
	Kind    InvalidErrorKind
}

// Error names the command, the field and the kind.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("command: %s.%s: %s", e.Command, e.Field, e.Kind)
}

func checkAck[R any](command CommandName, field CommandField, ack chan<- R) error {
	switch {
	case ack == nil:
		return &InvalidError{Command: command, Field: field, Kind: MissingAck}
	case cap(ack) == 0:
		return &InvalidError{Command: command, Field: field, Kind: UnbufferedAck}
	}
	return nil
}

func reply[R any](ack chan<- R, result R) {
	select {
	case ack <- result:
	default: // Somebody else's reply fills the buffer: the actor does not wait for whoever did that.
	}
}

// The commands and their fields, beside those of [ReplaceLoopExternalTools].
const (
	CommandSetLoopMode         CommandName = "SetLoopMode"
	CommandChangeLoopInference CommandName = "ChangeLoopInference"
	CommandInterruptLoop       CommandName = "InterruptLoop"
	CommandSubmitLoopInput     CommandName = "SubmitLoopInput"
	CommandShutdownLoop        CommandName = "ShutdownLoop"

	SetLoopModeAck         CommandField = "Ack"
	ChangeLoopInferenceAck CommandField = "Ack"
	InterruptLoopAck       CommandField = "Ack"
	SubmitLoopInputAck     CommandField = "Ack"
	ShutdownLoopAck        CommandField = "Ack"
)

// LoopResult is the reply to a command that reports nothing but its success.
type LoopResult struct{ Err error }

// SetLoopMode selects a mode.
type SetLoopMode struct {
	Header
	Mode loop.ModeName
	Ack  chan<- LoopResult
}

// CommandName returns CommandSetLoopMode.
func (SetLoopMode) CommandName() CommandName { return CommandSetLoopMode }

// Validate checks the ack (CMD-1).
func (c SetLoopMode) Validate() error { return checkAck(CommandSetLoopMode, SetLoopModeAck, c.Ack) }

// Refuse answers with err and nothing else.
func (c SetLoopMode) Refuse(err error) { c.Reply(LoopResult{Err: err}) }

// Reply answers the command.
func (c SetLoopMode) Reply(result LoopResult) { reply(c.Ack, result) }

// ChangeLoopInference selects a model, an effort or both; nil is what the batch leaves alone.
type ChangeLoopInference struct {
	Header
	Model  *model.Model
	Effort *model.Effort
	Ack    chan<- LoopResult
}

// CommandName returns CommandChangeLoopInference.
func (ChangeLoopInference) CommandName() CommandName { return CommandChangeLoopInference }

// Validate checks the ack (CMD-1).
func (c ChangeLoopInference) Validate() error {
	return checkAck(CommandChangeLoopInference, ChangeLoopInferenceAck, c.Ack)
}

// Refuse answers with err and nothing else.
func (c ChangeLoopInference) Refuse(err error) { c.Reply(LoopResult{Err: err}) }

// Reply answers the command.
func (c ChangeLoopInference) Reply(result LoopResult) { reply(c.Ack, result) }

// InterruptLoop cancels the turn in flight, if there is one.
type InterruptLoop struct {
	Header
	Ack chan<- LoopResult
}

// CommandName returns CommandInterruptLoop.
func (InterruptLoop) CommandName() CommandName { return CommandInterruptLoop }

// Validate checks the ack (CMD-1).
func (c InterruptLoop) Validate() error {
	return checkAck(CommandInterruptLoop, InterruptLoopAck, c.Ack)
}

// Refuse answers with err and nothing else.
func (c InterruptLoop) Refuse(err error) { c.Reply(LoopResult{Err: err}) }

// Reply answers the command.
func (c InterruptLoop) Reply(result LoopResult) { reply(c.Ack, result) }

// LoopInputResult is the reply to [SubmitLoopInput]: the turn of the accepted input, or why it was not accepted.
type LoopInputResult struct {
	Turn loop.Turn
	Err  error
}

// SubmitLoopInput hands in an input.
type SubmitLoopInput struct {
	Header
	Input string
	Ack   chan<- LoopInputResult
}

// CommandName returns CommandSubmitLoopInput.
func (SubmitLoopInput) CommandName() CommandName { return CommandSubmitLoopInput }

// Validate checks the ack (CMD-1).
func (c SubmitLoopInput) Validate() error {
	return checkAck(CommandSubmitLoopInput, SubmitLoopInputAck, c.Ack)
}

// Refuse answers with err and nothing else.
func (c SubmitLoopInput) Refuse(err error) { c.Reply(LoopInputResult{Err: err}) }

// Reply answers the command.
func (c SubmitLoopInput) Reply(result LoopInputResult) { reply(c.Ack, result) }

// ShutdownLoop ends the loop. Its reply comes when the loop has exited.
type ShutdownLoop struct {
	Header
	Ack chan<- LoopResult
}

// CommandName returns CommandShutdownLoop.
func (ShutdownLoop) CommandName() CommandName { return CommandShutdownLoop }

// Validate checks the ack (CMD-1).
func (c ShutdownLoop) Validate() error { return checkAck(CommandShutdownLoop, ShutdownLoopAck, c.Ack) }

// Refuse answers with err and nothing else.
func (c ShutdownLoop) Refuse(err error) { c.Reply(LoopResult{Err: err}) }

// Reply answers the command.
func (c ShutdownLoop) Reply(result LoopResult) { reply(c.Ack, result) }
