//go:build !race

package conformance

// heavy is whether tests make as many runs as they are meant to. Under the race detector, which is for the code and not for the
// schedules, they make a few.
const heavy = true

func schedules(n uint64) uint64 { return n }
