package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance"
	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/native"
)

// How a test that fails looks can only be seen from outside: the tests of Run and Fuzz start this test binary again, in a
// directory of its own, and have TestChild or FuzzChild check the subject that the environment names.
const childEnv = "LOOPCHECK_TEST_CHILD"

// reference is the reference loop, without what only some loops have but for external tools and a restore.
func reference() conformance.Subject {
	config := func(e conformance.Env) native.Config {
		return native.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings}
	}
	return conformance.Subject{
		Name:    "reference",
		Start:   func(ctx context.Context, e conformance.Env) (loop.Loop, error) { return native.New(ctx, config(e)) },
		Restore: func(ctx context.Context, e conformance.Env) (loop.Loop, error) { return native.Restore(ctx, config(e)) },
	}
}

// broken is a loop with that fault of package faulty.
func broken(fault string) conformance.Subject {
	config := func(e conformance.Env) faulty.Config {
		return faulty.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings, Fault: fault}
	}
	return conformance.Subject{
		Name:    "faulty",
		Start:   func(ctx context.Context, e conformance.Env) (loop.Loop, error) { return faulty.New(ctx, config(e)) },
		Restore: func(ctx context.Context, e conformance.Env) (loop.Loop, error) { return faulty.Restore(ctx, config(e)) },
	}
}

// plain is a loop that offers nothing but what every loop must.
type plain struct{ loop.Loop }

// starting is a subject whose loop is made by start.
func starting(start conformance.Start) conformance.Subject {
	return conformance.Subject{Name: "starting", Start: start}
}

// outside is a channel of no bubble: to wait for it is, to the scheduler, to run on and on.
var outside = make(chan struct{})

// childSubject is the subject of that name: a fault's stands for the loop that has it.
func childSubject(name string) conformance.Subject {
	switch name {
	case "reference":
		return reference()
	case "plain":
		return starting(func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
			l, err := reference().Start(ctx, e)
			return plain{l}, err
		})
	case "start-nil":
		return starting(func(context.Context, conformance.Env) (loop.Loop, error) { return nil, nil })
	case "start-error":
		return starting(func(context.Context, conformance.Env) (loop.Loop, error) { return nil, errors.New("no licence") })
	case "start-panic":
		return starting(func(context.Context, conformance.Env) (loop.Loop, error) { panic("no licence") })
	case "start-waits": // for what never comes, and not for its context
		return starting(func(context.Context, conformance.Env) (loop.Loop, error) { <-make(chan struct{}); return nil, nil })
	case "start-exits": // its goroutine
		return starting(func(context.Context, conformance.Env) (loop.Loop, error) { runtime.Goexit(); return nil, nil })
	case "no-name":
		return conformance.Subject{Start: reference().Start}
	case "no-start":
		return conformance.Subject{Name: "nothing"}
	case "stuck": // in the second run: the first is to find out what it can do
		runs := 0
		return starting(func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
			if runs++; runs == 2 {
				fmt.Println("\nstuck for good")
				<-outside
			}
			return reference().Start(ctx, e)
		})
	case "exporting":
		return exporting(reference(), 100)
	case "exporting-twice":
		return exporting(reference(), 1)
	}
	return broken(name)
}

func TestChild(t *testing.T) {
	name := os.Getenv(childEnv)
	if name == "" {
		t.Skip("it is for processes that other tests start")
	}
	conformance.Run(t, childSubject(name))
}

func FuzzChild(f *testing.F) {
	name := os.Getenv(childEnv)
	if name == "" {
		f.Skip("it is for processes that other tests start")
	}
	conformance.Fuzz(f, childSubject(name))
}

// home is a directory that stands for that of a user's package.
type home struct {
	dir string
	env []string
}

func newHome(t *testing.T) *home { return &home{dir: t.TempDir()} }

// path is that of a file in the corpus.
func (h *home) path(name string) string { return filepath.Join(h.dir, "testdata", "loopcheck", name) }

// write puts a file into the corpus.
func (h *home) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(h.path(name)), 0o777))
	require.NoError(t, os.WriteFile(h.path(name), []byte(text), 0o666))
}

// schedules are the names of the corpus's schedules, sorted.
func (h *home) schedules(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(h.path("*.schedule"))
	require.NoError(t, err)
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

// patience is how long a child may take, which none comes near. It is what a test fails after, and never what it waits for.
const patience = 3 * time.Minute

// command is the child that tests the subject. Flags come after those of the tests' choice, which they may overrule.
func (h *home) command(ctx context.Context, t *testing.T, subject string, flags ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(ctx, binary, append([]string{"-test.run=^TestChild$", "-test.v"}, flags...)...)
	c.Dir = h.dir
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "LOOPCHECK_") && !strings.HasPrefix(e, "GOCOVERDIR=") {
			c.Env = append(c.Env, e)
		}
	}
	c.Env = append(append(c.Env, childEnv+"="+subject), h.env...)
	c.WaitDelay = 10 * time.Second
	return c
}

// ran is what became of a child.
type ran struct {
	code  int // -1 if a signal ended it
	out   string
	tests map[string]string // PASS, FAIL or SKIP of each test that ended, without "TestChild/"
	took  time.Duration
}

var verdictLine = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+) \(`)

func newRan(c *exec.Cmd, out string, took time.Duration) ran {
	r := ran{code: c.ProcessState.ExitCode(), out: out, tests: make(map[string]string), took: took}
	for _, m := range verdictLine.FindAllStringSubmatch(out, -1) {
		r.tests[strings.TrimPrefix(m[2], "TestChild/")] = m[1]
	}
	return r
}

// test has a child test the subject, to its end.
func (h *home) test(t *testing.T, subject string, flags ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := h.command(ctx, t, subject, flags...)
	began := time.Now()
	out, err := c.CombinedOutput()
	require.NoError(t, ctx.Err(), "the child does not end:\n%s", out)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err, "%s", out)
	}
	return newRan(c, string(out), time.Since(began))
}

// failed are the names of the subtests that failed.
func (r ran) failed() (names []string) {
	for _, m := range verdictLine.FindAllStringSubmatch(r.out, -1) {
		if name, isPart := strings.CutPrefix(m[2], "TestChild/"); isPart && m[1] == "FAIL" {
			names = append(names, name)
		}
	}
	return names
}

var replayFlag = regexp.MustCompile(`(?m)^ *replay:  (go test -run '(\S+)' -loopcheck\.replay=(\S+))$`)

// replays are the schedules that lines of the output replay.
func (r ran) replays(t *testing.T) (schedules []string) {
	t.Helper()
	for _, m := range replayFlag.FindAllStringSubmatch(r.out, -1) {
		require.Equal(t, "^TestChild$", m[2])
		schedules = append(schedules, m[3])
	}
	return schedules
}

// few has a child make so few runs that it takes no time. Directed checks are made all the same.
const few = "-loopcheck.schedules=100"

// none has it make no runs but those of the directed checks.
const none = "-loopcheck.schedules=-1"
