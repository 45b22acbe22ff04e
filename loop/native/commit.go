package native

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
	"github.com/loopcheck/loopcheck/loop/journal"
)

// commit is a change on its way into the journal: first its append is outstanding, then, if that failed, the loop is in
// doubt until the journal has been read back.
type commit struct {
	request  *request
	event    event.Event
	next     *state // in force once the event is durable
	succeed  func()
	appended chan error

	err      error // the append's; set when the doubt begins
	found    chan finding
	abandon  context.CancelFunc // ends the reading back; nil before it has begun
	answered bool
}

// finding is what the journal said: whether the event is there, or why that cannot be known.
type finding struct {
	present bool
	err     error
}

func (c *commit) appendReturned() <-chan error {
	if c == nil {
		return nil
	}
	return c.appended
}

func (c *commit) readBackReturned() <-chan finding {
	if c == nil {
		return nil
	}
	return c.found
}

func (a *actor) inDoubt() bool { return a.commit != nil && a.commit.err != nil }

// giveUp answers the caller before it is known whether the event is durable. That is honest only because the loop
// faults if it turns out to be (REF-5): from here on the change must not take effect.
func (c *commit) giveUp() {
	if !c.answered {
		c.answered = true
		c.request.cmd.Refuse(&loop.ChangeError{Kind: loop.ChangeDurableAppendFailed, Cause: c.err})
	}
}

// begin checks a change against the committed state, and starts its append. No append is outstanding now, so this state
// is the one that the change will follow: the check is the one at commit (EXT-5, REF-11).
func (a *actor) begin(r *request) {
	header := event.Header{EventID: uuid.New(), LoopID: a.loop.id, Time: time.Now().UTC()}
	c, err := a.prepare(r.cmd, header)
	if err != nil {
		r.cmd.Refuse(err)
		return
	}
	c.request = r
	c.appended = make(chan error, 1)
	a.commit = c
	// The append is not bounded by the caller's context: an append that is cut short has an open outcome, and the caller
	// waits for it in any case (REF-7).
	surroundings.Go("journal append", func() error { return a.loop.config.Journal.Append(r.values, c.event) },
		func(err error) { c.appended <- err })
}

// prepare says what the change comes to from the state in force: its event and the state after it, or why it is refused.
func (a *actor) prepare(cmd command.Command, header event.Header) (*commit, error) {
	switch cmd := cmd.(type) {
	case command.SetLoopMode:
		next := a.state.withMode(a.loop, cmd.Mode)
		e := event.LoopModeChanged{Header: header, PreviousMode: a.state.mode, Mode: cmd.Mode, Runtime: next.runtime()}
		return &commit{event: e, next: next, succeed: func() { cmd.Reply(command.LoopResult{}) }}, nil

	case command.ChangeLoopInference:
		m, effort := a.state.model, a.state.effort
		if cmd.Model != nil {
			m = *cmd.Model
		}
		if cmd.Effort != nil {
			effort = *cmd.Effort
		}
		if err := checkEffort(m, effort); err != nil {
			return nil, &loop.ChangeError{Kind: loop.ChangeInvalidEffort, Cause: err}
		}
		next := a.state.withInference(m, effort)
		e := event.LoopInferenceChanged{Header: header, Runtime: next.runtime()}
		return &commit{event: e, next: next, succeed: func() { cmd.Reply(command.LoopResult{}) }}, nil

	case command.ReplaceLoopExternalTools:
		tools := make([]*installed, len(cmd.Tools))
		for i, t := range cmd.Tools {
			own, ok := t.(*installed)
			if !ok {
				return nil, fmt.Errorf("native: tool %d is a %T, which no call of this loop made", i, t)
			}
			tools[i] = own
			if owner, taken := a.state.owners[tools[i].name()]; taken && owner != cmd.Source {
				return nil, collision(tools[i].name(), fmt.Errorf("source %q has a tool of that name", owner))
			}
		}
		e := event.LoopExternalToolsetChanged{
			Header: header, Source: cmd.Source, Generation: cmd.Generation, Tools: cmd.Identities,
		}
		result := command.LoopToolsResult{Generation: cmd.Generation, Installed: len(tools)}
		return &commit{event: e, next: a.state.withSlot(cmd.Source, tools), succeed: func() { cmd.Reply(result) }}, nil
	}
	return nil, fmt.Errorf("native: %s is not a change", cmd.CommandName())
}

// settle takes the append's return. An error leaves open whether the event is in the journal: the loop is in doubt.
func (a *actor) settle(err error) {
	c := a.commit
	c.appended = nil
	if err == nil {
		a.takeOver()
		return
	}
	c.err = err
	if a.stopping {
		a.fail(err)
		return
	}
	if c.request.abandoned() {
		// The append is no longer outstanding, so nothing entitles the call to outlast its context (REF-7).
		c.giveUp()
	}
	ctx, cancel := context.WithCancel(c.request.values)
	c.abandon = cancel
	found := make(chan finding, 1)
	c.found = found
	var present bool
	surroundings.Go("journal read-back", func() (err error) {
		present, err = contains(ctx, a.loop.config.Journal, c.event.EventHeader().EventID)
		return err
	}, func(err error) {
		cancel()
		found <- finding{present, err}
	})
}

// resolve ends the doubt with what the journal said.
func (a *actor) resolve(f finding) {
	c := a.commit
	switch {
	case f.err != nil:
		c.err = &doubtError{append: c.err, readBack: f.err}
		a.fail(c.err)
	case f.present && c.answered:
		a.fail(&doubtError{append: c.err})
	case f.present:
		a.takeOver()
	default:
		c.giveUp()
		a.commit = nil
	}
}

// takeOver puts the committed state in force. Readers see it before its caller is told (VIEW-1).
func (a *actor) takeOver() {
	c := a.commit
	a.commit, a.state = nil, c.next
	a.loop.view.Store(c.next)
	c.succeed()
}

// doubtError is why a loop faulted. It words the journal's errors when it is asked, for the actor must not call them.
type doubtError struct {
	append   error
	readBack error // nil: the event is durable, but its change was reported as failed before that was known
}

func (e *doubtError) Error() string {
	if e.readBack == nil {
		return fmt.Sprintf("an event is durable whose change was reported as failed: %v", e.append)
	}
	return fmt.Sprintf("an append failed: %v; and whether its event is durable cannot be told: %v", e.append, e.readBack)
}

func (e *doubtError) Unwrap() []error {
	if e.readBack == nil {
		return []error{e.append}
	}
	return []error{e.append, e.readBack}
}

func contains(ctx context.Context, j journal.Journal, id uuid.UUID) (bool, error) {
	present := false
	for e, err := range j.Events(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		// On to the end even so: only a journal that can be read to its end has said anything.
		present = present || e.EventHeader().EventID == id
	}
	return present, nil
}
