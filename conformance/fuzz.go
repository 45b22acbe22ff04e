package conformance

import (
	"testing"

	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// Fuzz hands a subject to Go's native fuzzing: the engine's bytes are the choices of the workload and, byte for byte between them,
// those of the schedule. Zeros are the plainest choices of both, so what the engine makes smaller is plainer too. A breach
// fails with its timeline and a token that [Run] replays.
func Fuzz(f *testing.F, subject Subject) {
	f.Helper()
	s, err := readSettings()
	if err != nil {
		f.Fatal(err)
	}
	s.config.Replay = replayLine("")
	c, err := newChecker(subject, s.config)
	if err != nil {
		f.Fatal(err)
	}
	for n := range uint64(32) {
		f.Add(sample(s.config.Seed, n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var program, schedule []byte
		for i, b := range data {
			if i%2 == 0 {
				program = append(program, b)
			} else {
				schedule = append(schedule, b)
			}
		}
		load := workload.Generate(c.profile, workload.Bytes(program))
		r := c.once(load, &bytesChooser{schedule}, c.config.Run)
		if r.check == "" {
			return
		}
		if r.result.Hang != nil {
			t.Fatal(r.hang("an input"))
		}
		failure := c.failure(r, "fuzzing", 0)
		if q, known := contract.Lookup(failure.Requirement); known && q.Level == contract.Should {
			return
		}
		failure.Replay = "-loopcheck.replay=" + failure.Token + " (of a test with conformance.Run)"
		t.Fatalf("\n%s", failure)
	})
}

// sample are bytes that make varied workloads and schedules, for the engine to begin with.
func sample(seed, n uint64) []byte {
	draw := workload.Seeded(seed, n)
	data := make([]byte, 256)
	for i := range data {
		if data[i] = byte(draw(256)); i%2 == 1 && draw(3) > 0 {
			data[i] = 0 // mostly the boring choice, or nothing gets anywhere
		}
	}
	return data
}

// bytesChooser takes a byte for each decision; when there are none left, it takes the boring choice.
type bytesChooser struct{ data []byte }

// Choose returns the next byte's choice.
func (c *bytesChooser) Choose(p *sim.Point) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % p.N()
}
