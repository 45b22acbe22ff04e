package sim

import (
	"cmp"
	"slices"
)

// clock is the thread that the passing of virtual time is ascribed to.
const clock = "clock"

// Deviation is one decision in which a run departs from the boring run. It is named by where it is taken, and not by a
// number in a list of decisions, so that it keeps its meaning when something unrelated is taken out of the program.
type Deviation struct {
	Kind PointKind
	// Owner and Gate name the gate: for a Verdict the one that goes on, for a Switch the one that went on last ("start" and
	// "" before the first).
	Owner, Gate string
	// Nth is the how-manieth time that this gate goes on, or went on, from 1.
	Nth int
	// Choice is the verdict, or the thread that goes on next.
	Choice string
}

// Schedule is what makes a run of a program reproducible: the deviations from the boring run, in canonical order.
type Schedule []Deviation

// Compare orders deviations by owner, gate, number, kind and choice.
func (d Deviation) Compare(other Deviation) int {
	return cmp.Or(
		cmp.Compare(d.Owner, other.Owner), cmp.Compare(d.Gate, other.Gate), cmp.Compare(d.Nth, other.Nth),
		cmp.Compare(d.Kind, other.Kind), cmp.Compare(d.Choice, other.Choice))
}

// Sorted returns the schedule in canonical order.
func (s Schedule) Sorted() Schedule {
	s = slices.Clone(s)
	slices.SortFunc(s, Deviation.Compare)
	return s
}

// Without returns the schedule without the deviations that belong to the owners, and those that let them go on as threads.
func (s Schedule) Without(owners ...string) Schedule {
	return slices.DeleteFunc(slices.Clone(s), func(d Deviation) bool {
		return slices.Contains(owners, d.Owner) || d.Kind == Switch && slices.Contains(owners, d.Choice)
	})
}

// place is a gate as a schedule names it.
type place struct{ owner, gate string }

// beginning is the place before the first gate.
var beginning = place{owner: "start"}

func (p place) String() string {
	if p == beginning {
		return p.owner
	}
	return p.owner + " " + p.gate
}

// site is a decision as a schedule names it.
type site struct {
	kind PointKind
	place
	nth int
}

func (d Deviation) site() site { return site{d.Kind, place{d.Owner, d.Gate}, d.Nth} }
