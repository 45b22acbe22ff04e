// Package loop states the loop contract as Go types.
//
// A live agent loop runs turns while an application reconfigures it. [Loop] is what the application holds; [Definition]
// describes a loop before it lives; [Change], [ExternalToolset] and their refusal [ChangeError] are the vocabulary of
// reconfiguration. The package and those below it validate values and do nothing else. Identifiers such as TURN-1 in the
// documentation name requirements of the loop contract, version 1: docs/contract.md in the module's root.
package loop

import (
	"context"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// ContractVersion is the version of the loop contract that these types state.
const ContractVersion = 1

// ModeName names a mode of a definition. The empty name is the base mode.
type ModeName string

// BaseMode is the mode that every definition has.
const BaseMode ModeName = ""

// Validate reports why n cannot be a mode's name: it is not the base mode, and not 1 to [MaxModeName] bytes of valid UTF-8
// without control characters. Whether a definition has such a mode is another question.
func (n ModeName) Validate() error {
	if n == BaseMode {
		return nil
	}
	return checkIdentifier(string(n), MaxModeName)
}

// Handle reads a live loop. Its methods return at once and are safe for concurrent use. A read that begins after another
// read returned, by anyone and across both methods, is never older in commit order (VIEW-2).
type Handle interface {
	ID() uuid.UUID
	// Mode returns the mode in force.
	Mode() ModeName
	// Model returns the model in force, with the effort in force in its sampling, in memory of its own (VIEW-3).
	Model() model.Model
}

// ModeCatalog is an optional interface of a loop that can tell which modes its definition declares.
type ModeCatalog interface {
	// Modes returns the declared modes in the order of their declaration, without the base mode.
	Modes() []ModeName
}

// Controller reconfigures a live loop. Its methods are safe for concurrent use and may be called from inside a tool of
// a running turn (REF-7). Every refusal is a [*ChangeError] and changed nothing (REF-1).
//
// A context bounds its call and nothing else (REF-8): when it ends, a call that the journal has not been asked for yet is
// withdrawn and refused with [ChangeContextDone]; one whose append is outstanding waits for the append (REF-7).
type Controller interface {
	Handle
	// SetMode puts mode, instructions, model, effort and declared tools to the values of a declared mode, or of the base
	// mode, in one event; slots of external tools stay (MODE-1, MODE-2).
	SetMode(ctx context.Context, mode ModeName) error
	// Change selects a model, an effort or both, as one batch: it commits in one event, or not at all (CHG-2). The last
	// value for a field wins; a nil element is ignored.
	Change(ctx context.Context, changes ...Change) error
	// Interrupt cancels the turn in flight. It cancels at most one, which was in flight at some instant of the call, and
	// nothing else; with no turn in flight, or after the exit, it does nothing and returns nil (INT-1). Called with a context
	// that has ended it is refused with [ChangeContextDone] like any other call.
	Interrupt(ctx context.Context) error
}

// ExternalToolset is the content of one source's slot.
type ExternalToolset struct {
	// Source names the slot: 1 to 64 bytes of valid UTF-8 without control characters.
	Source string
	// Generation identifies this content, to the caller: 1 to 128 bytes of valid UTF-8 without control characters.
	Generation string
	// Definitions make the tools. With none, the slot is cleared. The slice stays the caller's (EXT-12).
	Definitions []tool.Definition
}

// ExternalToolInstaller is the optional interface of a loop that external tools can be installed in. Asking a [Controller]
// for it by a type assertion is how an application finds out.
type ExternalToolInstaller interface {
	// ReplaceExternalTools replaces the slot of one source as a whole, in one event, from the next turn on. Every
	// definition is built and described first, on behalf of the caller; any failure or collision refuses the whole set
	// (EXT-1 to EXT-5). A foreign loop refuses with [ChangeExternalToolsUnsupported] before it builds anything (EXT-10).
	ReplaceExternalTools(ctx context.Context, set ExternalToolset) error
}

// Loop is what an application holds.
type Loop interface {
	Controller
	// Submit hands in an input and returns its turn, which runs when the turns of earlier inputs have ended. A refusal is a
	// [*SubmitError]. The end of ctx after Submit has returned does nothing to the turn (REF-8).
	Submit(ctx context.Context, input string) (Turn, error)
	// Shutdown interrupts the turn in flight, drops queued inputs and returns nil when the loop has exited, at once if it
	// has already. When ctx ends first it returns the context's error, and the shutdown goes on (LIFE-1).
	Shutdown(ctx context.Context) error
}

// Turn is the outcome, to come, of one accepted input. It tells how the turn ended, and not what was answered: that went
// through the model client or the engine that ran the turn. Its methods are safe for concurrent use.
type Turn interface {
	// Done is closed when the turn has ended, or never will start.
	Done() <-chan struct{}
	// Err returns nil before Done is closed and for a turn that completed, else a [*TurnError].
	Err() error
}
