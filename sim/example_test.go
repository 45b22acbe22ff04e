package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/loopcheck/loopcheck/sim"
)

// counter increments a shared counter from two threads, reading and writing in two steps.
func counter(w *sim.World) {
	n := 0
	for _, thread := range []string{"a", "b"} {
		w.Go(thread, func() {
			if _, err := w.Park(w.Context(), sim.Gate{Thread: thread, Name: "read"}); err != nil {
				return
			}
			read := n
			if _, err := w.Park(w.Context(), sim.Gate{Thread: thread, Name: "write"}); err != nil {
				return
			}
			n = read + 1
		})
	}
	if w.Settle() && n != 2 {
		w.Fail("COUNT", fmt.Sprintf("two increments came to %d", n))
	}
}

// One run, in which nobody interferes: each thread goes on as long as it can.
func ExampleRun() {
	r := sim.Run(counter, sim.Boring{}.Begin(0), sim.Options{KeepTrace: true})
	fmt.Print(sim.Transcript(r.Trace))
	fmt.Println("failure:", r.Failure)
	// Output:
	// a: a read: ok
	// a: a write: ok
	// b: b read: ok
	// b: b write: ok
	// failure: <nil>
}

// A search finds a run that fails, and shrinking leaves what is needed for it.
func ExampleShrinker_Shrink() {
	ctx := context.Background()
	found, err := sim.Search{Strategy: sim.Random{Seed: 1}, Runs: 1000}.Find(ctx, sim.Same(counter))
	if err != nil || found.Result == nil {
		fmt.Println("nothing found", err)
		return
	}
	shrunk, err := sim.Shrinker{}.Shrink(ctx, sim.Fixed(counter), found.Result.Schedule, found.Result.Failure.Check)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shrunk.Result.Failure)
	for _, deviation := range shrunk.Result.Schedule {
		fmt.Println(deviation)
	}
	// Output:
	// COUNT: two increments came to 1
	// after a read 1 run b
}

// A certificate for small programs: every interleaving within the bounds.
func ExampleExhaustive() {
	all := &sim.Exhaustive{Preemptions: sim.Unbounded}
	failed := 0
	for chooser := all.Begin(0); chooser != nil; chooser = all.Begin(0) {
		if sim.Run(counter, chooser, sim.Options{}).Failure != nil {
			failed++
		}
	}
	fmt.Printf("%d interleavings, exhausted: %t, failed: %d\n", all.Runs(), all.Exhausted(), failed)
	// Output: 6 interleavings, exhausted: true, failed: 4
}

// Replaying a schedule from its text.
func ExampleParseRecord() {
	record, err := sim.ParseRecord(`loopcheck-schedule 1
check COUNT
seed 0
trace 0000000000000000
after a read 1 run b
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := sim.Run(counter, sim.Replay{Schedule: record.Schedule}.Begin(0), sim.Options{})
	fmt.Println(r.Failure)
	// Output: COUNT: two increments came to 1
}

// A verdict lets the schedule decide what the surroundings answer, and a tick whether time passes before that.
func ExampleWorld_Park() {
	program := func(w *sim.World) {
		w.Go("client", func() {
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			verdict, err := w.Park(ctx, sim.Gate{Thread: "client", Owner: "a1", Name: "append", Verdicts: []string{"ok", "disk full"}})
			w.Note("client", fmt.Sprintf("%q, %v", verdict, err))
		})
	}
	for _, deviation := range []string{"at a1 append 1 verdict \"disk full\"", "after start run clock"} {
		d, err := sim.ParseDeviation(deviation)
		if err != nil {
			fmt.Println(err)
			return
		}
		r := sim.Run(program, sim.Replay{Schedule: sim.Schedule{d}}.Begin(0), sim.Options{Tick: time.Second, KeepTrace: true})
		fmt.Print(sim.Transcript(r.Trace[1:]))
	}
	// Output:
	// client: "disk full", <nil>
	// client: gives up at a1 append
	// client: "", context deadline exceeded
}
