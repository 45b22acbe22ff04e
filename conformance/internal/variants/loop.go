package variants

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Config is what a loop is made of.
type Config struct {
	Definition loop.Definition
	Journal    journal.Journal
	Client     model.Client
	Bindings   tool.Bindings
	Log        func(format string, args ...any)
}

// Loop is a live loop. One mutex guards what changes; it is not held during a call to the surroundings, but for the contexts of
// callers. Who waits does so for changed to be closed.
type Loop struct {
	Config
	policy Policy
	id     uuid.UUID
	bound  *loop.Bound
	life   context.Context // ends when a shutdown begins
	stop   context.CancelFunc
	exited chan struct{}

	mu       sync.Mutex
	changed  chan struct{}
	state    *state
	lines    [2]line
	appends  int // of optional events
	draining int // changes that a shutdown waits for
	doubts   int // appends that failed, while it is not known whether their events are durable
	lazy     uuid.UUID
	reading  bool // what is in doubt lazily is being read

	turn    *turn
	queue   []*input
	history []model.Message

	fault             error
	stopping, closing bool
	gone              bool
}

// line is a commit line: one append at a time.
type line struct {
	busy bool
	jobs chan func() // of OnWorker
}

// New starts a loop on an empty journal.
func New(ctx context.Context, c Config, p Policy) (*Loop, error) {
	for _, err := range c.Journal.Events(ctx) {
		return nil, &loop.RestoreError{Kind: loop.RestoreNotEmpty, Cause: err}
	}
	return start(ctx, c, p, journal.Initial(c.Definition))
}

// Restore starts a loop from what the journal holds.
func Restore(ctx context.Context, c Config, p Policy) (*Loop, error) {
	state, err := journal.Fold(journal.Initial(c.Definition), c.Journal.Events(ctx))
	if err != nil {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnreadable, Cause: err}
	}
	if _, declared := c.Definition.Configuration(state.Mode); !declared {
		return nil, &loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: state.Mode}
	}
	return start(ctx, c, p, state)
}

func start(ctx context.Context, c Config, p Policy, from journal.State) (*Loop, error) {
	bound, err := c.Definition.Bind(ctx, c.Bindings)
	if err != nil {
		return nil, err
	}
	l := &Loop{Config: c, policy: p, id: uuid.New(), bound: bound, exited: make(chan struct{}), changed: make(chan struct{})}
	l.life, l.stop = context.WithCancel(context.Background())
	l.state = l.inMode(&state{}, from.Mode)
	l.state.model, l.state.effort = from.Model, from.Effort
	started := event.LoopStarted{Header: l.header(), Name: c.Definition.Name(), Mode: from.Mode, Runtime: l.state.runtime()}
	if err := l.record(started); err != nil && p.StartFails {
		return nil, err
	}
	for i := range l.lines {
		if p.Where == OnWorker {
			l.lines[i].jobs = make(chan func())
			go l.work(l.lines[i].jobs)
		}
	}
	if p.Heartbeat {
		go l.beat()
	}
	return l, nil
}

func (l *Loop) work(jobs <-chan func()) {
	for {
		select {
		case job := <-jobs:
			job()
		case <-l.exited:
			return
		}
	}
}

func (l *Loop) beat() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.Log("alive")
		case <-l.exited:
			return
		}
	}
}

// signal has everybody who waits look again, and does what has become possible.
func (l *Loop) signal() {
	l.advance()
	l.exitIfAtRest()
	close(l.changed)
	l.changed = make(chan struct{})
}

// wait gives the mutex up until something has changed, or the context has ended.
func (l *Loop) wait(ctx context.Context) {
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
	l.mu.Lock()
}

func (l *Loop) header() event.Header {
	return event.Header{EventID: uuid.New(), LoopID: l.id, Time: time.Now().UTC()}
}

// ID returns the loop's id.
func (l *Loop) ID() uuid.UUID { return l.id }

// Modes returns the declared modes.
func (l *Loop) Modes() []loop.ModeName { return l.Definition.Modes() }

// Mode returns the mode in force.
func (l *Loop) Mode() loop.ModeName { return l.read().mode }

// Model returns the model in force.
func (l *Loop) Model() model.Model { return l.read().model.Clone() }

func (l *Loop) read() *state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Interrupt cancels the turn in flight.
func (l *Loop) Interrupt(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.policy.Monolith && l.busy() && ctx.Err() == nil {
		l.wait(ctx)
	}
	if err := ctx.Err(); err != nil {
		return &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: err}
	}
	l.interrupt()
	return nil
}

func (l *Loop) busy() bool { return l.lines[0].busy || l.lines[1].busy }

// Shutdown ends the loop.
func (l *Loop) Shutdown(ctx context.Context) error {
	l.mu.Lock()
	if !l.stopping {
		l.stopping = true
		l.stop()
		l.interrupt()
		l.drop(nil)
		l.signal()
	}
	l.mu.Unlock()
	select {
	case <-l.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Loop) exitIfAtRest() {
	switch {
	case !l.stopping, l.closing, l.turn != nil, l.busy(), l.appends+l.draining+l.doubts > 0, l.reading:
		return
	}
	l.closing = true
	exit := func() {
		l.gone = true
		close(l.exited)
	}
	if l.policy.Records == NoRecords {
		exit()
		return
	}
	go func() {
		_ = l.Journal.Append(context.Background(), event.LoopStopped{Header: l.header()})
		l.mu.Lock()
		defer l.mu.Unlock()
		exit()
	}()
}

// closed says why the loop takes nothing any more; "" if it does.
func (l *Loop) closed() loop.ChangeErrorKind {
	switch {
	case l.gone, l.stopping && l.policy.ExitedEarly:
		return loop.ChangeLoopExited
	case l.stopping:
		return loop.ChangeLoopShuttingDown
	case l.fault != nil:
		return loop.ChangeLoopFaulted
	}
	return ""
}

// refusal says why a change is not carried out.
func (l *Loop) refusal(ctx context.Context) error {
	switch kind := l.closed(); {
	case kind == loop.ChangeLoopFaulted:
		return &loop.ChangeError{Kind: kind, Cause: l.fault}
	case kind != "":
		return &loop.ChangeError{Kind: kind}
	case ctx.Err() != nil:
		return &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: ctx.Err()}
	}
	return nil
}

// record records an optional event, and returns what the journal said if the loop waits for that. It changes nothing.
func (l *Loop) record(e event.Event) error {
	if l.policy.Records == NoRecords {
		return nil
	}
	l.mu.Lock()
	l.appends++ // before anybody can take the loop for being at rest
	l.mu.Unlock()
	returned := make(chan error, 1)
	go func() {
		returned <- l.Journal.Append(context.Background(), e)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.appends--
		l.signal()
	}()
	if l.policy.Records == Alongside {
		return nil
	}
	return <-returned
}

func other(what string) event.Event {
	return event.Other{Tag: event.Type(what), Raw: []byte(`{"type":"` + what + `"}`)}
}

var errCut = errors.New("variants: it took too long")
