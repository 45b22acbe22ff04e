package oracle_test

import (
	"strings"
	"testing"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// records is a call during which an event is written that is not what it asks for.
func (s *script) records(op string, asked any, e event.Event) *script {
	return s.call(op, asked).begins(op, e).written(op)
}

func repeated(c trace.Change) trace.Change {
	c.Repeated = true
	return c
}

// invalid is a change to a model that cannot be selected.
func invalid(m model.Model) trace.Change {
	c := change(m)
	c.Refused = errOther
	return c
}

func TestAnEventIsWhatItsOperationAsksFor(t *testing.T) {
	thin := descriptor("m1", "low")
	m1 := descriptor("m1", "low", "high")
	clash := set("s", "g1", "d1")
	does := func(asked any) *script { return run().does("c1", asked) }
	check(t, []pair{
		{"MODE-1", "its event is not what it asked for", run().records("c1", mode("nope"), modeChanged("", plan())), "it is, and declared", does(mode("plan"))},
		{"DUR-2", "its event is not what it asked for", run().records("c1", mode("plan"), modeChanged("", plan().on(descriptor("mp", "high")))), "the descriptor is whole", does(mode("plan"))},
		{"MODE-2", "its event is not what it asked for", run().records("c1", mode("plan"), modeChanged("", plan().on(m0()))), "the model is the mode's", does(mode("plan"))},
		{"MODE-2", "its event is not what it asked for", run().records("c1", mode("plan"), modeChanged("quick", plan())), "the mode before is the one in force", does(mode("plan"))},
		{"CHG-1", "its event is not what it asked for", run().records("c1", trace.Change{}, inferenceChanged(base())), "it asks for something", does(effort("low"))},
		{"CHG-5", "its event is not what it asked for", run().records("c1", change(m1), inferenceChanged(base().on(overwritten(m1, fakes.ByCaller)))), "it is", does(change(m1))},
		{"VIEW-3", "its event is not what it asked for", run().records("c1", high, inferenceChanged(base().on(overwritten(m0(), fakes.ByReader)).thinking("high"))), "it is", does(high)},
		{"CHG-1", "its event is not what it asked for", run().records("c1", repeated(high), inferenceChanged(base().thinking("medium"))), "the last value wins", does(repeated(high))},
		{"DUR-2", "its event is not what it asked for", run().records("c1", change(m1), inferenceChanged(base().on(thin))), "the descriptor is whole", does(change(m1))},
		{"DUR-2", "its event is not what it asked for", run().records("c1", high, inferenceChanged(base())), "it records the effort", does(high)},
		{"CHG-4", "its event is not what it asked for", run().records("c1", change(m1), inferenceChanged(base().after(both(m1, "high")))), "the effort is kept", does(change(m1))},
		{"CHG-2", "its event is not what it asked for", run().records("c1", both(m1, "high"), inferenceChanged(base().on(m1))), "both are in one event", does(both(m1, "high"))},
		{"EXT-7", "its event is not what it asked for", run().call("c1", xy).builds("c1", xy).begins("c1", toolsetChanged(set("s", "g1", "y", "x"))).written("c1"), "they are in order", does(xy)},
		{"EXT-7", "its event is not what it asked for", run().records("c1", x, toolsetChanged(set("s", "g2", "x"))), "the generation is its own", does(x)},
		{"EXT-4", "its event is not what it asked for", run().records("c1", broken("s", "g1", "q"), toolsetChanged(set("s", "g1", "q"))), "the set is whole", does(set("s", "g1", "q"))},
		{"EXT-5", "its event is not what it asked for", run().records("c1", clash, toolsetChanged(set("s", "g1"))), "the name is free", does(x)},
		{"EXT-3", "its event is not what it asked for", run().records("c1", set("s", "g1"), toolsetChanged(x)), "it is recorded with no tools", does(set("s", "g1"))},
		{"EXT-2", "its event is not what it asked for", run().records("c1", x, toolsetChanged(set("s", "g1"))), "it is one event", does(x)},
		{
			"MODE-2", "it asked for one event of another kind than loop_inference_changed",
			run().records("c1", mode("plan"), inferenceChanged(plan())), "it is of the kind", does(mode("plan")),
		},
		{
			"MODE-2", "its event is in the journal twice",
			does(mode("plan")).call("c2", submit).begins("c2", modeChanged("plan", plan())).written("c2"),
			"two asked for it", does(mode("plan")).does("c2", mode("plan")),
		},
		{
			"CHG-2", "its event is in the journal twice",
			run().writes("c1", high).begins("c1", inferenceChanged(base().after(high))).written("c1"), "once", does(high),
		},
		{
			"REF-5", "its event is in the journal twice",
			run().doubts("c1", high).begins("c1").written("c1"), "the first was lost", run().loses("c1", high).begins("c1").written("c1"),
		},
		{
			"DUR-3", "an event loop_inference_changed in the journal that no operation in flight asked for",
			run().call("a1", submit).begins("a1", inferenceChanged(base().after(high))).written("a1"), "it configures nothing", run().call("a1", submit).begins("a1").written("a1"),
		},
		{
			"DUR-3", "an event loop_inference_changed in the journal that no operation in flight asked for",
			run().records("c1", x, inferenceChanged(base())), "it is the set's", does(x),
		},
	})
}

func TestAnEventFollowsFromTheLastCommit(t *testing.T) {
	m1 := descriptor("m1", "low", "medium", "high")
	low, medium := effort("low"), effort("medium")
	check(t, []pair{
		{
			"DUR-1", "its event follows from what c0 asked for, which is not in the journal",
			run().call("c0", mode("plan")).records("c1", low, inferenceChanged(plan().after(low))),
			"it is", run().writes("c0", mode("plan")).records("c1", low, inferenceChanged(plan().after(low))),
		},
		{
			"REF-5", "its event follows from what c0 asked for, whose append failed",
			run().loses("c0", mode("plan")).records("c1", low, inferenceChanged(plan().after(low))),
			"it was written", run().doubts("c0", mode("plan")).records("c1", low, inferenceChanged(plan().after(low))),
		},
		{
			"DUR-2", "its event follows from a state that is not the last that the journal comes to",
			run().does("c0", change(m1)).records("c1", high, inferenceChanged(base().after(high))),
			"it is the last", run().does("c0", change(m1)).does("c1", high),
		},
		{
			"DUR-6", "its event follows from the state before an event whose append failed and which is in the journal",
			run().doubts("c0", change(m1)).records("c1", medium, inferenceChanged(base().after(medium))),
			"the append failed, and the event is not there", run().loses("c0", change(m1)).records("c1", medium, inferenceChanged(base().after(medium))),
		},
		{
			"REF-5", "its event follows from the state before the event of c0, whose append failed and which is in the journal",
			run().doubts("c0", change(m1)).fails("c0", refusal(loop.ChangeDurableAppendFailed, errAppend)).records("c1", medium, inferenceChanged(base().after(medium))),
			"the event is not there", run().loses("c0", change(m1)).fails("c0", refusal(loop.ChangeDurableAppendFailed, errAppend)).does("c1", medium),
		},
		{
			"DUR-3", "its event follows from the definition's state, and not from the journal's",
			run().does("c0", change(m1)).crash().restored().records("c1", high, inferenceChanged(base().after(high))),
			"it follows from the journal's", run().does("c0", change(m1)).crash().restored().does("c1", high),
		},
	})
}

func TestWhatIsCommittedCouldBe(t *testing.T) {
	thin := descriptor("m1", "low")
	long := set(strings.Repeat("s", loop.MaxSource+1), "g1", "x")
	failing := func() *script {
		return run().call("b1", x).build("b1", "x").built("b1", "x", fakes.ErrBuild)
	}
	check(t, []pair{
		{"MODE-1", `mode "nope" is not declared, and was committed`, run().does("c1", mode("nope")), "it is", run().does("c1", mode("bare"))},
		{"CHG-3", "something else, and it was committed", run().does("c1", invalid(thin)), "it is valid", run().does("c1", change(thin))},
		{"CHG-3", `model m1 does not support effort "high", and they were committed together`, run().does("c1", both(thin, "high")), "it does", run().does("c1", both(thin, "low"))},
		{"CHG-4", `model m1 does not support effort "high", and they were committed together`, run().does("c0", high).does("c1", change(thin)), "it does", run().does("c1", change(thin))},
		{"CHG-4", `model m0 does not support effort "max", and they were committed together`, run().does("c1", effort("max")), "no effort is supported by all", run().does("c1", effort(""))},
		{"EXT-10", "external tools were committed in a foreign loop", foreign().call("b1", x).begins("b1").written("b1"), "the loop is native", run().does("b1", x)},
		{"EXT-1", "is not valid, and it was committed", run().call("b1", long).begins("b1").written("b1"), "it is valid", run().does("b1", x)},
		{"EXT-4", `a set was committed that could not be built: "q"`, run().does("b1", broken("s", "g1", "q")), "it could", run().does("b1", set("s", "g1"))},
		{"EXT-4", `a set was committed that could not be built: "x"`, failing().begins("b1").written("b1"), "it could", run().does("b1", x)},
		{
			"EXT-4", "the set was committed before every tool of it was built and described",
			run().call("b1", xy).build("b1", "x").built("b1", "x", nil).describe("b1", "x").describedBy("b1", "x").begins("b1").written("b1"),
			"every one was", run().does("b1", xy),
		},
		{
			"EXT-4", "the set was committed before every tool of it was built and described",
			run().call("b1", x).build("b1", "x").built("b1", "x", nil).describe("b1", "x").begins("b1").written("b1"),
			"every one was", run().does("b1", x),
		},
		{"EXT-5", `a tool name was committed that was taken: "d3"`, run().does("b1", set("s", "g1", "d3")), "it is free", run().does("b1", x)},
		{"EXT-5", `a tool name was committed that was taken: "x"`, run().does("b1", set("s", "g1", "x", "x")), "it is free", run().does("b1", xy)},
		{
			"EXT-5", `a tool name was committed that was taken: "x"`,
			run().does("b1", x).does("b2", set("r", "g1", "x")), "it is in the slot that is replaced", run().does("b1", x).does("b2", set("s", "g2", "x")),
		},
		{
			"EXT-5", `a tool name was committed that was taken: "x"`,
			run().does("b1", x).does("b2", set("r", "g1", "x")), "the slot was cleared before", run().does("b1", x).does("b2", set("s", "g2")).does("b3", set("r", "g1", "x")),
		},
		{
			but: "in the order of the commits the batch is supported", // high needs m0, and the loop was at m1
			twin: run().does("c0", change(thin)).call("c1", effort("high")).call("c2", change(m0())).begins("c2").written("c2").appended("c2", nil).ok("c2").
				begins("c1").written("c1").appended("c1", nil).ok("c1"),
		},
	})
}

func TestOfTwoThatAnEventFitsAlikeNeitherIsAccused(t *testing.T) {
	two := func() *script {
		return run().call("c1", high).call("c2", high).begins("c1").written("c1").appended("c1", nil)
	}
	done := refusal(loop.ChangeContextDone, errLate)
	tools := func() *script {
		again := set("s", "g1", "x")
		again.Tools[0].Instance, again.Tools[0].Description = "b2/x", "another x"
		return run().call("b1", x).builds("b1", x).call("b2", again).builds("b2", again).begins("b1").written("b1").appended("b1", nil).
			ok("b1").contextEnds("b2").fails("b2", done)
	}
	check(t, []pair{
		{
			"REF-3", "c1: it was refused as context_done, and its event is in the journal",
			run().call("c1", high).begins("c1").written("c1").appended("c1", nil).contextEnds("c1").fails("c1", done),
			"it may be the other's", two().ok("c2").contextEnds("c1").fails("c1", done),
		},
		{
			"REF-3", "c1: it was refused as context_done, and its event is in the journal",
			run().call("c1", high).begins("c1").written("c1").appended("c1", nil).contextEnds("c1").fails("c1", done),
			"it may be the other's, whichever", two().ok("c1").contextEnds("c2").fails("c2", done),
		},
		{but: "either's tools may be in the slot", twin: tools().submit("a1").asks("a1", 1, base().after(x), "x").runs("a1", "x", "b2/x")},
		{
			"REF-7", "c1: it returned context_done while its append was outstanding",
			run().call("c1", high).begins("c1").contextEnds("c1").fails("c1", done),
			"it may be the other's", run().call("c1", high).call("c2", high).begins("c1").contextEnds("c1").fails("c1", done),
		},
	})
	// An append that seemed one operation's when it began may be another's when it is written.
	m1 := descriptor("m1", "low", "high")
	check(t, []pair{{
		but: "another commit has come between",
		twin: run().call("c1", both(m1, "high")).call("c2", high).call("c3", change(m1)).begins("c1").begins("c3").written("c3").appended("c3", nil).
			written("c1").appended("c1", nil).contextEnds("c1").fails("c1", done),
	}})
}

func TestTheJournalHoldsNoSecrets(t *testing.T) {
	secret := func(e event.Event) *script { return run().call("c1", submit).begins("c1", e).written("c1") }
	m := descriptor(fakes.Canary, "low")
	runtime := event.Runtime{Model: m, Effort: "low"}
	stop, efforts := m0(), m0()
	stop.Sampling.Stop = []string{fakes.Canary}
	efforts.Efforts = append(efforts.Efforts, fakes.Canary)
	tools := func(i ...event.ExternalToolIdentity) event.Event {
		return event.LoopExternalToolsetChanged{Source: "s", Generation: "g", Tools: i}
	}
	for _, e := range []event.Event{
		event.LoopStarted{Name: fakes.Canary}, event.LoopStarted{Name: "n", Runtime: runtime}, event.LoopModeChanged{Runtime: runtime},
		event.LoopInferenceChanged{Runtime: runtime}, event.LoopInferenceChanged{Runtime: event.Runtime{Model: stop}},
		event.LoopInferenceChanged{Runtime: event.Runtime{Model: efforts}}, event.TurnStarted{Mode: fakes.Canary}, event.TurnEnded{Outcome: fakes.Canary},
		event.LoopExternalToolsetChanged{Source: fakes.Canary}, event.LoopExternalToolsetChanged{Source: "s", Generation: fakes.Canary},
		tools(event.ExternalToolIdentity{Name: fakes.Canary}), tools(event.ExternalToolIdentity{Name: "x", SchemaDigest: fakes.Canary}),
		event.Other{Tag: "other", Raw: []byte(`{"x": "` + fakes.Canary + `"}`)},
	} {
		check(t, []pair{{"DUR-4", "that holds a secret", secret(e), "it holds none", secret(event.LoopStopped{Header: header})}})
	}
	check(t, []pair{{
		"DUR-4", "that holds a secret",
		unstarted().begins("", event.LoopStarted{Name: fakes.Canary}).written("").started(nil),
		"it holds none", unstarted().begins("", event.LoopStarted{Name: "n"}).written("").started(nil),
	}})
}
