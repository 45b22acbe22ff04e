//go:build !race

package filejournal_test

const raceEnabled = false
