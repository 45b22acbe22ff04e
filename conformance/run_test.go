package conformance_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/corpus"
)

func TestRunOnAConformingSubject(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.test(t, "reference", few)
	require.Zero(t, r.code, r.out)

	for _, q := range contract.All() {
		switch {
		case q.Level == contract.Types:
			assert.NotContains(t, r.tests, q.ID, "it is no part of a subject's verdict")
		case slices.Contains(q.Needs, contract.Foreign):
			assert.Equal(t, "SKIP", r.tests[q.ID], q.ID)
		default:
			assert.Equal(t, "PASS", r.tests[q.ID], q.ID)
		}
	}
	for _, part := range []string{"simulation", "corpus", "verdict"} {
		assert.Equal(t, "PASS", r.tests[part], part)
	}
	assert.Contains(t, r.out, "NOT SUPPORTED: the subject has no [foreign]")
	assert.Contains(t, r.out, "reference against the loop contract, version 1", "with -v the report is there")
	assert.NoDirExists(t, h.path(""), "nothing was found, so there is nothing to keep")

	quiet := h.test(t, "reference", few, "-test.v=false")
	assert.Equal(t, "PASS\n", quiet.out)
}

// A user reads the failure, replays it, repairs the loop, and keeps the schedule.
func TestRunOnABrokenSubject(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.test(t, "model-per-step", few)
	require.Equal(t, 1, first.code, first.out)
	assert.Equal(t, "FAIL", first.tests["TURN-1"])
	assert.Equal(t, "FAIL", first.tests["verdict"])
	assert.Equal(t, "PASS", first.tests["LIFE-1"], "it is not to blame")

	const message = `TURN-1 broken by turn a1, step 2: the model was asked with effort "high", the turn had captured "low"`
	assert.Contains(t, first.out, "loopcheck: "+message)
	assert.Contains(t, first.out, `found by the directed check "a change of effort between two steps of a turn" of TURN-1`)
	assert.Contains(t, first.out, "A loop that reads its settings anew for each request fails here.", "why the check is made")
	assert.Regexp(t, `(?m)^ +b1 change effort=high ──▶ `, first.out, "the timeline")
	assert.Regexp(t, `(?m)◀── expected low$`, first.out, "its mark")
	assert.Regexp(t, `(?m)^ +seen: +high$`, first.out)

	saved := h.schedules(t)
	require.NotEmpty(t, saved)
	file, err := corpus.LoadFile(h.path(saved[0]))
	require.NoError(t, err)
	assert.Equal(t, "TURN-1", file.Requirement)
	assert.Equal(t, "faulty", file.Subject)
	text, err := os.ReadFile(h.path(saved[0]))
	require.NoError(t, err)
	assert.Contains(t, string(text), "# TURN-1 broken by turn ", "a reviewer reads what it is about")

	replays := first.replays(t)
	require.NotEmpty(t, replays)
	for _, schedule := range replays {
		again := h.test(t, "model-per-step", "-loopcheck.replay="+schedule)
		assert.Equal(t, 1, again.code)
		assert.Contains(t, again.out, "loopcheck: TURN-1 broken by turn ")
		assert.Contains(t, again.out, "the trace is that of the schedule's record")
		assert.Equal(t, map[string]string{"TestChild": "FAIL"}, again.tests, "nothing else is run")

		repaired := h.test(t, "reference", "-loopcheck.replay="+schedule)
		assert.Zero(t, repaired.code, repaired.out)
		assert.Contains(t, repaired.out, "the schedule breaks nothing")
		assert.Contains(t, repaired.out, "b1 change effort=high", "its timeline is shown")
	}
	assert.Contains(t, h.test(t, "model-per-step", "-loopcheck.replay="+replays[0]).out, message)
	token := h.test(t, "model-per-step", "-loopcheck.replay="+file.Token())
	assert.Equal(t, 1, token.code)
	assert.Contains(t, token.out, "loopcheck: TURN-1 broken by turn ")

	part := h.test(t, "model-per-step", none, "-test.run=^TestChild$/^corpus$")
	assert.Equal(t, []string{"corpus"}, part.failed(), part.out)
	assert.Contains(t, part.out, "found by the corpus")
	assert.ElementsMatch(t, paths(saved), part.replays(t), "the file that is there is named")

	fixed := h.test(t, "reference", none)
	assert.Zero(t, fixed.code, fixed.out)
	assert.Equal(t, saved, h.schedules(t), "the corpus is kept")
	after, err := os.ReadFile(h.path(saved[0]))
	require.NoError(t, err)
	assert.Equal(t, string(text), string(after))
}

// paths are those of schedules as a replay line has them.
func paths(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, "testdata/loopcheck/"+name)
	}
	return paths
}

// What only the simulation finds is found again without it.
func TestRunReplaysTheCorpus(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.test(t, "exporting-twice", few)
	require.Equal(t, []string{"simulation", "verdict"}, first.failed(), first.out)
	require.Len(t, h.schedules(t), 1)

	second := h.test(t, "exporting-twice", none)
	assert.Equal(t, 1, second.code)
	assert.Equal(t, []string{"corpus", "verdict"}, second.failed(), second.out)
	assert.Equal(t, first.replays(t)[:1], second.replays(t)[:1])
	assert.Len(t, h.schedules(t), 1, "it is not saved again")

	assert.Zero(t, h.test(t, "exporting", none).code, "a subject that is repaired passes it")
}

func TestRunOfOnePartSaysNothingOfTheOthers(t *testing.T) {
	t.Parallel()
	r := newHome(t).test(t, "reference", "-test.run=^TestChild$/^TURN-1$", "-loopcheck.report=report.txt")
	assert.Zero(t, r.code, "what is NOT EXERCISED was left out: %s", r.out)
	assert.Equal(t, map[string]string{"TestChild": "PASS", "TURN-1": "PASS"}, r.tests)

	broken := newHome(t).test(t, "model-per-step", "-test.run=^TestChild$/^(TURN-1|LIFE-1)$")
	assert.Equal(t, 1, broken.code)
	assert.Equal(t, []string{"TURN-1"}, broken.failed())
}

func TestRunOnASubjectThatOffersLittle(t *testing.T) {
	t.Parallel()
	r := newHome(t).test(t, "plain", few)
	require.Zero(t, r.code, r.out)
	for _, q := range contract.All() {
		if q.Level != contract.Types && len(q.Needs) > 0 {
			assert.Equal(t, "SKIP", r.tests[q.ID], q.ID)
			assert.Regexp(t, `(?m)^ +`+q.ID+` +\w+ +NOT SUPPORTED +0 `, r.out)
		}
	}
	assert.Contains(t, r.out, "not supported: external tools, restore, foreign")
}

func TestRunOnASubjectThatCannotBeTested(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"start-nil":   `the subject "starting" cannot be started: it returned neither a loop nor an error`,
		"start-error": `the subject "starting" cannot be started: no licence`,
		"start-panic": `the subject "starting" cannot be started: it panicked: no licence`,
		"start-waits": `the subject "starting" cannot be started: its Start does not return`,
		"start-exits": `the subject "starting" cannot be started: its Start does not return`,
		"no-name":     `the subject has no name`,
		"no-start":    `the subject "nothing" has no Start`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			r := h.test(t, name, few, "-loopcheck.report=report.json")
			assert.Equal(t, 1, r.code)
			assert.Contains(t, r.out, "conformance: "+want)
			assert.Equal(t, map[string]string{"TestChild": "FAIL"}, r.tests, "no part is run")
			assert.NoFileExists(t, h.dir+"/report.json")
		})
	}
}

// A panic that the loop should have recovered cannot be recovered by the kit. Whoever reads the end of the process must
// not look for a bug in the kit.
func TestRunOnASubjectThatDiesOfAPanic(t *testing.T) {
	t.Parallel()
	r := newHome(t).test(t, "tool-panic-unrecovered", few)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.out, "panic: loopcheck: a deliberate panic of tool d1 in turn a1, which a loop must outlive (TURN-6, EXT-11)")
}

func TestRunOnASubjectThatHoldsALockAcrossAnAppend(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.test(t, "lock-held-over-append", few, "-loopcheck.report=report.json")
	assert.Equal(t, 1, r.code)
	assert.Less(t, r.took, patience/2, "one run that hangs is enough")
	assert.Equal(t, 2, strings.Count(r.out, "was given up: it does not come to rest. Does the loop hold a lock"), "where it happened, and in the report")
	assert.Contains(t, r.out, "waits for a lock")
	assert.Contains(t, r.out, "not checked: a run before did not come to rest")

	read := h.report(t, "report.json")
	assert.Empty(t, read.Failures, "no requirement is blamed")
	assert.Len(t, read.Problems, 1)
	assert.Equal(t, "a run that does not come to rest", read.Stopped)
	assert.Zero(t, read.Schedules)
	assert.False(t, read.Passed())
}
