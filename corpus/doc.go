// Package corpus keeps schedules as text files, one for each failure, or for each way to get somewhere: a workload and the
// schedule of a run of it. A person reads them, reviews them and edits them; a program replays them for ever.
//
//	loopcheck-corpus 1
//	contract 1
//	requirement TURN-1
//	subject faulty:model-per-step
//	found schedule 412 (seed 7)
//	# TURN-1 broken by turn a1, step 2: …
//	workload
//	  client a
//	    a1 submit steps=d1
//	  client b
//	    b1 change effort=high
//	schedule
//	  loopcheck-schedule 1
//	  check TURN-1
//	  …
//
// What the sections hold is described in the packages workload and sim. Blank lines, and lines that begin with #, are passed
// over; how far a line is indented does not matter. The version is that of the format: a file of version 1 stays readable, and
// one of a version, a contract or a field that this program does not know is an error that points at the line.
package corpus
