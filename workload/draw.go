package workload

import (
	"math/bits"
	"math/rand/v2"
)

// Draw makes one choice of a generator: a number from 0 to n-1, of which 0 stands for what is plainest. n is at least 1. A
// generator makes the same of the same numbers.
type Draw func(n int) int

// Seeded draws from a random source. The same seed and n, as the number of a run, make the same choices on every machine. It
// is not safe for concurrent use.
func Seeded(seed, n uint64) Draw {
	source := rand.NewPCG(seed, n)
	return func(n int) int {
		i, _ := bits.Mul64(source.Uint64(), uint64(n))
		return int(i)
	}
}

// Bytes draws from data, as native fuzzing supplies it, and zeros when there is no more.
func Bytes(data []byte) Draw {
	return func(n int) int {
		v := uint64(0)
		for most := uint64(n - 1); most > 0 && len(data) > 0; most >>= 8 {
			v, data = v<<8|uint64(data[0]), data[1:]
		}
		return int(v % uint64(n))
	}
}
