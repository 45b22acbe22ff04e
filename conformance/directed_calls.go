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

// directedWaits are the scenarios of the group "Refusals and calls" about who waits for what.
var directedWaits = []Directed{
	{
		Requirement: "REF-7",
		Name:        "a tool that changes the loop",
		Why: "A tool changes the effort, reads the handle and hands in an input, all from inside its turn. None of these calls may wait for " +
			"the turn: it cannot end before they return.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 change effort=high inside=a1
			  a3 read inside=a1
			  a4 submit inside=a1`,
	},
	{
		Requirement: "REF-7",
		Name:        "calls while a model request hangs",
		Why:         "The model does not answer. Changes, inputs, reads and an interrupt are not its business and must return at once.",
		Workload: `
			client a
			  a1 submit
			tail
			  z1 set-mode mode=plan
			  z2 submit
			  z3 read
			  z4 interrupt`,
		Schedule: `at a1 request 1 verdict held`,
	},
	{
		Requirement: "REF-7",
		Name:        "the context of a call that waits for its append ends",
		Why: "A call whose append is outstanding waits for it, past its own context; one that waits for another's append returns when its context " +
			"ends, and not before.",
		Workload: `
			client a
			  a1 change effort=high cancel
			client b
			  b1 set-mode mode=plan cancel
			  b2 read`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run "cancel b1"
			after b1 cancel 1 run "cancel a1"
			at a1 append 1 verdict slow`,
	},
	{
		Requirement: "REF-7",
		Name:        "a change waits for an append that hangs, and is called off",
		Why: "The journal does not answer, and a second change waits for the first one's append. Its context ends: it must return now, whatever " +
			"becomes of the append. A loop whose waiting calls look at the append only hangs with it.",
		Workload: `
			client a
			  a1 change effort=high
			client b
			  b1 set-mode mode=plan cancel`,
		Schedule: `
			after a1 call 1 run b
			after b1 call 1 run "cancel b1"
			at a1 append 1 verdict held`,
	},
	{
		Requirement: "REF-7",
		Name:        "the context of a call whose build hangs ends",
		Why:         "A build hangs, and the caller's context ends. The call must return: it may not wait for a build past its context.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x cancel
			client b
			  b1 read
			  b2 read`,
		Schedule: `
			after a1 call 1 run "build a1"
			at a1 build 1 verdict held
			after a1 build 1 run "cancel a1"`,
	},
	{
		Requirement: "REF-8",
		Name:        "the context of an input ends while its turn is in flight",
		Why: "The context that an input was handed in with ends after Submit returned. It bounded that call: the turn must go on to its end. A loop " +
			"that hands it to the turn loses the turn.",
		Workload: `
			client a
			  a1 submit steps=d1 cancel
			  a2 submit`,
		Schedule: `
			after a1 call 1 run "model a1"
			after a1 request 1 run "cancel a1"`,
	},
	{
		Requirement: "REF-8",
		Name:        "the context of an installation ends",
		Why: "The contexts that external tools were installed with, and that their input was handed in with, end. Neither has anything to do with " +
			"the runs of the tools.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 submit steps=x cancel
			  a3 submit`,
		Schedule: `
			after a2 call 1 run "model a2"
			after a2 request 1 run "cancel a2"`,
	},
	{
		Requirement: "REF-9",
		Name:        "no time passes",
		Why: "Nothing outside is slow: the turn, the change and the shutdown end without any time passing. A loop that waits a moment before it " +
			"starts, or gives a shutdown its grace, does so in every test and at every end of a process.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 change effort=high
			tail
			  z1 submit
			  z2 shutdown`,
	},
	{
		Requirement: "REF-10",
		Name:        "an unknown mode after the exit",
		Why: "The loop has exited, and the mode is not declared; the batch is empty. Either reason is right, and the call is refused: the contract " +
			"does not say which check comes first.",
		Workload: `
			tail
			  z1 shutdown
			  z2 set-mode mode=nowhere
			  z3 change`,
	},
	{
		Requirement: "REF-10",
		Name:        "a bad source and a bad set",
		Why:         "Source and set are both wrong. Either may be named in a refusal, but the source is looked at before anything is built.",
		Workload: `
			client a
			  a1 replace source= tools=x:fail
			  a2 replace source=s1 generation=@129 tools=d1`,
	},
	{
		Requirement: "REF-11",
		Name:        "an effort, and a model that was pending",
		Why: "A model that supports low only is being appended, and meanwhile another call asks for effort high. The append fails, so that the " +
			"model never was in force and is no reason to refuse the effort. Later it is: then the model has been committed.",
		Workload: `
			client a
			  a1 change model=low
			client b
			  b1 change effort=high
			tail
			  z1 change model=low effort=low
			  z2 change effort=high`,
		Schedule: `
			after a1 call 1 run b
			at a1 append 1 verdict fail-before`,
	},
	{
		Requirement: "REF-11",
		Name:        "a name, and a set that was pending",
		Why: "A set with tool x is being appended, and meanwhile another source asks for that name. The append fails, so that the name is free: " +
			"the second set must be installed. Once it is, the name is taken.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			client b
			  b1 replace source=s2 tools=x
			tail
			  z1 replace source=s3 tools=x`,
		Schedule: `
			after a1 build 1 run "build b1"
			at a1 append 1 verdict fail-before`,
	},
}
