package report_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

func verdict(t require.TestingT, r *report.Report, id string) report.Verdict {
	l, ok := r.Line(id)
	require.True(t, ok, id)
	return l.Verdict
}

func TestNewHasALineForEachRequirementOfAVerdict(t *testing.T) {
	r := report.New("s", contract.Foreign, contract.ExternalTools, contract.Foreign)
	assert.Equal(t, []contract.Capability{contract.ExternalTools, contract.Foreign}, r.Capabilities)
	i := 0
	for _, q := range contract.All() {
		if q.Level == contract.Types {
			_, ok := r.Line(q.ID)
			assert.False(t, ok, q.ID)
			continue
		}
		want := report.Line{ID: q.ID, Title: q.Title, Level: q.Level, Verdict: report.NotExercised}
		if !q.AppliesTo(r.Capabilities) {
			want.Verdict = report.NotSupported
		}
		assert.Equal(t, want, r.Requirements[i])
		i++
	}
	assert.Len(t, r.Requirements, i)
	assert.False(t, r.Passed(), "nothing was exercised")
}

func TestPassed(t *testing.T) {
	all := contract.Capabilities()
	remove := func(id string) func(*report.Report) {
		return func(r *report.Report) {
			for i, l := range r.Requirements {
				if l.ID == id {
					r.Requirements = append(r.Requirements[:i:i], r.Requirements[i+1:]...)
					return
				}
			}
		}
	}
	set := func(id string, change func(*report.Line)) func(*report.Report) {
		return func(r *report.Report) {
			for i := range r.Requirements {
				if r.Requirements[i].ID == id {
					change(&r.Requirements[i])
				}
			}
		}
	}
	for name, c := range map[string]struct {
		capabilities []contract.Capability
		change       func(*report.Report)
		passed       bool
	}{
		"everything passes":      {all, func(*report.Report) {}, true},
		"what there is passes":   {nil, func(*report.Report) {}, true},
		"a MUST failed":          {all, func(r *report.Report) { r.Add(captureFailure()) }, false},
		"a SHOULD failed":        {all, func(r *report.Report) { r.Add(panicWarning()) }, true},
		"a problem":              {all, func(r *report.Report) { r.Problem("x") }, false},
		"a MUST not exercised":   {all, set("INT-2", func(l *report.Line) { l.Exercised, l.Verdict = 0, report.NotExercised }), false},
		"a SHOULD not exercised": {all, set("REF-9", func(l *report.Line) { l.Exercised, l.Verdict = 0, report.NotExercised }), true},
		"a known failure":        {all, func(r *report.Report) { r.Add(captureFailure()); r.Apply(report.Baseline{{Requirement: "TURN-1"}}) }, true},
		"a known failure and another": {all, func(r *report.Report) {
			r.Add(captureFailure())
			r.Add(foldFailure())
			r.Apply(report.Baseline{{Requirement: "TURN-1"}})
		}, false},
		"a MUST has no line":          {all, remove("INT-2"), false},
		"a SHOULD has no line":        {all, remove("REF-9"), true},
		"an own MUST not exercised":   {all, func(r *report.Report) { _ = r.Declare("own", "", contract.Must) }, false},
		"an own SHOULD not exercised": {all, func(r *report.Report) { _ = r.Declare("own", "", contract.Should) }, true},
		"an own MUST passes":          {all, func(r *report.Report) { _ = r.Declare("own", "", contract.Must); r.Count("own", 1) }, true},
		"a failure of no requirement": {all, func(r *report.Report) { r.Add(report.Failure{Requirement: "CMD-1"}) }, false},
		// Filled in by hand:
		"not settled":            {all, func(r *report.Report) { r.Failures = append(r.Failures, captureFailure()) }, false},
		"a failure without line": {all, func(r *report.Report) { r.Failures = append(r.Failures, report.Failure{Requirement: "X"}) }, false},
		"a pass out of nothing":  {all, set("INT-2", func(l *report.Line) { l.Exercised = 0 }), false},
		"no verdict":             {all, set("INT-2", func(l *report.Line) { l.Verdict = "" }), false},
		"no lines":               {all, func(r *report.Report) { r.Requirements = nil }, false},
	} {
		r := conforming(c.capabilities...)
		c.change(r)
		assert.Equal(t, c.passed, r.Passed(), name)
	}
}

func TestVerdicts(t *testing.T) {
	r := report.New("s", contract.Restore)
	assert.Equal(t, report.NotSupported, verdict(t, r, "EXT-9"), "it needs external tools too")
	assert.Equal(t, report.NotExercised, verdict(t, r, "DUR-3"))
	r.Count("DUR-3", 1)
	assert.Equal(t, report.Pass, verdict(t, r, "DUR-3"))
	r.Count("EXT-1", 1)
	assert.Equal(t, report.NotSupported, verdict(t, r, "EXT-1"), "never a pass")
	r.Add(report.Failure{Requirement: "EXT-1"})
	assert.Equal(t, report.Fail, verdict(t, r, "EXT-1"), "but what was broken is broken")
	r.Add(report.Failure{Requirement: "REF-9"})
	assert.Equal(t, report.Warning, verdict(t, r, "REF-9"))

	r.Unsupported("CHG-3", "a foreign loop that cannot change its model")
	assert.Equal(t, report.NotSupported, verdict(t, r, "CHG-3"))
	r.Count("TURN-1", 0)
	assert.Equal(t, report.NotSupported, verdict(t, r, "CHG-3"), "settling again keeps it")
	r.Count("CHG-3", 1)
	assert.Equal(t, report.Pass, verdict(t, r, "CHG-3"))
	r.Count("CHG-4", 1)
	r.Unsupported("CHG-4", "why")
	chg4, _ := r.Line("CHG-4")
	assert.Equal(t, report.Pass, chg4.Verdict, "it was exercised")
	assert.Empty(t, chg4.Note)

	r.Count("CMD-1", 1)
	r.Unsupported("CMD-1", "")
	assert.Empty(t, r.Problems)
}

func TestCountStaysAtTheGreatestNumber(t *testing.T) {
	r := report.New("s")
	r.Count("TURN-1", math.MaxUint64-1)
	r.Count("TURN-1", 1)
	r.Count("TURN-1", 1)
	l, _ := r.Line("TURN-1")
	assert.Equal(t, uint64(math.MaxUint64), l.Exercised)
}

func TestAddKeepsOneFailureForEachCause(t *testing.T) {
	r := report.New("s")
	first := report.Failure{Requirement: "TURN-1", Message: "m1", Cause: "c", Steps: 5}
	assert.Equal(t, 0, r.Add(first))
	assert.Equal(t, 1, r.Add(report.Failure{Requirement: "TURN-2", Message: "m1", Cause: "c"}), "another requirement")
	assert.Equal(t, 2, r.Add(report.Failure{Requirement: "TURN-1", Message: "m1"}), "another cause: the message")
	assert.Equal(t, 2, r.Add(report.Failure{Requirement: "TURN-1", Cause: "m1"}), "a cause equal to the message")
	for _, steps := range []int{7, 0, 5} {
		again := first
		again.Message, again.Steps = "m2", steps
		assert.Equal(t, 0, r.Add(again))
	}
	assert.Equal(t, first, r.Failures[0])
	shorter := first
	shorter.Steps, shorter.Message = 4, "m9"
	assert.Equal(t, 0, r.Add(shorter))
	assert.Equal(t, shorter, r.Failures[0])
	l, _ := r.Line("TURN-1")
	assert.Equal(t, []int{0, 2}, l.Failures)

	timeline := []string{"a"}
	i := r.Add(report.Failure{Requirement: "INT-1", Timeline: timeline})
	timeline[0] = "b"
	assert.Equal(t, []string{"a"}, r.Failures[i].Timeline)
}

func TestAFailureOfNoRequirementIsAProblem(t *testing.T) {
	r := conforming()
	assert.Equal(t, -1, r.Add(report.Failure{Requirement: "DUR-5", Message: "DUR-5 broken"}))
	assert.Empty(t, r.Failures)
	require.Len(t, r.Problems, 1)
	assert.Contains(t, r.Problems[0], "DUR-5 broken")
}

func TestDeclare(t *testing.T) {
	r := report.New("s")
	before := len(r.Requirements)
	for _, id := range []string{"", "two words", "a\nb", "\xff", "#a", "TURN-1", "CMD-1", "a\u00a0b", "123456789012345678901234567890123"} {
		assert.Error(t, r.Declare(id, "", contract.Must), id)
	}
	assert.Error(t, r.Declare("own", "", contract.Types))
	assert.Error(t, r.Declare("own", "", ""))
	require.NoError(t, r.Declare("own-2", "", contract.Must))
	require.NoError(t, r.Declare("own-1", "", contract.Should))
	assert.Error(t, r.Declare("own-1", "", contract.Should))
	require.Len(t, r.Requirements, before+2)
	assert.Equal(t, "own-1", r.Requirements[before].ID)
	assert.Equal(t, "own-2", r.Requirements[before+1].ID)
}

func indices[T any](s []T) []int {
	var all []int
	for i := range s {
		all = append(all, i)
	}
	return all
}

// Filling in the fields and settling is the same as using the methods.
func TestSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := reports(texts()).Draw(t, "report")
		got := *want
		got.Requirements, got.Failures, got.BaselineProblems = nil, nil, []string{"x"}
		for _, i := range rapid.Permutation(indices(want.Requirements)).Draw(t, "order") {
			l := want.Requirements[i]
			l.Failures, l.Baseline = []int{99}, "x"
			if l.Verdict != report.NotSupported {
				l.Verdict = ""
			}
			got.Requirements = append(got.Requirements, l)
		}
		for _, f := range want.Failures {
			f.Known = rapid.Bool().Draw(t, "known")
			got.Failures = append(got.Failures, f)
		}
		for range 2 {
			got.Settle()
			if diff := cmp.Diff(want, &got); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
