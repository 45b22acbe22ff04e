package conformance

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
