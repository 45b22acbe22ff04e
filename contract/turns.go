package contract

var turns = []Requirement{
	{
		ID: "TURN-1", Level: Must, Group: GroupTurns,
		Title: "a turn uses its capture, whatever commits meanwhile",
		Text: "Every model request and tool call of a turn uses the turn's capture, whatever commits meanwhile: " +
			"instructions, model, effort, tool names and the live tool instances themselves.",
	},
	{
		ID: "TURN-2", Level: Must, Group: GroupTurns,
		Title: "a capture is one whole state, and never goes back",
		Text: "A capture is one whole committed state, never a mix of two; never older than the last change " +
			"acknowledged before its input was submitted; captures never go back in commit order from one turn to " +
			"the next.",
	},
	{
		ID: "TURN-3", Level: Must, Group: GroupTurns,
		Title: "tool names are unique, every declared tool is there",
		Text: "Tool names within one capture are unique; every declared tool of the captured mode is there, under " +
			"its own name, as its own instance.",
	},
	{
		ID: "TURN-4", Level: Must, Group: GroupTurns,
		Title: "the next capture has every acknowledged change",
		Text: "A change acknowledged while the loop was idle, or before the previous turn's `Done` closed, is in the " +
			"next capture.",
	},
	{
		ID: "TURN-5", Level: Must, Group: GroupTurns,
		Title: "a tool outside the capture does not run",
		Text: "A tool call that names a tool outside the capture runs nothing; the model is told so, or the turn " +
			"fails.",
	},
	{
		ID: "TURN-6", Level: Must, Group: GroupTurns,
		Title: "a failing request or tool ends no more than its turn",
		Text: "A failing or panicking model request or tool ends or continues its own turn as the loop decides, and " +
			"never the loop, its configuration or a queued input.",
	},
	{
		ID: "TURN-7", Level: Must, Group: GroupTurns,
		Title: "turns run one at a time, each input has one outcome",
		Text: "Turns run one at a time, in the order in which their inputs were accepted; each captures after the " +
			"previous turn has ended; each accepted input gets exactly one outcome. (A subject may declare that an " +
			"input can join the turn in flight: such an input shares that turn's capture and outcome, and TURN-2 " +
			"speaks of the turn's first input.)",
	},
	{
		ID: "TURN-8", Level: Must, Group: GroupTurns,
		Title: "nothing of a turn begins after its end",
		Text:  "After a turn has ended, none of its model requests or tool calls begins.",
	},
	{
		ID: "TURN-9", Level: Must, Group: GroupTurns,
		Title: "equal configurations offer tools in equal order",
		Text: "Equal configurations offer their tools in the same order. (Recommended: declared tools first, then " +
			"the slots by source.)",
	},
}

var changes = []Requirement{
	{
		ID: "CHG-1", Level: Must, Group: GroupChange,
		Title: "an empty batch is refused, the last value wins",
		Text: "An empty batch, or one that selects neither a model nor an effort, is refused: `ChangeNoChanges`. " +
			"Within a batch the last value for a field wins; a nil element is ignored.",
	},
	{
		ID: "CHG-2", Level: Must, Group: GroupChange,
		Title: "a batch commits whole, in one event, or not at all",
		Text: "The whole batch is validated before anything is applied; model and effort of one batch commit in one " +
			"event, or neither does. A batch equal to the state in force commits too.",
	},
	{
		ID: "CHG-3", Level: Must, Group: GroupChange,
		Title: "only a valid, declared model can be selected",
		Text: "A model is valid when its structure is valid, its key (provider and name) is complete, its transport " +
			"(provider, API format, base URL) is one that the definition declares, and it supports the effort that " +
			"the batch ends with. Otherwise `ChangeInvalidModel` (structure, key, transport) or " +
			"`ChangeInvalidEffort` (effort).",
	},
	{
		ID: "CHG-4", Level: Must, Group: GroupChange,
		Title: "the effort is held against the model it is for",
		Text: "An effort is validated against the model selected by the same batch, else the current model; the " +
			"order of the two in the batch does not matter. Changing the model alone keeps the current effort, " +
			"which the new model must support.",
	},
	{
		ID: "CHG-5", Level: Must, Group: GroupChange,
		Title: "a change value is immutable",
		Text:  "A change value is immutable: what the caller does to a model after handing it over changes nothing.",
	},
	{
		ID: "CHG-6", Level: Must, Group: GroupChange,
		Title: "the definition is unchanged",
		Text:  "The definition is unchanged: a new loop from it starts as the first one did.",
	},
}

var setMode = []Requirement{
	{
		ID: "MODE-1", Level: Must, Group: GroupSetMode,
		Title: "only a declared mode can be selected",
		Text: "Only a declared mode, or the base mode \"\", can be selected; anything else is `ChangeInvalidMode` " +
			"with `Mode` set.",
	},
	{
		ID: "MODE-2", Level: Must, Group: GroupSetMode,
		Title: "a mode's values come together, slots stay",
		Text: "Selecting a mode, the current one too, puts mode, instructions, model, effort and declared tools to " +
			"that mode's values together, in one event; slots stay.",
	},
	{
		ID: "MODE-3", Level: Must, Group: GroupSetMode, Needs: []Capability{Restore},
		Title: "a restore into an unknown mode is a typed error",
		Text: "A restore whose journal ends in a mode that the definition no longer has fails with a typed error, " +
			"and leaves the journal as it was.",
	},
}
