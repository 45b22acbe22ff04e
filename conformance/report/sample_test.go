package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds what was written against testdata/name.
func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var got bytes.Buffer
	require.NoError(t, write(&got))
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String(), path)
}

func captureFailure() report.Failure {
	return report.Failure{
		Requirement: "TURN-1",
		Message:     `TURN-1 broken by turn a1, step 2: the model was asked with effort "high", the turn had captured "low"`,
		Timeline: []string{
			"a: submit a1 ──▶ loop captures {base, m1, low}",
			"loop ──▶ model a1 step 1: calls tool t1",
			"b: change effort=high ──▶ journal: inference_changed ✓ ──▶ b: ok",
			"loop ──▶ tool t1 … ok",
			"loop ──▶ model a1 step 2: effort high   ◀── expected low",
		},
		Found: "schedule 412 (seed 7)", ShrunkFrom: 38, Steps: 6,
		Replay: "go test -run 'TestLoop' -loopcheck.replay=testdata/loopcheck/TURN-1-3f2a9c.schedule",
		File:   "testdata/loopcheck/TURN-1-3f2a9c.schedule", Token: "lc1-abc", Cause: "effort of a later step",
	}
}

func foldFailure() report.Failure {
	return report.Failure{
		Requirement: "DUR-2", Message: "DUR-2 broken at rest: the journal folds to another effort",
		Expected: "effort high", Seen: "effort low", Diff: "  model.Sampling{\n- \tEffort: \"high\",\n+ \tEffort: \"low\",\n  }\n",
		Timeline: []string{"a: change effort=high"}, Found: "directed check DUR-2", Token: "lc1-def",
	}
}

func panicWarning() report.Failure {
	return report.Failure{
		Requirement: "EXT-11", Message: "EXT-11 broken by replacement b1: the panic of a definition reached the caller",
		Timeline: []string{"b: replace mcp/g1 with x (panics)"}, Found: "schedule 3 (seed 7)", Steps: 1,
		Replay: "go test -run 'TestLoop' -loopcheck.replay=testdata/loopcheck/EXT-11-000001.schedule",
	}
}

func interruptFailure() report.Failure {
	return report.Failure{
		Requirement: "INT-2", Message: "INT-2 broken by turn a1: its model request was not cancelled", Found: "directed check INT-2",
		Timeline: []string{"a: submit a1", "a: interrupt"}, Replay: "loopcheck replay lc1-int2",
	}
}

// conforming is a report in which everything that applies passes.
func conforming(capabilities ...contract.Capability) *report.Report {
	r := report.New("myloop", capabilities...)
	r.Go, r.Runtime, r.Seed, r.Strategy = "go1.26.8", "stock", 7, "random"
	r.Schedules, r.Elapsed = 20_000, 4213*time.Millisecond
	for i, l := range r.Requirements {
		if l.Verdict != report.NotSupported {
			r.Count(l.ID, uint64(1000+i*37))
		}
	}
	return r
}

// sample has one of everything.
func sample(t require.TestingT) *report.Report {
	r := report.New("myloop", contract.ExternalTools, contract.Foreign)
	r.Go, r.Runtime, r.Seed, r.Strategy = "go1.26.8", "stock", 7, "random"
	r.Schedules, r.Elapsed, r.Stopped = 1234, 4213*time.Millisecond, "interrupted"
	require.NoError(t, r.Declare("no-secrets", "no prompt holds a password", contract.Must))
	require.NoError(t, r.Declare("budget", "a turn makes at most ten model requests", contract.Should))
	for _, l := range r.Requirements {
		if l.Verdict == report.NotExercised && l.ID != "LIFE-3" && l.ID != "REF-9" {
			r.Count(l.ID, uint64(len(l.ID)*len(l.Title)*len(l.Title)))
		}
	}
	r.Unsupported("REF-9", "the subject has its own clock, which the kit cannot move, so that a wait for a timer cannot be told from a wait for something else")
	for _, f := range []report.Failure{captureFailure(), foldFailure(), panicWarning(), interruptFailure()} {
		r.Add(f)
	}
	r.Problem("schedule 1177 hung: the mutex at loop.go:12 is held across a gate")
	r.Problem("testdata/loopcheck/OLD-1.schedule could not be replayed:\nline 3: an unknown gate")
	baseline, err := report.ParseBaseline("known.txt", []byte(
		"# known failures\nINT-2 the client of v0.3 has no cancellation, issue 41\n\nTURN-2 long ago\nEXT-9 never restored\nLIFE-3 never seen\n"))
	require.NoError(t, err)
	r.Apply(baseline)
	return r
}

// texts are what a subject may make of a message: mostly odd.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "a", "two words", "line\nline", "\r\n", "\x00\x1b[31mred", "\xff\xfe", "]]>", "<&>\"'", "\ufffe\uffff", "\u00a0", "é世😀", "\u2028",
			"- \tx: 1,\n+ \tx: 2,", "baseline: not of the baseline",
		}),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }))
}

// reports are parts of one campaign: one subject, one baseline.
func reports(text *rapid.Generator[string]) *rapid.Generator[*report.Report] {
	ids := []string{"own-a", "own-b", "EXT-9", "CMD-1"}
	for _, q := range contract.All() {
		ids = append(ids, q.ID)
	}
	return rapid.Custom(func(t *rapid.T) *report.Report {
		r := report.New("s", contract.ExternalTools)
		r.Go = rapid.SampledFrom([]string{"", "go1.25.1", "go1.26.8"}).Draw(t, "go")
		r.Runtime = rapid.SampledFrom([]string{"stock", "controlled"}).Draw(t, "runtime")
		r.Strategy, r.Stopped = text.Draw(t, "strategy"), rapid.SampledFrom([]string{"", "time", "interrupted"}).Draw(t, "stopped")
		r.Seed, r.Schedules = rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "schedules")
		r.Elapsed = time.Duration(rapid.Int64Range(0, int64(20*24*time.Hour)).Draw(t, "elapsed"))
		for _, own := range []string{"own-b", "own-a"} {
			if rapid.Bool().Draw(t, own) {
				require.NoError(t, r.Declare(own, text.Draw(t, "title"), contract.Should))
			}
		}
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				r.Count(id, rapid.Uint64().Draw(t, "times"))
			case 1:
				r.Add(failures(text, id).Draw(t, "failure"))
			case 2:
				r.Unsupported(id, text.Draw(t, "why"))
			case 3:
				r.Problem(text.Draw(t, "problem"))
			}
		}
		if rapid.Bool().Draw(t, "all exercised") {
			for i := range r.Requirements {
				r.Requirements[i].Exercised |= 1
			}
			r.Settle()
		}
		if rapid.Bool().Draw(t, "baseline") {
			r.Apply(report.Baseline{
				{Requirement: "TURN-1", Reason: "why", File: "f", Line: 1}, {Requirement: "EXT-11", Reason: "why", File: "f", Line: 2},
				{Requirement: "DUR-3", Reason: "why", File: "f", Line: 3}, {Requirement: "own-a", Reason: "why", File: "f", Line: 4},
			})
		}
		return r
	})
}

func failures(text *rapid.Generator[string], id string) *rapid.Generator[report.Failure] {
	return rapid.Custom(func(t *rapid.T) report.Failure {
		return report.Failure{
			Requirement: id, Message: text.Draw(t, "message"), Expected: text.Draw(t, "expected"), Seen: text.Draw(t, "seen"),
			Diff: text.Draw(t, "diff"), Timeline: rapid.SliceOfN(text, 0, 3).Draw(t, "timeline"), Found: text.Draw(t, "found"),
			ShrunkFrom: rapid.IntRange(0, 50).Draw(t, "from"), Steps: rapid.IntRange(0, 3).Draw(t, "steps"),
			Replay: text.Draw(t, "replay"), File: text.Draw(t, "file"), Token: text.Draw(t, "token"),
			Cause: rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "cause"),
		}
	})
}
