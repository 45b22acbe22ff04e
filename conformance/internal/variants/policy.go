// Package variants is a conforming loop of many constructions: what the contract leaves open is a field of [Policy]. The
// conformance kit must not accuse any of them of anything.
//
// It is no example to follow: it says yes to every choice at once, where a loop would make one.
package variants

import "time"

// Where says on whose goroutine the journal is asked to append.
type Where int

const (
	OnCaller Where = iota // of the call that commits
	Apart                 // on one of its own, for each commit
	OnWorker              // on one of the loop's own, for each commit line
)

// Failed says what becomes of a failed append of a change.
type Failed int

const (
	ReadsBack Failed = iota // while the caller waits
	Faults                  // at once: whether the event is durable is never known
	Retries                 // reads back, and appends once more if the event is not there
	Lazily                  // answers at once, and reads back before the next turn, input or commit
)

// Validation says when a change is checked against the state in force.
type Validation int

const (
	AtCommit Validation = iota
	Early               // before anything else, and at the commit again, where the state may be another
)

// Records says whether the loop records the optional events, too.
type Records int

const (
	NoRecords Records = iota
	Waits             // for each of them
	Alongside         // on goroutines of their own, whatever else is outstanding
)

// Unknown says what becomes of a call of a tool that the capture does not have.
type Unknown int

const (
	Told     Unknown = iota // to the model
	Fails                   // the turn, before any call of the answer runs
	FailsMid                // the turn, found out while the other calls run: these are cancelled and waited for
	Rejects                 // none of the answer's calls runs, and the model is told of each
)

// Trouble says what a failing tool does to its turn.
type Trouble int

const (
	Reported Trouble = iota // to the model
	Cancels                 // the other calls of the step, and all are reported to the model
	Ends                    // the turn, as failed
)

// Policy is one construction.
type Policy struct {
	Name string

	Where         Where
	TwoLines      bool // mode and inference commit beside external tools
	CallerContext bool // the journal gets the caller's context
	Failed        Failed
	LateDrop      bool // a fault drops the queue when the turn in flight has ended
	Monolith      bool // interrupts and inputs wait for an outstanding append, as for an actor that appends itself
	Validation    Validation
	LifeFirst     bool // a loop that takes nothing any more says so before it looks at what it was asked
	Notes         bool // an event.Other goes ahead of each change's own, and of each input

	ExitedEarly  bool          // what a shutdown refuses is refused as exited at once
	Drains       bool          // a shutdown lets the changes commit that wait when it begins
	Grace        time.Duration // an interrupted turn waits so long for its calls
	AckFirst     bool          // an interrupt is acknowledged before Done is closed
	SubmitAppend bool          // Submit records its input after the turn may have started

	Parallel    bool // definitions are built side by side
	BuildsOn    bool // builds go on when nobody waits any more, and their result is dropped
	TwoInfos    bool // a tool is described twice
	Compact     bool // schemas are
	SortedTools bool // by name

	Records    Records
	StartFails bool // where the start cannot be recorded, the loop does not start

	History    bool // messages begin with the conversation of earlier turns
	RetryModel bool // once for each request
	Sequential bool // tools run one by one
	Unknown    Unknown
	Trouble    Trouble
	Streams    bool          // a tool runs as soon as its call is there, while the answer goes on
	Eager      bool          // Stream is called before it is known whether its answer is still wanted
	InRange    bool          // a failed request ends its turn from inside the range over its answer
	CallLimit  time.Duration // a model request or tool call that takes longer fails
	Joins      bool
	Heartbeat  bool // a line in the log each minute, as long as the loop lives
}
