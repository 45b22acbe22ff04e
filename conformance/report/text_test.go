package report_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

func TestGolden(t *testing.T) {
	bare := report.New("", contract.Capabilities()...)
	bare.Go = ""
	for name, r := range map[string]*report.Report{
		"sample": sample(t), "conforming": conforming(contract.Capabilities()...), "bare": bare,
	} {
		golden(t, name+".txt", func(b *bytes.Buffer) error { return r.Text(b) })
		golden(t, name+".json", func(b *bytes.Buffer) error { return r.JSON(b) })
		golden(t, name+".xml", func(b *bytes.Buffer) error { return r.JUnit(b) })
	}
}

func TestFailureString(t *testing.T) {
	wild := report.Failure{
		Message: "x: \x1b[31mred\x1b[0m\xff\nsecond\n", Found: "a\tb", Timeline: []string{"  nested\r", "", "\x00"},
		Expected: "one\ntwo\r\n", Seen: "\u00a0x\u2028y", Diff: "\n", Steps: 1, ShrunkFrom: 1, Token: "lc1",
	}
	for name, c := range map[string]struct {
		failure report.Failure
		want    string
	}{
		"empty": {report.Failure{}, "loopcheck: "},
		"the example of the design": {captureFailure(), `loopcheck: TURN-1 broken by turn a1, step 2: the model was asked with effort "high", the turn had captured "low"
  found by schedule 412 (seed 7), shrunk from 38 steps to 6
    a: submit a1 ──▶ loop captures {base, m1, low}
    loop ──▶ model a1 step 1: calls tool t1
    b: change effort=high ──▶ journal: inference_changed ✓ ──▶ b: ok
    loop ──▶ tool t1 … ok
    loop ──▶ model a1 step 2: effort high   ◀── expected low
  replay:  go test -run 'TestLoop' -loopcheck.replay=testdata/loopcheck/TURN-1-3f2a9c.schedule`},
		"a diff": {foldFailure(), `loopcheck: DUR-2 broken at rest: the journal folds to another effort
  found by directed check DUR-2
    a: change effort=high
  expected:  effort high
  seen:      effort low
  diff:
      model.Sampling{
    - 	Effort: "high",
    + 	Effort: "low",
      }
  schedule:  lc1-def`},
		"what a terminal must not get": {wild, `loopcheck: x: \x1b[31mred\x1b[0m\xff\nsecond
  found by a	b, 1 step
      nested

    \x00
  expected:
    one
    two
  seen:       x\u2028y
  schedule:  lc1`},
	} {
		got := strings.Split(c.failure.String(), "\n")
		for i := range got {
			got[i] = strings.TrimRight(got[i], " ")
		}
		assert.Equal(t, strings.TrimRight(c.want, " "), strings.Join(got, "\n"), name)
	}
}

// What a subject says must reach no terminal as a control sequence, and only failures may make lines wide.
func TestTextIsNarrowAndPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reports(texts()).Draw(t, "report")
		r.Subject = texts().Draw(t, "subject")
		var b bytes.Buffer
		require.NoError(t, r.Text(&b))
		text := b.String()
		require.True(t, utf8.ValidString(text))
		require.True(t, strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n"), "%q", text)
		require.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f]`, text)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		last := lines[len(lines)-1]
		if r.Passed() {
			require.True(t, strings.HasPrefix(last, "PASS: "), last)
		} else {
			require.True(t, strings.HasPrefix(last, "FAIL: "), last)
		}
		for _, l := range r.Requirements {
			require.Contains(t, text, l.ID)
		}
	})
	var b bytes.Buffer
	r := sample(t)
	require.NoError(t, r.Text(&b))
	text := b.String()
	for _, f := range r.Failures {
		text = strings.ReplaceAll(text, f.String(), "")
	}
	for l := range strings.Lines(text) {
		assert.LessOrEqual(t, utf8.RuneCountInString(l), 101, l) // with the newline
	}
}

func TestTextOfLongNamesIsNarrow(t *testing.T) {
	r := conforming()
	r.Subject, r.Stopped = strings.Repeat("subject ", 30), strings.Repeat("stopped ", 30)
	id := strings.Repeat("é", 32)
	require.NoError(t, r.Declare(id, strings.Repeat("title ", 30), contract.Must))
	r.Problem(strings.Repeat("problem ", 30))
	r.Unsupported(id, strings.Repeat("note ", 30))
	var b bytes.Buffer
	require.NoError(t, r.Text(&b))
	for l := range strings.Lines(b.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(l), 101, l)
	}
	assert.Contains(t, b.String(), "whatever commits meanwhile\n", "a long identifier cuts its own title only")
	assert.Contains(t, b.String(), "title…\n")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("broken pipe")

func TestTheWritersErrorIsReported(t *testing.T) {
	r := sample(t)
	require.ErrorIs(t, r.Text(brokenPipe{}), errBroken)
	require.ErrorIs(t, r.JSON(brokenPipe{}), errBroken)
	require.ErrorIs(t, r.JUnit(brokenPipe{}), errBroken)
}
