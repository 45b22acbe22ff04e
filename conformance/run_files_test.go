package conformance_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/report"
)

// report reads a report that a child wrote.
func (h *home) report(t *testing.T, name string) *report.Report {
	t.Helper()
	f, err := os.Open(filepath.Join(h.dir, name))
	require.NoError(t, err)
	defer f.Close()
	r, err := report.Read(f)
	require.NoError(t, err)
	return r
}

func TestRunWritesReports(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	require.Zero(t, h.test(t, "reference", few, "-loopcheck.report=good.json").code)
	good := h.report(t, "good.json")
	assert.True(t, good.Passed())
	assert.Equal(t, uint64(100), good.Schedules)
	assert.Equal(t, "random, swarm, pct", good.Strategy)

	require.Equal(t, 1, h.test(t, "model-per-step", few, "-loopcheck.report=bad.json").code)
	bad := h.report(t, "bad.json")
	assert.False(t, bad.Passed())
	require.NotEmpty(t, bad.Failures)
	assert.Equal(t, "TURN-1", bad.Failures[0].Requirement)
	assert.FileExists(t, filepath.Join(h.dir, bad.Failures[0].File))
	assert.Contains(t, bad.Failures[0].Replay, "-loopcheck.replay="+filepath.ToSlash(bad.Failures[0].File))

	require.Zero(t, h.test(t, "reference", none, "-loopcheck.report=x.xml").code)
	text, err := os.ReadFile(filepath.Join(h.dir, "x.xml"))
	require.NoError(t, err)
	var suites struct {
		Suites []struct {
			Name  string     `xml:"name,attr"`
			Cases []struct{} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(text, &suites))
	require.Len(t, suites.Suites, 1)
	assert.Greater(t, len(suites.Suites[0].Cases), 50)

	require.Zero(t, h.test(t, "reference", none, "-loopcheck.report=x.txt").code)
	text, err = os.ReadFile(filepath.Join(h.dir, "x.txt"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "loopcheck: reference against the loop contract"), "%s", text)

	r := h.test(t, "reference", none, "-loopcheck.report=nowhere/x.json")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.out, "the report cannot be written: open nowhere/x.json:")
}

func TestRunWithABaseline(t *testing.T) {
	t.Parallel()
	t.Run("known", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "baseline.txt", "# what myloop is known for\nTURN-1 it will be repaired in v2\n")
		r := h.test(t, "model-per-step", few, "-loopcheck.report=report.json")
		assert.Zero(t, r.code, r.out)
		assert.Equal(t, "PASS", r.tests["TURN-1"])
		assert.Contains(t, r.out, "known failure (it will be repaired in v2):")
		line, _ := h.report(t, "report.json").Line("TURN-1")
		assert.Equal(t, report.Known, line.Verdict)
	})
	t.Run("passes", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "baseline.txt", "\nTURN-1 it will be repaired in v2\n")
		r := h.test(t, "reference", few)
		assert.Equal(t, 1, r.code, "an entry that is no longer true must go")
		assert.Equal(t, []string{"verdict"}, r.failed())
		assert.Contains(t, r.out, filepath.Join("testdata", "loopcheck", "baseline.txt")+":2")
	})
	t.Run("own", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "baseline.txt", "EXPORT-1 nobody minds\n")
		assert.Zero(t, h.test(t, "exporting-twice", few).code)
		assert.Equal(t, 1, h.test(t, "reference", few).code, "who has no such invariant cannot know it")
	})
	t.Run("flag", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "baseline.txt", "TURN-1 it will be repaired in v2\n")
		h.write(t, "other.txt", "TURN-2 this one is not broken\n")
		r := h.test(t, "model-per-step", few, "-loopcheck.baseline=testdata/loopcheck/other.txt")
		assert.Equal(t, 1, r.code)
		assert.Equal(t, "FAIL", r.tests["TURN-1"], "the other baseline does not know it")
		missing := h.test(t, "reference", few, "-loopcheck.baseline=nowhere.txt")
		assert.Equal(t, 1, missing.code)
		assert.Contains(t, missing.out, "baseline: open nowhere.txt:")
	})
}

const schedule = `loopcheck-corpus 1
contract 1
requirement TURN-1
workload
  client a
    a1 submit steps=d1
schedule
  loopcheck-schedule 1
`

// Whatever is wrong with what a user wrote is an error that says where, fails the test, and leaves the files alone.
func TestRunOnDamagedFiles(t *testing.T) {
	t.Parallel()
	file := func(name string) string { return filepath.Join("testdata", "loopcheck", name) }
	for name, c := range map[string]struct {
		files map[string]string
		flags []string
		want  string
	}{
		"baseline": {
			files: map[string]string{"baseline.txt": "TURN-1 known\n\nTURN-99 what is that?\nCHG-1\n"},
			want:  file("baseline.txt") + `:3: unknown requirement "TURN-99"`,
		},
		"version of a schedule": {
			files: map[string]string{"x.schedule": strings.Replace(schedule, "corpus 1", "corpus 9", 1)},
			want:  file("x.schedule") + ":1",
		},
		"workload of a schedule": {
			files: map[string]string{"x.schedule": strings.Replace(schedule, "submit", "sumbit", 1)},
			want:  file("x.schedule") + ":6",
		},
		"operation of another subject's": {
			files: map[string]string{"x.schedule": strings.Replace(schedule, "submit steps=d1", "export form=full", 1)},
			want:  file("x.schedule") + ":6",
		},
		"replay": {
			files: map[string]string{"x.schedule": strings.Replace(schedule, "contract 1", "contract 7", 1)},
			flags: []string{"-loopcheck.replay=" + file("x.schedule")},
			want:  file("x.schedule") + ":2",
		},
		"schedule cut off": {
			files: map[string]string{"x.schedule": schedule[:len(schedule)/2]},
			want:  file("x.schedule") + ":",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			for name, text := range c.files {
				h.write(t, name, text)
			}
			r := h.test(t, "reference", append(c.flags, none)...)
			assert.Equal(t, 1, r.code)
			assert.Contains(t, r.out, c.want)
			for name, text := range c.files {
				now, err := os.ReadFile(h.path(name))
				require.NoError(t, err)
				assert.Equal(t, text, string(now))
			}
			left, err := os.ReadDir(h.path(""))
			require.NoError(t, err)
			assert.Len(t, left, len(c.files))
		})
	}
}

// One damaged file does not hide what the others show, and nothing that was found is lost.
func TestRunReplaysTheRestOfADamagedCorpus(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	require.Equal(t, 1, h.test(t, "exporting-twice", few).code)
	h.write(t, "a-damaged.schedule", "loopcheck-corpus one\n")
	r := h.test(t, "exporting-twice", none, "-loopcheck.report=report.json")
	assert.Equal(t, []string{"corpus", "verdict"}, r.failed())
	assert.Contains(t, r.out, "a-damaged.schedule:1")
	assert.Contains(t, r.out, "EXPORT-1 broken by 2 full exports")
	assert.Len(t, h.report(t, "report.json").Failures, 1)
}

func TestRunCannotSave(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "testdata"), nil, 0o666)) // where a directory is to be
	r := h.test(t, "model-per-step", none)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.out, "failures were found and could not be saved: corpus: save: ")
	for _, schedule := range r.replays(t) { // tokens do
		again := h.test(t, "model-per-step", "-loopcheck.replay="+schedule)
		assert.Contains(t, again.out, "loopcheck: TURN-1 broken by turn ")
	}
	assert.NotEmpty(t, r.replays(t))
}
