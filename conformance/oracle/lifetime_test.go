package oracle_test

import (
	"context"
	"errors"
	"testing"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

func TestAnInterruptCancelsAtMostOneTurn(t *testing.T) {
	two := func() *script { return run().submit("a1", "b1").asks("a1", 1, base()) }
	check(t, []pair{
		{
			"INT-1", "it ended as interrupted, and no interrupt was called while it was in flight",
			run().submit("a1").asks("a1", 1, base()).ends("a1", interrupted),
			"one had been called and not returned before its submit",
			run().call("i", interrupt).submit("a1").asks("a1", 1, base()).ends("a1", interrupted),
		},
		{
			"INT-1", "that had not cancelled another one",
			two().call("i", interrupt).ends("a1", interrupted).request("b1", 1, base()).ends("b1", interrupted).ok("i"),
			"there were two interrupts",
			two().call("i", interrupt).call("k", interrupt).ends("a1", interrupted).request("b1", 1, base()).ends("b1", interrupted).ok("i").ok("k"),
		},
		{
			"INT-1", "that had not cancelled another one",
			two().call("i", interrupt).call("k", interrupt).ends("a1", interrupted).request("b1", 1, base()).ok("i").
				ends("b1", interrupted).submit("c1").asks("c1", 1, base()).ends("c1", interrupted),
			"the third turn had an interrupt of its own",
			two().call("i", interrupt).call("k", interrupt).ends("a1", interrupted).request("b1", 1, base()).ok("i").
				ends("b1", interrupted).ok("k").submit("c1").asks("c1", 1, base()).call("n", interrupt).ends("c1", interrupted),
		},
		{
			"INT-1", "it ended as interrupted, and no interrupt was called",
			two().call("i", interrupt).ok("i").ends("a1", nil).request("b1", 1, base()).ends("b1", interrupted),
			"the turn before it ended in the step in which the interrupt returned",
			two().call("i", interrupt).ok("i").same().ends("a1", nil).request("b1", 1, base()).ends("b1", interrupted),
		},
		{
			"INT-1", "it ended as interrupted, and no interrupt was called",
			run().submit("a1").asks("a1", 1, base()).call("i", interrupt).contextEnds("i").fails("i", refusal(loop.ChangeContextDone, errLate)).ends("a1", interrupted),
			"it was not refused",
			run().submit("a1").asks("a1", 1, base()).call("i", interrupt).contextEnds("i").ok("i").ends("a1", interrupted),
		},
		{
			"INT-1", "its input was dropped, with no shutdown and no fault",
			two().call("i", interrupt).ok("i").ends("a1", interrupted).ends("b1", dropped),
			"there was a shutdown too",
			two().call("i", interrupt).ok("i").call("s", shutdown).ends("a1", interrupted).ends("b1", dropped),
		},
		{
			"INT-1", "it was accepted and does not start, and an interrupt came while it was queued",
			two().call("i", interrupt).ok("i").ends("a1", interrupted).quiet(),
			"it runs",
			two().call("i", interrupt).ok("i").ends("a1", interrupted).request("b1", 1, base()).quiet(),
		},
		{
			"INT-1", "an interrupt is a no-op when there is nothing to cancel, and was refused",
			run().refused("i", interrupt, refusal(loop.ChangeLoopFaulted)),
			"its context had ended",
			run().call("i", interrupt).contextEnds("i").fails("i", refusal(loop.ChangeContextDone, errLate)),
		},
		{
			"INT-1", "an interrupt is a no-op when there is nothing to cancel, and was refused",
			run().call("s", shutdown).ok("s").refused("i", interrupt, refusal(loop.ChangeLoopExited)),
			"it returned nil",
			run().call("s", shutdown).ok("s").call("i", interrupt).ok("i"),
		},
		{
			"INT-1", "it was in flight throughout an interrupt, and ended as completed",
			held().call("i", interrupt).ok("i").ran("a1", "d1", context.Canceled).cancelled().ends("a1", nil),
			"a call of it began meanwhile: the loop may have looked before",
			held().call("i", interrupt).runs("a1", "d2", "base/d2").ok("i").ran("a1", "d1", nil).ran("a1", "d2", nil).ends("a1", nil),
		},
		{
			"INT-1", "it was in flight throughout an interrupt, and ended as failed",
			held().call("i", interrupt).ok("i").ends("a1", failed),
			"it was failing already",
			held().runs("a1", "d2", "base/d2").ran("a1", "d2", fakes.ErrRun).call("i", interrupt).ok("i").ends("a1", failed),
		},
		{
			but: "it was failing already, over a call of what is no tool of its capture",
			twin: run().submit("a1").asks("a1", 1, base(), "zz", "d1").runs("a1", "d1", "base/d1").
				call("i", interrupt).ok("i").ran("a1", "d1", nil).ends("a1", failed),
		},
		{
			but:  "a fault may end what is queued in any way",
			twin: run().submit("a1").loses("c1", effort("high")).ends("a1", interrupted),
		},
	})
}

func TestACallOfAnInterruptedTurnSeesItsContextCancelled(t *testing.T) {
	stopped := func() *script { return held().call("i", interrupt).ok("i") }
	check(t, []pair{
		{
			"INT-2", "began after an interrupt had returned, with a context that had not ended",
			stopped().runs("a1", "d2", "base/d2"),
			"it had",
			stopped().runs("a1", "d2", "base/d2").cancelled(),
		},
		{
			"INT-2", "an interrupt had returned, and the context of a call in flight had not ended when the call did",
			stopped().ran("a1", "d1", nil),
			"it was in the very step",
			stopped().same().ran("a1", "d1", nil).ends("a1", interrupted),
		},
		{
			"INT-2", "it ended as interrupted, and the context of a call that was in flight did not end",
			stopped().ends("a1", interrupted).ran("a1", "d1", nil),
			"it had ended",
			stopped().ends("a1", interrupted).ran("a1", "d1", nil).cancelled(),
		},
		{
			"INT-2", "it ended as interrupted, and the context of a call that was in flight did not end",
			stopped().ends("a1", interrupted).quiet(),
			"it had ended",
			run().submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1").losing().call("i", interrupt).ok("i").ends("a1", interrupted).quiet(),
		},
		{
			"INT-2", "it was interrupted, and the context of a call in flight has not ended",
			stopped().quiet(),
			"no interrupt has returned",
			held().quiet(),
		},
		{
			"INT-2", "it was interrupted, and has not ended; a call of it does not return",
			run().submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1").losing().call("i", interrupt).ok("i").quiet(),
			"it has ended",
			run().submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1").losing().call("i", interrupt).ok("i").ends("a1", interrupted).quiet(),
		},
	})
}

func TestAnInterruptedTurnEndsThoughNothingIsInFlight(t *testing.T) {
	gone := func() *script { return held().call("i", interrupt).ok("i").ran("a1", "d1", nil).cancelled() }
	check(t, []pair{
		{"INT-2", "it was interrupted, and has not ended; no call of it is in flight", gone().quiet(), "it has", gone().ends("a1", interrupted).quiet()},
	})
}

func TestShutdownReturnsWhenTheLoopHasExited(t *testing.T) {
	bounded := func() *script {
		return run().call("s", shutdown).contextEnds("s").fails("s", context.Canceled)
	}
	check(t, []pair{
		{
			"LIFE-1", "Shutdown returns nil, or the error of its context if that ends first, and returned something else",
			run().call("s", shutdown).contextEnds("s").fails("s", errOther),
			"it is the context's", bounded(),
		},
		{
			"LIFE-1", "Shutdown returns nil, or the error of its context if that ends first",
			run().call("s", shutdown).fails("s", context.Canceled),
			"its context had ended", bounded(),
		},
		{
			"LIFE-1", "Shutdown returned nil while an append was outstanding",
			run().call("c1", effort("high")).begins("c1").call("s", shutdown).ok("s"),
			"it had returned",
			run().call("c1", effort("high")).begins("c1").call("s", shutdown).written("c1").appended("c1", nil).ok("s").ok("c1"),
		},
		{
			"LIFE-1", "Shutdown returned nil, and the turn that was in flight has not ended",
			held().call("s", shutdown).ok("s"),
			"it was found ended in the same step",
			held().call("s", shutdown).ok("s").same().ends("a1", interrupted).ran("a1", "d1", nil).cancelled(),
		},
		{
			"LIFE-3", "Shutdown returned nil, and the queued input got no outcome",
			run().submit("a1").call("s", shutdown).ok("s"),
			"it is dropped", run().submit("a1").call("s", shutdown).ok("s").same().ends("a1", dropped),
		},
		{
			"LIFE-1", "it ended as interrupted, and the context of a call that was in flight did not end",
			held().call("s", shutdown).ends("a1", interrupted).ran("a1", "d1", nil),
			"it had ended", held().call("s", shutdown).ends("a1", interrupted).ran("a1", "d1", nil).cancelled(),
		},
		{
			"LIFE-1", "it committed, although a Shutdown was called that nothing was left for to wait for",
			bounded().quiet().does("c1", effort("high")),
			"the shutdown may not have come to an end yet", bounded().does("c1", effort("high")).quiet(),
		},
		{
			"LIFE-1", "the input was accepted, although a Shutdown was called that nothing was left for to wait for",
			bounded().quiet().submit("a1"),
			"the shutdown may not have begun yet", bounded().submit("a1").ends("a1", dropped).quiet(),
		},
		{
			"LIFE-1", "s: the call panicked: boom",
			run().call("s", shutdown).panics("s"), "it returned", run().call("s", shutdown).ok("s"),
		},
		{
			"LIFE-1", "s: the call does not return",
			run().call("s", shutdown).quiet(),
			"an append is outstanding: the loop cannot have exited",
			run().call("c1", effort("high")).begins("c1").call("s", shutdown).quiet(),
		},
		{
			"LIFE-1", "it has started and does not end, and Shutdown was called",
			held().call("s", shutdown).contextEnds("s").fails("s", context.Canceled).quiet(),
			"it ends", run().submit("a1").request("a1", 1, base()).losing().call("s", shutdown).ends("a1", interrupted).ok("s").quiet(),
		},
		{
			"LIFE-3", "it was accepted and does not start, and Shutdown was called",
			run().submit("a1").call("s", shutdown).contextEnds("s").fails("s", context.Canceled).quiet(),
			"it is dropped", run().submit("a1").call("s", shutdown).contextEnds("s").fails("s", context.Canceled).ends("a1", dropped).quiet(),
		},
		{
			"LIFE-3", "it was accepted and does not start, and an append has failed",
			run().submit("a1").loses("c1", effort("high")).fails("c1", refusal(loop.ChangeDurableAppendFailed, errAppend)).quiet(),
			"it is dropped", run().submit("a1").loses("c1", effort("high")).fails("c1", refusal(loop.ChangeDurableAppendFailed, errAppend)).ends("a1", dropped).quiet(),
		},
	})
}

func TestNothingBeginsAfterTheExit(t *testing.T) {
	exited := func() *script { return run().call("b1", set("s", "g", "x")).call("s", shutdown).ok("s") }
	// The submit of the turn has not returned, so that it need not have an outcome yet.
	open := func() *script { return run().call("a1", submit).call("s", shutdown).ok("s") }
	check(t, []pair{
		{
			"LIFE-2", "an append of loop_stopped, which began after the loop had exited",
			exited().begins("s"), "before it", run().call("s", shutdown).begins("s").written("s").appended("s", nil).ok("s"),
		},
		{
			"LIFE-1", "Shutdown returned nil while an append was outstanding",
			exited().same().begins("s"), "before it, in the same step", run().call("s", shutdown).begins("s").written("s").appended("s", nil).same().ok("s"),
		},
		{
			"LIFE-2", `the build of "x", which began after the loop had exited`,
			exited().build("b1", "x"), "in the very step", exited().same().build("b1", "x"),
		},
		{
			"LIFE-2", `the build of "x", which began after the loop had exited`,
			exited().describe("b1", "x"), "in the very step", exited().same().describe("b1", "x"),
		},
		{
			"LIFE-2", "a model request of turn a1, which began after the loop had exited",
			open().request("a1", 1, base()), "in the very step", open().same().request("a1", 1, base()),
		},
		{
			"LIFE-2", "a model request, which began after the loop had exited",
			open().request("", 1, base()), "in the very step", open().same().request("", 1, base()),
		},
		{
			"LIFE-2", "a tool call, which began after the loop had exited",
			open().runs("", "d1", "base/d1"), "in the very step", open().same().runs("", "d1", "base/d1"),
		},
	})
}

func TestALoopOutlivesACrash(t *testing.T) {
	gone := func() *script {
		return run().does("m1", mode("plan")).call("s", shutdown).ok("s").lacking("plan").restoring()
	}
	unknown := &loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: "plan"}
	crashed := func() *script { return run().does("m1", mode("plan")).submit("a1").crash() }
	check(t, []pair{
		{
			"MODE-3", `the journal ends in mode "plan", the definition does not have it, and a loop started`,
			gone().started(nil), "it fails", gone().started(unknown),
		},
		{
			"MODE-3", "it failed, and wrote to the journal",
			gone().begins("m1").written("m1").started(unknown), "it read only", gone().readsJournal(nil).started(unknown),
		},
		{
			"MODE-3", "which is none of the contract's error types",
			gone().started(errors.New("no such mode")), "it is one", gone().started(unknown),
		},
		{
			"DUR-3", "the restore: it failed although the journal could be read",
			crashed().restoring().readsJournal(nil).started(errOther),
			"it could not be read", crashed().restoring().readsJournal(fakes.ErrRead).started(errOther),
		},
		{
			"TURN-2", "the start: a loop could not be started from a valid definition and an empty journal",
			unstarted().started(errOther), "the journal could not be read", unstarted().readsJournal(fakes.ErrRead).started(errOther),
		},
		{
			"CHG-6", "the start: a loop could not be started from a valid definition and an empty journal",
			run().crash().another().started(errOther), "it starts", run().crash().another().started(nil),
		},
		{
			"DUR-3", "turn a1 of before the restore: it was run again",
			crashed().restored().request("a1", 1, plan()), "it is an input of this life", crashed().restored().turn("b1", plan()),
		},
		{
			but:  "what is open at a crash stays open",
			twin: crashed().call("c1", effort("high")).quiet().timed(),
		},
		{
			but:  "a loop on another journal has nothing to do with the inputs of the first",
			twin: crashed().another().started(nil).request("a1", 1, base()),
		},
	})
}

func TestOnlyTheLoopsOwnTimersAreToBlame(t *testing.T) {
	why := "a call, turn or shutdown waited for a timer of its own"
	late := run().call("c1", high).passes().begins("c1").written("c1").appended("c1", nil).ok("c1").timed()
	check(t, []pair{
		{"REF-9", why, late, "an append was outstanding", run().call("c1", high).begins("c1").passes().written("c1").appended("c1", nil).ok("c1").timed()},
		{"REF-9", why, late, "an append is outstanding", run().call("c1", high).passes().begins("c1").timed()},
		{"REF-9", why, late, "a tool was running", held().passes().ran("a1", "d1", nil).ends("a1", failed).timed()},
		{"REF-9", why, late, "a build was going on", run().call("b1", x).build("b1", "x").passes().built("b1", "x", nil).timed()},
		{"REF-9", why, late, "a tool was asked what it is", run().call("b1", x).describe("b1", "x").passes().describedBy("b1", "x").timed()},
		{
			"INT-1", "it was in flight throughout an interrupt, and ended as failed", held().call("i", interrupt).ok("i").ends("a1", failed),
			"a limit of the loop's may have ended it", held().passes().call("i", interrupt).ok("i").ends("a1", failed),
		},
	})
	check(t, []pair{{but: "there is no loop", twin: unstarted().add(trace.Entry{Kind: trace.Logged}).passes().timed().quiet()}})
}
