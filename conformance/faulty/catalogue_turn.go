package faulty

// The faults of turns and captures.
const (
	modelPerStep                = "model-per-step"
	instructionsPerStep         = "instructions-per-step"
	toolsPerStep                = "tools-per-step"
	dispatchByLiveName          = "dispatch-by-live-name"
	captureReusedAfterInterrupt = "capture-reused-after-interrupt"
	modeToolsOneTurnLate        = "mode-tools-one-turn-late"
	namesFolded                 = "names-folded"
	declaredFirstBuiltWins      = "declared-first-built-wins"
	declaredLostOnClear         = "declared-lost-on-clear"
	captureAtSubmit             = "capture-at-submit"
	unknownToolNearest          = "unknown-tool-nearest"
	unknownToolSilent           = "unknown-tool-silent"
	dispatchAllModes            = "dispatch-all-modes"
	clearedToolStillRuns        = "cleared-tool-still-runs"
	failedTurnDropsQueue        = "failed-turn-drops-queue"
	failedTurnFaultsLoop        = "failed-turn-faults-loop"
	clientPanicWedges           = "client-panic-wedges"
	toolPanicStopsLoop          = "tool-panic-stops-loop"
	lifoQueue                   = "lifo-queue"
	turnStartsDuringTool        = "turn-starts-during-tool"
	interruptedTurnRetried      = "interrupted-turn-retried"
	stepAfterEnd                = "step-after-end"
	remainingToolsAfterEnd      = "remaining-tools-after-end"
	slotsByInstallOrder         = "slots-by-install-order"
	usedToolsFirst              = "used-tools-first"
)

var turnFaults = []Fault{
	{
		Name: modelPerStep, Doc: "each model request takes the model and effort in force, not the turn's",
		Requirements: []string{"TURN-1", "TURN-2"}, Seen: "F02, letta-ai/letta-code#3730",
	},
	{
		Name: instructionsPerStep, Doc: "each model request takes the instructions in force, not the turn's",
		Requirements: []string{"TURN-1", "TURN-2"},
	},
	{
		Name: toolsPerStep, Doc: "each step offers and calls the tools in force, not the turn's",
		Requirements: []string{"TURN-1", "TURN-5"},
	},
	{
		Name: dispatchByLiveName, Doc: "a tool call runs what is installed under the name now, not what the turn captured",
		Requirements: []string{"TURN-1", "TURN-5", "EXT-2"}, Seen: "F03, vercel/ai#13448",
	},
	{
		Name: captureReusedAfterInterrupt, Doc: "the turn after an interrupted one runs with the interrupted one's capture",
		Requirements: []string{"TURN-2", "TURN-4"},
	},
	{
		Name: modeToolsOneTurnLate, Doc: "the first turn after a change of mode still has the declared tools of the mode before",
		Requirements: []string{"TURN-2", "MODE-2", "TURN-3", "TURN-4"},
	},
	{
		Name: namesFolded, Doc: "tools are called by a simplified name, so that of two names that look alike only one can be reached",
		Requirements: []string{"TURN-3", "TURN-1", "EXT-5", "TURN-5"}, Seen: "F22, google-gemini/gemini-cli#28970, sourcebot-dev/sourcebot#1423",
	},
	{
		Name: declaredFirstBuiltWins, Doc: "instances of declared tools are kept by name, so that a mode's own instance never runs",
		Requirements: []string{"TURN-3", "MODE-2", "TURN-1"},
	},
	{
		Name: declaredLostOnClear, Doc: "clearing a slot puts the tool list together again without the declared tools",
		Requirements: []string{"TURN-3", "EXT-2", "EXT-3"},
	},
	{
		Name: captureAtSubmit, Doc: "an input captures when it is accepted, not when its turn starts",
		Requirements: []string{"TURN-4", "TURN-7", "TURN-2", "DUR-6"},
	},
	{
		Name: unknownToolNearest, Doc: "a call of a tool that is not offered runs the first tool that is",
		Requirements: []string{"TURN-5"},
	},
	{
		Name: unknownToolSilent, Doc: "a call of a tool that is not offered is passed over without a word to the model",
		Requirements: []string{"TURN-5"},
	},
	{
		Name: dispatchAllModes, Doc: "a tool declared in any mode can be called in every mode",
		Requirements: []string{"TURN-5", "TURN-1"},
	},
	{
		Name: clearedToolStillRuns, Doc: "a cleared tool is no longer offered, and runs when the model calls it all the same",
		Requirements: []string{"TURN-5", "EXT-3", "EXT-2"}, Seen: "F03, vercel/ai#13448",
	},
	{
		Name: failedTurnDropsQueue, Doc: "a failed turn drops the queued inputs",
		Requirements: []string{"TURN-6", "LIFE-3", "TURN-7"},
	},
	{
		Name: failedTurnFaultsLoop, Doc: "a failed turn faults the loop",
		Requirements: []string{"TURN-6", "REF-1", "REF-11", "LIFE-3"},
	},
	{
		Name: clientPanicWedges, Doc: "a panic of the model client is recovered, and its turn never ends",
		Requirements: []string{"TURN-6", "TURN-7"}, Seen: "F25, charmbracelet/fantasy#325",
	},
	{
		Name: toolPanicStopsLoop, Doc: "a panicking tool shuts the loop down",
		Requirements: []string{"TURN-6", "LIFE-1", "REF-2", "REF-11", "LIFE-3", "INT-1"}, Seen: "F25, charmbracelet/fantasy#325",
	},
	{
		Name: lifoQueue, Doc: "the newest input runs first",
		Requirements: []string{"TURN-7"},
	},
	{
		Name: turnStartsDuringTool, Doc: "the next turn starts while the tools of the one in flight run",
		Requirements: []string{"TURN-7"},
	},
	{
		Name: interruptedTurnRetried, Doc: "an interrupted turn's input is run again",
		Requirements: []string{"TURN-7", "INT-1", "TURN-8", "DUR-3", "INT-2", "TURN-1"},
	},
	{
		Name: stepAfterEnd, Doc: "an interrupted turn asks the model again when its tool returns",
		Requirements: []string{"TURN-8", "INT-2"},
	},
	{
		Name: remainingToolsAfterEnd, Doc: "the calls of a step run one after the other, and go on after the turn has ended",
		Requirements: []string{"TURN-8", "LIFE-2"},
	},
	{
		Name: slotsByInstallOrder, Doc: "slots are offered in the order of their installation",
		Requirements: []string{"TURN-9"},
	},
	{
		Name: usedToolsFirst, Doc: "tools that were used more are offered first",
		Requirements: []string{"TURN-9"},
	},
}
