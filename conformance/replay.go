package conformance

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/conformance/timeline"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
)

// outcome is what became of a replay.
type outcome struct {
	failure  *report.Failure
	timeline []string // of a run that broke nothing
	note     string   // how the replay compares with the record
}

// attempts is how often a recorded run is tried until its trace comes back: Go's own choices are no part of a schedule on the
// stock runtime.
const attempts = 100

// replay replays a schedule, of a file or a token.
func (c *checker) replay(schedule string) (outcome, error) {
	var (
		file corpus.File
		err  error
	)
	if corpus.IsToken(schedule) {
		file, err = corpus.ParseToken(schedule, c.subject.kinds()...)
	} else {
		file, err = corpus.LoadFile(schedule, c.subject.kinds()...)
	}
	if err != nil {
		return outcome{}, err
	}
	if !c.can(file.Workload) {
		return outcome{}, &SubjectError{fmt.Sprintf("%q lacks what the schedule needs: a restore, external tools or a foreign loop", c.subject.Name)}
	}
	if q, known := contract.Lookup(file.Requirement); known && q.Level == contract.Should {
		c.strict = true // a breach of it ended the recorded run
	}
	r, tries, same := c.reproduce(file)
	if r.result.Hang != nil {
		return outcome{}, errors.New(r.hang("the replay"))
	}
	o := outcome{}
	switch {
	case file.Record.Hash == 0:
		o.note = "  the schedule holds no trace to compare with"
	case same && tries == 1:
		o.note = "  the trace is that of the schedule's record"
	case same:
		o.note = fmt.Sprintf("  the trace is that of the schedule's record, at try %d", tries)
	default:
		o.note = fmt.Sprintf("  the trace is not that of the schedule's record in %d tries", tries)
		if at := r.result.Diverged; at > 0 {
			o.note += fmt.Sprintf("; it parts at step %d", at)
		}
		if file.Record.Go != "" && file.Record.Go != runtime.Version() {
			o.note += fmt.Sprintf("; the record is of %s, this is %s", file.Record.Go, runtime.Version())
		}
	}
	if r.check != "" {
		c.known[r.check+" "+cause(r)] = true
		f := c.failure(r, "the replay", 0)
		f.File = schedule
		o.failure = &f
	} else {
		o.timeline = timeline.Lines(r.load, r.entries(), r.mark())
	}
	return o, nil
}

// reproduce runs a recorded schedule until it gives its trace, or the breach that it stands for, again.
func (c *checker) reproduce(file corpus.File) (r run, tries int, same bool) {
	options := c.config.Run
	options.Expect = file.Record.Steps
	var best run
	for tries = 1; tries <= attempts; tries++ {
		r = c.once(file.Workload, sim.Replay{Schedule: file.Record.Schedule}.Follow(), options)
		switch {
		case r.result.Hash == file.Record.Hash:
			return r, tries, true
		case file.Record.Hash == 0, r.result.Hang != nil:
			return r, tries, false
		case best.play == nil, best.check == "" && r.check != "":
			best = r
		}
	}
	return best, attempts, false
}
