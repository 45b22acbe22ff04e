package contract

var externalTools = []Requirement{
	{
		ID: "EXT-1", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "sources and generations are checked before a build",
		Text: "`Source` is 1–64 bytes and `Generation` 1–128 bytes of valid UTF-8 without control characters; " +
			"otherwise `ChangeInvalidExternalSource` / `ChangeInvalidExternalGeneration`, before anything is built.",
	},
	{
		ID: "EXT-2", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "a replacement replaces one slot as a whole",
		Text: "A replacement replaces one source's slot as a whole, in one event. Other slots and declared tools are " +
			"untouched.",
	},
	{
		ID: "EXT-3", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "no definitions clear the slot",
		Text:  "An empty `Definitions` clears the source's slot (and is recorded, with no tools).",
	},
	{
		ID: "EXT-4", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "one bad definition refuses the whole set",
		Text: "Every definition is built and described before the loop is asked to install. A nil definition, a " +
			"failed build, a nil tool, failed or nil info, a name that is not 1–128 bytes of valid UTF-8, more " +
			"than 512 tools, or a schema that is neither blank nor valid JSON refuses the whole set: " +
			"`ChangeExternalBuildFailed`; `Tool` = the tool's name, else the definition's, else \"\".",
	},
	{
		ID: "EXT-5", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "one name twice refuses the whole set",
		Text: "A tool name (compared byte by byte) equal to a declared tool's in ANY mode, to another in the set, or " +
			"to one in another source's slot refuses the whole set: `ChangeExternalToolCollision`, `Tool` = the " +
			"name. Of two replacements from different sources racing on one name at most one commits.",
	},
	{
		ID: "EXT-6", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "a slow build does not block the loop",
		Text:  "A slow or blocked build never blocks the loop: turns, other changes, interrupts and shutdown go on.",
	},
	{
		ID: "EXT-7", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "the event lists exactly the tools installed",
		Text: "The event lists, in install order, name and schema digest of exactly the tools installed. The digest " +
			"is the lowercase hex SHA-256 of the compacted schema (of nothing for a blank one).",
	},
	{
		ID: "EXT-8", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "slots survive SetMode and Change",
		Text:  "Slots survive SetMode and Change.",
	},
	{
		ID: "EXT-9", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools, Restore},
		Title: "after a restore the slots are empty",
		Text:  "After a restore every slot is empty, and the same sets can be installed again.",
	},
	{
		ID: "EXT-10", Level: Must, Group: GroupExternal, Needs: []Capability{Foreign},
		Title: "a foreign loop has no installer, or refuses at once",
		Text: "A foreign loop does not offer the installer interface, or refuses at once with " +
			"`ChangeExternalToolsUnsupported`; nothing is built.",
	},
	{
		ID: "EXT-11", Level: Should, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "a panicking definition is a build failure",
		Text: "A definition or tool that panics while it is built or described is a build failure, and the loop " +
			"lives on.",
	},
	{
		ID: "EXT-12", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "the caller may reuse the Definitions slice",
		Text:  "The caller may reuse the `Definitions` slice after the call returns; the slot does not change.",
	},
	{
		ID: "EXT-13", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "name, description and schema are fixed",
		Text: "Name, description and schema of a tool are fixed when it is installed (a declared tool: when the loop " +
			"starts). What the tool answers later, or does to the bytes it handed out, changes nothing that a turn " +
			"offers.",
	},
	{
		ID: "EXT-14", Level: Must, Group: GroupExternal, Needs: []Capability{ExternalTools},
		Title: "the generation is opaque",
		Text: "`Generation` is opaque: the commit order alone decides which set is in force, and the same generation " +
			"may be installed again.",
	},
}
