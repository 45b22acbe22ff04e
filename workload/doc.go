// Package workload holds small programs that drive an agent loop: one to four clients that submit inputs, change the loop,
// interrupt it, shut it down, and a tail that has the last word. They are plain values. The package knows nothing of a live
// loop: who runs a workload says what its operations do.
//
// A workload has a text form that a person reads, edits and reviews:
//
//	client a
//	  a1 submit steps=d1
//	  a2 change effort=high cancel
//	  a3 set-mode mode=plan inside=a1
//	client b
//	  b1 replace source=s1 tools=x,y
//	tail
//	  z1 submit steps=*
//	  z2 shutdown
//
// The first line may be `foreign`. Blank lines and lines that begin with # are passed over; how far a line is indented does
// not matter. An operation is its id, its kind, its arguments, `cancel` and `inside=ID`. A value that is not plain ASCII
// without spaces is quoted as in Go (source="a\x00b"); in a value, @N stands for a text of N bytes.
//
// # Operations and their arguments
//
//	submit           steps: the tools that the model calls, by name: "," between the calls of one step, "/" between steps;
//	                 * is every tool that is offered. Without steps, or with none, the model answers at once.
//	change           the elements of the batch in order: model=VARIANT, effort=EFFORT, nil. None is an empty batch.
//	set-mode         mode: plan, quick, bare, or nothing for the base mode; nowhere, Plan and "plan " are not declared.
//	replace          source; tools: NAME or NAME:BEHAVIOUR with "," between them, nothing clears the source, @N is N plain
//	                 tools; generation: if it is left out, "g-" and the operation's id, which no other has.
//	interrupt        none
//	shutdown         none
//	read             none: the handle is read
//	wait             turn: the id of an earlier submit, whose turn is waited for
//	crash            none: the process dies, and a restore follows
//	restore          none: after a shutdown, a restore from the journal
//	restore-without  none: after a shutdown, a restore with a definition that lacks the mode in force, which must fail (MODE-3)
//	anew             none: a second loop of the same definition, on an empty journal (CHG-6); what follows addresses it
//
// Users may add kinds, with arguments of any name and value.
package workload
