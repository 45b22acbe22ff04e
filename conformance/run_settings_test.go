package conformance_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/corpus"
)

func TestRunTakesTheEnvironment(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env = []string{"LOOPCHECK_SCHEDULES=8", "LOOPCHECK_SEED=5", "LOOPCHECK_STRATEGY=pct", "LOOPCHECK_REPORT=report.json"}
	require.Zero(t, h.test(t, "reference").code)
	r := h.report(t, "report.json")
	assert.Equal(t, uint64(8), r.Schedules)
	assert.Equal(t, uint64(5), r.Seed)
	assert.Equal(t, "pct", r.Strategy)

	// A flag that is given wins, also if it says what is the default.
	require.Zero(t, h.test(t, "reference", "-loopcheck.seed=0", "-loopcheck.strategy=swarm", "-loopcheck.schedules=4").code)
	r = h.report(t, "report.json")
	assert.Equal(t, uint64(4), r.Schedules)
	assert.Zero(t, r.Seed)
	assert.Equal(t, "swarm", r.Strategy)

	// A variable that is set to nothing, as CI systems do with an input that nobody filled in, is as good as not set.
	h.env = []string{"LOOPCHECK_SCHEDULES=", "LOOPCHECK_SEED=", "LOOPCHECK_TIME=1ns", "LOOPCHECK_STRATEGY=", "LOOPCHECK_REPORT=report.json"}
	empty := h.test(t, "reference")
	require.Zero(t, empty.code, empty.out)
	assert.Zero(t, h.report(t, "report.json").Schedules, "the time was over when the directed checks were made")
}

func TestRunTakesReplayAndBaselineFromTheEnvironment(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(t, "other.txt", "TURN-1 known\n")
	h.env = []string{"LOOPCHECK_BASELINE=testdata/loopcheck/other.txt"}
	known := h.test(t, "model-per-step", none)
	require.Zero(t, known.code, known.out)

	h.env = []string{"LOOPCHECK_REPLAY=testdata/loopcheck/" + h.schedules(t)[0]}
	r := h.test(t, "model-per-step")
	assert.Equal(t, 1, r.code)
	assert.Equal(t, map[string]string{"TestChild": "FAIL"}, r.tests)
	assert.Contains(t, r.out, "loopcheck: TURN-1 broken by ")
}

// A setting that cannot be meant is an error that names it and what it says, before anything is run.
func TestRunRefusesSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env, flag string
		code      int
		want      string
	}{
		"flag that is no number": {flag: "-loopcheck.seed=x", code: 2, want: `invalid value "x" for flag -loopcheck.seed`},
		"schedules":              {env: "LOOPCHECK_SCHEDULES=many", code: 1, want: `-loopcheck.schedules or LOOPCHECK_SCHEDULES: "many": `},
		"seed":                   {env: "LOOPCHECK_SEED=-1", code: 1, want: `-loopcheck.seed or LOOPCHECK_SEED: "-1": `},
		"time":                   {env: "LOOPCHECK_TIME=5", code: 1, want: `-loopcheck.time or LOOPCHECK_TIME: "5": `},
		"time that has been":     {flag: "-loopcheck.time=-1s", code: 1, want: `conformance: time: -1s is negative`},
		"strategy":               {flag: "-loopcheck.strategy=luck", code: 1, want: `conformance: strategy: there is no "luck", only random, swarm, pct`},
		"strategy of env":        {env: "LOOPCHECK_STRATEGY=luck", code: 1, want: `conformance: strategy: there is no "luck", only random, swarm, pct`},
		"replay of nothing":      {flag: "-loopcheck.replay=nowhere.schedule", code: 1, want: `open nowhere.schedule: `},
		"token that is cut off":  {flag: "-loopcheck.replay=" + token(t)[:60], code: 1, want: "token"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if c.env != "" {
				h.env = []string{c.env}
			}
			flags := []string{none}
			if c.flag != "" {
				flags = append(flags, c.flag)
			}
			if name == "schedules" {
				flags = nil // it would win
			}
			r := h.test(t, "reference", flags...)
			assert.Equal(t, c.code, r.code, r.out)
			assert.Contains(t, r.out, c.want)
			assert.NotContains(t, r.out, "=== RUN   TestChild/")
			left, err := os.ReadDir(h.dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestReplayNeedsWhatTheScheduleUses(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(t, "x.schedule", strings.Replace(schedule, "submit steps=d1", "replace source=s1 tools=x", 1))
	r := h.test(t, "plain", "-loopcheck.replay=testdata/loopcheck/x.schedule")
	assert.Equal(t, 1, r.code, "to pass over it would be to pass it")
	assert.Contains(t, r.out, `"starting" lacks what the schedule needs`)
	assert.Zero(t, h.test(t, "plain", none).code, "as part of a corpus it does not matter")
}

// interrupt starts a child, interrupts it once it has written the text and, if that is asked for, again and again.
func (h *home) interrupt(t *testing.T, subject, text string, again bool, flags ...string) ran {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("one process cannot interrupt another there")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := h.command(ctx, t, subject, flags...)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	c.Stdout, c.Stderr = writer, writer
	require.NoError(t, c.Start())
	require.NoError(t, writer.Close())

	var out strings.Builder
	began := time.Now()
	for buffer := make([]byte, 4096); ; {
		n, err := reader.Read(buffer)
		out.Write(buffer[:n])
		if strings.Contains(out.String(), text) || err != nil {
			break
		}
	}
	require.NoError(t, c.Process.Signal(os.Interrupt), out.String())
	gone := make(chan struct{})
	if again {
		go func() { // the child says nothing when it has taken note of the first one
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-gone:
					return
				case <-tick.C:
					_ = c.Process.Signal(os.Interrupt)
				}
			}
		}()
	}
	rest, err := io.ReadAll(reader)
	require.NoError(t, err)
	out.Write(rest)
	_ = c.Wait()
	close(gone)
	require.NoError(t, ctx.Err(), "the child does not end:\n%s", out.String())
	return newRan(c, out.String(), time.Since(began))
}

func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.interrupt(t, "reference", "=== RUN   TestChild/simulation", false, "-loopcheck.time=1h", "-loopcheck.report=report.json")
	assert.Equal(t, 1, r.code, "what was not finished has not passed: %s", r.out)
	assert.Equal(t, []string{"verdict"}, r.failed())
	assert.Contains(t, r.out, "interrupted: this is the report so far")
	read := h.report(t, "report.json")
	assert.Equal(t, "interrupted", read.Stopped)
	line, _ := read.Line("TURN-1")
	assert.Positive(t, line.Exercised, "the directed checks were made")
}

// The first interrupt is taken note of when the run that is going on has ended, and this one never does.
func TestRunIsInterruptedTwice(t *testing.T) {
	t.Parallel()
	r := newHome(t).interrupt(t, "stuck", "stuck for good", true, few)
	assert.Equal(t, -1, r.code, "it ends by the signal: %s", r.out)
	assert.NotContains(t, r.out, "does not come to rest", "nobody waited for that")
}

// token is a schedule as one word.
func token(t *testing.T) string {
	t.Helper()
	file, err := corpus.Parse("x", []byte(schedule))
	require.NoError(t, err)
	return file.Token()
}
