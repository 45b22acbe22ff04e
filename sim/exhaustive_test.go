package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/sim"
)

// straight is a program of threads that pass so many gates each.
func straight(gates ...int) sim.Program {
	return func(w *sim.World) {
		for i, n := range gates {
			name := string(rune('a' + i))
			w.Go(name, func() {
				for g := range n {
					park(w, name, fmt.Sprintf("g%d", g))
				}
			})
		}
	}
}

// explore makes all runs, and returns how many distinct traces there were.
func explore(t require.TestingT, program sim.Program, e *sim.Exhaustive) map[uint64]int {
	traces := make(map[uint64]int)
	for chooser := e.Begin(0); chooser != nil; chooser = e.Begin(0) {
		traces[sim.Run(program, chooser, sim.Options{}).Hash]++
	}
	require.NoError(t, e.Err())
	require.True(t, e.Exhausted())
	require.EqualValues(t, len(traces), e.Runs(), "no run is made twice")
	return traces
}

func TestExhaustiveFindsEveryInterleavingOnce(t *testing.T) {
	for _, c := range []struct {
		gates []int
		want  int // the multinomial coefficient
	}{
		{[]int{1}, 1}, {[]int{1, 1}, 2}, {[]int{2, 2}, 6}, {[]int{3, 3}, 20}, {[]int{2, 2, 2}, 90}, {[]int{1, 1, 1, 1}, 24},
		{[]int{4, 4}, 70}, {[]int{3, 2, 1}, 60}, {[]int{0, 5}, 1},
	} {
		t.Run(fmt.Sprint(c.gates), func(t *testing.T) {
			e := &sim.Exhaustive{Preemptions: sim.Unbounded, Faults: sim.Unbounded}
			require.Len(t, explore(t, straight(c.gates...), e), c.want)
		})
	}
}

// Of the 20 words of three a and three b, 2, 4, 8, 4 and 2 have two to six blocks; all switches but the one where the first
// thread ends are preemptions.
func TestExhaustiveKeepsToItsBounds(t *testing.T) {
	for _, c := range []struct{ preemptions, faults, want int }{
		{0, 0, 2}, {1, 0, 6}, {2, 0, 14}, {3, 0, 18}, {4, 0, 20}, {sim.Unbounded, 0, 20},
	} {
		e := &sim.Exhaustive{Preemptions: c.preemptions, Faults: c.faults}
		require.Len(t, explore(t, straight(3, 3), e), c.want, "%+v", c)
	}
	verdicts := func(w *sim.World) {
		w.Go("a", func() {
			for range 3 {
				park(w, "a", "append", "ok", "before", "after")
			}
		})
	}
	for faults, want := range map[int]int{0: 1, 1: 7, 2: 19, 3: 27, sim.Unbounded: 27} {
		require.Len(t, explore(t, verdicts, &sim.Exhaustive{Faults: faults}), want, "%d faults", faults)
	}
}

func TestExhaustiveIsResumable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stop := rapid.Uint64Range(0, 90).Draw(t, "stop")
		e := &sim.Exhaustive{Preemptions: sim.Unbounded, Faults: sim.Unbounded}
		traces := make(map[uint64]bool)
		for e.Runs() < stop {
			traces[sim.Run(straight(2, 2, 2), e.Begin(0), sim.Options{}).Hash] = true
		}
		state, err := e.MarshalText()
		require.NoError(t, err)
		resumed := new(sim.Exhaustive)
		require.NoError(t, resumed.UnmarshalText(state))
		for chooser := resumed.Begin(0); chooser != nil; chooser = resumed.Begin(0) {
			traces[sim.Run(straight(2, 2, 2), chooser, sim.Options{}).Hash] = true
		}
		require.EqualValues(t, 90, resumed.Runs())
		require.Len(t, traces, 90)
		require.True(t, resumed.Exhausted())
	})
}

func TestExhaustiveStateIsChecked(t *testing.T) {
	for _, state := range []string{
		"", "something else", "exhaustive 2 0 0 0 false", "exhaustive 1 0 0", "exhaustive 1 x 0 0 false", "exhaustive 1 0 0 0 false 2",
		"exhaustive 1 0 0 0 false 2:1,0", "exhaustive 1 0 0 0 false 2:0,2", "exhaustive 1 0 0 0 false 2:0,x", "exhaustive 1 0 0 0 false x:0,0",
	} {
		e := &sim.Exhaustive{Preemptions: 3}
		require.Error(t, e.UnmarshalText([]byte(state)), "%q", state)
		require.Equal(t, 3, e.Preemptions, "and nothing is overwritten")
	}
}

func TestExhaustiveNoticesAProgramThatDoesNotRepeatItself(t *testing.T) {
	for _, gates := range [][2][]int{{{2, 2}, {2, 2, 2}}, {{2, 2}, {1}}} {
		e := &sim.Exhaustive{Preemptions: sim.Unbounded}
		sim.Run(straight(gates[0]...), e.Begin(0), sim.Options{})
		sim.Run(straight(gates[1]...), e.Begin(0), sim.Options{})
		require.Error(t, e.Err())
		require.Nil(t, e.Begin(0))
		require.False(t, e.Exhausted())
	}
}

// A program that can only go on by an option: what had to be taken does not use up the bound.
func TestExhaustiveDoesNotChargeForWhatMustBe(t *testing.T) {
	program := func(w *sim.World) {
		crashed := make(chan bool)
		go func() {
			if _, err := w.Park(w.Context(), sim.Gate{Thread: "crash", Name: "now", Optional: true}); err == nil {
				close(crashed)
			}
		}()
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				park(w, name, "first")
				park(w, name, "second")
			})
		}
		w.Go("c", func() {
			select {
			case <-crashed:
			case <-time.After(5 * time.Second):
			case <-w.Context().Done():
			}
			w.Note("c", "goes on")
		})
	}
	// Six orders of a and b; with a fault, each of them with the crash at one of five places as well.
	for faults, want := range map[int]int{0: 6, 1: 6 + 5*6} {
		e := &sim.Exhaustive{Preemptions: sim.Unbounded, Faults: faults}
		traces := 0
		for chooser := e.Begin(0); chooser != nil; chooser = e.Begin(0) {
			sim.Run(program, chooser, sim.Options{})
			traces++
		}
		require.NoError(t, e.Err())
		require.True(t, e.Exhausted())
		require.Equal(t, want, traces, "%d faults", faults)
	}
}

// While everybody waits for a timer an option is a choice, and waiting is the boring one.
func TestOptionsWhileTimePasses(t *testing.T) {
	program := func(w *sim.World) {
		ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
		go func() {
			if _, err := w.Park(w.Context(), sim.Gate{Thread: "cancel", Name: "a1", Optional: true}); err == nil {
				cancel()
			}
		}()
		w.Go("a", func() {
			<-ctx.Done()
			w.Note("a", ctx.Err().Error())
			cancel()
		})
	}
	seen := map[string]bool{}
	e := &sim.Exhaustive{Faults: 1}
	for chooser := e.Begin(0); chooser != nil; chooser = e.Begin(0) {
		r := sim.Run(program, chooser, sim.Options{KeepTrace: true})
		require.Nil(t, r.Failure)
		seen[r.Trace[len(r.Trace)-1].Text] = true
	}
	require.Equal(t, map[string]bool{"context deadline exceeded": true, "context canceled": true}, seen)
	require.EqualValues(t, 2, e.Runs())
}

// The boring run takes no option to get out of a deadlock.
func TestOptionsDoNotHideThatARunIsStuck(t *testing.T) {
	program := func(w *sim.World) {
		ctx, cancel := context.WithCancel(w.Context())
		go func() {
			if _, err := w.Park(w.Context(), sim.Gate{Thread: "cancel", Name: "a1", Optional: true}); err == nil {
				cancel()
			}
		}()
		w.Go("a", func() { <-ctx.Done() })
	}
	require.True(t, sim.Run(program, sim.Boring{}.Begin(0), sim.Options{}).Failed(sim.CheckStuck))
	rescue := sim.Schedule{{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "cancel"}}
	require.Nil(t, sim.Run(program, sim.Replay{Schedule: rescue}.Begin(0), sim.Options{}).Failure)
}
