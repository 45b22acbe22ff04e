package workload

import "slices"

// EveryTool, as a call in a step of a submit, stands for a call of every tool that the model is offered.
const EveryTool = "*"

// Ghost is a tool that no loop ever offers.
const Ghost = "ghost"

// The modes that the definition declares.
const (
	ModePlan  = "plan"
	ModeQuick = "quick"
	ModeBare  = "bare"
)

// Modes returns the modes that the definition declares, without the base mode.
func Modes() []string { return []string{ModePlan, ModeQuick, ModeBare} }

// UndeclaredModes returns names that are no mode of the definition, some of which look like one.
func UndeclaredModes() []string { return slices.Clone(undeclaredModes) }

var undeclaredModes = []string{"nowhere", "Plan", "plan "}

// DeclaredTools returns the names of the tools that the definition declares, in one mode or another.
func DeclaredTools() []string { return []string{"d1", "d2", "d3"} }

// ExternalTools returns the names of tools that come from sources.
func ExternalTools() []string { return []string{"x", "y", "z"} }

// LookAlikes returns names that somebody might take for a declared or external one, or for each other: by case, width, script,
// characters that do not show, normalisation, or the first 64 bytes. All differ as bytes, and so are different names (EXT-5).
func LookAlikes() []string {
	return []string{
		"D1", "d1 ", "d1\u200b", "\uff44\uff11", // full width d1
		"X", "x ", "x\u200b", "\uff38", "\u0445", // full width X, Cyrillic x
		"\u00e9", "e\u0301", // e with an acute accent, in one character and in two
		Expand("@64+1"), Expand("@64+2"),
	}
}

// Sources returns the names of sources.
func Sources() []string { return []string{"s1", "s2", "s3"} }

// The models that a change can select.
const (
	FreshModel      = "fresh"      // valid, of a name that no other operation uses, supports every effort
	PlainModel      = "plain"      // valid, supports no effort
	LowModel        = "low"        // valid, supports low and no other
	BaseModel       = "base"       // equal to the definition's base model
	KeylessModel    = "keyless"    // lacks its provider or name
	MalformedModel  = "malformed"  // its structure is not valid
	UndeclaredModel = "undeclared" // its transport is not declared
)

// Models returns the models that a change can select.
func Models() []string {
	return []string{FreshModel, PlainModel, LowModel, BaseModel, KeylessModel, MalformedModel, UndeclaredModel}
}

// NoEffort is written for the effort that asks for nothing, and BogusEffort is none at all.
const (
	NoEffort    = "none"
	BogusEffort = "bogus"
)

// Efforts returns the efforts that a change can select, from the least to the most, and [BogusEffort].
func Efforts() []string {
	return []string{NoEffort, "minimal", "low", "medium", "high", "xhigh", "max", BogusEffort}
}

// What a definition in a set of external tools does. Without a behaviour it builds one good tool of its own name.
const (
	NilDefinition = "nil"       // there is no definition
	NilTool       = "niltool"   // it builds a nil tool
	BuildFails    = "fail"      // its build fails
	BuildPanics   = "panic"     // its build panics
	NilInfo       = "nilinfo"   // its tool's info is nil
	InfoFails     = "infofail"  // its tool's info fails
	InfoPanics    = "infopanic" // its tool's info panics
	EmptyName     = "badname"   // its tool's name is empty
	LongName      = "longname"  // its tool's name has 129 bytes
	BadUTF8       = "badutf8"   // its tool's name is not UTF-8
	BadSchema     = "badschema" // its tool's schema is not JSON
	BlankSchema   = "blank"     // its tool's schema is blank, which is good
	Pair          = "pair"      // it builds two tools, NAME and NAME2
	Changing      = "changing"  // its tool's info answers something else later, and overwrites the bytes that it handed out
	NoTool        = "none"      // it builds no tool, which is good
)

// Behaviours returns what a definition in a set of external tools can do.
func Behaviours() []string { return slices.Clone(behaviours) }

var behaviours = []string{
	NilDefinition, NilTool, BuildFails, BuildPanics, NilInfo, InfoFails, InfoPanics, EmptyName, LongName, BadUTF8, BadSchema,
	BlankSchema, Pair, Changing, NoTool,
}
