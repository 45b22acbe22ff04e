// Package conformance checks any implementation of an agent loop against the loop contract.
//
// [Run] is for tests, [Fuzz] for Go's native fuzzing, [Check] for programs. All drive live loops through randomised but
// reproducible interleavings of turns, changes, interrupts, shutdowns, cancelled contexts, crashes and failing appends (package
// sim), judge each run by an executable form of the contract (package oracle), and shrink what breaks it to a few steps that are
// replayed from a text file (package corpus).
//
// # What is promised
//
// No loop that keeps the contract is accused, whatever it is made of: an actor or a mutex, one lock or several, committing on
// the caller's goroutine or on its own, faulting or reading back after a failed append. One thing a loop must not do to be
// tested on the stock runtime: hold a sync.Mutex while it calls its surroundings. The run would never come to rest; it is given
// up and reported as a problem, not as a breach.
//
// A panic that a loop does not outlive ends the process, as Go has it; its text says that it was on purpose.
package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// Env is what a loop is made of in a run.
type Env struct {
	Definition loop.Definition
	Journal    journal.Journal
	Client     model.Client
	// Bindings are to be handed to every tool definition that is built.
	Bindings tool.Bindings
	// Log adds a line to the timeline of a failure. Its text should be the same each time that the run is replayed.
	Log func(format string, args ...any)
}

// Start makes a live loop. Its context bounds the call.
type Start func(ctx context.Context, env Env) (loop.Loop, error)

// Subject is an implementation under test.
type Subject struct {
	// Name is for reports and file names.
	Name string
	// Start makes a loop on an empty journal.
	Start Start
	// Restore makes a loop from what the journal holds; nil if the implementation cannot.
	Restore Start
	// Foreign makes a foreign loop, of a definition whose engine is [loop.EngineForeign]; nil if there is none.
	Foreign Start
	// InputsJoin says that an input may join the turn in flight and share its capture and outcome (TURN-7).
	InputsJoin bool

	// Operations and Invariants are the user's own. They are run, judged, shrunk, replayed and reported like the built-in ones.
	Operations []Operation
	Invariants []Invariant
}

// Operation is a kind of operation of the user's own. Its calls are in the trace as those of other kinds are; what they mean
// is for the user's invariants to say.
type Operation struct {
	// Kind is its name in schedules, of small letters, digits and hyphens. Weight is how often it comes; the built-in kinds
	// add up to about 100.
	Kind   workload.Kind
	Weight int
	// Args, if set, draws its arguments.
	Args func(workload.Draw) []workload.Arg
	// Do performs it. The error is noted in the trace as what it returned.
	Do func(ctx context.Context, l loop.Loop, operation workload.Operation) error
}

// Invariant is a requirement of the user's own over the trace.
type Invariant struct {
	// Name is its identifier in reports, baselines and file names, as "BILLING-1".
	Name string
	// Begin is called for each run and returns what follows it: a function that is called whenever the run has come to rest,
	// with what was seen since the last time, and returns an error once the invariant is broken. Entries are not to be
	// written to.
	Begin func() func([]trace.Entry) error
}

// SubjectError says what is wrong with a [Subject].
type SubjectError struct{ Reason string }

// Error names the reason.
func (e *SubjectError) Error() string { return "conformance: the subject " + e.Reason }

func (s Subject) validate() error {
	if s.Name == "" {
		return &SubjectError{"has no name"}
	}
	if s.Start == nil {
		return &SubjectError{fmt.Sprintf("%q has no Start", s.Name)}
	}
	seen := make(map[workload.Kind]bool)
	for _, kind := range workload.Kinds() {
		seen[kind] = true
	}
	for _, o := range s.Operations {
		switch {
		case seen[o.Kind]:
			return &SubjectError{fmt.Sprintf("%q has two operations of kind %q, or one of a kind of the kit's", s.Name, o.Kind)}
		case o.Do == nil:
			return &SubjectError{fmt.Sprintf("%q has an operation of kind %q without Do", s.Name, o.Kind)}
		}
		one := workload.Workload{Clients: []workload.Client{{Name: "a", Operations: []workload.Operation{{ID: "a1", Kind: o.Kind}}}}}
		if err := one.Validate(o.Kind); err != nil {
			return &SubjectError{fmt.Sprintf("%q has an operation whose kind cannot be written in a schedule: %v", s.Name, err)}
		}
		seen[o.Kind] = true
	}
	for i, invariant := range s.Invariants {
		if _, taken := contract.Lookup(invariant.Name); taken || invariant.Name == "" || invariant.Begin == nil {
			return &SubjectError{fmt.Sprintf("%q has an invariant %q (%d) without Begin, without a name, or with the name of a requirement", s.Name, invariant.Name, i)}
		}
	}
	return nil
}

// kinds are those that schedules of the subject may hold besides the built-in ones.
func (s Subject) kinds() []workload.Kind {
	kinds := make([]workload.Kind, len(s.Operations))
	for i, o := range s.Operations {
		kinds[i] = o.Kind
	}
	return kinds
}

func (s Subject) operation(kind workload.Kind) (Operation, bool) {
	for _, o := range s.Operations {
		if o.Kind == kind {
			return o, true
		}
	}
	return Operation{}, false
}

// errNilLoop is what a Start comes to that returns neither a loop nor an error.
var errNilLoop = errors.New("it returned neither a loop nor an error")
