package faulty_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/conformance/faulty"
)

// scenarios are, by the name of a fault, a few calls that bring it to light. On the correct loop each passes: that is most
// of what this package tests of it.
var scenarios = func() map[string]scenario {
	all := make(map[string]scenario)
	for _, group := range []map[string]scenario{turnScenarios, changeScenarios, externalScenarios, callScenarios, lifeScenarios, foreignScenarios} {
		for name, s := range group {
			all[name] = s
		}
	}
	return all
}()

func TestCorrectLoopKeepsTheContract(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) { assert.Empty(t, playCorrect(t, name, s)) })
	}
	for name, s := range moreScenarios {
		t.Run(name, func(t *testing.T) { assert.Empty(t, play(t, "", s)) })
	}
}

// playCorrect plays on a correct loop of the kind that has the fault.
func playCorrect(t *testing.T, fault string, s scenario) (found string) {
	f, _ := faulty.Lookup(fault)
	synctest.Test(t, func(t *testing.T) { found = playAs(t, "", f.Foreign, s) })
	return found
}

func TestFaultsBreakTheContract(t *testing.T) {
	for _, f := range faulty.Faults() {
		s, there := scenarios[f.Name]
		switch {
		case f.Class != faulty.Stock, f.Name == "turn-watcher-left":
			assert.False(t, there, "%s has a test of its own, or none", f.Name)
		case assert.True(t, there, "%s is not shown to be one", f.Name):
			t.Run(f.Name, func(t *testing.T) {
				found := play(t, f.Name, s)
				assert.NotEmpty(t, found)
				t.Log(found)
			})
		}
	}
}
