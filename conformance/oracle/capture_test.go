package oracle_test

import (
	"testing"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

var (
	high = effort("high")
	x    = set("s", "g1", "x")
	xy   = set("s", "g1", "x", "y")
)

func TestACaptureIsNotOlderThanItMayBe(t *testing.T) {
	queued := func() *script { return run().submit("a1", "b1").asks("a1", 1, base()) }
	check(t, []pair{
		{
			"TURN-4", "it captured an older state than the change acknowledged while the loop was idle",
			run().does("c1", high).turn("a1", base()),
			"it was not acknowledged before the input was handed in",
			run().writes("c1", high).call("a1", submit).ok("c1").ok("a1").request("a1", 1, base()),
		},
		{
			"TURN-4", "it captured an older state than a change acknowledged before the previous turn had ended",
			queued().does("c1", high).ends("a1", nil).request("b1", 1, base()),
			"it was acknowledged after that",
			queued().writes("c1", high).ends("a1", nil).ok("c1").request("b1", 1, base()),
		},
		{
			"TURN-2", "it captured an older state than the last change acknowledged before its input was submitted",
			run().submit("a1").asks("a1", 1, base()).does("c1", high).submit("b1").ends("a1", nil).request("b1", 1, base()),
			"it is in the capture",
			run().submit("a1").asks("a1", 1, base()).does("c1", high).submit("b1").ends("a1", nil).request("b1", 1, base().after(high)),
		},
		{
			"TURN-2", "it captured an older state than the capture of turn a1 before it",
			run().writes("c1", high).submit("a1", "b1").asks("a1", 1, base().after(high)).ends("a1", nil).request("b1", 1, base()),
			"the turn before it captured the older one, too",
			run().writes("c1", high).submit("a1", "b1").asks("a1", 1, base()).ends("a1", nil).request("b1", 1, base()),
		},
		{
			"DUR-6", "it captured an older state than the event of an append that failed, and is in the journal",
			run().doubts("c1", high).submit("a1").request("a1", 1, base()),
			"the input was handed in before, so that the turn may have started before",
			run().call("a1", submit).doubts("c1", high).ok("a1").request("a1", 1, base()),
		},
		{
			"DUR-6", "it captured an older state than the event of an append that failed, and is in the journal",
			queued().doubts("c1", high).ends("a1", nil).request("b1", 1, base()),
			"the turn before it had ended by then",
			queued().ends("a1", nil).doubts("c1", high).request("b1", 1, base()),
		},
		{
			"REF-5", "it captured an older state than the event of an append that failed, and is in the journal",
			run().doubts("c1", high).fails("c1", refusal(loop.ChangeDurableAppendFailed, errAppend)).submit("a1").request("a1", 1, base()),
			"the event is not in the journal",
			run().loses("c1", high).fails("c1", refusal(loop.ChangeDurableAppendFailed, errAppend)).submit("a1").request("a1", 1, base()),
		},
		{
			but:  "a durable state that nobody has acknowledged explains it",
			twin: run().writes("c1", high).submit("a1").request("a1", 1, base().after(high)),
		},
		{
			but:  "of two durable states either explains it, and the tools that run",
			twin: run().writes("c1", high).submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1"),
		},
		{
			"TURN-2", "it is a mix of two states",
			run().call("c1", high).call("c2", high).begins("c1").written("c1").appended("c1", nil).turn("a1", base().on(mp())),
			"it is whole", run().call("c1", high).call("c2", high).begins("c1").written("c1").appended("c1", nil).turn("a1", base().after(high)),
		},
		{
			but:  "two operations that the event fits alike leave it open whose it is",
			twin: run().call("c1", high).call("c2", high).begins("c1").written("c1").appended("c1", nil).ok("c1").turn("a1", base()),
		},
	})
}

func TestACaptureIsDurable(t *testing.T) {
	check(t, []pair{
		{
			"DUR-1", "it captured what c1 asked for, and no event of that is in the journal",
			run().call("c1", high).begins("c1").submit("a1").request("a1", 1, base().after(high)),
			"it is, though the append has not returned",
			run().call("c1", high).begins("c1").written("c1").submit("a1").request("a1", 1, base().after(high)),
		},
		{
			"REF-5", "it captured what c1 asked for, and no event of that is in the journal",
			run().loses("c1", high).submit("a1").request("a1", 1, base().after(high)),
			"the append failed although the event is there",
			run().doubts("c1", high).submit("a1").request("a1", 1, base().after(high)),
		},
		{
			"REF-1", "it captured what c1 asked for, and no event of that is in the journal",
			run().call("c1", high).contextEnds("c1").fails("c1", refusal(loop.ChangeContextDone, errLate)).turn("a1", base().after(high)),
			"it did not", run().call("c1", high).contextEnds("c1").fails("c1", refusal(loop.ChangeContextDone, errLate)).turn("a1", base()),
		},
	})
}

func TestACaptureIsOneWholeState(t *testing.T) {
	m1 := descriptor("m1", "low", "high")
	planned := func() *script { return run().does("m1", mode("plan")) }
	later := func() *script { return planned().crash().restored() }
	batch := func() *script { return run().does("c1", both(m1, "high")) }
	alone := func() *script { return run().does("c1", high) }
	whole := run().turn("a1", base())
	check(t, []pair{
		{"VIEW-3", "it shows what a reader wrote over the model", run().turn("a1", base().on(overwritten(m0(), fakes.ByReader))), "it is whole", whole},
		{"CHG-5", "it shows what a caller wrote over a model", run().turn("a1", base().on(overwritten(m0(), fakes.ByCaller))), "it is whole", whole},
		{"TURN-1", "it shows what the model client wrote over an earlier request", run().turn("a1", base().on(overwritten(m0(), fakes.ByClient))), "it is whole", whole},
		{"DUR-3", "what was in force before the restore is not", later().turn("a1", base()), "it is", later().turn("a1", plan())},
		{
			"CHG-6", "the loop does not start as the first one did",
			planned().crash().another().started(nil).turn("a1", plan()), "it does", planned().crash().another().started(nil).turn("a1", base()),
		},
		{"MODE-2", "the instructions are not those of the mode", planned().turn("a1", plan().saying("bare")), "they are", planned().turn("a1", plan())},
		{
			"MODE-2", "instructions, model and effort are not together those of the mode",
			planned().turn("a1", plan().on(m0())), "they are", planned().turn("a1", plan()),
		},
		{
			"TURN-2", "it is a mix of two states",
			planned().turn("a1", base().saying("bare").on(m1)), "it is none", planned().turn("a1", plan()),
		},
		{
			"CHG-2", "model and effort of one batch are not in force together",
			batch().turn("a1", base().on(m1)), "they are", batch().turn("a1", base().after(both(m1, "high"))),
		},
		{
			"TURN-2", "it is a mix of two states",
			batch().turn("a1", base().on(mp()).thinking("max")), "it is none", batch().turn("a1", base().after(both(m1, "high"))),
		},
		{"TURN-2", "it is a mix of two states", alone().turn("a1", base().after(high).saying("bare")), "it is none", alone().turn("a1", base().after(high))},
		{
			"TURN-2", "model and effort are a mix of two states",
			alone().turn("a1", base().after(high).on(m1)), "they are not", alone().turn("a1", base().after(high)),
		},
		{
			"TURN-2", "it is a mix of two states",
			run().does("b1", x).turn("a1", base().after(x).saying("bare")), "it is none", run().does("b1", x).turn("a1", base().after(x)),
		},
		{"TURN-2", "it is not what the definition says", run().turn("a1", base().saying("bare")), "it is", whole},
	})
}

func TestTheToolsOfACaptureAreThoseOfItsState(t *testing.T) {
	whole := run().turn("a1", base())
	with := func(r trace.Replace) *script { return run().does("b1", r) }
	alien := trace.Tool{Name: "q", Description: "q"}
	check(t, []pair{
		{"EXT-12", "what a caller wrote over the slice", with(x).turn("a1", base().offering(append(base().tools(), trace.Tool{Name: fakes.Decoy})...)), "it holds the set", with(x).turn("a1", base().after(x))},
		{"TURN-1", "what the model client wrote over an earlier request", run().turn("a1", base().and(trace.Tool{Name: fakes.ByClient})), "it does not", whole},
		{"EXT-13", "it holds what tool \"x-changed\" said after it had been installed", with(x).turn("a1", base().and(trace.Tool{Name: "x-changed"})), "it does not", with(x).turn("a1", base().after(x))},
		{"TURN-3", `tool "d1" is in its capture twice`, run().turn("a1", base().and(base().tool("d1"))), "it is once", whole},
		{"TURN-3", `the declared tool "d2" is not in its capture`, run().turn("a1", base().without("d2")), "it is", whole},
		{
			"EXT-2", `the external tool "y" is not in its capture`,
			with(xy).turn("a1", base().after(xy).without("y")), "it is", with(xy).turn("a1", base().after(xy)),
		},
		{
			"EXT-8", `the external tool "x" is not in its capture`,
			with(x).does("m1", mode("plan")).turn("a1", plan()), "it is", with(x).does("m1", mode("plan")).turn("a1", plan().after(x)),
		},
		{
			"EXT-8", `the external tool "x" is not in its capture`,
			with(x).does("c1", high).turn("a1", base().after(high)), "it is", with(x).does("c1", high).turn("a1", base().after(x, high)),
		},
		{
			"EXT-2", `the external tool "x" is not in its capture`,
			with(x).does("b2", set("r", "g1", "y")).turn("a1", base().after(set("r", "g1", "y"))),
			"it is", with(x).does("b2", set("r", "g1", "y")).turn("a1", base().after(x, set("r", "g1", "y"))),
		},
		{
			"EXT-14", `the external tool "x" is not in its capture`,
			with(xy).does("b2", set("s", "g2", "y")).does("b3", xy).turn("a1", base().after(xy).without("x")),
			"it is", with(xy).does("b2", set("s", "g2", "y")).does("b3", xy).turn("a1", base().after(xy)),
		},
		{
			"REF-1", `the external tool "y" is not in its capture`,
			with(xy).refused("b2", set("s", "g2", "d1"), refusalOf(loop.ChangeExternalToolCollision, "d1")).turn("a1", base().after(xy).without("y")),
			"it is", with(xy).refused("b2", set("s", "g2", "d1"), refusalOf(loop.ChangeExternalToolCollision, "d1")).turn("a1", base().after(xy)),
		},
		{
			"EXT-2", `tool "x" in its capture is one of an earlier state`,
			with(xy).does("b2", set("s", "g2", "x", "y")).turn("a1", base().offering(append(base().tools(), xy.Tools[0], set("s", "g2", "x", "y").Tools[1])...)),
			"both are the latest", with(xy).does("b2", set("s", "g2", "x", "y")).turn("a1", base().after(set("s", "g2", "x", "y"))),
		},
		{
			"TURN-3", `tool "d1" in its capture is one of an earlier state`,
			run().does("m1", mode("plan")).turn("a1", plan().offering(base().tool("d1"), plan().tool("d3"))),
			"it is the mode's", run().does("m1", mode("plan")).turn("a1", plan()),
		},
		{
			"EXT-13", `what is offered of tool "x" is not what was fixed when it was installed`,
			with(x).turn("a1", base().and(described(x.Tools[0], "another"))), "it is", with(x).turn("a1", base().after(x)),
		},
		{
			"MODE-2", `tool "d3" is in its capture and not in any slot`,
			run().does("m1", mode("quick")).turn("a1", quick().and(plan().tool("d3"))), "it is not", run().does("m1", mode("quick")).turn("a1", quick()),
		},
		{"TURN-3", `tool "d3" is in its capture and not in any slot`, run().turn("a1", base().and(plan().tool("d3"))), "it is not", whole},
		{"EXT-2", `tool "q" is in its capture and not in any slot`, run().turn("a1", base().and(alien)), "it is not", whole},
		{
			"EXT-9", `tool "x" is in its capture and not in any slot`,
			with(x).crash().restored().turn("a1", base().after(x)), "it is not", with(x).crash().restored().turn("a1", base()),
		},
		{
			"EXT-3", `tool "y" is in its capture and not in any slot`,
			with(xy).does("b2", set("s", "g2")).turn("a1", base().and(xy.Tools[1])), "it is not", with(xy).does("b2", set("s", "g2")).turn("a1", base()),
		},
		{
			"REF-1", `tool "y" is in its capture and not in any slot`,
			run().call("b1", xy).contextEnds("b1").fails("b1", refusal(loop.ChangeContextDone, errLate)).turn("a1", base().and(xy.Tools[1])),
			"it is not", run().call("b1", xy).contextEnds("b1").fails("b1", refusal(loop.ChangeContextDone, errLate)).turn("a1", base()),
		},
		{
			"REF-5", `tool "y" is in its capture and not in any slot`,
			run().loses("b1", xy).fails("b1", refusal(loop.ChangeDurableAppendFailed, errAppend)).turn("a1", base().and(xy.Tools[1])),
			"it is not", run().loses("b1", xy).fails("b1", refusal(loop.ChangeDurableAppendFailed, errAppend)).turn("a1", base()),
		},
	})
}

func TestEqualConfigurationsOfferTheirToolsInOneOrder(t *testing.T) {
	reversed := base().offering(base().tool("d2"), base().tool("d1"))
	check(t, []pair{
		{
			"TURN-9", "its tools are offered in another order than those of turn a1",
			run().turn("a1", base()).turn("b1", reversed),
			"both are offered in that order", run().turn("a1", reversed).turn("b1", reversed),
		},
		{
			"TURN-9", "its tools are offered in another order than those of turn a1",
			run().turn("a1", base()).does("m1", mode("quick")).does("m2", mode("")).turn("b1", reversed),
			"the mode is another", run().turn("a1", base()).does("m1", mode("quick")).turn("b1", reversed.saying("quick")),
		},
		{
			but:  "the effort is another, and with it the configuration",
			twin: run().turn("a1", base()).does("c1", high).turn("b1", reversed.thinking("high")),
		},
		{
			but:  "one tool has no order",
			twin: run().does("m1", mode("bare")).turn("a1", of("bare")).turn("b1", of("bare")),
		},
	})
}

func TestAnInstanceTellsStatesApartThatLookAlike(t *testing.T) {
	// What the tools say of themselves is the same; only the instance, which runs, is another.
	again := set("s", "g1", "x")
	again.Tools[0].Instance = "b2/x"
	check(t, []pair{{
		"TURN-4", "it captured an older state than the change acknowledged while the loop was idle: s g1/x ran",
		run().does("b1", x).does("b2", again).submit("a1").asks("a1", 1, base().after(x), "x").runs("a1", "x", "s g1/x"),
		"the new one runs", run().does("b1", x).does("b2", again).submit("a1").asks("a1", 1, base().after(x), "x").runs("a1", "x", "b2/x"),
	}, {
		but: "the second is not acknowledged, so that either may run",
		twin: run().does("b1", x).writes("b2", again).submit("a1").asks("a1", 1, base().after(x), "x").runs("a1", "x", "s g1/x").ran("a1", "x", nil).
			request("a1", 2, base().after(x)),
	}})
}
