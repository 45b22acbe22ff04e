package report_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

func merge(t require.TestingT, parts ...*report.Report) *report.Report {
	m, err := report.Merge(parts...)
	require.NoError(t, err)
	return m
}

// Shards come in any order, and are merged in any groups.
func TestMergeIsCommutativeAndAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := reports(texts()).Draw(t, "a"), reports(texts()).Draw(t, "b"), reports(texts()).Draw(t, "c")
		before := encode(t, a) + encode(t, b) + encode(t, c)
		want := merge(t, a, b, c)
		for _, got := range []*report.Report{
			merge(t, c, b, a), merge(t, b, a, c), merge(t, merge(t, a, b), c), merge(t, a, merge(t, c, b)), merge(t, want),
		} {
			if !reflect.DeepEqual(want, got) { // which is much faster
				t.Fatal(cmp.Diff(want, got))
			}
		}
		require.Equal(t, before, encode(t, a)+encode(t, b)+encode(t, c), "the parts are left as they are")
		clear(want.Requirements)
		clear(want.Failures)
		require.Equal(t, before, encode(t, a)+encode(t, b)+encode(t, c), "and share nothing that a caller writes to")
	})
}

// A merged report fails if a part found a failure that is not known; it says as much as all of its parts.
func TestMergeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := reports(texts()).Draw(t, "a"), reports(texts()).Draw(t, "b")
		m := merge(t, a, b)
		for _, l := range m.Requirements {
			x, inA := a.Line(l.ID)
			y, inB := b.Line(l.ID)
			require.True(t, inA || inB)
			require.GreaterOrEqual(t, l.Exercised, max(x.Exercised, y.Exercised))
			require.GreaterOrEqual(t, len(l.Failures), max(len(x.Failures), len(y.Failures)))
			require.LessOrEqual(t, len(l.Failures), len(x.Failures)+len(y.Failures))
			if slices.Contains([]report.Verdict{x.Verdict, y.Verdict}, report.Pass) && len(l.Failures) == 0 {
				require.Equal(t, report.Pass, l.Verdict)
			}
		}
	})
}

func TestMerge(t *testing.T) {
	a, b := conforming(), conforming()
	a.Count("TURN-1", 5)
	a.Elapsed, b.Elapsed = 3*time.Second, 5*time.Second
	b.Seed, b.Go, b.Stopped = 3, "go1.25.1", "time"
	long, short := captureFailure(), captureFailure()
	long.Steps, long.Message = 9, "TURN-1 broken otherwise"
	a.Add(foldFailure())
	a.Add(long)
	b.Add(short)
	a.Problem("z")
	b.Problem("a")
	b.Problem("z")
	m := merge(t, a, b)
	assert.Equal(t, uint64(40_000), m.Schedules)
	assert.Equal(t, 5*time.Second, m.Elapsed)
	assert.Equal(t, uint64(3), m.Seed)
	assert.Equal(t, []uint64{3, 7}, m.Seeds)
	assert.Equal(t, "go1.25.1, go1.26.8", m.Go)
	assert.Equal(t, "stock", m.Runtime)
	assert.Equal(t, "time", m.Stopped)
	assert.Equal(t, []string{"a", "z"}, m.Problems)
	assert.Equal(t, []report.Failure{short, foldFailure()}, m.Failures)
	l, _ := m.Line("TURN-1")
	assert.Equal(t, uint64(2005), l.Exercised)
	assert.Equal(t, report.Fail, l.Verdict)
	assert.Equal(t, []int{0}, l.Failures)
}

// Of one failure in two forms the same one is kept, whichever part comes first.
func TestMergeChoosesAmongFormsOfAFailure(t *testing.T) {
	for field, change := range map[string]func(*report.Failure){
		"message": func(f *report.Failure) { f.Message += "x" }, "expected": func(f *report.Failure) { f.Expected += "x" },
		"seen": func(f *report.Failure) { f.Seen += "x" }, "diff": func(f *report.Failure) { f.Diff += "x" },
		"timeline": func(f *report.Failure) { f.Timeline = []string{"1", "2", "3", "4", "x"} },
		"found":    func(f *report.Failure) { f.Found += "x" }, "shrunk from": func(f *report.Failure) { f.ShrunkFrom++ },
		"steps": func(f *report.Failure) { f.Steps++ }, "replay": func(f *report.Failure) { f.Replay += "x" },
		"file": func(f *report.Failure) { f.File += "x" }, "token": func(f *report.Failure) { f.Token += "x" },
		"cause": func(f *report.Failure) { f.Cause = "" },
	} {
		f := captureFailure()
		f.Message = f.Cause // so that they are one failure without a cause, too
		g := f
		change(&g)
		a, b := conforming(), conforming()
		a.Add(f)
		b.Add(g)
		m := merge(t, a, b)
		assert.Len(t, m.Failures, 1, field)
		assert.Equal(t, m, merge(t, b, a), field)
	}
}

func TestMergeOfOneIsThatOne(t *testing.T) {
	r := conforming(contract.Capabilities()...)
	assert.Empty(t, cmp.Diff(r, merge(t, r)))
}

// One part exercises what another does not; and only what no part supports is not supported.
func TestMergeOfVerdicts(t *testing.T) {
	pass := func(r *report.Report) { r.Count("CHG-3", 1) }
	fail := func(r *report.Report) { r.Add(report.Failure{Requirement: "CHG-3", Message: "CHG-3"}) }
	none := func(*report.Report) {}
	unsupported := func(r *report.Report) { r.Unsupported("CHG-3", "why") }
	for name, c := range map[string]struct {
		a, b func(*report.Report)
		want report.Verdict
	}{
		"pass, not exercised":        {pass, none, report.Pass},
		"pass, not supported":        {pass, unsupported, report.Pass},
		"pass, fail":                 {pass, fail, report.Fail},
		"fail, not exercised":        {fail, none, report.Fail},
		"fail, not supported":        {fail, unsupported, report.Fail},
		"neither":                    {none, none, report.NotExercised},
		"not supported, nor":         {unsupported, unsupported, report.NotSupported},
		"not supported, not reached": {unsupported, none, report.NotExercised},
	} {
		a, b := report.New("s"), report.New("s")
		c.a(a)
		c.b(b)
		assert.Equal(t, c.want, verdict(t, merge(t, a, b), "CHG-3"), name)
		assert.Equal(t, c.want, verdict(t, merge(t, b, a), "CHG-3"), name)
	}
}

// What passes in one part and fails, as known, in another does not pass now.
func TestMergeHoldsTheWholeAgainstTheBaseline(t *testing.T) {
	known := report.Baseline{{Requirement: "TURN-1", Reason: "why", File: "f", Line: 1}}
	a, b := conforming(), conforming()
	a.Apply(known)
	assert.False(t, a.Passed())
	b.Add(captureFailure())
	m := merge(t, a, b)
	assert.Empty(t, m.BaselineProblems)
	assert.Equal(t, report.Known, verdict(t, m, "TURN-1"))
	assert.True(t, m.Passed())
	b.Apply(report.Baseline{{Requirement: "TURN-1", Reason: "another", File: "f", Line: 1}})
	_, err := report.Merge(a, b)
	assert.ErrorContains(t, err, "part 2 is not of the campaign of the first: another baseline")
}

func TestMergeRefuses(t *testing.T) {
	own := func(level contract.Level) *report.Report {
		r := report.New("s")
		require.NoError(t, r.Declare("own", "", level))
		return r
	}
	otherContract := report.New("s")
	otherContract.Contract = 2
	for name, c := range map[string]struct {
		parts []*report.Report
		want  string
	}{
		"nothing":              {nil, "nothing to merge"},
		"another subject":      {[]*report.Report{report.New("s"), report.New("t")}, `subject "t", and not "s"`},
		"another contract":     {[]*report.Report{report.New("s"), otherContract}, "part 2: report: format 1 of contract 2"},
		"another capability":   {[]*report.Report{report.New("s"), report.New("s", contract.Restore)}, "capabilities"},
		"another level of own": {[]*report.Report{own(contract.Must), own(contract.Should)}, "own is at the level SHOULD, and at MUST in an earlier part"},
	} {
		m, err := report.Merge(c.parts...)
		assert.Nil(t, m, name)
		assert.ErrorContains(t, err, c.want, name)
	}
}
