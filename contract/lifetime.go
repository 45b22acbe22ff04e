package contract

var interrupt = []Requirement{
	{
		ID: "INT-1", Level: Must, Group: GroupInterrupt,
		Title: "an interrupt cancels at most one turn in flight",
		Text: "An interrupt cancels at most one turn, one in flight at some instant between its call and its return, " +
			"and nothing else: committed changes and queued inputs stay. A turn in flight throughout the call ends " +
			"as interrupted unless it was already ending. With no turn in flight it is a no-op, also after the " +
			"exit.",
	},
	{
		ID: "INT-2", Level: Must, Group: GroupInterrupt,
		Title: "an interrupted turn sees its context cancelled",
		Text: "Model requests and tool calls of an interrupted turn see their context cancelled, and any that begins " +
			"after the interrupt returned sees it cancelled from the start; the turn ends even if they do not " +
			"return, and the loop goes on.",
	},
	{
		ID: "LIFE-1", Level: Must, Group: GroupInterrupt,
		Title: "shutdown ends everything, for anyone, at any time",
		Text: "Shutdown cancels the turn in flight, ends it even if its calls do not return, drops queued inputs, " +
			"returns nil when the loop has exited, and may be called by anyone at any time, again, and from inside " +
			"a tool. A loop with an append outstanding has not exited. If its own context ends first it returns " +
			"that error, and the shutdown goes on.",
	},
	{
		ID: "LIFE-2", Level: Must, Group: GroupInterrupt,
		Title: "after the exit nothing begins and nothing is left",
		Text: "After the exit nothing is appended; no model request, tool call or build begins; at rest no goroutine " +
			"of the loop is left except inside a call to its surroundings that has not returned, and what that " +
			"returns has no effect.",
	},
	{
		ID: "LIFE-3", Level: Must, Group: GroupInterrupt,
		Title: "an input refused or dropped is reported, once",
		Text:  "An input refused, or dropped by a shutdown or a fault, is reported to its submitter, once.",
	},
}

var durability = []Requirement{
	{
		ID: "DUR-1", Level: Must, Group: GroupDurability,
		Title: "nothing shows what is not durable",
		Text:  "No turn, no `Handle` and no success shows a configuration whose event is not durable.",
	},
	{
		ID: "DUR-2", Level: Must, Group: GroupDurability,
		Title: "folding the journal gives the state in force",
		Text: "Folding the journal gives the mode, the whole model descriptor and the effort in force, whenever no " +
			"append is outstanding and the loop has not faulted.",
	},
	{
		ID: "DUR-3", Level: Must, Group: GroupDurability, Needs: []Capability{Restore},
		Title: "a restore has every acknowledged change",
		Text: "After a crash at any instant and a restore, every acknowledged SetMode and Change is in force unless " +
			"a later one is; nothing that was never requested is. Queued inputs do not survive; no turn is " +
			"repeated.",
	},
	{
		ID: "DUR-4", Level: Must, Group: GroupDurability,
		Title: "live values never enter the journal",
		Text: "Schemas, descriptions, factories, instances, credentials and other live values never enter the " +
			"journal.",
	},
	{
		ID: "DUR-5", Level: Types, Group: GroupDurability,
		Title: "events encode as declared and decode to equals",
		Text: "Events encode as declared in `loop/event` and decode to equal values; an unknown type decodes as " +
			"`event.Other`, which folds ignore; a malformed event of a known type is a typed error, never skipped.",
	},
	{
		ID: "DUR-6", Level: Must, Group: GroupDurability,
		Title: "nothing goes on while journal and state disagree",
		Text: "No turn starts and no call succeeds while the journal contradicts the state in force: after an " +
			"ambiguous append a loop finds out, or faults.",
	},
}

var commands = []Requirement{
	{
		ID: "CMD-1", Level: Types, Group: GroupCommands,
		Title: "Validate refuses commands that are not whole",
		Text: "`Validate` refuses a nil `Ack`, an unbuffered `Ack`, an empty `Source`, and `Tools`/`Identities` of " +
			"different lengths, each with a typed error naming command and field.",
	},
	{
		ID: "CMD-2", Level: Types, Group: GroupCommands,
		Title: "each valid command gets one reply",
		Text:  "Each valid command gets exactly one reply, by a send that cannot block the actor.",
	},
	{
		ID: "CMD-3", Level: Types, Group: GroupCommands,
		Title: "LoopToolsResult says what the next turn sees",
		Text: "A successful `LoopToolsResult` reports the generation and the number of tools that the next turn sees " +
			"from that source.",
	},
}
