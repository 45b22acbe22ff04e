// Package trace holds what was seen of a loop in one run: typed observations in one order.
//
// One counter orders everything, whoever saw it: calls and returns of operations, appends, model requests, tool runs,
// builds, the ends of turns. The order is that of the observations. A call is noted before it is made and a return after it
// came; what begins at the loop's surroundings is noted by their first instruction, and what ends there by their last. So an
// observation that comes before another says something of the loop only where these delays allow it; package oracle argues
// each case.
package trace

import (
	"context"
	"sync"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Kind says what was seen.
type Kind uint8

// The kinds of observations.
const (
	Started        Kind = iota + 1 // a life of the loop began: Err is why it did not, Definition what it was made of
	Crashed                        // the life ended as by kill -9: what is open stays open
	Called                         // an operation was called: Asked
	Returned                       // an operation returned: Err, Seen of a read, Turn of an accepted input, Panic
	ContextEnded                   // the context of an operation was ended by its caller
	AppendBegan                    // Event
	AppendWritten                  // the event is durable
	AppendReturned                 // Err
	ReadBegan                      // somebody began to read the journal
	ReadEnded                      // Err; nil if the journal was read to its end
	RequestBegan                   // a model request: Request
	RequestEnded                   // Err of the stream
	ToolBegan                      // a tool run: Run
	ToolEnded                      // Err
	BuildBegan                     // a definition of the operation is being built
	BuildEnded                     // Err
	DescribeBegan                  // a tool of the operation is asked for its info
	DescribeEnded
	TurnEnded // Done of the operation's turn was found closed: Err is the outcome
	Logged    // the subject said something: Text
	Invariant // an operation or invariant of the user's: Text
)

// Entry is one observation.
type Entry struct {
	Kind Kind
	Seq  int // the counter
	Step int // decisions of the schedule before it: what has one step has no order that the schedule decided
	Life int // of the loop, from 1; a restore begins the next
	// Op is the operation that did it or had it done: of a request and a tool run the submit whose input it works on, of an
	// append the one that the event seems to belong to, "" if none does.
	Op string
	// Call joins the beginning and the end of one append, read, request, tool run or build.
	Call int
	Err  error
	// Cancelled is, of what begins, whether its context had ended by then.
	Cancelled bool // at an end, too: whether it had by then
	// Context is that of what begins.
	Context context.Context
	// Held is, of what ended, whether it had been held: it went on only because the run was about to end.
	Held  bool
	Panic bool // of Returned: the call panicked; of an end: it was told to panic

	Definition *Definition
	Inside     string // of Called: the turn from inside whose tool it was called, if it was
	Asked      any    // of Called: what the operation asks for, as Submit or Change
	Event      event.Event
	Request    *Request
	Run        *Run
	Seen       *Seen
	Turn       loop.Turn
	Text       string
}

// Definition is what a loop is made of, as the oracle has to know it.
type Definition struct {
	Modes      map[loop.ModeName]*Mode
	Transports []model.Transport
	Declared   map[string]bool // names of the tools of every mode
	Foreign    bool
	// Journal tells the journals of one run apart: a loop that is restored has the one of the life before.
	Journal int
}

// Mode is one mode of a definition, what it takes from the base included.
type Mode struct {
	Name         loop.ModeName
	Instructions string
	Model        model.Model // without effort in its sampling
	Effort       model.Effort
	Tools        []Tool
}

// Tool is a tool as it is to be offered.
type Tool struct {
	Name        string
	Description string
	Schema      string
	Instance    string // tells live instances apart, as "b1/0/x" or "plan/d1"
}

// Submit is what the operation submit asks for.
type Submit struct{ Input string }

// Change is what the operation change asks for.
type Change struct {
	Model  *model.Model  // nil: selects none. Without effort in its sampling.
	Effort *model.Effort // nil: selects none
	// Repeated is whether a field was given more than once: the last value wins (CHG-1).
	Repeated bool
	// Refused is why the model cannot be selected whatever the state; nil if it can.
	Refused error
}

// SetMode is what the operation set-mode asks for.
type SetMode struct{ Mode loop.ModeName }

// Replace is what the operation replace asks for.
type Replace struct {
	Source     string
	Generation string
	// Tools are those that the set comes to if nothing fails.
	Tools []Tool
	// Broken are the names, of tools or definitions, by which a refusal may call what is wrong with the set of itself; nil if
	// nothing is.
	Broken []string
	// Panics is whether one of the definitions or tools panics.
	Panics bool
}

// Interrupt, Shutdown, Read, Crash are what operations of these kinds ask for.
type (
	Interrupt struct{}
	Shutdown  struct{}
	Read      struct{}
	Crash     struct{}
)

// Wait is what an operation asks for that waits for the end of the turn of another.
type Wait struct{ Turn string }

// Restore is what an operation asks for that makes the next life.
type Restore struct {
	// Without is whether the definition lacks the mode in force.
	Without bool
	// Anew is whether a new loop is made, on an empty journal.
	Anew bool
}

// User is what an operation of the user's own asks for.
type User struct{ Kind string }

// Request is what a model was asked.
type Request struct {
	Turn  string // the submit, "" if the input is nobody's
	Step  int    // from 1: the answers before it, plus one
	Model model.Model
	// Effort, Instructions and Tools are as asked. Tools shares no memory with the loop.
	Effort       model.Effort
	Instructions string
	Tools        []tool.Info
	// Told are the ids of the calls of the step before whose results the messages hold.
	Told []string
	// Calls are those that the model is going to make, unless something happens to the request.
	Calls []model.ToolCall
}

// Run is the run of a tool.
type Run struct {
	Instance string
	Turn     string // from the arguments: the submit, "" if these are not of the model's
	Step     int    // the step whose answer asked for it
	Called   string // the name that the model called
	ID       string // of the call
}

// Seen is what a read saw.
type Seen struct {
	Mode  loop.ModeName
	Model model.Model
	// Between is the counter between the two reads.
	Between int
}

// Log collects the observations of a run. Safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	entries []Entry
	step    int
	logged  int // entries that the subject asked for
	before  func(add func(Entry))
}

// NewLog returns an empty log. Before, if not nil, is called under the log's lock ahead of each entry and may add others.
func NewLog(before func(add func(Entry))) *Log {
	return &Log{entries: make([]Entry, 0, 96), before: before}
}

// Add adds an entry, sets its Seq and Step, and returns the Seq.
func (l *Log) Add(e Entry) int { return l.AddAnd(e, func() {}) }

// AddAnd is Add, and calls then before anybody can add another entry.
func (l *Log) AddAnd(e Entry, then func()) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.before != nil {
		l.before(l.add)
	}
	l.add(e)
	then()
	return len(l.entries) - 1
}

// Happened counts the entries but for what the subject says of itself.
func (l *Log) Happened() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries) - l.logged
}

func (l *Log) add(e Entry) {
	if e.Kind == Logged {
		l.logged++
	}
	e.Seq, e.Step = len(l.entries), l.step
	l.entries = append(l.entries, e)
}

// Now is the counter as it stands: the Seq that the next entry gets.
func (l *Log) Now() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// Rest ends a step: it calls f with the entries since the last Rest. f must not add any.
func (l *Log) Rest(from int, f func([]Entry)) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.before != nil {
		l.before(l.add)
	}
	l.step++
	f(l.entries[from:])
	return len(l.entries)
}

// Entries returns all entries so far. They are not to be written to.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[:len(l.entries):len(l.entries)]
}
