package sim_test

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/sim"
)

//go:noinline
func appendUnderLock(w *sim.World, mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	park(w, "loop", "append")
}

//go:noinline
func readUnderLock(mu *sync.Mutex, n *int) int {
	mu.Lock()
	defer mu.Unlock()
	return *n
}

//go:noinline
func spin(stop *atomic.Bool) {
	for !stop.Load() {
	}
}

// A run that does not come to rest is told apart by what keeps it, abandoned, and does not disturb later runs.
func TestGuardDiagnosesHangs(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	for _, c := range []struct {
		name    string
		program sim.Program
		says    []string
		stack   []string
	}{
		{"a lock held across a gate", func(w *sim.World) {
			var mu sync.Mutex
			n := 0
			w.Go("loop", func() { appendUnderLock(w, &mu) })
			w.Go("reader", func() {
				park(w, "reader", "look")
				readUnderLock(&mu, &n)
			})
		}, []string{"a lock is held across a gate", "loop is parked at loop append"}, []string{"readUnderLock", "appendUnderLock"}},
		{"a spin", func(w *sim.World) {
			w.Go("spinner", func() { spin(&stop) })
		}, []string{"runs without end"}, []string{"spin"}},
		{"a system call", func(w *sim.World) {
			w.Go("reader", func() { _, _ = io.ReadAll(reader) })
		}, []string{"outside of the run"}, []string{"guard_test.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sim.Run(c.program, sim.Replay{Schedule: sim.Schedule{
				{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "reader"},
			}}.Begin(0), sim.Options{Hang: 200 * time.Millisecond})
			require.True(t, r.Failed(sim.CheckHang), "%v", r.Failure)
			for _, s := range c.says {
				require.Contains(t, r.Failure.Message, s)
			}
			for _, s := range c.stack {
				require.Contains(t, r.Failure.Stack, s)
			}
			require.Nil(t, sim.Run(fifteen.Program(), sim.Random{}.Begin(1), sim.Options{}).Failure)
		})
	}
}

// A hang does not hide what was found before it, and what the strategy learns of the run is that it ended.
func TestHangKeepsTheFailure(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	program := func(w *sim.World) {
		w.Note("a", "was here")
		w.Fail("LOST", "an update")
		w.Go("reader", func() { _, _ = io.ReadAll(reader) })
	}
	e := &sim.Exhaustive{}
	r := sim.Run(program, e.Begin(0), sim.Options{Hang: 100 * time.Millisecond, KeepTrace: true})
	require.True(t, r.Failed("LOST"), "%v", r.Failure)
	require.Equal(t, sim.CheckHang, r.Hang.Check)
	require.Len(t, r.Trace, 1)
	require.EqualValues(t, 1, e.Runs())
	require.Nil(t, e.Begin(0))
	require.NoError(t, writer.Close())
}
