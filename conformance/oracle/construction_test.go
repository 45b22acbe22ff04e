package oracle_test

import (
	"context"
	"testing"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

// Traces of conforming loops of other constructions than the two that the kit comes with: each was taken for a breach once.

func TestALoopMayCommitSlotsBesideModeAndInference(t *testing.T) {
	high, x, y := effort("high"), set("s1", "g1", "x"), set("s2", "g2", "x")
	// The event of c1 is durable and its append has not returned: c1 is not in force, though b1, which came later, is acknowledged.
	beside := func() *script { return run().call("c1", high).begins("c1").written("c1").does("b1", x) }
	check(t, []pair{
		{
			"VIEW-1", "Model() shows an older state than one acknowledged before the read",
			beside().appended("c1", nil).ok("c1").reads("r1", base()), "that change is not acknowledged", beside().reads("r1", base()),
		},
		{
			but: "the effort is held against the model that is still in force",
			twin: run().call("c1", change(descriptor("m1", "low", "max"))).begins("c1").written("c1").does("b1", x).
				refused("c2", effort("max"), refusal(loop.ChangeInvalidEffort, nil)),
		},
		{
			but: "a name is taken in the slots that are still in force",
			twin: run().does("b1", x).call("b2", set("s1", "g3")).builds("b2", set("s1", "g3")).begins("b2").written("b2").does("c1", high).
				call("b3", y).builds("b3", y).fails("b3", &loop.ChangeError{Kind: loop.ChangeExternalToolCollision, Tool: "x"}),
		},
	})
}

func TestTheEndOfATurnIsNotSeenBeforeItsSubmitHasReturned(t *testing.T) {
	high := effort("high")
	first := func() *script { return run().call("a1", submit) }
	check(t, []pair{{
		"TURN-4", "a change acknowledged before the previous turn had ended",
		first().ok("a1").asks("a1", 1, base()).submit("b1").does("c1", high).ends("a1", nil).request("b1", 1, base()),
		"the turn may have ended, and the next begun, before that",
		first().asks("a1", 1, base()).submit("b1").does("c1", high).ok("a1").ends("a1", nil).request("b1", 1, base()),
	}})
}

func TestATurnAndACallMayWaitForAnOptionalEvent(t *testing.T) {
	started := trace.Entry{Kind: trace.AppendBegan, Call: 99, Event: event.TurnStarted{Header: header}}
	over := trace.Entry{Kind: trace.AppendBegan, Call: 99, Event: event.TurnEnded{Header: header}}
	check(t, []pair{
		{
			but:  "the append that is outstanding may be the call's own",
			twin: run().call("a1", submit).add(started).contextEnds("a1").quiet(),
		},
		{
			"INT-2", "it was interrupted, and has not ended",
			held().losing().call("i", interrupt).ok("i").quiet(),
			"its end is being recorded", held().losing().call("i", interrupt).ok("i").add(over).quiet(),
		},
	})
}

func TestWhatIsOnItsWayWhenALoopFaultsMayBegin(t *testing.T) {
	high, x := effort("high"), set("s1", "g1", "x")
	faulted := func() *script {
		return run().call("b1", x).builds("b1", x).loses("c1", high).fails("c1", refusal(loop.ChangeDurableAppendFailed, errAppend)).
			refused("c2", high, refusal(loop.ChangeLoopFaulted, errAppend))
	}
	check(t, []pair{{
		"DUR-6", "which began after the loop had said that it faulted",
		faulted().begins("b1").written("b1"), "it was on its way", faulted().same().begins("b1").written("b1"),
	}})
}

func TestTheOrderOfToolsIsHeldAgainstTheStateThatWasCaptured(t *testing.T) {
	xy, yx := set("s1", "g1", "x", "y"), set("s1", "g1", "y", "x")
	check(t, []pair{
		{
			but: "it may be the set in the other order that was captured, which is durable",
			twin: run().does("b1", xy).turn("a1", base().after(xy)).submit("a2").call("b2", yx).builds("b2", yx).begins("b2").written("b2").
				request("a2", 1, base().after(yx)),
		},
		{
			but:  "with another effort it is another configuration",
			twin: run().does("b1", xy).turn("a1", base().after(xy)).does("c1", effort("high")).turn("a2", base().after(yx, effort("high"))),
		},
	})
}

func TestALimitOfTheLoopsMayCutACallShort(t *testing.T) {
	timed := func(s *script) *script {
		return s.ran("a1", "d1", context.Canceled).cancelled().request("a1", 2, base()).told("a1.1.0", "a1.1.1")
	}
	calls := func() *script {
		return run().submit("a1").asks("a1", 1, base(), "d1", "d2").runs("a1", "d1", "base/d1").losing()
	}
	check(t, []pair{{
		"REF-8", "the context of a call ended, and nobody had interrupted the turn",
		timed(calls()), "time has passed", timed(calls().passes()),
	}})
}
