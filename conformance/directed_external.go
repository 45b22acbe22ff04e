package conformance

// directedExternal are the scenarios of the group "External tools" about what a set must be.
var directedExternal = []Directed{
	{
		Requirement: "EXT-1",
		Name:        "sources that are too long or empty",
		Why: "A source has 1 to 64 bytes. Others must be refused as invalid_external_source before anything of the set is built: a " +
			"build may have effects.",
		Workload: `
			client a
			  a1 replace source=@65 tools=x
			  a2 replace source= tools=x
			  a3 replace source=@64 tools=x`,
	},
	{
		Requirement: "EXT-1",
		Name:        "generations that are too long or hold a control character",
		Why: "A generation has 1 to 128 bytes of UTF-8 without control characters. Others must be refused as invalid_external_generation, " +
			"before anything of the set is built.",
		Workload: `
			client a
			  a1 replace source=s1 generation=@129 tools=x
			  a2 replace source=s1 generation="g\x00" tools=x
			  a3 replace source=s1 generation=@128 tools=x`,
	},
	{
		Requirement: "EXT-2",
		Name:        "one of two slots is replaced",
		Why: "Two sources have installed a tool each. The first one installs another: its old tool is gone, and the other source's is " +
			"still there. A loop that adds to a slot, or clears all of them, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x,v
			  a2 replace source=s2 tools=z
			  a3 replace source=s1 tools=y,v
			  a4 submit steps=*`,
	},
	{
		Requirement: "EXT-2",
		Name:        "a turn starts while a replacement is being recorded",
		Why: "A slot is replaced, and while the event is on its way into the journal a turn starts. It has the old tool or the new one. A " +
			"loop that empties the slot first offers neither.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s1 tools=x
			client b
			  b1 submit steps=*`,
		Schedule: `
			after a1 call 1 run "build a1"
			after a1 build 1 run "append a1"
			after a1 append 1 run a
			after a2 call 1 run "build a2"`,
	},
	{
		Requirement: "EXT-3",
		Name:        "a slot is cleared",
		Why: "An empty set clears the source's slot, which is a change like any other: it is recorded, without tools, and the next turn " +
			"does not offer them any more.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s1 tools=
			  a3 submit steps=*`,
	},
	{
		Requirement: "EXT-3",
		Name:        "an empty slot is cleared",
		Why:         "To clear a slot that is empty commits too: the event must be in the journal.",
		Workload: `
			client a
			  a1 replace source=s1 tools=`,
	},
	{
		Requirement: "EXT-4",
		Name:        "the second build of a set fails",
		Why: "One definition of the set cannot be built. The whole set must be refused as external_build_failed with the tool's name and " +
			"the build's error; what was installed stays. A loop that leaves the bad one out, or has cleared the slot by then, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s2 tools=z
			  a3 replace source=s1 tools=v,w:fail
			  a4 submit steps=*`,
	},
	{
		Requirement: "EXT-4",
		Name:        "what a definition may do wrong",
		Why:         "A nil definition, a nil tool, a tool without info, one without a name, one whose schema is not JSON: each refuses its set.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x:nil
			  a2 replace source=s1 tools=x,y:niltool
			  a3 replace source=s1 tools=x:nilinfo
			  a4 replace source=s1 tools=x:badname
			  a5 replace source=s1 tools=x:badschema
			  a6 submit steps=*`,
	},
	{
		Requirement: "EXT-4",
		Name:        "one tool too many",
		Why:         "A set has at most 512 tools. One of 513 must be refused as a whole: not cut to what fits.",
		Workload: `
			client a
			  a1 replace source=s1 tools=@513
			  a2 submit`,
	},
	{
		Requirement: "EXT-5",
		Name:        "the name of a declared tool",
		Why: "d1 is declared in the base mode and d3 in mode plan. No source may install tools of these names, whichever mode is in force: " +
			"the next SetMode would offer two tools of one name.",
		Workload: `
			client a
			  a1 replace source=s1 tools=d1
			  a2 replace source=s1 tools=x,d3
			  a3 set-mode mode=plan
			  a4 submit steps=*`,
	},
	{
		Requirement: "EXT-5",
		Name:        "a name that is in the set twice",
		Why:         "Two tools of one set have one name. The set must be refused as external_tool_collision, naming it.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x,x
			  a2 submit steps=*`,
	},
	{
		Requirement: "EXT-5",
		Name:        "a name that another source has",
		Why: "x is in the slot of s1, so that s2 cannot install it. When s1 has cleared its slot it is free again. A loop that never " +
			"frees a name, or lets two slots have it, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s2 tools=x
			  a3 replace source=s1 tools=
			  a4 replace source=s2 tools=x
			  a5 submit steps=*`,
	},
	{
		Requirement: "EXT-5",
		Name:        "names that look alike",
		Why:         "Names are compared byte by byte: D1 is not d1, and X is not x. The set must be installed.",
		Workload: `
			client a
			  a1 replace source=s1 tools=D1,x,X
			  a2 submit steps=*`,
	},
	{
		Requirement: "EXT-5",
		Name:        "two sources race for one name",
		Why: "Both sources have built their tool x before either is installed. At most one of them may commit. A loop that looks whether " +
			"the name is free before it waits for its turn to write, and not again, installs both.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			client b
			  b1 replace source=s2 tools=x
			tail
			  z1 submit steps=*`,
		Schedule: `after a1 build 1 run "build b1"`,
	},
	{
		Requirement: "EXT-6",
		Name:        "a build that does not return",
		Why: "A definition's build hangs. Meanwhile a turn, another change, a read, an interrupt and at last a shutdown must go on as ever. A " +
			"loop that builds while it holds its lock, or on its own goroutine, has stopped.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			tail
			  z1 read
			  z2 submit steps=d1
			  z3 change effort=high
			  z4 interrupt
			  z5 shutdown`,
		Schedule: `at a1 build 1 verdict held`,
	},
	{
		Requirement: "EXT-7",
		Name:        "what the event of a set says",
		Why: "The event lists the tools in the order of the set, each with the digest of its schema. Schemas that differ in white space only " +
			"are equal, and a blank one has the digest of nothing: what is digested is the compacted schema.",
		Workload: `
			client a
			  a1 replace source=s1 tools=y,x:blank,v:pair`,
	},
	{
		Requirement: "EXT-7",
		Name:        "a new set with the old names",
		Why: "The second set has the names of the first, and other schemas. It must be recorded and offered. A loop that compares names to see " +
			"whether there is something to do keeps the old tools.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s1 tools=x
			  a3 submit steps=x`,
	},
	{
		Requirement: "EXT-8",
		Name:        "a change and a mode after an installation",
		Why:         "Slots are no part of a mode or a model: after a change of effort and a change of mode the tools are still offered, and run.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 change effort=high
			  a3 submit steps=x
			  a4 set-mode mode=plan
			  a5 submit steps=x`,
	},
}

// directedInstalled are the scenarios of the group "External tools" about what becomes of a set, and of who cannot have one.
var directedInstalled = []Directed{
	{
		Requirement: "EXT-9",
		Name:        "a restore, and the same set again",
		Why: "Live tools do not survive their process, so that a restored loop has none: it offers nothing that the journal tells of. The same " +
			"source can install the same set, of the same generation, again. A loop that takes the old names for taken, or the " +
			"generation for installed, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 generation=g tools=x
			tail
			  z1 shutdown
			  z2 restore
			  z3 submit steps=*
			  z4 replace source=s1 generation=g tools=x
			  z5 submit steps=x`,
	},
	{
		Requirement: "EXT-9",
		Name:        "a restore, and another source",
		Why:         "After a restore no name is taken: another source may install what this one had.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			tail
			  z1 shutdown
			  z2 restore
			  z3 replace source=s2 tools=x
			  z4 submit steps=x`,
	},
	{
		Requirement: "EXT-10",
		Name:        "external tools for a foreign loop",
		Why: "The tools of a foreign loop are another agent's. It has no installer, or refuses at once as external_tools_unsupported, and builds " +
			"nothing; an empty set is refused like any other.",
		Workload: `
			foreign
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s1 tools=
			  a3 submit`,
	},
	{
		Requirement: "EXT-11",
		Name:        "a definition that panics",
		Why: "A definition panics while it is built. That is a failed build: the call returns, the set is refused, and the loop lives on. " +
			"A loop that strands the caller, dies or faults fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x:panic
			  a2 change effort=high
			  a3 submit steps=*`,
	},
	{
		Requirement: "EXT-11",
		Name:        "a tool that panics when it is described",
		Why:         "A tool panics when it is asked what it is. That is a failed build, too.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x,y:infopanic
			  a2 submit steps=*`,
	},
	{
		Requirement: "EXT-12",
		Name:        "the slice of definitions is used again",
		Why: "After the call the caller writes other definitions into the slice that it had handed over. The slot must not change: not in the " +
			"next turn, and not when the mode does. A loop that keeps the slice, and builds from it again, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 submit steps=x
			  a3 set-mode mode=plan
			  a4 submit steps=*`,
	},
	{
		Requirement: "EXT-13",
		Name:        "a tool that says something else later",
		Why: "The tool's second answer to what it is differs from the first, and it writes over the schema that it handed out. Turns must go on " +
			"offering what it was installed with. The declared d2 does the same.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x:changing
			  a2 submit steps=x
			  a3 submit steps=*`,
	},
	{
		Requirement: "EXT-14",
		Name:        "the same generation again",
		Why: "A second set comes with the generation of the first. Generations are the caller's business: the set must be recorded and " +
			"installed. A loop that takes it for installed already keeps the old tool.",
		Workload: `
			client a
			  a1 replace source=s1 generation=g tools=x
			  a2 replace source=s1 generation=g tools=y
			  a3 submit steps=*`,
	},
	{
		Requirement: "EXT-14",
		Name:        "a generation that sorts before the one installed",
		Why: "Generation g1 comes after g2, and then g2 again. The order of the commits alone counts: a loop that compares generations, and " +
			"leaves out an older one, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 generation=g2 tools=x
			  a2 replace source=s1 generation=g1 tools=y
			  a3 submit steps=*
			  a4 replace source=s1 generation=g2 tools=v
			  a5 submit steps=*`,
	},
	{
		Requirement: "EXT-14",
		Name:        "the slower of two builds",
		Why: "The first call's build takes longer than the second call's, of the same source. Both must commit, and what commits last is in " +
			"force. A loop that drops a set because a later call was faster fails here.",
		Workload: `
			client a
			  a1 replace source=s1 generation=g tools=v
			  a2 replace source=s1 tools=y
			client b
			  b1 replace source=s1 generation=g tools=x
			tail
			  z1 submit steps=*`,
		Schedule: `
			after a1 build 1 run "append a1"
			after a1 append 1 run a
			after a2 call 1 run "build a2"
			after a2 build 1 run "append a2"`,
	},
}
