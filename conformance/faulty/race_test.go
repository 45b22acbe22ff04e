//go:build race

package faulty_test

func init() { raceDetector = true }
