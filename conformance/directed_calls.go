package conformance

// directedCalls are the scenarios of the group "Refusals and calls" about what an answer means, and of the group "Handle".
var directedCalls = []Directed{
	{
		Requirement: "REF-1",
		Name:        "refusals change nothing",
		Why: "An unknown mode, an effort that the model lacks and an empty batch are refused, each as a *loop.ChangeError of a declared kind. " +
			"The handle and the next turn show what was in force before.",
		Workload: `
			client a
			  a1 set-mode mode=nowhere
			  a2 change effort=max
			  a3 change
			  a4 read
			  a5 submit steps=*`,
	},
	{
		Requirement: "REF-1",
		Name:        "a refusal wraps its cause",
		Why: "The append fails before anything is written. The refusal must wrap the journal's error, so that errors.Is finds it, and the " +
			"effort stays as it was.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 read
			  a3 submit`,
		Schedule: `at a1 append 1 verdict fail-before`,
	},
	{
		Requirement: "REF-1",
		Name:        "refused sets of tools",
		Why: "A set with a name that is taken and one that cannot be built are refused, as *loop.ChangeErrors with the cause inside. The slots " +
			"still have the tools that they had. A loop that empties a slot before it knows what comes into it fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s2 tools=z
			  a3 replace source=s1 tools=d1
			  a4 replace source=s1 tools=y
			  a5 submit steps=*`,
		Schedule: `at a4 build 1 verdict fail`,
	},
	{
		Requirement: "REF-2",
		Name:        "changes after the exit",
		Why: "Shutdown has returned nil. From then on every change is refused as loop_exited, and nothing commits. A loop that answers that it " +
			"is shutting down, or commits, fails here.",
		Workload: `
			client a
			  a1 change effort=high
			tail
			  z1 shutdown
			  z2 set-mode mode=plan
			  z3 change effort=medium`,
	},
	{
		Requirement: "REF-2",
		Name:        "external tools after the exit",
		Why:         "Shutdown has returned nil. A set of tools is refused as loop_exited, like any other change; nothing is built or recorded.",
		Workload: `
			tail
			  z1 shutdown
			  z2 replace source=s1 tools=x`,
	},
	{
		Requirement: "REF-2",
		Name:        "changes during a shutdown",
		Why:         "A shutdown waits for an append. A change that comes now may commit or be refused; once one was refused, no later one may commit.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 shutdown
			client c
			  c1 set-mode mode=plan
			  c2 set-mode mode=quick`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run c
			after c1 call 1 run c`,
	},
	{
		Requirement: "REF-3",
		Name:        "a change that waits is called off",
		Why: "One change is being appended, another waits for it, and the context of the one that waits ends. It is refused as context_done, with " +
			"the context's error inside, and must never commit. A loop whose queue still holds it commits it later.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 set-mode mode=plan cancel
			tail
			  z1 submit`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run "cancel b1"`,
	},
	{
		Requirement: "REF-3",
		Name:        "a change that is being appended is called off",
		Why: "The context of a change ends while its append is outstanding. That cannot be called off any more: the call waits for the append " +
			"and says what became of it. A loop that answers context_done, and commits, has lied.",
		Workload: `
			client a
			  a1 change effort=high cancel
			  a2 read
			client b
			  b1 set-mode mode=plan cancel
			tail
			  z1 submit`,
		Schedule: `
			after a1 call 1 run "cancel a1"
			after a1 cancel 1 run b
			after b1 call 1 run "cancel b1"`,
	},
	{
		Requirement: "REF-4",
		Name:        "a shutdown while changes are on their way",
		Why: "A change is being appended, another one waits, and a shutdown comes. Whoever is told that the loop is shutting down or has exited " +
			"may rely on it: that change is not in the journal, now or later.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 set-mode mode=plan
			client c
			  c1 shutdown
			tail
			  z1 change effort=medium`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run c`,
	},
	{
		Requirement: "REF-5",
		Name:        "an append that fails before the write",
		Why: "The append of a change fails, and its event is not in the journal. The change is refused as durable_append_failed with the journal's " +
			"error inside, and the effort stays low. A loop that takes the change over all the same has a state that a restore will not give.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 read
			  a3 submit`,
		Schedule: `at a1 append 1 verdict fail-before`,
	},
	{
		Requirement: "REF-5",
		Name:        "an append that fails after the write",
		Why: "The append of a change fails, and its event is in the journal all the same. Either the loop finds out and the change succeeds; or it " +
			"is refused as durable_append_failed, and the loop faults: nothing may commit on top of what is not known.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 change effort=medium
			  a3 submit`,
		Schedule: `at a1 append 1 verdict fail-after`,
	},
	{
		Requirement: "REF-5",
		Name:        "an append that fails after a restore",
		Why: "The first change after a restore cannot be appended, and is not in the journal; the change before the restore is. A loop that counts " +
			"its event ids from the start again finds the old event when it reads back, and takes it for the new one.",
		Workload: `
			client a
			  a1 change effort=high
			tail
			  z1 shutdown
			  z2 restore
			  z3 change effort=medium`,
		Schedule: `at z3 append 1 verdict fail-before`,
	},
	{
		Requirement: "REF-6",
		Name:        "changes are recorded before they succeed",
		Why: "When SetMode or Change returns nil its event is in the journal. A loop that writes later, or when the next turn starts, has promised " +
			"what a crash may take back.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 set-mode mode=plan
			  a3 submit`,
	},
	{
		Requirement: "REF-6",
		Name:        "once more after a failure",
		Why: "The append of a change fails, nothing is written, and the caller tries again. This time the event must be written: a loop that takes " +
			"the change for done already, or has given up its journal, answers with an empty success.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 change effort=high
			  a3 set-mode mode=plan`,
		Schedule: `at a1 append 1 verdict fail-before`,
	},
	{
		Requirement: "VIEW-1",
		Name:        "the handle after a change and after a mode",
		Why: "After a change, and after a change of mode, the handle must show them: the mode, the model, and the effort in the model's sampling. A " +
			"loop whose handle shows what the last turn had fails here.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 read
			  a3 set-mode mode=plan
			  a4 read`,
	},
	{
		Requirement: "VIEW-2",
		Name:        "reads around a change that fails",
		Why: "A change is being appended, and somebody reads the handle before the append fails, and afterwards. Reads never go back: a loop that " +
			"shows the change in the first one must take it back in the second.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			client b
			  b1 read
			  b2 read
			tail
			  z1 read`,
		Schedule: `
			after a1 call 1 run b
			at a1 append 1 verdict fail-before`,
	},
	{
		Requirement: "VIEW-2",
		Name:        "reads across a change of mode",
		Why:         "Mode and Model are read again and again while the mode changes. Whoever has seen the new mode must not see the old model after that.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			client b
			  b1 read
			  b2 read
			tail
			  z1 read`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run "append a1"`,
	},
	{
		Requirement: "VIEW-3",
		Name:        "a reader writes over the model that it got",
		Why: "The model that the handle returns is the reader's own. This reader writes over everything that it refers to; the next read and the " +
			"next turn must not show that. A loop that hands out its own slices and pointers fails here.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 read
			  a3 read
			  a4 submit`,
	},
}
