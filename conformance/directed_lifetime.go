package conformance

// directedLifetime are the scenarios of the group "Interrupt and shutdown".
var directedLifetime = []Directed{
	{
		Requirement: "INT-1",
		Name:        "an interrupt of the turn in flight",
		Why: "A turn is in flight, an input is queued, and the mode has just been changed. The interrupt ends the turn in flight as interrupted, and " +
			"nothing else: the queued input has its turn, in the new mode.",
		Workload: `
			client a
			  a1 submit
			  a2 submit
			  a3 set-mode mode=plan
			  a4 interrupt`,
		Schedule: `
			after a1 call 1 run "model a1"
			at a1 request 1 verdict held`,
	},
	{
		Requirement: "INT-1",
		Name:        "an interrupt of an idle loop",
		Why: "No turn is in flight, so that the interrupt does nothing. The next turn, and the one after, complete. A loop that remembers the " +
			"interrupt ends one of them.",
		Workload: `
			client a
			  a1 interrupt
			  a2 submit
			tail
			  z1 interrupt
			  z2 submit
			  z3 shutdown
			  z4 interrupt`,
	},
	{
		Requirement: "INT-1",
		Name:        "an interrupt while a tool is at work",
		Why: "The turn in flight is in a tool. It must end as interrupted; the next turn must complete. An interrupt that is delivered at the next " +
			"model request cancels whoever's that is.",
		Workload: `
			client a
			  a1 submit steps=d1
			client b
			  b1 interrupt
			tail
			  z1 submit`,
		Schedule: `
			after a1 call 1 run "model a1"
			after a1 request 1 run "tool a1"
			at a1 run 1 verdict held`,
	},
	{
		Requirement: "INT-2",
		Name:        "an interrupt of a tool that ignores its context",
		Why: "A tool does not return, whatever its context says. After the interrupt that context must have ended, and the turn must end without the " +
			"tool; the next one starts. A loop that waits for the tool hangs.",
		Workload: `
			client a
			  a1 submit steps=d1
			client b
			  b1 interrupt
			tail
			  z1 submit`,
		Schedule: `
			after a1 call 1 run "model a1"
			after a1 request 1 run "tool a1"
			at a1 run 1 verdict held`,
	},
	{
		Requirement: "INT-2",
		Name:        "an interrupt of a model that ignores its context",
		Why:         "The model does not answer and does not look at its context. The interrupted turn must end all the same, and the next one start.",
		Workload: `
			client a
			  a1 submit
			client b
			  b1 interrupt
			tail
			  z1 submit`,
		Schedule: `
			after a1 call 1 run "model a1"
			at a1 request 1 verdict held`,
	},
	{
		Requirement: "LIFE-1",
		Name:        "a shutdown while a tool is at work",
		Why:         "A tool does not return. Shutdown ends the turn without it and returns nil. Called again, also after the exit, it returns nil again.",
		Workload: `
			client a
			  a1 submit steps=d1
			tail
			  z1 shutdown
			  z2 shutdown`,
		Schedule: `at a1 run 1 verdict held`,
	},
	{
		Requirement: "LIFE-1",
		Name:        "a shutdown from inside a tool",
		Why:         "A tool shuts its own loop down. Shutdown must not wait for that tool: it would never return.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 shutdown inside=a1`,
	},
	{
		Requirement: "LIFE-1",
		Name:        "a shutdown during an append",
		Why: "A change is being appended. A loop with an append outstanding has not exited: Shutdown waits for it. This caller does not wait so " +
			"long: its context ends, it is told so, and the shutdown goes on. What comes later is refused: a loop that calls the shutdown off " +
			"takes it.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 shutdown cancel
			tail
			  z1 submit
			  z2 change effort=medium
			  z3 shutdown`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run "cancel b1"`,
	},
	{
		Requirement: "LIFE-1",
		Name:        "a shutdown during an append that hangs",
		Why: "The journal does not answer, so that the loop cannot exit. Shutdown's own context ends, and it must return that error: not wait for " +
			"the journal any longer.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 shutdown cancel`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run "cancel b1"
			at a1 append 1 verdict held`,
	},
	{
		Requirement: "LIFE-2",
		Name:        "tools that return after the exit",
		Why: "A shutdown ends a turn whose tool does not return. When the tool returns at last, the loop has exited: it must not ask the model, run the " +
			"next tool or write to the journal, and must leave no goroutine behind.",
		Workload: `
			client a
			  a1 submit steps=d1,d2
			tail
			  z1 shutdown`,
		Schedule: `at a1 run 1 verdict held`,
	},
	{
		Requirement: "LIFE-2",
		Name:        "a build that is going on at the exit",
		Why: "A set of tools is being built when the loop is shut down. After the exit its second definition must not be built, and nothing may be " +
			"recorded, whatever the first one comes to.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x,y
			tail
			  z1 shutdown
			  z2 replace source=s1 tools=x`,
		Schedule: `at a1 build 1 verdict held`,
	},
	{
		Requirement: "LIFE-3",
		Name:        "inputs that are queued at a shutdown",
		Why: "An input waits for the turn in flight when the loop is shut down. It never starts, and its submitter must be told: its turn ends as " +
			"dropped. One that comes after the exit is refused.",
		Workload: `
			client a
			  a1 submit
			  a2 submit
			tail
			  z1 shutdown
			  z2 submit`,
		Schedule: `at a1 request 1 verdict held`,
	},
}

// directedDurability are the scenarios of the group "Durability".
var directedDurability = []Directed{
	{
		Requirement: "DUR-1",
		Name:        "a turn and a read while a change is being appended",
		Why: "A change is on its way into the journal and may yet fail, as it does. A turn that starts now, and the handle, must not show it: if the " +
			"process died here, it would never have been.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			client b
			  b1 read
			  b2 submit`,
		Schedule: `
			after a1 call 1 run b
			after b2 call 1 run "model b2"
			at a1 append 1 verdict fail-before`,
	},
	{
		Requirement: "DUR-2",
		Name:        "what the events say",
		Why: "The events of a change and of a mode hold what comes into force by them: the whole model, not its name alone, and the new effort, not " +
			"the one before. Whoever folds the journal must get what the handle shows.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 read
			  a3 set-mode mode=plan
			  a4 read
			  a5 change effort=max
			  a6 read`,
	},
	{
		Requirement: "DUR-3",
		Name:        "a crash after a change",
		Why: "The mode and then the model are changed, and the process dies. The restored loop must be in that mode, with that model and effort: not " +
			"with those that the mode or the definition names.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			  a2 change model=fresh effort=max
			  a3 crash
			  a4 read
			  a5 submit steps=*`,
	},
	{
		Requirement: "DUR-3",
		Name:        "a crash while an append is outstanding",
		Why: "The first change has succeeded. The process dies while the second is being appended: its event is in the journal, and its caller has not " +
			"been told. The restored loop has the last durable change in force, or at least the acknowledged one.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 set-mode mode=plan
			client b
			  b1 crash
			  b2 read
			  b3 submit`,
		Schedule: `
			after a1 call 1 run "append a1"
			after a1 append 1 run a
			after a2 call 1 run "append a2"
			at a2 append 1 verdict slow
			after a2 append 1 run b`,
	},
	{
		Requirement: "DUR-3",
		Name:        "a crash with a turn in flight and an input queued",
		Why: "The process dies during a turn, with an input queued. After the restore neither is run again: the journal is of changes, and a turn that " +
			"is repeated may do twice what must be done once.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 submit
			client b
			  b1 crash
			  b2 submit`,
		Schedule: `
			after a2 call 1 run "model a1"
			after a1 request 1 run b`,
	},
	{
		Requirement: "DUR-3",
		Name:        "a journal that cannot be read to its end",
		Why: "At the restore the journal fails in the middle. What was read so far is not the truth, and no loop may start from it. The next attempt " +
			"succeeds, and shows the mode.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 set-mode mode=plan
			tail
			  z1 shutdown
			  z2 restore
			  z3 read`,
		Schedule: `at loop read 1 verdict fail`,
	},
	{
		Requirement: "DUR-3",
		Name:        "a model request that fails after a change",
		Why:         "The model of a change fails. That is the turn's trouble: the loop must not go back to another model by itself, for nobody asked for it.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 submit
			  a3 crash
			  a4 read
			  a5 submit`,
		Schedule: `
			at a2 request 1 verdict error
			after a2 call 1 run "model a2"`,
	},
	{
		Requirement: "DUR-4",
		Name:        "events and secrets",
		Why:         "Every error that the surroundings return holds a canary. A failed append and a failed request must leave no trace of it in the journal.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 submit steps=d1
			  a3 set-mode mode=plan`,
		Schedule: `
			at a1 append 1 verdict fail-before
			at a2 request 1 verdict error`,
	},
	{
		Requirement: "DUR-4",
		Name:        "schemas, descriptions and build errors",
		Why: "Schemas, descriptions, bindings and the errors of builds hold a canary. A set that is installed, and one whose build fails, must leave no " +
			"trace of it in the journal: of tools it has names and digests.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s2 tools=y:fail
			  a3 replace source=s2 tools=y:badschema`,
	},
	{
		Requirement: "DUR-6",
		Name:        "a turn after an ambiguous append",
		Why: "The append of a change fails, and its event is in the journal. No turn may start on the state before it: the loop reads the journal back, " +
			"and goes on with what is there, or faults and refuses inputs.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 submit
			  a3 change effort=medium
			tail
			  z1 submit`,
		Schedule: `at a1 append 1 verdict fail-after`,
	},
	{
		Requirement: "DUR-6",
		Name:        "an ambiguous append, and a journal that cannot be read",
		Why: "The append fails with its event written, and the journal cannot be read back to its end. Half of a journal does not say that an event is not " +
			"there: the loop must ask again, or fault. Then it takes no input and no change.",
		Workload: `
			client a
			  a1 change effort=high
			tail
			  z1 change effort=medium
			  z2 submit`,
		Schedule: `
			at a1 append 1 verdict fail-after
			at loop read 1 verdict fail`,
	},
	{
		Requirement: "DUR-6",
		Name:        "an input while it is not known what the journal holds",
		Why: "While the loop finds out whether the event of a failed append is in the journal, an input comes. It may be refused or wait; its turn must not " +
			"start before that is known.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 submit
			  b2 change effort=medium`,
		Schedule: `
			at a1 append 1 verdict fail-after
			after a1 call 1 run "append a1"
			after a1 append 1 run b`,
	},
}
