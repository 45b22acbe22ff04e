package oracle_test

import (
	"context"
	"errors"
	"testing"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
)

// held is a turn whose step has two tool calls, one of which is running.
func held() *script {
	return run().submit("a1").asks("a1", 1, base(), "d1", "d2").runs("a1", "d1", "base/d1")
}

// step is a turn in its first step with an answered request that called d1, and its run.
func step() *script {
	return run().submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1").ran("a1", "d1", nil)
}

func TestTurnsRunOneAtATimeInOrder(t *testing.T) {
	check(t, []pair{
		{
			"TURN-7", "turn b1: it started while turn a1 had not ended",
			run().submit("a1", "b1").asks("a1", 1, base()).request("b1", 1, base()),
			"it ended in the step in which the next started",
			run().submit("a1", "b1").asks("a1", 1, base()).ends("a1", nil).same().request("b1", 1, base()),
		},
		{
			"TURN-7", "turn b1: it started before turn a1, whose input was accepted earlier",
			run().submit("a1", "b1").request("b1", 1, base()),
			"the inputs were handed in at the same time",
			run().call("a1", submit).call("b1", submit).ok("a1").ok("b1").request("b1", 1, base()),
		},
		{
			"TURN-7", "it ended as completed, and no model was asked",
			run().submit("a1").ends("a1", nil),
			"the model was asked",
			run().turn("a1", base()),
		},
		{
			"TURN-7", "which is no *loop.TurnError of a declared kind",
			run().submit("a1").request("a1", 1, base()).answers("a1", fakes.ErrStream).ends("a1", fakes.ErrStream),
			"it is one",
			run().submit("a1").request("a1", 1, base()).answers("a1", fakes.ErrStream).ends("a1", failed),
		},
		{
			"TURN-7", "which is no *loop.TurnError of a declared kind",
			run().submit("a1").asks("a1", 1, base()).ends("a1", outcome("gone")),
			"it is declared",
			run().submit("a1").asks("a1", 1, base()).ends("a1", nil),
		},
		{
			"TURN-7", "it started, and its outcome is dropped",
			run().submit("a1").asks("a1", 1, base()).call("s", shutdown).ends("a1", dropped),
			"it did not start",
			run().submit("a1").call("s", shutdown).ends("a1", dropped),
		},
		{
			"TURN-7", "its input was dropped, with no shutdown and no fault",
			run().submit("a1").ends("a1", dropped),
			"an append had failed, so that the loop may have faulted",
			run().loses("c1", effort("high")).submit("a1").ends("a1", dropped),
		},
		{
			"TURN-7", "it was accepted and does not start",
			run().submit("a1").quiet(),
			"it waits for the turn before it, whose tool does not return",
			held().submit("b1").quiet(),
		},
	})
	check(t, []pair{{
		but:  "the subject declares that inputs may join the turn in flight",
		twin: run().submit("a1", "b1").asks("a1", 1, base()).ends("a1", nil).ends("b1", nil),
	}, {
		but:  "the subject declares that inputs may join the turn in flight, and one starts on its own",
		twin: run().submit("a1", "b1").asks("a1", 1, base()).request("b1", 1, base()).quiet(),
	}}, oracle.Options{Joins: true})
	check(t, []pair{{
		but:  "what a foreign agent does is not seen",
		twin: foreign().submit("a1").ends("a1", nil),
	}})
}

func TestNothingOfATurnBeginsAfterItsEnd(t *testing.T) {
	ended := func() *script { return step().ends("a1", nil) }
	check(t, []pair{
		{
			"TURN-8", "turn a1: a model request began after the turn had ended (completed)",
			ended().request("a1", 2, base()),
			"in the very step: whoever calls has decided so before",
			ended().same().request("a1", 2, base()),
		},
		{
			"TURN-8", `a call of tool "d1" began after the turn had ended (failed)`,
			run().submit("a1").asks("a1", 1, base(), "d1").ends("a1", failed).runs("a1", "d1", "base/d1"),
			"in the very step: whoever calls has decided so before",
			run().submit("a1").asks("a1", 1, base(), "d1").ends("a1", failed).same().runs("a1", "d1", "base/d1"),
		},
		{
			"TURN-8", "it was begun anew after it had ended",
			run().turn("a1", base()).same().request("a1", 1, base().thinking("high")),
			"it is the request that was on its way",
			run().turn("a1", base()).same().request("a1", 1, base()),
		},
		{
			"TURN-8", "a call of it began after the turn had ended (interrupted)",
			held().call("i", interrupt).ok("i").ends("a1", interrupted).same().runs("a1", "d2", "base/d2").ran("a1", "d2", nil),
			"its context had ended: it was on its way",
			held().call("i", interrupt).ok("i").ends("a1", interrupted).same().runs("a1", "d2", "base/d2").cancelled().ran("a1", "d2", nil).cancelled(),
		},
	})
}

func TestATurnUsesItsCaptureThroughout(t *testing.T) {
	high := effort("high")
	second := func(c config) *script { return step().does("c1", high).request("a1", 2, c) }
	as := func() *script { return second(base()) }
	x := set("s", "g1", "x")
	check(t, []pair{
		{"TURN-1", "step 2: the model was asked with other instructions", second(base().saying("plan")), "as captured", as()},
		{"TURN-1", `step 2: the model was asked with effort "high", the turn had captured "low"`, second(base().after(high)), "as captured", as()},
		{"VIEW-3", "a reader wrote over one that Model() had returned", second(base().on(overwritten(m0(), fakes.ByReader))), "as captured", as()},
		{"CHG-5", "a caller wrote over it after handing it over", second(base().on(overwritten(m0(), fakes.ByCaller))), "as captured", as()},
		{"TURN-1", `model "mp" was asked, the turn had captured "m0"`, second(base().on(mp())), "as captured", as()},
		{"TURN-1", "with another descriptor of the model", second(base().on(descriptor("m0", "low"))), "as captured", as()},
		{"TURN-1", "with other tools than the turn had captured", second(base().without("d2")), "as captured", as()},
		{
			"TURN-1", `the model had called "d1", a tool of the capture, and it did not run`,
			run().submit("a1").asks("a1", 1, base(), "d1").request("a1", 2, base()),
			"it ran", step().request("a1", 2, base()),
		},
		{
			"TURN-1", `tool "x" is s g1/x in the capture, and s g2/x ran`,
			run().does("b1", x).submit("a1").asks("a1", 1, base().after(x), "x").does("b2", set("s", "g2", "x")).runs("a1", "x", "s g2/x"),
			"the one that was captured runs",
			run().does("b1", x).submit("a1").asks("a1", 1, base().after(x), "x").does("b2", set("s", "g2", "x")).runs("a1", "x", "s g1/x"),
		},
		{
			"TURN-1", `tool "d1" is base/d1 in the capture, and plan/d1 ran`,
			run().submit("a1").asks("a1", 1, base(), "d1").does("m1", mode("plan")).runs("a1", "d1", "plan/d1"),
			"the one that was captured runs",
			run().submit("a1").asks("a1", 1, base(), "d1").does("m1", mode("plan")).runs("a1", "d1", "base/d1"),
		},
		{
			"TURN-3", `tool "d1" is base/d1 in the capture, and plan/d1 ran`,
			run().submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "plan/d1"),
			"the declared one runs",
			run().submit("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1"),
		},
	})
}

func TestACallOfAToolOutsideTheCaptureRunsNothing(t *testing.T) {
	stray := func() *script { return run().submit("a1").asks("a1", 1, base(), "zz") }
	check(t, []pair{
		{
			"TURN-5", `the model called "zz", which is no tool of the capture, and base/d1 ran`,
			stray().runs("a1", "zz", "base/d1"),
			"the model is told", stray().request("a1", 2, base()),
		},
		{
			"TURN-5", `the model had called "zz", which is no tool of the capture, and was not told so`,
			stray().request("a1", 2, base()).told(),
			"the answer was broken off", run().submit("a1").request("a1", 1, base(), "zz").answers("a1", fakes.ErrStream).request("a1", 2, base()).told(),
		},
		{
			"TURN-5", "was not told so, and the turn completed",
			stray().ends("a1", nil),
			"the turn fails", stray().ends("a1", failed),
		},
		{
			but: "a turn that fails over it may cancel the calls beside",
			twin: run().submit("a1").asks("a1", 1, base(), "zz", "d1").runs("a1", "d1", "base/d1").cancelled().ran("a1", "d1", context.Canceled).cancelled().
				ends("a1", failed),
		},
	})
}

func TestACallOfATurnSeesItsContextEndOnlyForAReason(t *testing.T) {
	check(t, []pair{
		{
			"REF-8", "a model request began with a context that had ended, and nobody had interrupted the turn",
			step().request("a1", 2, base()).cancelled(),
			"an interrupt was called",
			step().call("i", interrupt).request("a1", 2, base()).cancelled(),
		},
		{
			"REF-8", `a call of tool "d1" began with a context that had ended`,
			run().submit("a1").contextEnds("a1").asks("a1", 1, base(), "d1").runs("a1", "d1", "base/d1").cancelled(),
			"another call of the step had failed",
			held().ran("a1", "d1", fakes.ErrRun).runs("a1", "d2", "base/d2").cancelled(),
		},
		{
			"REF-8", "the context of a call ended, and nobody had interrupted the turn",
			held().ran("a1", "d1", context.Canceled).cancelled(),
			"the loop is shutting down",
			held().call("s", shutdown).ran("a1", "d1", context.Canceled).cancelled(),
		},
		{
			"REF-8", "it failed after the context of its Submit had ended, and for no other reason",
			run().submit("a1").asks("a1", 1, base()).contextEnds("a1").ends("a1", failed),
			"its request failed",
			run().submit("a1").request("a1", 1, base()).contextEnds("a1").answers("a1", fakes.ErrStream).ends("a1", failed),
		},
		{
			but:  "it fails over a call of what is no tool of the capture",
			twin: run().submit("a1").asks("a1", 1, base(), "zz").contextEnds("a1").ends("a1", failed),
		},
		{
			"REF-8", "no interrupt was called, and only the context of its Submit had ended",
			run().submit("a1").asks("a1", 1, base()).contextEnds("a1").ends("a1", interrupted),
			"an interrupt was called, too",
			run().submit("a1").asks("a1", 1, base()).contextEnds("a1").call("i", interrupt).ends("a1", interrupted),
		},
		{
			"REF-8", "its input was dropped, with no shutdown and no fault",
			run().submit("a1").contextEnds("a1").ends("a1", dropped),
			"there was a shutdown",
			run().submit("a1").contextEnds("a1").call("s", shutdown).ends("a1", dropped),
		},
		{
			"REF-8", "it was accepted and does not start, and the context of its Submit has ended",
			run().submit("a1").contextEnds("a1").quiet(),
			"it runs", run().submit("a1").contextEnds("a1").asks("a1", 1, base()).ends("a1", nil).quiet(),
		},
	})
}

func TestAFailureIsTheTurnsOwn(t *testing.T) {
	panicked := func() *script {
		return run().submit("a1", "b1").request("a1", 1, base()).answers("a1", fakes.ErrStream).panicking().ends("a1", failed)
	}
	check(t, []pair{
		{
			"TURN-6", "it ended as interrupted, and no interrupt was called",
			panicked().request("b1", 1, base()).ends("b1", interrupted),
			"an interrupt was", panicked().request("b1", 1, base()).call("i", interrupt).ends("b1", interrupted),
		},
		{
			"TURN-6", "its input was dropped, with no shutdown and no fault",
			panicked().ends("b1", dropped),
			"it runs", panicked().request("b1", 1, base()).answers("b1", nil).ends("b1", nil),
		},
		{
			"TURN-6", "it was refused as loop_exited, and nothing that was in force justifies that",
			panicked().refused("c1", effort("high"), refusal(loop.ChangeLoopExited)),
			"it was shut down", panicked().call("s", shutdown).refused("c1", effort("high"), refusal(loop.ChangeLoopExited)),
		},
		{
			"TURN-6", "it was refused as loop_faulted, and nothing that was in force justifies that",
			panicked().refused("c1", effort("high"), refusal(loop.ChangeLoopFaulted)),
			"an append had failed", panicked().loses("c0", effort("high")).refused("c1", effort("high"), refusal(loop.ChangeLoopFaulted)),
		},
		{
			"TURN-6", "the input was refused as exited, and nothing justifies that",
			panicked().refused("c2", submit, noInput(loop.SubmitExited)),
			"it is accepted", panicked().submit("c2"),
		},
		{
			"TURN-6", "the input was refused as faulted, and nothing justifies that",
			panicked().refused("c2", submit, noInput(loop.SubmitFaulted)),
			"an append had failed", panicked().loses("c1", effort("high")).refused("c2", submit, noInput(loop.SubmitFaulted)),
		},
		{
			"TURN-6", "it has started and does not end, and a call of it has failed",
			run().submit("a1").request("a1", 1, base()).answers("a1", fakes.ErrStream).quiet(),
			"it ends", run().submit("a1").request("a1", 1, base()).answers("a1", fakes.ErrStream).ends("a1", failed).quiet(),
		},
		{
			"TURN-6", "it has started and does not end, and a call of it has panicked",
			run().submit("a1").request("a1", 1, base()).answers("a1", fakes.ErrStream).panicking().quiet(),
			"it ends", run().submit("a1").request("a1", 1, base()).answers("a1", fakes.ErrStream).panicking().ends("a1", failed).quiet(),
		},
		{
			"TURN-6", "it was accepted and does not start, and a model request or tool call has failed",
			panicked().quiet(),
			"it asks a model that does not answer", panicked().request("b1", 1, base()).quiet(),
		},
		{
			but:  "the turn goes on after a failed tool, and drops the rest of the step",
			twin: held().ran("a1", "d1", fakes.ErrRun).request("a1", 2, base()),
		},
	})
}

func TestAnInputIsAcceptedOrRefusedForAReason(t *testing.T) {
	check(t, []pair{
		{
			"LIFE-3", "Submit returned neither a turn nor an error",
			run().call("a1", submit).add(trace.Entry{Kind: trace.Returned, Op: "a1"}),
			"it returned a turn", run().submit("a1"),
		},
		{
			"LIFE-3", "the input was refused with *errors.errorString, which is no *loop.SubmitError",
			run().call("s", shutdown).refused("a1", submit, errors.New("no")),
			"it is one", run().call("s", shutdown).refused("a1", submit, noInput(loop.SubmitShuttingDown)),
		},
		{
			"LIFE-3", "context_done does not wrap the context's error",
			run().call("a1", submit).contextEnds("a1").fails("a1", noInput(loop.SubmitContextDone, errOther)),
			"it does", run().call("a1", submit).contextEnds("a1").fails("a1", noInput(loop.SubmitContextDone, errLate)),
		},
		{
			"LIFE-3", "the input was refused as shutting_down, and its turn ran",
			run().call("a1", submit).request("a1", 1, base()).call("s", shutdown).fails("a1", noInput(loop.SubmitShuttingDown)),
			"it is accepted", run().call("a1", submit).request("a1", 1, base()).call("s", shutdown).ok("a1"),
		},
		{
			"LIFE-3", "the input was refused, and a model request began",
			run().call("s", shutdown).refused("a1", submit, noInput(loop.SubmitShuttingDown)).request("a1", 1, base()),
			"it is that of another", run().submit("b1").call("s", shutdown).refused("a1", submit, noInput(loop.SubmitShuttingDown)).request("b1", 1, base()),
		},
		{
			"REF-8", "the input was refused as context_done, and nothing justifies that",
			run().refused("a1", submit, noInput(loop.SubmitContextDone, errLate)),
			"its context has ended", run().call("a1", submit).contextEnds("a1").fails("a1", noInput(loop.SubmitContextDone, errLate)),
		},
		{
			"REF-5", "the input was refused as faulted, and nothing justifies that",
			run().refused("a1", submit, noInput(loop.SubmitFaulted)),
			"an append had failed", run().loses("c1", effort("high")).refused("a1", submit, noInput(loop.SubmitFaulted)),
		},
		{
			"REF-8", "the input was refused as exited, and nothing justifies that",
			run().refused("a1", submit, noInput(loop.SubmitExited)),
			"a shutdown was called before it returned", run().call("a1", submit).call("s", shutdown).fails("a1", noInput(loop.SubmitExited)),
		},
		{
			"LIFE-3", "the input was refused as because, and nothing justifies that",
			run().refused("a1", submit, noInput("because")),
			"the kind is declared", run().call("s", shutdown).refused("a1", submit, noInput(loop.SubmitExited)),
		},
		{
			"EXT-11", "the input was refused as exited, and nothing justifies that",
			run().call("b1", set("s", "g", "x")).build("b1", "x").built("b1", "x", fakes.ErrBuild).panicking().refused("a1", submit, noInput(loop.SubmitExited)),
			"it is accepted", run().call("b1", set("s", "g", "x")).build("b1", "x").built("b1", "x", fakes.ErrBuild).panicking().submit("a1"),
		},
		{
			"DUR-6", "the input was accepted, although the loop had said that it faulted",
			run().loses("c1", effort("high")).refused("c2", effort("high"), refusal(loop.ChangeLoopFaulted)).submit("a1"),
			"it had been handed in before", run().loses("c1", effort("high")).call("a1", submit).refused("c2", effort("high"), refusal(loop.ChangeLoopFaulted)).ok("a1"),
		},
	})
}

func TestTheModelOfARequestIsComparedWholly(t *testing.T) {
	hot := func() model.Model {
		m := m0()
		temperature := 1.5
		m.Sampling.Temperature = &temperature
		return m
	}
	cold := func() model.Model {
		m := m0()
		m.Sampling.Temperature = nil
		return m
	}
	for _, m := range []model.Model{hot(), cold(), descriptor("m0", "low", "medium")} {
		check(t, []pair{{
			"TURN-1", "with another descriptor of the model", step().request("a1", 2, base().on(m)),
			"the effort in its sampling is a report", step().request("a1", 2, base().on(m0().WithEffort("high"))),
		}})
	}
}
