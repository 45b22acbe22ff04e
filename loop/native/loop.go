package native

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/model"
)

// ID returns the loop's id.
func (l *Loop) ID() uuid.UUID { return l.id }

// Mode returns the mode in force.
func (l *Loop) Mode() loop.ModeName { return l.view.Load().mode }

// Model returns the model in force with the effort in force, in memory of its own.
func (l *Loop) Model() model.Model { return l.view.Load().model.Clone() }

// Modes returns the declared modes.
func (l *Loop) Modes() []loop.ModeName { return l.config.Definition.Modes() }

// Format prints the loop's id only: what fmt would print by itself holds the bindings, and credentials among them.
func (l *Loop) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "native.Loop(%s)", l.id) }

// SetMode selects a mode; see [loop.Controller].
func (l *Loop) SetMode(ctx context.Context, mode loop.ModeName) error {
	if _, declared := l.config.Definition.Configuration(mode); !declared {
		return &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: mode}
	}
	ack := make(chan command.LoopResult, 1)
	return call(ctx, l, command.SetLoopMode{Header: l.header(), Mode: mode, Ack: ack}, ack).Err
}

// Change selects a model, an effort or both; see [loop.Controller].
func (l *Loop) Change(ctx context.Context, changes ...loop.Change) error {
	batch := loop.MergeChanges(changes...)
	if batch.Empty() {
		return &loop.ChangeError{Kind: loop.ChangeNoChanges}
	}
	if batch.Model != nil {
		if err := checkModel(*batch.Model, l.transports); err != nil {
			return &loop.ChangeError{Kind: loop.ChangeInvalidModel, Cause: err}
		}
	}
	ack := make(chan command.LoopResult, 1)
	cmd := command.ChangeLoopInference{Header: l.header(), Model: batch.Model, Effort: batch.Effort, Ack: ack}
	return call(ctx, l, cmd, ack).Err
}

// Interrupt cancels the turn in flight; see [loop.Controller].
func (l *Loop) Interrupt(ctx context.Context) error {
	ack := make(chan command.LoopResult, 1)
	return call(ctx, l, command.InterruptLoop{Header: l.header(), Ack: ack}, ack).Err
}

// Submit hands in an input; see [loop.Loop]. The turn's model requests and tool calls see the values of ctx, unless it is
// itself the context of a turn.
func (l *Loop) Submit(ctx context.Context, input string) (loop.Turn, error) {
	ack := make(chan command.LoopInputResult, 1)
	result := call(ctx, l, command.SubmitLoopInput{Header: l.header(), Input: input, Ack: ack}, ack)
	return result.Turn, result.Err
}

// Shutdown ends the loop; see [loop.Loop]. It begins the shutdown even if ctx has ended already.
func (l *Loop) Shutdown(ctx context.Context) error {
	ack := make(chan command.LoopResult, 1)
	select {
	case l.inbox <- newRequest(ctx, command.ShutdownLoop{Header: l.header(), Ack: ack}):
	case <-l.exited:
		return nil
	}
	select {
	case result := <-ack:
		return result.Err
	case <-ctx.Done():
	}
	select {
	case <-l.exited: // both came about: the exit is the better news
		return nil
	default:
		return ctx.Err()
	}
}

func (l *Loop) header() command.Header { return command.Header{LoopID: l.id} }

// request is a command on its way. Of its caller's context the actor gets what it can look at without calling it: a
// context may be anybody's code, and its Err may well ask the loop something.
type request struct {
	cmd    command.Command
	ended  <-chan struct{} // the context's Done
	values context.Context // the context without its end
}

func newRequest(ctx context.Context, cmd command.Command) *request {
	r := &request{cmd: cmd, ended: ctx.Done(), values: context.Background()}
	// A tool that submits the next input from inside its turn would else make a chain of contexts that each turn adds to.
	if ctx.Value(turnKey{}) == nil {
		r.values = context.WithValue(context.WithoutCancel(ctx), turnKey{}, true)
	}
	return r
}

// turnKey marks the contexts that turns and appends get.
type turnKey struct{}

// abandoned reports whether the caller's context has ended.
func (r *request) abandoned() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// withdrawal asks for the end of a request whose caller's context has ended, with that error.
type withdrawal struct {
	request *request
	err     error
}

// call sends a command and waits for its reply. Whatever happens, the reply decides: the caller never concludes from its
// own context that nothing was done.
func call[R any](ctx context.Context, l *Loop, cmd command.Command, ack <-chan R) R {
	select {
	case <-l.exited:
		cmd.Refuse(refusal(cmd, exited, nil))
		return <-ack
	default:
	}
	// Asked first: a select with a ready inbox and an ended context might take the inbox.
	if err := ctx.Err(); err != nil {
		cmd.Refuse(refusal(cmd, contextDone, err))
		return <-ack
	}
	r := newRequest(ctx, cmd)
	select {
	case l.inbox <- r:
	case <-ctx.Done():
		cmd.Refuse(refusal(cmd, contextDone, ctx.Err()))
		return <-ack
	case <-l.exited:
		cmd.Refuse(refusal(cmd, exited, nil))
		return <-ack
	}
	select {
	case result := <-ack:
		return result
	case <-ctx.Done():
	}
	select {
	case l.withdrawals <- withdrawal{r, ctx.Err()}:
	case <-l.exited: // answered before the exit
	}
	return <-ack
}

// reason is why the loop does not carry out a command, whatever the command asks for.
type reason int

const (
	contextDone reason = iota
	shuttingDown
	exited
	faulted
)

// refusal words a reason in the terms of the command's caller. An interrupt of a loop that has no turn any more has nothing
// to do, which is not a failure (INT-1).
func refusal(cmd command.Command, why reason, cause error) error {
	switch cmd.(type) {
	case command.InterruptLoop:
		if why != contextDone {
			return nil
		}
	case command.SubmitLoopInput:
		return &loop.SubmitError{Kind: submitKinds[why], Cause: cause}
	}
	return &loop.ChangeError{Kind: changeKinds[why], Cause: cause}
}

var (
	changeKinds = [...]loop.ChangeErrorKind{
		contextDone:  loop.ChangeContextDone,
		shuttingDown: loop.ChangeLoopShuttingDown,
		exited:       loop.ChangeLoopExited,
		faulted:      loop.ChangeLoopFaulted,
	}
	submitKinds = [...]loop.SubmitErrorKind{
		contextDone:  loop.SubmitContextDone,
		shuttingDown: loop.SubmitShuttingDown,
		exited:       loop.SubmitExited,
		faulted:      loop.SubmitFaulted,
	}
)
