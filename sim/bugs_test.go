package sim_test

import (
	"fmt"

	"github.com/loopcheck/loopcheck/sim"
)

// planted are small programs with a known bug each, and the fewest deviations that show it.
var planted = []struct {
	name       string
	check      string
	c          sim.Case
	size       int // of the smallest case
	deviations int
}{
	{"lost update over a gap", "LOST", sim.Fixed(lostUpdate), 1, 1},
	{"done seen before the acknowledgement", "ACK", sim.Fixed(ackAgainstDone), 1, 1},
	{"ABBA with channels as locks", sim.CheckStuck, sim.Fixed(abba), 1, 1},
	{"missed wake-up", sim.CheckStuck, sim.Fixed(missedWakeUp), 1, 1},
	{"dropped error", "DURABLE", withPlant(deaf, durableSuccess), 2, 1},
	{"half a batch", "BATCH", withPlant(partial, wholeBatches), 2, 1},
}

func withPlant(plant func(*toy), check func(*sim.World, *toy, map[string]error)) workload {
	l := fifteen
	l.plant, l.check = plant, check
	return l
}

// lostUpdate reads and writes a counter in two steps.
func lostUpdate(w *sim.World) {
	n := 0
	for _, name := range []string{"a", "b"} {
		w.Go(name, func() {
			park(w, name, "read")
			v := n
			park(w, name, "write")
			n = v + 1
		})
	}
	if w.Settle() && n != 2 {
		w.Fail("LOST", fmt.Sprintf("two increments came to %d", n))
	}
}

// ackAgainstDone has a client that looks at the exit before it looks at its answer.
func ackAgainstDone(w *sim.World) {
	ack, done := make(chan bool, 1), make(chan bool)
	committed, reported := false, false
	w.Go("loop", func() {
		park(w, "loop", "append")
		committed = true
		ack <- true
		park(w, "loop", "exit")
		close(done)
	})
	w.Go("client", func() {
		park(w, "client", "look")
		select {
		case <-done:
		default:
			reported = <-ack
		}
	})
	if w.Settle() && committed && !reported {
		w.Fail("ACK", "committed, and reported as not")
	}
}

// abba takes two locks, which are channels, in two orders.
func abba(w *sim.World) {
	locks := map[string]chan bool{"A": make(chan bool, 1), "B": make(chan bool, 1)}
	lock := func(thread, name string) bool {
		select {
		case locks[name] <- true:
			return true
		case <-w.Context().Done():
			return false
		}
	}
	for thread, order := range map[string][2]string{"a": {"A", "B"}, "b": {"B", "A"}} {
		w.Go(thread, func() {
			park(w, thread, "start")
			if !lock(thread, order[0]) {
				return
			}
			park(w, thread, "gap")
			if lock(thread, order[1]) {
				<-locks[order[1]]
			}
			<-locks[order[0]]
		})
	}
}

// missedWakeUp looks whether it has to wait, and then waits, for a signal that is not kept.
func missedWakeUp(w *sim.World) {
	ready, signal := false, make(chan bool)
	w.Go("a waiter", func() {
		park(w, "a waiter", "look")
		if ready {
			return
		}
		park(w, "a waiter", "wait")
		select {
		case <-signal:
		case <-w.Context().Done():
		}
	})
	w.Go("b signaller", func() {
		park(w, "b signaller", "signal")
		ready = true
		select {
		case signal <- true:
		default:
		}
	})
}
