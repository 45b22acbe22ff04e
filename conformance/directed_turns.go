package conformance

// directedTurns are the scenarios of the group "Turns".
var directedTurns = []Directed{
	{
		Requirement: "TURN-1",
		Name:        "a change of effort between two steps of a turn",
		Why: "While the turn's tool runs, somebody changes the effort, and the change succeeds. The second request of the turn " +
			"must still ask with the effort that the turn started with. A loop that reads its settings anew for each request fails here.",
		Workload: `
			client a
			  a1 submit steps=d1
			client b
			  b1 change effort=high`,
		Schedule: `
			after a1 call 1 run "model a1"
			after a1 request 1 run b
			after b1 call 1 run "append b1"`,
	},
	{
		Requirement: "TURN-1",
		Name:        "a change of mode between two steps of a turn",
		Why: "While the turn's tool runs, the mode changes, and with it instructions, model, effort and tools. The second step " +
			"must ask as the first one did, and its call of d1 must run the instance of the mode that the turn started in, not " +
			"that of the new mode, which has one of the same name.",
		Workload: `
			client a
			  a1 submit steps=d1/d1
			client b
			  b1 set-mode mode=plan`,
		Schedule: `
			after a1 call 1 run "model a1"
			after a1 request 1 run b
			after b1 call 1 run "append b1"`,
	},
	{
		Requirement: "TURN-1",
		Name:        "a replaced tool that the model has been offered",
		Why: "The model is asked, and before it answers the source replaces its tool x by another one of that name. The call of x " +
			"must run the instance that the turn captured. A loop that looks the name up when the call comes runs the new one.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 submit steps=x/x
			  a3 replace source=s1 tools=x`,
		Schedule: `
			after a2 call 1 run "model a2"
			after a2 request 1 run a
			after a3 call 1 run "build a3"
			after a3 build 1 run "append a3"`,
	},
	{
		Requirement: "TURN-2",
		Name:        "a model and an effort, and the next turn",
		Why: "A batch selects a model and an effort, and the next turn must have both, and the instructions of the mode in force. " +
			"A loop that takes over its settings one by one asks with a mix of two states.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 submit`,
	},
	{
		Requirement: "TURN-2",
		Name:        "an input that was handed in after a change, while a turn was in flight",
		Why: "During a turn the mode changes, and then the next input comes. Its turn must not capture what was in force before that " +
			"change, whatever the turn in flight goes on with.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 set-mode mode=plan
			  a3 submit steps=*`,
	},
	{
		Requirement: "TURN-2",
		Name:        "the turn after an interrupted one",
		Why: "A turn is interrupted, the effort changes, and the next turn must have the new one. A loop that keeps the capture of " +
			"the turn that was cut short, and goes on with it, fails here.",
		Workload: `
			client a
			  a1 submit
			  a2 interrupt
			  a3 change effort=high
			  a4 submit`,
	},
	{
		Requirement: "TURN-3",
		Name:        "every declared tool of a mode is called",
		Why: "Mode plan declares the tools d1 and d3; d1 is another instance than the d1 of the base mode. The turn must offer both " +
			"and run plan's own. A loop that keeps instances by name runs the d1 that was built first.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			  a2 submit steps=*`,
	},
	{
		Requirement: "TURN-3",
		Name:        "a slot is cleared",
		Why: "A source installs a tool and clears its slot again. The declared tools are not its own and must still be offered. A " +
			"loop that puts the tool list together anew, and forgets them, fails here.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s1 tools=
			  a3 submit steps=*`,
	},
	{
		Requirement: "TURN-3",
		Name:        "a tool whose name looks like a declared one's",
		Why: "D1 is another name than d1: names are compared byte by byte. Both are offered, and each call must run its own tool. A " +
			"loop that finds tools by a simplified name runs one of them for both.",
		Workload: `
			client a
			  a1 replace source=s1 tools=D1
			  a2 submit steps=D1,d1`,
	},
	{
		Requirement: "TURN-4",
		Name:        "a change of an idle loop",
		Why: "The effort is changed while no turn is in flight. The next turn must have it. A loop that takes changes over only when " +
			"a turn ends, or that keeps an old configuration at hand, fails here.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 submit`,
	},
	{
		Requirement: "TURN-4",
		Name:        "a change while the input is queued",
		Why: "An input waits for the turn in flight, and the mode changes meanwhile. When its turn comes it must have the new mode. A " +
			"loop that captures when it accepts the input has the old one.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 submit
			  a3 set-mode mode=plan`,
	},
	{
		Requirement: "TURN-5",
		Name:        "a tool that nobody offers",
		Why: "The model calls a tool that it was not offered. Nothing must run; the next request says so to the model, or the turn " +
			"fails. A loop that passes the call over in silence, or runs the nearest thing, fails here.",
		Workload: `
			client a
			  a1 submit steps=ghost`,
	},
	{
		Requirement: "TURN-5",
		Name:        "a tool of another mode",
		Why: "d3 is declared in mode plan, and the turn runs in the base mode. The call must run nothing. A loop with one list of all " +
			"its tools runs d3.",
		Workload: `
			client a
			  a1 submit steps=d3`,
	},
	{
		Requirement: "TURN-5",
		Name:        "a tool whose slot was cleared",
		Why: "The source has taken its tool x back, and a model that remembers it calls it all the same. A loop that keeps what was " +
			"ever installed runs it.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			  a2 replace source=s1 tools=
			  a3 submit steps=x`,
	},
	{
		Requirement: "TURN-6",
		Name:        "a model request that fails",
		Why: "The stream of the first turn breaks. That may end the turn, and nothing else: the input that is queued has its turn, with " +
			"the model that was changed to, and so has one that comes later.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 submit
			  a3 submit
			tail
			  z1 submit`,
		Schedule: `at a2 request 1 verdict error`,
	},
	{
		Requirement: "TURN-6",
		Name:        "a model client that panics",
		Why: "The model client panics. The loop must outlive it: the turn gets an outcome, and the queued input has its turn. A loop " +
			"whose turn never ends has stopped for good.",
		Workload: `
			client a
			  a1 submit
			  a2 submit`,
		Schedule: `at a1 request 1 verdict panic`,
	},
	{
		Requirement: "TURN-6",
		Name:        "a tool that panics",
		Why:         "A tool panics. The turn may go on and tell the model, or fail; the loop must live on and run the queued input.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 submit`,
		Schedule: `at a1 run 1 verdict panic`,
	},
	{
		Requirement: "TURN-7",
		Name:        "three inputs, one after the other",
		Why: "Three inputs are accepted while the first one's tool runs. They must run one at a time, in this order. A loop with a " +
			"stack instead of a queue, or one that starts the next turn while a tool is at work, fails here.",
		Workload: `
			client a
			  a1 submit steps=d1
			  a2 submit
			  a3 submit`,
	},
	{
		Requirement: "TURN-7",
		Name:        "an interrupted input is not run again",
		Why: "A turn is interrupted, and the next one has its turn. Each input gets one outcome, and nothing runs twice: a loop that puts " +
			"the interrupted input back into the queue fails here.",
		Workload: `
			client a
			  a1 submit
			  a2 submit
			  a3 interrupt`,
		Schedule: `
			after a1 call 1 run "model a1"
			at a1 request 1 verdict held`,
	},
	{
		Requirement: "TURN-8",
		Name:        "tools that return after their turn was interrupted",
		Why: "A turn is interrupted while its tool, which ignores its context, is at work. At the end the tool returns. By then the turn " +
			"is over, and nothing of it may begin: no other tool of that answer, no further request.",
		Workload: `
			client a
			  a1 submit steps=d1,d2
			client b
			  b1 interrupt`,
		Schedule: `
			after a1 call 1 run "model a1"
			after a1 request 1 run "tool a1"
			at a1 run 1 verdict held`,
	},
	{
		Requirement: "TURN-9",
		Name:        "two turns of one configuration",
		Why: "Nothing changes between two turns, so that both must offer their tools in the same order, whatever was called in the " +
			"first one. A loop that keeps its tools in a map, or puts those first that are used most, fails here.",
		Workload: `
			client a
			  a1 submit steps=d2
			  a2 submit steps=d2
			  a3 submit`,
	},
	{
		Requirement: "TURN-9",
		Name:        "there and back again",
		Why: "The loop goes to another mode and back, and to another model. In the base mode its tools, and those of two sources, must " +
			"be offered in the order that they had before.",
		Workload: `
			client a
			  a1 replace source=s2 tools=z,y
			  a2 replace source=s1 tools=x,v
			  a3 submit
			  a4 set-mode mode=plan
			  a5 set-mode mode=
			  a6 submit`,
	},
}
