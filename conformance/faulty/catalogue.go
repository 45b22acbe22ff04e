package faulty

import (
	"slices"
	"strings"
)

// Class is what finding a fault takes.
type Class string

// The classes.
const (
	Stock      Class = "stock"      // schedules over gates
	Controlled Class = "controlled" // a switch of goroutines inside the loop, between two gates
	Race       Class = "race"       // the race detector: the access is harmless otherwise
	Process    Class = "process"    // a process to lose: the fault kills it, or wedges it
)

// Fault is one way to break the contract.
type Fault struct {
	Name         string   // kebab-case, says the mistake: "model-per-step"
	Doc          string   // one line
	Requirements []string // ids that it breaks; the kit may blame any of them; the most direct first
	Seen         string   // where it was seen: "F02, letta-ai/letta-code#3730", or "" for our own
	Class        Class
	Foreign      bool // it is a fault of the foreign variant
	Restore      bool // it shows only after a restore
}

// Faults returns the catalogue, in the contract's order of what each fault breaks first.
func Faults() []Fault {
	all := slices.Concat(turnFaults, changeFaults, externalFaults, callFaults, lifeFaults, hardFaults)
	for i, f := range all {
		all[i].Requirements = slices.Clone(f.Requirements)
		if f.Class == "" {
			all[i].Class = Stock
		}
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return place(a.Requirements[0]) - place(b.Requirements[0]) })
	return all
}

var byName = func() map[string]Fault {
	index := make(map[string]Fault)
	for _, f := range Faults() {
		index[f.Name] = f
	}
	return index
}()

// Lookup returns the fault of that name.
func Lookup(name string) (Fault, bool) {
	f, known := byName[name]
	f.Requirements = slices.Clone(f.Requirements)
	return f, known
}

// requirements are the contract's identifiers in its order.
var requirements = strings.Fields(`
	TURN-1 TURN-2 TURN-3 TURN-4 TURN-5 TURN-6 TURN-7 TURN-8 TURN-9
	CHG-1 CHG-2 CHG-3 CHG-4 CHG-5 CHG-6 MODE-1 MODE-2 MODE-3
	EXT-1 EXT-2 EXT-3 EXT-4 EXT-5 EXT-6 EXT-7 EXT-8 EXT-9 EXT-10 EXT-11 EXT-12 EXT-13 EXT-14
	REF-1 REF-2 REF-3 REF-4 REF-5 REF-6 REF-7 REF-8 REF-9 REF-10 REF-11
	VIEW-1 VIEW-2 VIEW-3 INT-1 INT-2 LIFE-1 LIFE-2 LIFE-3
	DUR-1 DUR-2 DUR-3 DUR-4 DUR-5 DUR-6 CMD-1 CMD-2 CMD-3`)

func place(requirement string) int { return slices.Index(requirements, requirement) }
