package contract

var refusals = []Requirement{
	{
		ID: "REF-1", Level: Must, Group: GroupRefusals,
		Title: "a refusal is a ChangeError and changed nothing",
		Text: "Every refusal is a `*loop.ChangeError` of a declared kind, wraps its cause if there is one, and " +
			"changed nothing: no event, no configuration, no slot.",
	},
	{
		ID: "REF-2", Level: Must, Group: GroupRefusals,
		Title: "no change commits once one met the shutdown",
		Text: "A change that overlaps `Shutdown` commits, or is refused as shutting down or exited; once one was so " +
			"refused, none that begins later commits. Begun after a `Shutdown` that returned nil: " +
			"`ChangeLoopExited`.",
	},
	{
		ID: "REF-3", Level: Must, Group: GroupRefusals,
		Title: "ChangeContextDone means: did not, will not commit",
		Text:  "`ChangeContextDone` wraps the context's error and means that the change did not and will not commit.",
	},
	{
		ID: "REF-4", Level: Must, Group: GroupRefusals,
		Title: "exited, shutting down: did not, will not commit",
		Text:  "`ChangeLoopExited` and `ChangeLoopShuttingDown` mean that the change did not and will not commit.",
	},
	{
		ID: "REF-5", Level: Must, Group: GroupRefusals,
		Title: "a failed append is refused, and settled or a fault",
		Text: "After a failed append: if the event is not in the journal, `ChangeDurableAppendFailed` wrapping the " +
			"journal's error, and the prior state stays in force; if it is (ambiguous), either success, or " +
			"`ChangeDurableAppendFailed` and a fault. An append that failed with the caller's context error may be " +
			"reported as `ChangeContextDone` where REF-3 holds.",
	},
	{
		ID: "REF-6", Level: Must, Group: GroupRefusals,
		Title: "success means committed",
		Text:  "Success means committed: the event is in the journal before the call returns.",
	},
	{
		ID: "REF-7", Level: Must, Group: GroupRefusals,
		Title: "a call waits for an append, and for nothing else",
		Text: "A call whose append is outstanding waits for it, even past its own context; any other call returns " +
			"when its context ends. A call may wait for another's append, never for another caller, a build of " +
			"another, or a turn. A tool that calls the controller from inside a turn does not deadlock it.",
	},
	{
		ID: "REF-8", Level: Must, Group: GroupRefusals,
		Title: "a call's context bounds that call only",
		Text: "The context of a call bounds that call and nothing else: ending it later stops no turn, no loop and " +
			"no other call.",
	},
	{
		ID: "REF-9", Level: Should, Group: GroupRefusals,
		Title: "nothing waits for a timer of the loop's own",
		Text:  "No call, turn or shutdown waits for a timer of the loop's own while nothing outside is outstanding.",
	},
	{
		ID: "REF-10", Level: Must, Group: GroupRefusals,
		Title: "of several refusals any is right",
		Text:  "When several refusals apply, any of them is right, except that EXT-1 and EXT-10 come before any build.",
	},
	{
		ID: "REF-11", Level: Must, Group: GroupRefusals,
		Title: "a refusal is justified by a committed state",
		Text: "A refusal is justified by a committed state that was in force at some instant between call and " +
			"return, never by a change that was pending and then failed.",
	},
}

var handle = []Requirement{
	{
		ID: "VIEW-1", Level: Must, Group: GroupHandle,
		Title: "the handle shows every acknowledged change",
		Text:  "After an acknowledged SetMode or Change, `Mode()` and `Model()` report that state or a later commit.",
	},
	{
		ID: "VIEW-2", Level: Must, Group: GroupHandle,
		Title: "reads never go back in commit order",
		Text: "A read that begins after another read returned, by anyone and across both methods, is never older in " +
			"commit order; when all is quiet reads equal the last commit.",
	},
	{
		ID: "VIEW-3", Level: Must, Group: GroupHandle,
		Title: "Model shares no memory with the loop",
		Text:  "What `Model()` returns shares no memory with the loop: writing to it changes nothing.",
	},
}
