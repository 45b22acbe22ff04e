package conformance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"runtime"
	"time"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/conformance/timeline"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// defaultShrink is how long one failure is shrunk if nothing else is said.
const defaultShrink = 10 * time.Second

// shrinkable is a workload on a subject, as the shrinker takes it.
type shrinkable struct {
	checker *checker
	load    workload.Workload
}

func (s shrinkable) Program() sim.Program {
	return program(&s.checker.subject, s.load, func() *oracle.Judge {
		return oracle.New(s.checker.options(), make([]uint64, oracle.Requirements()))
	}, nil)
}

func (s shrinkable) Size() int { return s.load.Size() }

func (s shrinkable) Reductions() iter.Seq[sim.Reduction] {
	return func(yield func(sim.Reduction) bool) {
		for r := range s.load.Reductions() {
			if !yield(sim.Reduction{Pass: r.Pass, Case: shrinkable{s.checker, r.Workload}, Dropped: r.Dropped}) {
				return
			}
		}
	}
}

// fresh reports whether a failure is one that has not been found yet: of another requirement, or of another cause.
func (c *checker) fresh(r run) bool {
	key := r.check + " " + cause(r)
	if c.known[key] {
		return false
	}
	c.known[key] = true
	return true
}

// names of operations and values are what two runs of one cause differ in.
var names = regexp.MustCompile(`"[^"]*"|\b[a-z][0-9]+(\.[0-9]+)*\b|\b[0-9]+\b`)

// cause is a failure's message without what is particular to the run.
func cause(r run) string { return names.ReplaceAllString(r.result.Failure.Message, "_") }

// fail shrinks a failure, runs what is left once more, and puts it into the report and the corpus.
func (c *checker) fail(ctx context.Context, r run, found string) {
	if r.result.Hang != nil { // every further run of it would hang too
		c.hang(r, found)
		if r.check != sim.CheckHang {
			c.add(c.failure(r, found, 0), "")
		}
		return
	}
	steps, before := timeline.Steps(r.entries(), r.mark()), r.check+" "+cause(r)
	limit := c.config.Shrink
	if limit <= 0 {
		limit = defaultShrink
	}
	shrunk, err := sim.Shrinker{Options: c.config.Run, Time: limit}.Shrink(ctx, shrinkable{c, r.load}, r.result.Schedule, r.check)
	if err == nil {
		load := shrunk.Case.(shrinkable).load
		// On the stock runtime a schedule may need several tries, for Go's own choices are no part of it.
		for range 20 {
			again := c.again(load, shrunk.Result.Schedule)
			if again.check == r.check {
				r = again
				break
			}
		}
	}
	key := r.check + " " + cause(r)
	if key != before && c.known[key] {
		return // what is left of it is a failure that has been found
	}
	c.known[key] = true
	f := c.failure(r, found, steps)
	path := ""
	if c.config.Corpus != "" {
		if path, err = corpus.Save(c.config.Corpus, c.file(r, f)); err != nil {
			c.saveError = errors.Join(c.saveError, err)
		}
	}
	c.add(f, path)
}

// again makes a run that counts for nothing.
func (c *checker) again(load workload.Workload, schedule sim.Schedule) run {
	exercised := c.exercised
	c.exercised = make([]uint64, len(exercised))
	defer func() { c.exercised = exercised }()
	return c.once(load, sim.Replay{Schedule: schedule}.Follow(), c.config.Run)
}

// add puts a failure into the report; path is where its schedule is, if it is anywhere.
func (c *checker) add(f report.Failure, path string) {
	f.File = path
	if c.config.Replay != nil {
		schedule := path
		if schedule == "" {
			schedule = f.Token
		}
		f.Replay = c.config.Replay(schedule)
	}
	if c.judged(f.Requirement) {
		c.report.Add(f)
		return
	}
	c.report.Problem(f.String())
}

// judged reports whether it is a requirement, of the contract or of the user's own.
func (c *checker) judged(requirement string) bool {
	_, known := contract.Lookup(requirement)
	return known || c.subject.invariant(requirement)
}

func (s Subject) invariant(name string) bool {
	for _, invariant := range s.Invariants {
		if invariant.Name == name {
			return true
		}
	}
	return false
}

// failure words a run that broke something.
func (c *checker) failure(r run, found string, steps int) report.Failure {
	f := report.Failure{Requirement: r.requirement(), Found: found, ShrunkFrom: steps, Steps: timeline.Steps(r.entries(), r.mark()), Cause: cause(r)}
	message := r.result.Failure.Message
	if r.check == sim.CheckLeak {
		message = "the loop: it has exited, and goroutines of it are left: " + message
	}
	f.Message = f.Requirement + " broken by " + message
	if !c.judged(f.Requirement) { // the scheduler's own checks are no requirements
		f.Message = f.Requirement + ": " + message
	}
	if b := r.breach(); b != nil {
		f.Expected, f.Seen, f.Diff = b.Expected, b.Seen, b.Diff
	}
	f.Timeline = timeline.Lines(r.load, r.entries(), r.mark())
	f.Token = c.file(r, f).Token()
	return f
}

// file is the run on paper.
func (c *checker) file(r run, f report.Failure) corpus.File {
	return corpus.File{
		Contract: contract.Version, Requirement: f.Requirement, Subject: c.subject.Name, Found: f.Found,
		Log:      append([]string{f.Message}, f.Timeline...),
		Workload: r.load, Record: sim.NewRecord(r.result, runtime.Version(), 0),
	}
}

// hang reports a run that never came to rest, and makes the check stop: its goroutines are still there.
func (c *checker) hang(r run, found string) {
	c.hung = true
	c.report.Problem(r.hang(found))
}

// hang words a run that never came to rest.
func (r run) hang(found string) string {
	h := r.result.Hang
	return fmt.Sprintf("%s was given up: it does not come to rest. Does the loop hold a lock while it calls its "+
		"journal, its client or a tool? Such a loop needs the controlled runtime.\n%s\n%s\nworkload:\n%sschedule:\n%s",
		found, h.Message, h.Stack, r.load, lines(r.result.Schedule))
}

func lines(s sim.Schedule) string {
	text := ""
	for _, d := range s {
		text += d.String() + "\n"
	}
	return text
}

// warn puts broken requirements of level SHOULD into the report.
func (c *checker) warn(ctx context.Context, r run, found string) {
	if r.play == nil {
		return
	}
	for _, w := range r.play.judge.Warnings() {
		if key := w.Requirement + " warning"; !c.known[key] {
			c.known[key] = true
			// Once more, with a judge to whom it is a breach: what is shrunk and told is then what showed it.
			strict := *c
			strict.strict = true
			if again := strict.again(r.load, r.result.Schedule); again.check == w.Requirement {
				strict.fail(ctx, again, found)
				c.saveError = strict.saveError
			}
		}
	}
}

// requirement is what the run broke, by its identifier in the contract where it has one.
func (r run) requirement() string {
	if r.check == sim.CheckLeak {
		return "LIFE-2"
	}
	return r.check
}

func (r run) breach() *oracle.Breach {
	if r.play == nil {
		return nil
	}
	if b := r.play.judge.Breach(); b != nil && b.Requirement == r.check {
		return b
	}
	return nil
}

func (r run) entries() []trace.Entry {
	if r.play == nil {
		return nil
	}
	entries := r.play.stage.Log.Entries()
	return entries[:min(r.play.length, len(entries))]
}

func (r run) mark() timeline.Mark {
	if b := r.breach(); b != nil {
		return timeline.Mark{Seq: b.Seq, Expected: b.Expected, Seen: b.Seen, Op: b.Op, Message: b.Message}
	}
	if r.check != "" && r.check != sim.CheckLeak { // an invariant of the user's: it showed when the run came to rest
		return timeline.Mark{Seq: len(r.entries()) - 1}
	}
	return timeline.Mark{Seq: -1}
}
