package conformance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance"
	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

const kindExport workload.Kind = "export"

// exporting adds to a subject an operation and an invariant of the user's own: no run may export the loop's mode more than
// limit times in the form "full".
func exporting(s conformance.Subject, limit int) conformance.Subject {
	s.Name = "exporting"
	s.Operations = []conformance.Operation{{
		Kind: kindExport, Weight: 40,
		Args: func(draw workload.Draw) []workload.Arg {
			return []workload.Arg{{Name: "form", Value: []string{"short", "full"}[draw(2)]}}
		},
		Do: func(_ context.Context, l loop.Loop, o workload.Operation) error {
			form, _ := o.Value("form")
			if form == "full" {
				return fullExport{l.Mode()}
			}
			return nil
		},
	}}
	s.Invariants = []conformance.Invariant{{
		Name: "EXPORT-1",
		Begin: func() func([]trace.Entry) error {
			full := 0
			return func(entries []trace.Entry) error {
				for _, e := range entries {
					if _, is := e.Err.(fullExport); is {
						full++
					}
				}
				if full > limit {
					return fmt.Errorf("%d full exports, of at most %d", full, limit)
				}
				return nil
			}
		},
	}}
	return s
}

// fullExport is what a full export returns, so that the invariant finds it in the trace.
type fullExport struct{ mode loop.ModeName }

func (e fullExport) Error() string { return "exported in mode " + string(e.mode) }

// A user's operations are drawn with her arguments, performed, and in the trace.
func TestOperationsOfTheUsersOwn(t *testing.T) {
	forms := make(map[string]int)
	s := exporting(reference(), 100)
	do := s.Operations[0].Do
	s.Operations[0].Do = func(ctx context.Context, l loop.Loop, o workload.Operation) error {
		assert.Equal(t, kindExport, o.Kind)
		assert.NoError(t, ctx.Err())
		form, given := o.Value("form")
		assert.True(t, given)
		forms[form]++ // a run has its operations one after the other, as far as its schedule goes
		return do(ctx, l, o)
	}
	traced := 0
	s.Invariants = append(s.Invariants, conformance.Invariant{Name: "TRACED", Begin: func() func([]trace.Entry) error {
		return func(entries []trace.Entry) error {
			for _, e := range entries {
				if user, is := e.Asked.(trace.User); is {
					assert.Equal(t, trace.User{Kind: "export"}, user)
					assert.Equal(t, trace.Called, e.Kind)
					traced++
				}
			}
			return nil
		}
	}})
	r := check(t, s, conformance.Config{Schedules: 100, Strategy: "random"})
	assert.True(t, r.Passed())
	assert.Greater(t, forms["short"], 10)
	assert.Greater(t, forms["full"], 10)
	assert.Equal(t, forms["short"]+forms["full"], traced)
	for _, name := range []string{"EXPORT-1", "TRACED"} {
		line, there := r.Line(name)
		require.True(t, there)
		assert.Equal(t, report.Pass, line.Verdict)
		assert.Greater(t, line.Exercised, uint64(100), "the directed checks count")
	}
}

func TestAnInvariantOfTheUsersOwnIsBroken(t *testing.T) {
	dir := t.TempDir()
	r := check(t, exporting(reference(), 1), conformance.Config{Schedules: 100, Corpus: dir, Seed: 1})
	require.Len(t, r.Failures, 1)
	f := r.Failures[0]
	assert.Equal(t, "EXPORT-1 broken by 2 full exports, of at most 1", f.Message)
	assert.Equal(t, 2, f.Steps)
	line, _ := r.Line("EXPORT-1")
	assert.Equal(t, report.Fail, line.Verdict)

	file, err := corpus.LoadFile(f.File, kindExport)
	require.NoError(t, err)
	assert.Equal(t, "EXPORT-1", file.Requirement)
	assert.Equal(t, 2, file.Workload.Len(), "nothing else is left: %s", file.Workload)
	for _, o := range file.Workload.Operations() {
		assert.Equal(t, kindExport, o.Kind)
		form, _ := o.Value("form")
		assert.Equal(t, "full", form)
	}
	_, err = corpus.LoadFile(f.File)
	assert.ErrorContains(t, err, "export", "it can be read by nobody else")

	again := check(t, exporting(reference(), 1), conformance.Config{Schedules: -1, Corpus: dir})
	require.Len(t, again.Failures, 1)
	assert.Equal(t, f.Message, again.Failures[0].Message)
	assert.Equal(t, f.Timeline, again.Failures[0].Timeline)

	baseline := filepath.Join(dir, "baseline.txt")
	require.NoError(t, os.WriteFile(baseline, []byte("EXPORT-1 nobody minds\n"), 0o666))
	known := check(t, exporting(reference(), 1), conformance.Config{Schedules: -1, Corpus: dir, Baseline: baseline})
	assert.True(t, known.Passed())
	gone := check(t, exporting(reference(), 2), conformance.Config{Schedules: -1, Corpus: dir, Baseline: baseline})
	assert.False(t, gone.Passed(), "the entry is no longer true")
	require.Len(t, gone.BaselineProblems, 1)
	assert.Contains(t, gone.BaselineProblems[0], "baseline.txt:1")
}

// What a user's code does wrong is told as hers, and costs the run and not the process.
func TestExtensionsThatMisbehave(t *testing.T) {
	text := func(r *report.Report) string {
		var b strings.Builder
		require.NoError(t, r.Text(&b))
		return b.String()
	}
	t.Run("invariant panics", func(t *testing.T) {
		s := reference()
		s.Invariants = []conformance.Invariant{{Name: "MINE", Begin: func() func([]trace.Entry) error {
			return func([]trace.Entry) error { panic("my mistake") }
		}}}
		r := check(t, s, conformance.Config{Schedules: 1})
		assert.False(t, r.Passed())
		assert.Empty(t, r.Failures, "no requirement is to blame")
		assert.Contains(t, text(r), "my mistake")
	})
	t.Run("operation panics", func(t *testing.T) {
		s := exporting(reference(), 1)
		s.Operations[0].Do = func(context.Context, loop.Loop, workload.Operation) error { panic("my mistake") }
		r := check(t, s, conformance.Config{Schedules: 40})
		assert.False(t, r.Passed())
		assert.Contains(t, text(r), "export ──▶ ✗ panics: my mistake")
	})
	t.Run("operation waits for its context", func(t *testing.T) {
		s := exporting(reference(), 1)
		s.Operations[0].Do = func(ctx context.Context, _ loop.Loop, _ workload.Operation) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r := check(t, s, conformance.Config{Schedules: 40})
		assert.Empty(t, r.Failures, "%s", text(r))
	})
}

func TestExtensionsThatAreRefused(t *testing.T) {
	do := func(context.Context, loop.Loop, workload.Operation) error { return nil }
	begin := func() func([]trace.Entry) error { return func([]trace.Entry) error { return nil } }
	operation := func(kinds ...workload.Kind) (s conformance.Subject) {
		s = reference()
		for _, kind := range kinds {
			s.Operations = append(s.Operations, conformance.Operation{Kind: kind, Weight: 1, Do: do})
		}
		return s
	}
	invariant := func(names ...string) (s conformance.Subject) {
		s = reference()
		for _, name := range names {
			s.Invariants = append(s.Invariants, conformance.Invariant{Name: name, Begin: begin})
		}
		return s
	}
	noDo, noBegin := operation("export"), invariant("MINE")
	noDo.Operations[0].Do, noBegin.Invariants[0].Begin = nil, nil
	for name, s := range map[string]conformance.Subject{
		"kind of the kit's":       operation("submit"),
		"kind twice":              operation("export", "export"),
		"kind empty":              operation(""),
		"kind with capitals":      operation("Export"),
		"kind with a space":       operation("ex port"),
		"kind of two lines":       operation("export\nb1"),
		"kind with underline":     operation("ex_port"),
		"kind without Do":         noDo,
		"invariant without name":  invariant(""),
		"invariant of two words":  invariant("MY OWN"),
		"invariant of two lines":  invariant("MY\nOWN"),
		"invariant that is long":  invariant(strings.Repeat("M", 33)),
		"invariant of contract":   invariant("TURN-1"),
		"invariant twice":         invariant("MINE", "MINE"),
		"invariant without Begin": noBegin,
		"invariant of scheduler":  invariant("leak"),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := conformance.Check(t.Context(), s, conformance.Config{Schedules: -1})
			var wrong *conformance.SubjectError
			require.ErrorAs(t, err, &wrong)
			assert.Nil(t, r)
		})
	}
	_, err := conformance.Check(t.Context(), operation("export", "re-2-export"), conformance.Config{Schedules: -1})
	assert.NoError(t, err)
	_, err = conformance.Check(t.Context(), invariant("BILLING-1", "ABC/1"), conformance.Config{Schedules: -1})
	assert.NoError(t, err)
}
