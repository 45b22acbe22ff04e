// Package sim runs concurrent Go code under a deterministic scheduler, and knows nothing of what the code does.
//
// # How a run works
//
// A [Program] runs in a fresh testing/synctest bubble. Its threads, and the surroundings of the code under test, stop at gates
// ([World.Park]). When every goroutine of the bubble rests, the [World] lists what could happen next in a canonical order
// whose first entry is the boring one: the thread that ran last goes on; else the one that waits longest. A [Strategy] picks,
// and picks the verdict that the gate answers. What is decided and what the program notes make up the trace, which is hashed
// step by step. In the end everybody at a gate is let go with an error, and the world looks for goroutines that are left.
//
// The deviations from the boring run are the run's [Schedule]. Each is named by where it is taken ("the first append of
// a2", "after b1's second build"), so that a schedule keeps its meaning when other operations are taken out: that is what
// [Shrinker] does. A [Record] is a schedule on paper.
//
// Gates are the only places where a run is decided. Between two of them goroutines run as Go likes, and a select with several
// ready cases, or timers of one instant, are coin flips that no schedule holds: see [Reproduce]. What different threads
// note between two decisions has no order in the hash, for the same reason. A lock held across a gate
// keeps the run from coming to rest: see [CheckHang].
//
// A panic of the program, or of a thread that [World.Go] started, fails the run. One in a goroutine that the code under test
// started itself ends the process, as Go has it.
//
// # Strategies
//
// [Boring] interferes with nothing, [Random] is the default, [Swarm] leaves a random half of the faults out of each run, [PCT]
// goes by random priorities, [Exhaustive] goes through every run within its bounds, [Replay] follows a schedule.
//
// # What it costs
//
// On one core of a 2-core virtual machine, Go 1.26.8, in one run of `go test -run '^$' -bench . -cpu 1 ./sim`, times relative to
// the same code with every gate open: a run of 42 decisions 1.8 to 1.9 ×. An empty run takes a tenth of the time of that one with
// open gates; a decision with 1, 4 and 16 gates parked 1, 2.3 and 3.8 units of 0.8 µs. A million runs
// (`-bench Memory -benchtime 1000000x`) leave the heap as it was.
package sim
