// Package contract has the requirements of the loop contract as Go values: what docs/contract.md says, word for word, for
// everything that names a requirement (oracles, reports, baselines, corpora).
package contract

import "slices"

// Version is the version of the loop contract that the requirements are of.
const Version = 1

// Level says what it means to break a requirement.
type Level string

// The levels.
const (
	// Must is the level of a requirement that every conforming implementation keeps.
	Must Level = "MUST"
	// Should is the level of a requirement whose breach is a warning.
	Should Level = "SHOULD"
	// Types is the level of a property of the declared types and codecs. It is no part of a subject's verdict.
	Types Level = "TYPES"
)

// Group is the heading in the contract that a requirement stands under.
type Group string

// The groups, in the contract's order.
const (
	GroupTurns      Group = "Turns"
	GroupChange     Group = "Change"
	GroupSetMode    Group = "SetMode"
	GroupExternal   Group = "External tools"
	GroupRefusals   Group = "Refusals and calls"
	GroupHandle     Group = "Handle"
	GroupInterrupt  Group = "Interrupt and shutdown"
	GroupDurability Group = "Durability"
	GroupCommands   Group = "Commands"
)

// Capability is what an implementation may have or leave out; some requirements speak only of those that have it.
type Capability string

// The capabilities.
const (
	ExternalTools Capability = "external tools" // it offers the installer interface
	Restore       Capability = "restore"        // it can be made from a journal
	Foreign       Capability = "foreign"        // it can be made over another agent
)

// Requirement is one line of the contract.
type Requirement struct {
	ID    string // as in TURN-1
	Level Level
	Group Group
	// Title is a short name of at most 52 characters, for tables. It is no part of the contract: Text alone says what is
	// required.
	Title string
	// Text is the contract's, word for word (Markdown: it has code in backquotes).
	Text string
	// Needs lists the capabilities that the requirement speaks of. It applies to an implementation that has all of them.
	Needs []Capability
}

// AppliesTo reports whether the requirement speaks of an implementation with these capabilities.
func (r Requirement) AppliesTo(capabilities []Capability) bool {
	return len(r.Lacking(capabilities)) == 0
}

// Lacking returns the capabilities that the requirement needs and that are not among those given.
func (r Requirement) Lacking(capabilities []Capability) []Capability {
	var lacking []Capability
	for _, c := range r.Needs {
		if !slices.Contains(capabilities, c) {
			lacking = append(lacking, c)
		}
	}
	return lacking
}

var (
	requirements = slices.Concat(turns, changes, setMode, externalTools, refusals, handle, interrupt, durability, commands)
	indices      = func() map[string]int {
		m := make(map[string]int, len(requirements))
		for i, r := range requirements {
			m[r.ID] = i
		}
		return m
	}()
)

// All returns every requirement in the contract's order. The caller may change what it gets.
func All() []Requirement {
	all := slices.Clone(requirements)
	for i := range all {
		all[i].Needs = slices.Clone(all[i].Needs)
	}
	return all
}

// Lookup returns the requirement with the identifier; identifiers are compared as they are written (no "turn-1").
func Lookup(id string) (Requirement, bool) {
	i, ok := indices[id]
	if !ok {
		return Requirement{}, false
	}
	r := requirements[i]
	r.Needs = slices.Clone(r.Needs)
	return r, true
}

// Index returns the requirement's position in the contract's order, from 0; -1 if there is none with the identifier.
func Index(id string) int {
	if i, ok := indices[id]; ok {
		return i
	}
	return -1
}

// Capabilities returns every capability, in the order in which they are declared.
func Capabilities() []Capability { return []Capability{ExternalTools, Restore, Foreign} }
