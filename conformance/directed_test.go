package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/sim"
)

// directedRun is what became of a directed check on a subject.
type directedRun struct {
	*sim.Result
	exercised []uint64 // by contract.Index
	warnings  []oracle.Breach
	unused    sim.Schedule
}

// broke reports whether the run broke the requirement, if only as a warning.
func (r directedRun) broke(requirement string) bool {
	if r.Failed(requirement) || r.Failed(sim.CheckLeak) && requirement == "LIFE-2" {
		return true
	}
	return slices.ContainsFunc(r.warnings, func(w oracle.Breach) bool { return w.Requirement == requirement })
}

func runDirected(t *testing.T, subject Subject, d Directed) directedRun {
	t.Helper()
	load, schedule, err := d.parse()
	require.NoError(t, err)
	run := directedRun{exercised: make([]uint64, oracle.Requirements())}
	judge := func() *oracle.Judge { return oracle.New(oracle.Options{}, run.exercised) }
	follower := sim.Replay{Schedule: schedule}.Follow()
	run.Result = sim.Run(program(&subject, load, judge, func(p *play) { run.warnings = p.judge.Warnings() }), follower, sim.Options{})
	run.unused = follower.Unused()
	return run
}

// eachDirected runs f for each check, as a subtest.
func eachDirected(t *testing.T, f func(t *testing.T, d Directed)) {
	t.Helper()
	for _, d := range DirectedChecks() {
		t.Run(d.Requirement+"/"+d.Name, func(t *testing.T) { f(t, d) })
	}
}

func TestDirectedChecksAreValid(t *testing.T) {
	names := make(map[string]bool)
	eachDirected(t, func(t *testing.T, d Directed) {
		load, schedule, err := d.parse()
		require.NoError(t, err)
		assert.NoError(t, load.Validate())
		assert.LessOrEqual(t, load.Len(), 6, "the scenario is to be small")
		assert.LessOrEqual(t, len(schedule), 5, "and so is its schedule")
		assert.NotEmpty(t, d.Why)
		requirement, known := contract.Lookup(d.Requirement)
		require.True(t, known)
		assert.NotEqual(t, contract.Types, requirement.Level, "it is no part of a subject's verdict")
		assert.False(t, names[d.Requirement+d.Name], "the name is taken")
		names[d.Requirement+d.Name] = true
	})
}

func TestDirectedChecksAreInTheContractsOrder(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(DirectedChecks(), func(a, b Directed) int {
		return contract.Index(a.Requirement) - contract.Index(b.Requirement)
	}))
}

// A subject that has what a requirement speaks of, and no more, must have a check of it.
func TestEachRequirementHasADirectedCheckForWhomeverItAppliesTo(t *testing.T) {
	for _, r := range contract.All() {
		if r.Level == contract.Types {
			continue
		}
		enough := slices.ContainsFunc(DirectedChecks(), func(d Directed) bool {
			needs, err := d.Needs()
			require.NoError(t, err)
			return d.Requirement == r.ID && len(contract.Requirement{Needs: needs}.Lacking(r.Needs)) == 0
		})
		assert.True(t, enough, r.ID)
	}
}

func TestDirectedNeeds(t *testing.T) {
	needs := func(requirement, load string) []contract.Capability {
		t.Helper()
		capabilities, err := Directed{Requirement: requirement, Workload: load}.Needs()
		require.NoError(t, err)
		return capabilities
	}
	assert.Empty(t, needs("TURN-1", "client a\n a1 submit"))
	assert.Equal(t, []contract.Capability{contract.ExternalTools}, needs("TURN-1", "client a\n a1 replace source=s1 tools=x"))
	assert.Equal(t, []contract.Capability{contract.Restore}, needs("TURN-1", "tail\n z1 shutdown\n z2 restore"))
	assert.Equal(t, []contract.Capability{contract.ExternalTools, contract.Restore}, needs("EXT-9", "client a\n a1 submit"))
	assert.Equal(t, []contract.Capability{contract.Foreign}, needs("TURN-1", "foreign\nclient a\n a1 replace source=s1 tools=x"))
}

func TestMistakesInDirectedChecksAreErrors(t *testing.T) {
	for _, d := range []Directed{{Name: "load", Workload: "client a\n a1 sumbit"}, {Name: "schedule", Schedule: "at a1 append one verdict slow"}} {
		_, _, err := d.parse()
		assert.ErrorContains(t, err, d.Name)
		_, err = d.Needs()
		assert.ErrorContains(t, err, d.Name)
	}
}

// On a loop that keeps the contract each check passes, and puts its requirement to the test.
func TestDirectedChecksPassOnConformingLoops(t *testing.T) {
	for _, subject := range []Subject{referenceSubject(), faultySubject("")} {
		t.Run(subject.Name, func(t *testing.T) {
			eachDirected(t, func(t *testing.T, d Directed) {
				r := runDirected(t, subject, d)
				assert.Nil(t, r.Failure)
				assert.Empty(t, r.warnings)
				assert.Empty(t, r.unused, "these deviations do nothing")
				assert.Positive(t, r.exercised[contract.Index(d.Requirement)], "%s was not put to the test", d.Requirement)
			})
		})
	}
}

// A check that takes another course now and then would sometimes pass where it should not. The trace itself may differ on the
// stock runtime: a change that a shutdown finds at work is refused as "shutting down" or, once in some hundred times, as "exited".
func TestDirectedChecksTakeOneCourse(t *testing.T) {
	eachDirected(t, func(t *testing.T, d Directed) {
		want := len(runDirected(t, referenceSubject(), d).StepHash)
		for range 19 {
			r := runDirected(t, referenceSubject(), d)
			assert.Len(t, r.StepHash, want, "decisions")
			assert.Empty(t, r.unused)
			assert.Positive(t, r.exercised[contract.Index(d.Requirement)])
		}
	})
}
