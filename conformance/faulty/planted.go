package faulty

import (
	"context"
	"sync"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

// faults is the name of the fault that a loop has; "" is none.
type faults string

func (f faults) has(name string) bool { return string(f) == name }

// planted is what only faults remember. In a correct loop nothing depends on it.
type planted struct {
	view             *state // shown by the handle
	modelView        *state
	late             []*installed // declared tools that the next capture has instead
	reuse            *capture     // of a turn that was interrupted
	latched          bool         // the next turn is interrupted
	interruptPending bool
	changes          []loop.Change // the caller's slice
	changedTo        *state        // what they made
	edited           map[loop.ModeName]loop.Configuration
	rebuilt          map[string]*slot
	ever             map[string]*installed // installed at any time
	uses             map[string]int        // runs of a tool
	building         int
	calls            int // of ReplaceExternalTools
	order            int // of the slots' commits
	reserved         map[string]string
	leaked           map[string]string
	known            map[string]string // the generations that the journal named
	claimed          map[string]bool
	mailbox          error // a reply whose caller has gone
	dead             bool  // persistence is off
	unsaved          event.Event
	eventIDs         int
	grace            bool
	never            chan struct{}
	inWindow         func() // set by tests

	// Not synchronised, on purpose.
	toolRuns    int
	lastOutcome string
	refusals    int
}

func (l *Loop) plantAtStart(ctx context.Context) {
	p := &l.planted
	p.view, p.modelView = l.state, l.state
	switch {
	case l.has(turnWatcherLeft):
		p.never = make(chan struct{})
	case l.has(loopBoundToStart):
		context.AfterFunc(ctx, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.stop()
		})
	}
}

// window gives the mutex up for an instant, in the middle of what is one step in a correct loop.
func (l *Loop) window() {
	l.mu.Unlock()
	if l.planted.inWindow != nil {
		l.planted.inWindow()
	}
	l.mu.Lock()
}

// set writes to a map that may not have been made yet.
func set[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// inheritance is what loops of one definition leave to each other, by the two faults that make them do so. There is no
// other way to break CHG-6: definitions cannot be written to. It is bounded, for nobody says when it is no longer needed.
var inheritance = struct {
	sync.Mutex
	of    map[loop.Definition]*state
	known []loop.Definition
}{of: make(map[loop.Definition]*state)}

const maxInheritance = 1024

func bequeath(d loop.Definition, s *state) {
	inheritance.Lock()
	defer inheritance.Unlock()
	if _, known := inheritance.of[d]; !known {
		inheritance.known = append(inheritance.known, d)
	}
	inheritance.of[d] = s
	if len(inheritance.known) > maxInheritance {
		delete(inheritance.of, inheritance.known[0])
		inheritance.known = inheritance.known[1:]
	}
}

func (l *Loop) plantNew() {
	if !l.has(definitionRemembers) && !l.has(slotsOnDefinition) {
		return
	}
	inheritance.Lock()
	left := inheritance.of[l.config.Definition]
	inheritance.Unlock()
	if left == nil {
		return
	}
	next := *l.state
	if l.has(slotsOnDefinition) {
		next.slots, next.owners = left.slots, left.owners
	} else {
		next = *l.inForce(l.stateOf(left.mode), left.model, left.effort)
	}
	l.state = &next
}

func (l *Loop) plantModelRead(m *model.Model) {
	switch {
	case l.has(viewWithoutEffort):
		m.Sampling.Effort = model.EffortNone
	case l.has(modelViewIgnoresMode):
		l.mu.Lock()
		defer l.mu.Unlock()
		*m = l.planted.modelView.model
	case l.has(modelAheadOfMode):
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.current != nil {
			*m = l.current.next.model
		}
	}
}
