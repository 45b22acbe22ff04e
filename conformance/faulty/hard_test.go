package faulty_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var foreignScenarios = map[string]scenario{
	"foreign-installs":      refusesExternalTools,
	"foreign-drops-command": refusesExternalTools,
	"foreign-builds-first":  refusesExternalTools,
	"foreign-clears":        refusesExternalTools,
}

func refusesExternalTools(b *bench) {
	d := def(&live{name: "x"})
	b.refuses(b.replace("mcp", "g", d), loop.ChangeExternalToolsUnsupported)
	b.refuses(b.replace("mcp", "g"), loop.ChangeExternalToolsUnsupported)
	b.equal(0, d.builds(), "builds")
	b.ok(b.setMode("quick"))
	b.ok(b.change(loop.ChangeEffort(model.EffortHigh)))
	b.isIn("quick", "m1", model.EffortHigh)
	b.offers()
	b.settled()
}

// controlledScenarios come to the breach only where another goroutine runs in the window that a fault leaves.
var controlledScenarios = map[string]scenario{
	"lost-update": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		first := b.begin(b.setMode("plan"))
		second := b.begin(b.change(loop.ChangeEffort(model.EffortNone)))
		release(held)
		b.rest()
		b.check(b.result(first) == nil && b.result(second) == nil, "refused")
		b.isIn("plan", "planner", model.EffortNone)
		b.settled()
	},
	"interrupt-in-two-steps": func(b *bench) {
		t1, _ := b.submitHeld("t1", true)
		held := b.hold()
		b.client.on("t2", func(context.Context, int) ([]string, error) {
			<-held
			return nil, nil
		})
		t2 := b.submit("t2")
		interrupt := b.begin(b.interrupt)
		b.rest()
		b.check(b.result(interrupt) == nil, "refused")
		b.equal(loop.TurnInterrupted, b.outcome(t1), "outcome")
		b.check(!ended(t2), "a second turn is interrupted")
	},
	"shutdown-in-two-steps": func(b *bench) {
		b.submitHeld("t1", true)
		held := b.hold()
		b.client.on("t2", func(context.Context, int) ([]string, error) {
			<-held
			return nil, nil
		})
		t2 := b.submit("t2")
		shutdown := b.begin(b.shutdown)
		b.rest()
		b.check(b.result(shutdown) == nil, "not shut down")
		b.check(ended(t2), "a turn is in flight after the exit")
	},
	"exit-checked-late": func(b *bench) {
		held, after := b.hold(), b.hold()
		b.journal.plan(plan{hold: held}, plan{hold: after})
		b.begin(b.setMode("plan"))
		b.begin(b.setMode("quick"))
		shutdown := b.begin(b.shutdown)
		release(held)
		b.rest()
		b.check(!shutdown.returned() || len(b.journal.events()) == 1, "exited with an append outstanding")
	},
	"turn-started-twice": func(b *bench) {
		held, requests := b.hold(), b.hold()
		for _, input := range []string{"t1", "t2"} {
			b.client.on(input, func(context.Context, int) ([]string, error) {
				<-requests
				return nil, nil
			})
		}
		b.journal.plan(plan{before: errDisk})
		b.journal.planReads(plan{hold: held})
		b.begin(b.setMode("plan"))
		for _, input := range []string{"t1", "t2"} {
			b.begin(func() error {
				_, err := b.Submit(b.ctx, input)
				return err
			})
		}
		release(held)
		b.rest()
		b.equal(1, len(b.client.all()), "turns in flight")
	},
}

// rest lets the bubble's time go on, and with it whoever is in a window.
func (b *bench) rest() { <-time.After(time.Minute) }

// inWindows has others run in each window.
func inWindows(s scenario) scenario {
	return func(b *bench) {
		b.Loop.(*faulty.Loop).InWindow(func() {
			if b.ctx.Err() == nil { // not when all is being taken down
				<-time.After(time.Second)
			}
		})
		s(b)
	}
}

func TestControlledFaultsBreakTheContract(t *testing.T) {
	for _, f := range faulty.Faults() {
		if f.Class != faulty.Controlled {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			s := controlledScenarios[f.Name]
			require.NotNil(t, s)
			assert.Empty(t, play(t, "", inWindows(s)))
			found := play(t, f.Name, inWindows(s))
			assert.NotEmpty(t, found)
			t.Log(found)
		})
	}
}

// raceDetector is set where the race detector is built in.
var raceDetector bool

// deadlyScenarios end the process, or have the race detector complain.
var deadlyScenarios = map[string]scenario{
	"tool-panic-unrecovered": func(b *bench) {
		b.d1.run = func(context.Context) (string, error) { panic("tool") }
		b.runs("t", "d1")
	},
	"build-panic-unrecovered": func(b *bench) {
		_ = b.now(b.replace("mcp", "g", broken(func(context.Context) ([]tool.InvokableTool, error) { panic("build") })))
	},
	"fatal-on-append-error": func(b *bench) {
		b.journal.plan(plan{before: errDisk})
		_ = b.now(b.setMode("plan"))
	},
	"exit-closed-twice": func(b *bench) {
		b.ok(b.shutdown)
		_ = b.now(b.shutdown)
	},
	"tool-count-unlocked": func(b *bench) {
		b.client.on("t", func(context.Context, int) ([]string, error) { return []string{"d1", "d2", "d1", "d2"}, nil })
		b.d1.run = func(ctx context.Context) (string, error) { return "", b.Interrupt(ctx) }
		b.submit("t")
	},
	"outcome-unlocked": func(b *bench) {
		b.submitHeld("t", true)
		b.ok(b.interrupt)
	},
	"refusals-unlocked": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		b.begin(b.setMode("plan"))
		for range 4 {
			b.begin(b.setMode("quick"))
		}
		b.begin(b.shutdown)
	},
}

const deadlyEnv = "FAULTY_DEADLY_SCENARIO"

// TestDeadlyScenario is the other process of TestDeadlyFaults.
func TestDeadlyScenario(t *testing.T) {
	name, fault, _ := strings.Cut(os.Getenv(deadlyEnv), "/")
	if name == "" {
		t.Skip("run by TestDeadlyFaults")
	}
	assert.Empty(t, play(t, fault, deadlyScenarios[name]))
}

func TestDeadlyFaults(t *testing.T) {
	survives := func(name, fault string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDeadlyScenario$")
		cmd.Env = append(os.Environ(), deadlyEnv+"="+name+"/"+fault)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name := range deadlyScenarios {
		f, known := faulty.Lookup(name)
		require.True(t, known)
		if f.Class == faulty.Race && !raceDetector {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out, err := survives(name, "")
			assert.NoError(t, err, out)
			out, err = survives(name, name)
			assert.Error(t, err, out)
			if f.Class == faulty.Race {
				assert.Contains(t, out, "DATA RACE")
			}
		})
	}
}

func TestUnlockedViewRacesAndIsRight(t *testing.T) {
	// Without a scheduler that orders everything: who reads and who commits have nothing in common but the loop.
	if raceDetector {
		t.Skip("the race detector would fail the test")
	}
	assert.Empty(t, play(t, "view-unlocked", func(b *bench) {
		b.ok(b.setMode("plan"))
		b.isIn("plan", "planner", model.EffortMax)
	}))
}

func TestLockIsHeldOverAnAppend(t *testing.T) {
	for fault, want := range map[string]bool{"": false, "lock-held-over-append": true} {
		begun, held := make(chan struct{}), make(chan struct{})
		j := &waiting{begun: begun, held: held}
		b := &bench{t: t, fault: fault, client: &script{}, d1: &live{name: "d1"}, d2: &live{name: "d2"}, p1: &live{name: "d1"}, p3: &live{name: "d3"}}
		l := b.start(b.define(), j)
		returned := make(chan error)
		go func() { returned <- l.SetMode(context.Background(), "plan") }()
		<-begun
		assert.Equal(t, want, l.(*faulty.Loop).Locked(), fault)
		close(held)
		assert.NoError(t, <-returned)
		assert.NoError(t, l.Shutdown(context.Background()))
	}
}

func TestTurnWatcherIsLeft(t *testing.T) {
	// Outside of a bubble, which ends with a panic where a goroutine is left.
	watchers := func() int {
		dump := make([]byte, 1<<20)
		return strings.Count(string(dump[:runtime.Stack(dump, true)]), "launch.func")
	}
	for fault, want := range map[string]bool{"": false, "turn-watcher-left": true} {
		before := watchers() // of an earlier run of this test: what is left stays
		b := &bench{t: t, fault: fault, client: &script{}, d1: &live{name: "d1"}, d2: &live{name: "d2"}, p1: &live{name: "d1"}, p3: &live{name: "d3"}}
		l := b.start(b.define(), &diary{})
		turn, err := l.Submit(context.Background(), "t")
		require.NoError(t, err)
		<-turn.Done()
		require.NoError(t, l.Shutdown(context.Background()))
		assert.Equal(t, want, watchers() > before, fault)
	}
}

// TestDeadlyClassesAreShown lists what no test shows.
func TestDeadlyClassesAreShown(t *testing.T) {
	elsewhere := map[string]string{
		"view-unlocked":         "TestUnlockedViewRacesAndIsRight",
		"lock-held-over-append": "TestLockIsHeldOverAnAppend",
		"shutdown-spins":        "a busy loop has no end that a test could see",
	}
	for _, f := range faulty.Faults() {
		if f.Class == faulty.Race || f.Class == faulty.Process {
			_, shown := deadlyScenarios[f.Name]
			assert.True(t, shown || elsewhere[f.Name] != "", f.Name)
		}
	}
}

// TestOtherFaultsAreOffThePath plays the scenarios of the hard faults on the correct loop, in a bubble that checks that no
// goroutine is left.
func TestOtherFaultsAreOffThePath(t *testing.T) {
	for name, s := range controlledScenarios {
		synctest.Test(t, func(t *testing.T) { assert.Empty(t, playAs(t, "", false, s), name) })
	}
}
