package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

func TestParseBaseline(t *testing.T) {
	text := "\ufeff# known failures of myloop\r\n\r\nINT-2 the client of v0.3 has no cancellation, issue 41\r\n" +
		"  TURN-1\t why #2 \n#CMD-1\nown-1 x"
	b, err := report.ParseBaseline("dir/known.txt", []byte(text), "own-1", "own-2")
	require.NoError(t, err)
	assert.Equal(t, report.Baseline{
		{Requirement: "INT-2", Reason: "the client of v0.3 has no cancellation, issue 41", File: "dir/known.txt", Line: 3},
		{Requirement: "TURN-1", Reason: "why #2", File: "dir/known.txt", Line: 4},
		{Requirement: "own-1", Reason: "x", File: "dir/known.txt", Line: 6},
	}, b)
	for _, empty := range []string{"", "\n", "# nothing is known", "\ufeff"} {
		b, err = report.ParseBaseline("known.txt", []byte(empty))
		require.NoError(t, err)
		assert.Empty(t, b)
	}
}

func TestParseBaselineRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"INT-2":                   "known.txt:1: INT-2 has no reason; it follows the requirement in the same line",
		"\nINT-99 x":              `known.txt:2: unknown requirement "INT-99"`,
		"int-2 x":                 `known.txt:1: unknown requirement "int-2"`,
		"INT-2: x":                `known.txt:1: unknown requirement "INT-2:"`,
		"own-1 x":                 `known.txt:1: unknown requirement "own-1"`,
		"CMD-1 x":                 "known.txt:1: CMD-1 is a property of the declared types, and no part of a subject's verdict",
		"INT-2 x\n#\n INT-2 y":    "known.txt:3: INT-2 is there already, in line 1",
		"INT-2 \xff":              "known.txt:1: not UTF-8",
		"X y\nINT-2 x\nINT-1\n\n": "known.txt:1: unknown requirement \"X\"\nknown.txt:3: INT-1 has no reason; it follows the requirement in the same line",
	} {
		b, err := report.ParseBaseline("known.txt", []byte(text))
		assert.EqualError(t, err, want)
		assert.Nil(t, b)
	}
}

func TestReadBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.txt")
	_, err := report.ReadBaseline(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("INT-2 x\nown y\n"), 0o600))
	_, err = report.ReadBaseline(path)
	require.EqualError(t, err, path+`:2: unknown requirement "own"`)
	b, err := report.ReadBaseline(path, "own")
	require.NoError(t, err)
	assert.Equal(t, path, b[0].File)
}

func TestApply(t *testing.T) {
	entry := func(id string) report.Baseline {
		return report.Baseline{{Requirement: id, Reason: "why", File: "f", Line: 3}}
	}
	for name, c := range map[string]struct {
		id       string
		change   func(*report.Report)
		verdict  report.Verdict
		baseline string
		problems []string
	}{
		"fails":         {"TURN-1", func(r *report.Report) { r.Add(captureFailure()) }, report.Known, "why", nil},
		"warns":         {"EXT-11", func(r *report.Report) { r.Add(panicWarning()) }, report.Known, "why", nil},
		"passes":        {"TURN-2", func(r *report.Report) { r.Count("TURN-2", 1) }, report.Pass, "", []string{"baseline: TURN-2 passes now: remove the entry at f:3"}},
		"not exercised": {"TURN-2", func(*report.Report) {}, report.NotExercised, "", []string{"baseline: TURN-2 was not exercised: the entry at f:3 was not checked"}},
		"SHOULD not exercised": {"REF-9", func(*report.Report) {}, report.NotExercised,
			"the entry at f:3 was not checked: not exercised", nil},
		"not supported": {"DUR-3", func(*report.Report) {}, report.NotSupported, "the entry at f:3 has no effect: not supported", nil},
		"turns out to be not supported": {"CHG-3", func(r *report.Report) { r.Unsupported("CHG-3", "") }, report.NotSupported,
			"the entry at f:3 has no effect: not supported", nil},
	} {
		r := report.New("s", contract.ExternalTools)
		c.change(r)
		before := encode(t, r)
		for range 2 { // idempotent
			r.Apply(entry(c.id))
			l, _ := r.Line(c.id)
			assert.Equal(t, c.verdict, l.Verdict, name)
			assert.Equal(t, c.baseline, l.Baseline, name)
			assert.Equal(t, c.problems, r.BaselineProblems, name)
			for _, f := range r.Failures {
				assert.True(t, f.Known, name)
			}
		}
		r.Apply(nil)
		assert.Equal(t, before, encode(t, r), "%s: as it was before", name)
	}
	r := report.New("s")
	r.Apply(entry("own"))
	assert.Equal(t, []string{"baseline: own is no requirement of this report: remove the entry at f:3"}, r.BaselineProblems)
	require.NoError(t, r.Declare("own", "", contract.Must))
	r.Add(report.Failure{Requirement: "own"})
	assert.Empty(t, r.BaselineProblems)
	assert.Equal(t, report.Known, verdict(t, r, "own"))
}

// A baseline can be applied before or after the failures are found, and again.
func TestApplyAtAnyTime(t *testing.T) {
	b := report.Baseline{{Requirement: "TURN-1", Reason: "why", File: "f", Line: 1}, {Requirement: "TURN-2", Reason: "why", File: "f", Line: 2}}
	rapid.Check(t, func(t *rapid.T) {
		before, after := report.New("s"), report.New("s")
		before.Apply(b)
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			id := rapid.SampledFrom([]string{"TURN-1", "TURN-2", "TURN-3"}).Draw(t, "id")
			broken := rapid.Bool().Draw(t, "broken")
			for _, r := range []*report.Report{before, after} {
				if broken {
					r.Add(report.Failure{Requirement: id, Message: id})
				} else {
					r.Count(id, 1)
				}
			}
		}
		after.Apply(b)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatal(diff)
		}
		after.Apply(b)
		require.Empty(t, cmp.Diff(before, after))
	})
	r := report.New("s")
	r.Apply(b)
	b[0].Requirement = "INT-1"
	assert.Equal(t, "TURN-1", r.Baseline[0].Requirement, "the report has its own copy")
}
