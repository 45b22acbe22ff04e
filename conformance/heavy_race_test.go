//go:build race

package conformance

const heavy = false

func schedules(n uint64) uint64 { return n / 100 }
