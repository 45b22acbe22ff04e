// Package oracle judges what was seen of a loop against the loop contract.
//
// A [Judge] follows the trace of a run, step by step, and names the first requirement that is broken, with what was
// expected and what was seen. It knows of the loop only what its surroundings and its callers saw. So that no conforming loop is
// accused, whatever it is made of, three rules hold throughout:
//
//   - What follows from what. A committed state is known by its event in the journal. When it was taken over is not known:
//     not before the event was durable, and not after the call returned. A capture or a read is only ever wrong when no
//     state within these bounds explains it.
//   - What has an order. Whoever calls something decides so before the first instruction of the callee, where it is noted. So a
//     beginning counts as too late only in a later step than what forbade it: see TURN-8, LIFE-2, INT-2.
//   - Who asked for it. An event belongs to the one operation in flight that it fits. Where it fits two, neither is accused of
//     anything that depends on which it was.
//
// The first breach ends the judging: what comes after it may follow from it.
package oracle

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// Breach is a requirement that a run broke.
type Breach struct {
	Requirement string
	// Message says what is wrong, in one line.
	Message string
	// Expected and Seen are values of one kind, if there are such; Diff tells how they differ.
	Expected, Seen string
	Diff           string
	// Op is the operation concerned, and Seq the entry of the trace at which the breach showed; -1 if what showed it is that
	// nothing happens any more.
	Op  string
	Seq int
}

// Error returns the requirement and the message.
func (b *Breach) Error() string { return b.Requirement + " broken by " + b.Message }

// Options says what the judge cannot find out by itself.
type Options struct {
	// Joins is whether an input may join the turn in flight (TURN-7).
	Joins bool
	// Strict makes a broken SHOULD a breach, rather than a warning: to shrink one.
	Strict bool
}

// Judge follows one run. Not safe for concurrent use.
type Judge struct {
	options   Options
	breach    *Breach
	warnings  []Breach
	exercised []uint64 // by contract.Index
	life      *life
	lives     map[int]*life
	journals  map[int]*state // what each journal came to in the last life that had it
	step      int
	outside   bool // whether something outside the loop was outstanding when time passed last
	// generations are the lives in which a source's generation was installed last.
	generations map[generation]int
	// slotted are the names of external tools that were in a slot.
	slotted    map[slotted]bool
	current    *trace.Entry
	quiet      bool                 // Quiet is at work
	unreadable int                  // the life that failed to read its journal last
	early      int                  // the life that wrote to its journal before it had started last
	byCall     map[int]*appending   // appends, by the number of their entries
	starting   map[int][]*appending // those of lives that have not started, by life
}

// New returns a judge. Exercised, of the length of the contract, is added to.
func New(options Options, exercised []uint64) *Judge {
	return &Judge{options: options, exercised: exercised, lives: make(map[int]*life, 1), journals: make(map[int]*state, 1), generations: make(map[generation]int, 2), slotted: make(map[slotted]bool, 4)}
}

// slotted is the name of a tool in a slot, in a journal.
type slotted struct {
	journal int
	name    string
}

// generation is one of a source, in a journal.
type generation struct {
	journal            int
	source, generation string
}

// Breach returns the first breach; nil if there is none so far.
func (j *Judge) Breach() *Breach { return j.breach }

// Warnings returns the requirements of level SHOULD that the run broke, each once.
func (j *Judge) Warnings() []Breach { return j.warnings }

// Requirements is the length of what New takes.
func Requirements() int { return len(requirements) }

var requirements = contract.All()

var indices = func() map[string]int {
	m := make(map[string]int, len(requirements))
	for i, r := range requirements {
		m[r.ID] = i
	}
	return m
}()

// put counts that a requirement was put to the test: its antecedent held.
func (j *Judge) put(id string) { j.exercised[indices[id]]++ }

// Observe judges the entries of one step.
func (j *Judge) Observe(entries []trace.Entry) {
	for i := range entries {
		if j.breach != nil {
			return
		}
		j.current = &entries[i]
		j.step = entries[i].Step
		j.observe(&entries[i])
	}
	if j.breach == nil && j.life != nil {
		j.rest()
	}
}

func (j *Judge) observe(e *trace.Entry) {
	if e.Kind == trace.Started {
		j.started(e)
		return
	}
	l := j.lives[e.Life]
	if l == nil {
		j.beforeStart(e)
		return
	}
	switch e.Kind {
	case trace.Crashed:
		l.crashed(j)
	case trace.Called:
		j.called(l, e)
	case trace.Returned:
		j.returned(l, e)
	case trace.ContextEnded:
		if o := l.ops[e.Op]; o != nil && o.ctxEnded < 0 {
			o.ctxEnded = e.Seq
		}
	case trace.AppendBegan:
		j.appendBegan(l, e)
	case trace.AppendWritten:
		j.appendWritten(l, e)
	case trace.AppendReturned:
		j.appendReturned(l, e)
	case trace.RequestBegan:
		j.requestBegan(l, e)
	case trace.ToolBegan:
		j.toolBegan(l, e)
	case trace.RequestEnded, trace.ToolEnded:
		j.callEnded(l, e)
	case trace.BuildBegan, trace.DescribeBegan:
		j.buildBegan(l, e)
	case trace.DescribeEnded:
		if o := l.ops[e.Op]; o != nil {
			o.describing--
			if replace, is := o.asked.(trace.Replace); is && replace.Panics && slices.Contains(replace.Broken, e.Text) {
				l.buildPanicked = e.Seq // it may be the one that panics when it is asked for its info
			}
		}
	case trace.BuildEnded:
		j.buildEnded(l, e)
	case trace.TurnEnded:
		j.turnEnded(l, e)
	}
}

// blame notes a breach at the present entry.
func (j *Judge) blame(requirement, op, format string, args ...any) *Breach {
	b := &Breach{Requirement: requirement, Op: op, Message: fmt.Sprintf(format, args...)}
	if b.Seq = -1; j.current != nil && !j.quiet {
		b.Seq = j.current.Seq
	}
	if r := requirements[indices[requirement]]; r.Level == contract.Should && !j.options.Strict {
		for _, w := range j.warnings {
			if w.Requirement == requirement {
				return b
			}
		}
		j.warnings = append(j.warnings, *b)
		return b
	}
	if j.breach == nil {
		j.breach = b
	}
	return b
}

// differ puts values to a breach.
func (b *Breach) differ(expected, seen any) {
	b.Expected, b.Seen = show(expected), show(seen)
	if b.Expected == b.Seen { // what is left out of the wording is what differs
		b.Expected, b.Seen = whole(expected), whole(seen)
	}
	if _, plain := expected.(string); !plain { // two lines say it already
		b.Diff = cmp.Diff(expected, seen, cmpopts.EquateEmpty())
	}
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case model.Model: // it has pointers
		return whole(v)
	}
	return fmt.Sprintf("%+v", v)
}

// whole words all of a value.
func whole(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
