package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// Directed is a scenario that puts one requirement to the test.
type Directed struct {
	Requirement string
	// Name is what happens, in a few words: "a change between two steps of a turn". It is unique for its requirement.
	Name string
	// Why says to somebody who sees the contract for the first time what happens, what a loop must do, and which mistake
	// fails here.
	Why string
	// Workload is in the text form of package workload.
	Workload string
	// Schedule has one deviation a line, as [sim.ParseDeviation] reads them; "" is the boring run.
	//
	// A deviation that a loop does not come to is passed over: a loop that appends events of its own, or takes its steps in
	// another order, is not at fault for that.
	Schedule string
}

// DirectedChecks returns the scenarios in the contract's order; of one requirement the plainest first. For each MUST and SHOULD
// there is one that needs no more of a subject than the requirement does.
//
// They are for a newcomer's loop: small enough to follow by eye, and each made so that a loop with one mistake breaks the
// requirement that the scenario is named after. Simulation finds what needs more than that.
func DirectedChecks() []Directed {
	checks := slices.Concat(
		directedTurns, directedChanges, directedExternal, directedInstalled, directedCalls, directedWaits, directedLifetime, directedDurability,
	)
	slices.SortStableFunc(checks, func(a, b Directed) int {
		return contract.Index(a.Requirement) - contract.Index(b.Requirement)
	})
	return checks
}

// parse returns the scenario's workload and schedule. An error is a mistake in the scenario.
func (d Directed) parse() (workload.Workload, sim.Schedule, error) {
	load, err := workload.Parse(d.Workload)
	if err != nil {
		return workload.Workload{}, nil, fmt.Errorf("directed check %q: %w", d.Name, err)
	}
	var schedule sim.Schedule
	for line := range strings.Lines(d.Schedule) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		deviation, err := sim.ParseDeviation(line)
		if err != nil {
			return workload.Workload{}, nil, fmt.Errorf("directed check %q: %w", d.Name, err)
		}
		schedule = append(schedule, deviation)
	}
	return load, schedule.Sorted(), nil
}

// Needs lists the capabilities that a subject must have for the scenario: those that its requirement speaks of, and those that
// its operations use.
func (d Directed) Needs() ([]contract.Capability, error) {
	load, _, err := d.parse()
	if err != nil {
		return nil, err
	}
	requirement, _ := contract.Lookup(d.Requirement)
	uses := map[contract.Capability]bool{contract.Foreign: load.Foreign}
	for _, capability := range requirement.Needs {
		uses[capability] = true
	}
	for _, o := range load.Operations() {
		switch o.Kind {
		case workload.Replace:
			// To a foreign loop it is a call that must be refused, whether it offers the installer or not (EXT-10).
			uses[contract.ExternalTools] = uses[contract.ExternalTools] || !load.Foreign
		case workload.Crash, workload.Restore, workload.RestoreWithout:
			uses[contract.Restore] = true
		}
	}
	return slices.DeleteFunc(contract.Capabilities(), func(c contract.Capability) bool { return !uses[c] }), nil
}
