package sim_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/loopcheck/loopcheck/sim"
)

// fortyFive makes about 45 decisions, as a workload of the conformance kit does.
var fortyFive = workload{clients: [][]string{
	{"a1 submit", "a2 change", "a3 submit", "a4 change", "a5 submit"},
	{"b1 change", "b2 submit", "b3 change", "b4 change", "b5 submit"},
	{"c1 change", "c2 change", "c3 submit", "c4 submit"},
}}

var fifteen = workload{clients: [][]string{
	{"a1 submit", "a2 change", "a3 submit", "a4 change", "a5 submit"},
	{"b1 change", "b2 submit", "b3 change", "b4 change"},
	{"c1 change", "c2 change", "c3 submit"},
}}

// BenchmarkRun compares a run of about 45 decisions with the same code when every gate is open. The two take turns, so that
// what else the machine does befalls both; x-open is the ratio.
func BenchmarkRun(b *testing.B) {
	program := fortyFive.Program()
	var open, gates time.Duration
	steps := 0
	for i := range b.N {
		chooser := sim.Random{Rare: 10}.Begin(uint64(i))
		began := time.Now()
		sim.Run(program, chooser, sim.Options{Open: true})
		between := time.Now()
		steps += sim.Run(program, chooser, sim.Options{}).Steps
		open += between.Sub(began)
		gates += time.Since(between)
	}
	b.ReportMetric(float64(steps)/float64(b.N), "decisions/run")
	b.ReportMetric(float64(open.Nanoseconds())/float64(b.N), "ns/open-run")
	b.ReportMetric(float64(gates.Nanoseconds())/float64(b.N), "ns/run")
	b.ReportMetric(float64(gates)/float64(open), "x-open")
}

// BenchmarkMemory reports by how much the heap and what was got from the system grow in the last nine tenths of the runs.
// Repeat with -benchtime=1000000x.
func BenchmarkMemory(b *testing.B) {
	program := straight(3, 3)
	var before, after runtime.MemStats
	for i := range b.N {
		if i == b.N/10 {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		sim.Run(program, sim.Random{}.Begin(uint64(i)), sim.Options{})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "heap-MiB")
	b.ReportMetric((float64(after.Sys)-float64(before.Sys))/(1<<20), "sys-MiB")
}

func BenchmarkEmptyBubble(b *testing.B) {
	for range b.N {
		sim.Run(func(*sim.World) {}, sim.Boring{}.Begin(0), sim.Options{})
	}
}

// BenchmarkDecision is the cost of one decision with so many gates parked.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("parked=%d", n), func(b *testing.B) {
			sim.Run(func(w *sim.World) {
				for i := range n {
					thread := fmt.Sprintf("t%d", i)
					w.Go(thread, func() {
						for {
							if _, err := w.Park(w.Context(), sim.Gate{Thread: thread, Name: "gate"}); err != nil {
								return
							}
						}
					})
				}
			}, sim.Random{}.Begin(1), sim.Options{MaxSteps: b.N})
		})
	}
}
