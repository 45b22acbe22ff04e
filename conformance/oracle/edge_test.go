package oracle_test

import (
	"strings"
	"testing"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

func TestSlotsAreLostByWhatShouldHaveLeftThemAlone(t *testing.T) {
	y := set("r", "g1", "y")
	clash := set("s", "g2", "d1")
	taken := refusalOf(loop.ChangeExternalToolCollision, "d1")
	old, again := set("s", "g1", "x", "y"), set("s", "g1", "x", "y")
	for i := range again.Tools {
		again.Tools[i] = described(again.Tools[i], "another")
	}
	mixed := base().after(again)
	mixed = mixed.offering(append(base().tools(), old.Tools[0], again.Tools[1])...)
	check(t, []pair{
		{
			"REF-1", "the slot of b2 is not what it was before, and that was refused",
			run().does("b1", x).refused("b2", clash, taken).turn("a1", base()),
			"it is", run().does("b1", x).refused("b2", clash, taken).turn("a1", base().after(x)),
		},
		{
			"EXT-8", `the external tool "x" is not in its capture`, // equal, by chance, to the state at the start
			run().does("b1", x).does("c1", effort("low")).turn("a1", base()),
			"it is", run().does("b1", x).does("c1", effort("low")).turn("a1", base().after(x)),
		},
		{
			"EXT-2", `the external tool "x" is not in its capture`, // equal, by chance, to the first slot alone
			run().does("b1", y).does("b2", x).does("b3", y).turn("a1", base().after(y)),
			"it is", run().does("b1", y).does("b2", x).does("b3", y).turn("a1", base().after(x, y)),
		},
		{
			"EXT-14", `tool "x" in its capture is one of an earlier state`,
			run().does("b1", old).does("b2", again).turn("a1", mixed),
			"both are of the later set", run().does("b1", old).does("b2", again).turn("a1", base().after(again)),
		},
		{
			"TURN-9", "its tools are offered in another order than those of turn a1",
			run().does("b1", x).turn("a1", base().after(x)).does("b2", set("s", "g2")).does("b3", x).turn("t2", base().offering(append(x.Tools, base().tools()...)...)),
			"the set was installed in another order",
			run().does("b1", xy).turn("a1", base().after(xy)).does("b2", set("s", "g1", "y", "x")).turn("t2", base().after(set("s", "g1", "y", "x"))),
		},
	})
}

func TestAFailedAppendThatMayBeAnyones(t *testing.T) {
	lost := refusal(loop.ChangeDurableAppendFailed, errAppend)
	two := func() *script { return run().call("c1", high).call("c2", high).begins("c1").appended("c1", errAppend) }
	m1 := descriptor("m1", "low", "high")
	check(t, []pair{
		{but: "both may be told so", twin: two().fails("c1", lost).fails("c2", lost)},
		{
			"REF-5", "it was refused as durable_append_failed, and nothing that was in force justifies that",
			two().fails("c1", lost).refused("c3", effort("low"), lost),
			"it asked for that, too", two().fails("c1", lost).fails("c2", lost),
		},
		{
			but: "the commit that came between makes it another's", // c1 keeps the effort in force, c3 the model
			twin: run().call("c1", change(m1)).call("c2", both(m1, "high")).call("c3", effort("low")).begins("c2").
				begins("c3", inferenceChanged(base().on(m1))).written("c2").contextEnds("c1").fails("c1", refusal(loop.ChangeContextDone, errLate)).written("c3").appended("c3", nil).ok("c3"),
		},
		{
			"DUR-3", "no operation in flight asked for",
			run().call("a1", submit).begins("a1", modeChanged("", plan())).written("a1"), "a set-mode did", run().does("m1", mode("plan")),
		},
		{
			"DUR-3", "no operation in flight asked for",
			run().call("a1", submit).begins("a1", event.LoopExternalToolsetChanged{Source: strings.Repeat("s", 60), Generation: "g"}).written("a1"),
			"a replace did", run().does("b1", set("s", "g")),
		},
		{
			"EXT-2", "its event is in the journal twice",
			run().writes("b1", x).begins("b1", toolsetChanged(x)).written("b1"), "two asked for it", run().does("b1", x).does("b2", x),
		},
		{
			"CHG-2", "it asked for one event of another kind than loop_mode_changed",
			run().records("c1", high, modeChanged("", plan())), "it is of the kind", run().does("c1", high),
		},
		{
			"EXT-4", `a set was committed that could not be built: "q", "x"`,
			run().call("b1", broken("s", "g1", "q")).build("b1", "x").built("b1", "x", fakes.ErrBuild).begins("b1", toolsetChanged(set("s", "g1"))).written("b1"),
			"it could", run().does("b1", set("s", "g1")),
		},
	})
	check(t, []pair{{
		but:  "a loop whose first append fails may not start",
		twin: unstarted().begins("").appended("", errAppend).started(errOther),
	}, {
		but:  "a loop whose first append fails may fault",
		twin: unstarted().begins("").appended("", errAppend).started(nil).refused("c1", high, refusal(loop.ChangeLoopFaulted)),
	}})
}

func TestInputsThatJoinTheTurnInFlight(t *testing.T) {
	two := func() *script { return run().submit("a1", "b1").asks("a1", 1, base()) }
	check(t, []pair{
		{
			"INT-1", "it ended as interrupted, and no interrupt was called while it was in flight",
			two().ends("a1", interrupted), "one interrupt is enough for both", two().call("i", interrupt).ends("a1", interrupted).ends("b1", interrupted).ok("i"),
		},
		{
			"TURN-1", "the model was asked with other instructions than the turn had captured",
			two().request("b1", 2, base().saying("plan")), "it shares the capture", two().request("b1", 2, base()),
		},
		{
			but:  "the turn that it joins may have ended: its submit has not returned",
			twin: run().call("a1", submit).asks("a1", 1, base()).does("c1", high).submit("b1").request("b1", 1, base().after(high)),
		},
		{
			but:  "whether an input waits for the turn in flight is left open",
			twin: two().quiet(),
		},
	}, oracle.Options{Joins: true})
	check(t, []pair{{
		but:  "the turn before may have ended: its submit has not returned",
		twin: run().call("a1", submit).asks("a1", 1, base()).submit("b1").request("b1", 1, base()),
	}})
}

func TestWhatIsOutstandingExplainsWhatWaits(t *testing.T) {
	appending := func() *script { return held().call("c0", high).begins("c0") }
	check(t, []pair{
		{
			"INT-2", "it was interrupted, and has not ended",
			held().call("i", interrupt).ok("i").ran("a1", "d1", nil).cancelled().quiet(),
			"an append is outstanding", appending().call("i", interrupt).ok("i").ran("a1", "d1", nil).cancelled().quiet(),
		},
		{but: "what an operation of the user's waits for is not known", twin: run().call("u", trace.User{}).quiet()},
		{but: "who waits for a turn waits with it", twin: held().call("w", trace.Wait{Turn: "a1"}).quiet()},
		{but: "who waits may wait for the tool of the turn as for the build", twin: held().call("b1", x).build("b1", "x").submit("c1").quiet()},
		{
			"VIEW-1", "shows an older state than one acknowledged before the read",
			run().does("m1", mode(loop.ModeName("plan"))).reads("r", base()), "a journal is being read", run().does("m1", mode("plan")).readsJournal(nil).reads("r", plan()),
		},
	})
}
