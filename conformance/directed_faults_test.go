package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/contract"
)

// directedBlind are the requirements none of whose stock faults its directed checks catch, and why.
var directedBlind = map[string]string{}

// For each requirement there is a fault that its directed checks catch: they are not there for show.
func TestDirectedChecksCatchFaults(t *testing.T) {
	checks := make(map[string][]Directed)
	for _, d := range DirectedChecks() {
		checks[d.Requirement] = append(checks[d.Requirement], d)
	}
	for _, r := range contract.All() {
		if r.Level == contract.Types {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			var caught []string
			for _, f := range faulty.Faults() {
				if f.Class == faulty.Stock && slices.Contains(f.Requirements, r.ID) && directedCatch(t, f, checks[r.ID]) {
					caught = append(caught, f.Name)
				}
			}
			t.Log(caught)
			if why, blind := directedBlind[r.ID]; blind {
				assert.Empty(t, caught, "it is listed as blind: %s", why)
			} else {
				assert.NotEmpty(t, caught, "no stock fault of this requirement is caught")
			}
		})
	}
}

// directedCatch reports whether one of the checks breaks one of the fault's requirements.
func directedCatch(t *testing.T, f faulty.Fault, checks []Directed) bool {
	t.Helper()
	return slices.ContainsFunc(checks, func(d Directed) bool {
		return slices.ContainsFunc(f.Requirements, runDirected(t, faultySubject(f.Name), d).broke)
	})
}
