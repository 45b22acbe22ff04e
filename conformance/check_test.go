package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/loopcheck/loopcheck/conformance"
	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

// check is Check, where it must not fail.
func check(t *testing.T, s conformance.Subject, c conformance.Config) *report.Report {
	t.Helper()
	r, err := conformance.Check(t.Context(), s, c)
	require.NoError(t, err)
	return r
}

// exercised are the counts of a report by requirement.
func exercised(r *report.Report) map[string]uint64 {
	counts := make(map[string]uint64)
	for _, l := range r.Requirements {
		counts[l.ID] = l.Exercised
	}
	return counts
}

func TestCheckLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	r := check(t, reference(), conformance.Config{Schedules: 50})
	assert.True(t, r.Passed())
	assert.Equal(t, uint64(50), r.Schedules)
	assert.Equal(t, []contract.Capability{contract.ExternalTools, contract.Restore}, r.Capabilities)
	assert.Empty(t, r.Stopped)
	goleak.VerifyNone(t, before)
}

func TestCheckOfAContextThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := conformance.Check(ctx, reference(), conformance.Config{})
	require.NoError(t, err)
	assert.Equal(t, "interrupted", r.Stopped)
	assert.Zero(t, r.Schedules)
	assert.False(t, r.Passed(), "nothing was put to the test")
	for id, n := range exercised(r) {
		assert.Zero(t, n, id)
	}
}

func TestCheckOfAContextThatEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last conformance.Progress
	r, err := conformance.Check(ctx, reference(), conformance.Config{Progress: func(p conformance.Progress) {
		if last = p; p.Schedules == 7 {
			cancel()
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, conformance.Progress{Schedules: 7}, last, "no run begins after it")
	assert.Equal(t, uint64(7), r.Schedules)
	assert.Equal(t, "interrupted", r.Stopped)
	assert.True(t, r.Passed(), "all was put to the test by then")
}

func TestCheckIsBoundInTime(t *testing.T) {
	r := check(t, reference(), conformance.Config{Time: time.Nanosecond, Schedules: 1000})
	assert.Zero(t, r.Schedules, "directed checks are made all the same, and then it was over")
	assert.True(t, r.Passed())
	r = check(t, reference(), conformance.Config{Time: time.Hour, Schedules: 3})
	assert.Equal(t, uint64(3), r.Schedules, "whatever bounds it first")

	_, err := conformance.Check(t.Context(), reference(), conformance.Config{Time: -1})
	var wrong *conformance.ConfigError
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "time", wrong.Setting)
}

// asks are, run by run, what each client asks first: that is the workload's and the schedule's, whatever the flips of Go's own
// coins between two decisions, on the stock runtime, do to what comes after and to the counts that go by it.
type asks []map[string]string

// recorded is a subject that notes what it is asked.
func recorded(s conformance.Subject) (conformance.Subject, *asks) {
	var all asks
	s.Invariants = append(s.Invariants, conformance.Invariant{Name: "ASKED-1", Begin: func() func([]trace.Entry) error {
		first := make(map[string]string)
		all = append(all, first)
		return func(entries []trace.Entry) error {
			for _, e := range entries {
				if client := strings.TrimRight(e.Op, "0123456789"); e.Kind == trace.Called && first[client] == "" {
					first[client] = fmt.Sprintf("%s %T", e.Op, e.Asked)
				}
			}
			return nil
		}
	}})
	return s, &all
}

// A campaign is the same for ever as long as the subject is.
func TestCheckOfOneSeedIsReproducible(t *testing.T) {
	run := func(seed uint64) asks {
		s, asked := recorded(reference())
		check(t, s, conformance.Config{Schedules: 100, Seed: seed})
		return *asked
	}
	one := run(3)
	assert.Equal(t, one, run(3))
	assert.NotEqual(t, one, run(4), "another seed is another campaign")

	failing := func() (failures [][3]string) {
		for _, f := range check(t, exporting(reference(), 1), conformance.Config{Schedules: 100, Seed: 3}).Failures {
			failures = append(failures, [3]string{f.Message, f.Found, strings.Join(f.Timeline, "\n")})
		}
		require.NotEmpty(t, failures)
		return failures
	}
	assert.Equal(t, failing(), failing(), "found by the same run, shrunk to the same steps")
}

// The parts of a campaign that is split between processes are the whole.
func TestCheckFrom(t *testing.T) {
	part := func(from uint64, schedules int) asks {
		s, asked := recorded(reference())
		check(t, s, conformance.Config{Seed: 9, From: from, Schedules: schedules})
		return *asked
	}
	directed, whole := part(0, -1), part(0, 60)
	first, second := part(0, 22), part(22, 38)
	drawn := func(a asks) asks {
		require.Equal(t, directed, a[:len(directed)], "each part makes the directed checks first")
		return a[len(directed):]
	}
	assert.Len(t, drawn(whole), 60)
	assert.Equal(t, drawn(whole), slices.Concat(drawn(first), drawn(second)))
	assert.NotEqual(t, drawn(first), drawn(whole)[38:])
}

func TestCheckStopsAfterSomeFailures(t *testing.T) {
	s := exporting(reference(), 1)
	s.Invariants = append(s.Invariants, conformance.Invariant{Name: "EXPORT-2", Begin: func() func([]trace.Entry) error {
		calls := 0
		return func(entries []trace.Entry) error {
			for _, e := range entries {
				if _, is := e.Asked.(trace.User); is {
					calls++
				}
			}
			if calls > 2 {
				return errors.New("three exports")
			}
			return nil
		}
	}})

	all := check(t, s, conformance.Config{Schedules: 150})
	require.Len(t, all.Failures, 2)
	assert.Empty(t, all.Stopped)
	assert.Equal(t, uint64(150), all.Schedules)
	one := check(t, s, conformance.Config{Schedules: 150, Failures: 1})
	assert.Len(t, one.Failures, 1)
	assert.NotEmpty(t, one.Stopped)
	assert.Less(t, one.Schedules, uint64(150))
}

func TestCheckStrategies(t *testing.T) {
	counts := make(map[string]map[string]uint64)
	for _, name := range append(conformance.Strategies(), "") {
		r := check(t, reference(), conformance.Config{Schedules: 20, Strategy: name})
		if name == "" {
			name = "random, swarm, pct"
		}
		assert.Equal(t, name, r.Strategy)
		counts[name] = exercised(r)
	}
	assert.NotEqual(t, counts["random"], counts["swarm"])
	assert.NotEqual(t, counts["random"], counts["pct"])
	assert.NotEqual(t, counts["random"], counts["random, swarm, pct"])

	_, err := conformance.Check(t.Context(), reference(), conformance.Config{Strategy: "luck"})
	var wrong *conformance.ConfigError
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "strategy", wrong.Setting)
}

func TestCheckReturnsWhatIsWrongWithTheCorpus(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	r, err := conformance.Check(t.Context(), broken("model-per-step"), conformance.Config{Schedules: -1, Corpus: filepath.Join(file, "corpus")})
	require.ErrorContains(t, err, "corpus: save: ")
	require.NotNil(t, r, "what was found is not lost")
	require.Len(t, r.Failures, 1)
	assert.Empty(t, r.Failures[0].File)
	assert.True(t, corpus.IsToken(r.Failures[0].Token))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.schedule"), []byte("loopcheck-corpus 1\nnonsense\n"), 0o666))
	r, err = conformance.Check(t.Context(), reference(), conformance.Config{Schedules: -1, Corpus: dir})
	var damaged *corpus.Error
	require.ErrorAs(t, err, &damaged)
	assert.Equal(t, 2, damaged.Line)
	require.NotNil(t, r)
	assert.True(t, r.Passed())

	r, err = conformance.Check(t.Context(), reference(), conformance.Config{Baseline: filepath.Join(dir, "none")})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Nil(t, r, "it is read first")
}

func TestCheckSavesAndReplays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "corpus")
	r := check(t, broken("model-per-step"), conformance.Config{Schedules: -1, Corpus: dir})
	require.Len(t, r.Failures, 1)
	assert.Empty(t, r.Failures[0].Replay, "nobody said how it is worded")
	saved, err := corpus.LoadFile(r.Failures[0].File)
	require.NoError(t, err)
	assert.Equal(t, "TURN-1", saved.Requirement)

	var asked []string
	r = check(t, broken("model-per-step"), conformance.Config{Schedules: -1, Corpus: dir, Replay: func(schedule string) string {
		asked = append(asked, schedule)
		return "replay " + schedule
	}})
	assert.Equal(t, "replay "+r.Failures[0].File, r.Failures[0].Replay)
	assert.Equal(t, []string{r.Failures[0].File}, asked)
	entries, err := corpus.Load(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "it was there already")
	assert.True(t, check(t, reference(), conformance.Config{Schedules: -1, Corpus: dir}).Passed())
}

// What a subject says of itself helps whoever reads the failure.
func TestCheckShowsWhatTheSubjectLogs(t *testing.T) {
	s := broken("model-per-step")
	start := s.Start
	s.Start = func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
		e.Log("made of %s", e.Definition.Name())
		return start(ctx, e)
	}
	r := check(t, s, conformance.Config{Schedules: -1})
	require.Len(t, r.Failures, 1)
	assert.Contains(t, r.Failures[0].String(), "made of assistant")
}

func TestCheckRefusesSubjects(t *testing.T) {
	start := reference().Start
	for name, s := range map[string]conformance.Subject{
		"no name":  {Start: start},
		"no Start": {Name: "x"},
		"fails":    starting(func(context.Context, conformance.Env) (loop.Loop, error) { return nil, errors.New("no licence") }),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := conformance.Check(t.Context(), s, conformance.Config{Schedules: -1})
			var wrong *conformance.SubjectError
			require.ErrorAs(t, err, &wrong)
			assert.NotEmpty(t, wrong.Reason)
			assert.Nil(t, r)
		})
	}
}

// A Start that fails now and then is not let pass, even if it succeeded when it was first asked.
func TestCheckOfASubjectThatDoesNotAlwaysStart(t *testing.T) {
	runs, s := 0, reference()
	s.Start = func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
		if runs++; runs > 1 {
			return nil, errors.New("no licence left")
		}
		return reference().Start(ctx, e)
	}
	r := check(t, s, conformance.Config{Schedules: 5})
	assert.False(t, r.Passed())
	var text string
	for _, f := range r.Failures {
		text += f.String()
	}
	for _, p := range r.Problems {
		text += p
	}
	assert.Contains(t, text, "no licence left")
}
