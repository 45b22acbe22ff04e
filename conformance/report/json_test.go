package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

func encode(t require.TestingT, r *report.Report) string {
	var b bytes.Buffer
	require.NoError(t, r.JSON(&b))
	return b.String()
}

func TestJSONRoundTrip(t *testing.T) {
	valid := rapid.Map(texts(), func(s string) string { return strings.ToValidUTF8(s, "?") })
	rapid.Check(t, func(t *rapid.T) {
		want := reports(valid).Draw(t, "report")
		if rapid.Bool().Draw(t, "merged") {
			var err error
			want, err = report.Merge(want, reports(valid).Draw(t, "other"))
			require.NoError(t, err)
		}
		text := encode(t, want)
		require.True(t, strings.HasSuffix(text, "}\n"))
		got, err := report.Read(iotest.OneByteReader(strings.NewReader(text)))
		require.NoError(t, err)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		require.Equal(t, text, encode(t, got))
	})
}

// Whatever a subject says, the report can be written and read.
func TestJSONHoldsAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reports(texts()).Draw(t, "report")
		r.Subject = texts().Draw(t, "subject")
		got, err := report.Read(strings.NewReader(encode(t, r)))
		require.NoError(t, err)
		require.Equal(t, r.Passed(), got.Passed())
	})
}

// A seed must survive a program that reads numbers as float64.
func TestJSONSeedIsExact(t *testing.T) {
	r := conforming()
	r.Seed, r.Subject = 1<<63+1, "<&>"
	var form map[string]any
	require.NoError(t, json.Unmarshal([]byte(encode(t, r)), &form))
	assert.Equal(t, "9223372036854775809", form["seed"])
	assert.Contains(t, encode(t, r), `"subject": "<&>"`, "for people too")
	assert.Equal(t, true, form["passed"])
	assert.Equal(t, []any{}, form["failures"])
	assert.Equal(t, []any{}, form["problems"])
	assert.Equal(t, []any{}, form["capabilities"])
}

func TestReadRefuses(t *testing.T) {
	whole := encode(t, sample(t))
	replace := func(old, new string) string {
		require.Contains(t, whole, old)
		return strings.Replace(whole, old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "report: damaged, line 1: unexpected end"},
		"another document":    {"{}", "not a report of loopcheck"},
		"null":                {"null", "not a report of loopcheck"},
		"a list":              {"[]", "damaged, line 1"},
		"a later format":      {replace(`"format": 1`, `"format": 2, "new": 3`), "format version 2; this program reads version 1"},
		"a later contract":    {replace(`"contract": 1`, `"contract": 2`), "contract version 2; this program knows version 1"},
		"no contract":         {replace(`"contract": 1,`, ``), "names no version"},
		"cut off":             {whole[:len(whole)/2], "damaged, line"},
		"a stray quote":       {replace(`"subject": "myloop"`, `"subject": "my"loop"`), "damaged, line 4"},
		"text follows":        {whole + "x", "damaged, line"},
		"a wrong type":        {replace(`"schedules": 1234`, `"schedules": "many"`), "damaged, line 10"},
		"a negative count":    {replace(`"exercised": 15606`, `"exercised": -1`), "damaged, line"},
		"an unknown field":    {replace(`"subject"`, `"object"`), `unknown field "object"`},
		"a seed too great":    {replace(`"seed": "7"`, `"seed": "18446744073709551616"`), "damaged"},
		"bad seeds":           {replace(`"seed": "7"`, `"seed": "7", "seeds": ["7", "x"]`), `seed "x"`},
		"a negative time":     {replace(`"elapsed_seconds": 4.213`, `"elapsed_seconds": -1`), "out of range"},
		"a time too long":     {replace(`"elapsed_seconds": 4.213`, `"elapsed_seconds": 1e10`), "out of range"},
		"an unknown line":     {replace(`"id": "TURN-2"`, `"id": "TURN 2"`), `"TURN 2"`},
		"a line of TYPES":     {replace(`"id": "TURN-2"`, `"id": "CMD-1"`), "CMD-1"},
		"a line twice":        {replace(`"id": "TURN-2"`, `"id": "TURN-1"`), "TURN-1 is out of order, or there twice"},
		"a line misnamed":     {replace(`"id": "TURN-2"`, `"id": "TURN-3"`), "TURN-3 is out of order"},
		"a line that is gone": {replace(`"id": "DUR-6"`, `"id": "aaa"`), "no line for DUR-6"},
		"another level":       {replace(`"level": "MUST"`, `"level": "SHOULD"`), "TURN-1 is at the level MUST"},
		"another verdict":     {replace(`"verdict": "fail"`, `"verdict": "pass"`), `TURN-1: the verdict that follows is "fail"`},
		"an unknown verdict":  {replace(`"verdict": "fail"`, `"verdict": "good"`), `its line says "good"`},
		"a failure elsewhere": {replace("\"failures\": [\n        0\n      ]", `"failures": [1]`), "TURN-1 has failures [0], its line says [1]"},
		"a failure of none":   {replace(`"requirement": "TURN-1"`, `"requirement": "X"`), "TURN-1 has failures [], its line says [0]"},
		"unknown yet known":   {replace(`"known": true`, `"known": false`), "known is false, the baseline says true"},
		"a changed entry": {replace(`"file": "known.txt",
      "line": 4`, `"file": "known.txt", "line": 5`), "the problems with the baseline that follow are"},
		"a reason that is not the entry's": {replace(`"baseline": "the client`, `"baseline": "a client`), "INT-2: what follows from the baseline is"},
		"another outcome":                  {replace(`"passed": false`, `"passed": true`), "passed is true"},
	} {
		r, err := report.Read(strings.NewReader(c.text))
		assert.Nil(t, r, name)
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := report.Read(iotest.ErrReader(errBroken))
	assert.ErrorIs(t, err, errBroken)
}

func TestReadOfDamagedTextNeverPanics(t *testing.T) {
	whole := encode(t, sample(t))
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(whole)
		for range rapid.IntRange(1, 3).Draw(t, "n") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if r, err := report.Read(bytes.NewReader(text)); err == nil {
			encode(t, r)
		}
	})
}

// What cannot be read must not be written.
func TestJSONRefusesWhatIsNotWhole(t *testing.T) {
	for name, change := range map[string]func(*report.Report){
		"no version":     func(r *report.Report) { r.Contract = 0 },
		"not settled":    func(r *report.Report) { r.Failures = append(r.Failures, captureFailure()) },
		"no lines":       func(r *report.Report) { r.Requirements = nil },
		"negative time":  func(r *report.Report) { r.Elapsed = -1 },
		"no requirement": func(r *report.Report) { r.Failures = append(r.Failures, report.Failure{Requirement: "X"}) },
		"a bad own line": func(r *report.Report) {
			r.Requirements = append(r.Requirements, report.Line{ID: "own", Level: contract.Types, Verdict: report.NotExercised})
		},
	} {
		r := conforming()
		change(r)
		var b bytes.Buffer
		assert.Error(t, r.JSON(&b), name)
		assert.Zero(t, b.Len(), name)
		_, err := report.Merge(r)
		assert.Error(t, err, name)
		assert.False(t, errors.Is(err, errBroken))
	}
}
