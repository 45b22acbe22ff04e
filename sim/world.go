package sim

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"
)

// Program is the code of one run. It is called in a fresh bubble, starts what it starts, and may call [World.Settle]; when
// it returns, the world settles, drains and checks what is left.
type Program func(w *World)

// Options bounds and configures runs. The zero value stands for the defaults.
type Options struct {
	// Tick, if set, makes it a choice at every decision that this much virtual time passes.
	Tick time.Duration
	// Patience bounds the virtual time that may pass since the last decision when nothing else can happen; 0 is an hour.
	Patience time.Duration
	// MaxSteps bounds the switch decisions of a run; 0 is 10,000. A run beyond it fails with [CheckNoProgress].
	MaxSteps int
	// Hang is how long, in real time, a run may make no decision; 0 is ten seconds. A run beyond it fails with
	// [CheckHang] and is abandoned.
	Hang time.Duration
	// KeepTrace keeps the events of the run; without it only their hash is.
	KeepTrace bool
	// Expect are the step hashes of an earlier run: the first step that differs is reported in Result.Diverged.
	Expect []uint16
	// Open lets everybody through every gate at once, with the boring verdict: the run without the scheduler, to measure
	// against.
	Open bool
}

func (o Options) withDefaults() Options {
	if o.Patience <= 0 {
		o.Patience = time.Hour
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = 10_000
	}
	if o.Hang <= 0 {
		o.Hang = 10 * time.Second
	}
	return o
}

// World is one run. Its methods may be called by any goroutine of the run, unless they say otherwise.
type World struct {
	options Options
	chooser Chooser
	ctx     context.Context
	atRests []func()

	started  bool // whether the bubble was made
	settling atomic.Bool
	progress atomic.Int64 // counts decisions, for the guard

	mu       sync.Mutex
	arrived  chan struct{} // set while time passes until somebody arrives
	parked   []*parked
	free     []*parked       // to be used again: a run parks often
	threads  map[string]bool // started and not finished
	draining bool
	failure  *Failure
	trace    trace
	schedule Schedule

	// Of the program's goroutine alone.
	decisions    int
	order        []*parked
	point        Point
	passed       map[place]int // how often each gate was passed
	last         string        // the thread that passed the last gate
	lastPlace    place         // the last gate, by which the next Switch is named
	lastNth      int
	ticks, waits int
	decidedAt    time.Time
}

func newWorld(chooser Chooser, options Options) *World {
	return &World{
		options: options, chooser: chooser,
		threads: make(map[string]bool), passed: make(map[place]int), lastPlace: beginning, lastNth: 1,
		trace:    trace{keep: options.KeepTrace, hash: fnvOffset, steps: make([]uint16, 0, 64), noted: make([]noted, 0, 8)},
		schedule: make(Schedule, 0, 32),
	}
}

// Go starts a thread of the run. The run goes on until it has finished. A panic fails the run with [CheckPanic].
func (w *World) Go(name string, f func()) {
	w.mu.Lock()
	if w.threads[name] {
		w.failLocked(CheckMisuse, fmt.Sprintf("two threads are called %q", name))
		w.mu.Unlock()
		return
	}
	w.threads[name] = true
	w.mu.Unlock()
	go func() {
		defer func() {
			w.mu.Lock()
			delete(w.threads, name)
			w.wake()
			w.mu.Unlock()
		}()
		w.protect(name, f)
	}()
}

// protect calls f, and fails the run if f panics or ends its goroutine.
func (w *World) protect(who string, f func()) {
	returned := false
	defer func() {
		v := recover()
		if returned {
			return
		}
		message := fmt.Sprintf("%s panicked: %v", who, v)
		if v == nil {
			message = who + " ended its goroutine with runtime.Goexit, as testing.T.FailNow does"
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.failure == nil {
			w.failLocked(CheckPanic, message)
			if w.failure != nil {
				w.failure.Stack = string(debug.Stack())
			}
		}
	}()
	f()
	returned = true
}

// Context ends when the run is being drained. Calls of the code under test that would otherwise wait for ever take it.
func (w *World) Context() context.Context { return w.ctx }

// Note adds a line to the trace. The trace's hash is what two runs are compared by: it should hold what the code under test
// was seen to do, and no random identifiers, pointers or times of day. Between two decisions the order of one thread's notes
// counts, and that of different threads does not.
func (w *World) Note(thread, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.draining { // who is let go at the end goes all at once
		w.trace.note(thread, text)
	}
}

// AtRest has f called whenever the run has come to rest, before the next decision: the place to judge what has been seen.
// Only the program calls it.
func (w *World) AtRest(f func()) { w.atRests = append(w.atRests, f) }

// Fail fails the run, unless it has failed already. check names what was broken, the same name for the same kind of
// breach: shrinking keeps it.
func (w *World) Fail(check, message string) { w.fail(check, message) }

func (w *World) fail(check, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failLocked(check, message)
}

func (w *World) failLocked(check, message string) {
	if w.failure == nil {
		w.failure = &Failure{Check: check, Message: message, Step: w.trace.step}
	}
}

func (w *World) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure != nil || w.draining
}

func (w *World) unfinished() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.threads)
}

func (w *World) names() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(w.threads)), ", ")
}

// live runs the program in the bubble.
func (w *World) live(program Program) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.ctx = ctx
	w.started = true
	w.decidedAt = time.Now()
	// Not on this goroutine, which is a test's to package testing: one that ended it would take the process along.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.protect("the program", func() {
			program(w)
			w.Settle()
		})
	}()
	<-ended
	w.drain(cancel)
}

// drain lets everybody go, with an error, so that whoever uses gates properly finishes.
func (w *World) drain(cancel context.CancelFunc) {
	w.mu.Lock()
	w.draining = true
	for _, p := range w.parked {
		close(p.answer)
	}
	w.parked = nil
	w.mu.Unlock()
	cancel()
	w.protectWait()
	// Who was told to finish may take a moment over it: it is no leak before that has passed.
	time.Sleep(min(w.options.Patience, time.Minute))
}

// protectWait waits for rest on a goroutine that must not panic: synctest.Wait does if the code under test is in a Wait of
// its own.
func (w *World) protectWait() {
	defer func() {
		if v := recover(); v != nil && w.failure == nil {
			w.failure = &Failure{Check: CheckMisuse, Message: fmt.Sprintf("the run cannot be drained: %v", v), Step: w.trace.step}
		}
	}()
	synctest.Wait()
}
