package conformance

import (
	"testing"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// loads are the workloads of all benchmarks.
func loads(b *testing.B) (*checker, []workload.Workload) {
	c, err := newChecker(referenceSubject(), Config{})
	if err != nil {
		b.Fatal(err)
	}
	list := make([]workload.Workload, 200)
	for i := range list {
		list[i] = workload.Generate(workload.Profile{External: true}, workload.Seeded(1, uint64(i)))
		for _, operations := range append([]workload.Client{{Operations: list[i].Tail}}, list[i].Clients...) {
			for n := range operations.Operations {
				operations.Operations[n].Cancel = false // with open gates a context would end at once
			}
		}
	}
	return c, list
}

// BenchmarkRuns compares a run under the scheduler, with the oracle, to the same workload on the same loop with every gate open and
// no oracle.
func BenchmarkRuns(b *testing.B) {
	c, list := loads(b)
	b.Run("open", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			p := program(&c.subject, list[i%len(list)], func() *oracle.Judge { return nil }, nil)
			if r := sim.Run(p, sim.Boring{}.Begin(0), sim.Options{Open: true}); r.Failure != nil {
				b.Fatal(r.Failure)
			}
		}
	})
	b.Run("oracle", func(b *testing.B) {
		decisions := 0
		for i := 0; b.Loop(); i++ {
			r := c.once(list[i%len(list)], sim.Random{Rare: 8}.Begin(uint64(i)), sim.Options{})
			if r.check != "" {
				b.Fatal(r.result.Failure)
			}
			decisions += r.result.Decisions
		}
		b.ReportMetric(float64(decisions)/float64(b.N), "decisions/op")
	})
}
