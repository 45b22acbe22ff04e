package oracle_test

import (
	"context"
	"strings"
	"testing"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

func TestARefusalIsOfADeclaredKindAndType(t *testing.T) {
	var typedNil *loop.ChangeError
	nope := mode("nope")
	check(t, []pair{
		{"REF-1", "it was refused with *errors.errorString, which is no *loop.ChangeError", run().refused("c1", nope, errOther), "it is one", run().refused("c1", nope, noMode("nope"))},
		{"REF-1", "it was refused with *loop.ChangeError, which is no *loop.ChangeError", run().refused("c1", nope, typedNil), "it is not nil", run().refused("c1", nope, noMode("nope"))},
		{"REF-1", `it was refused with the undeclared kind "because"`, run().refused("c1", nope, refusal("because")), "it is declared", run().refused("c1", nope, noMode("nope"))},
		{"REF-1", `it was refused with the undeclared kind ""`, run().refused("c1", nope, refusal("")), "it is declared", run().refused("c1", nope, noMode("nope"))},
		{"LIFE-3", "which is no *loop.SubmitError", run().refused("a1", submit, (*loop.SubmitError)(nil)), "it is accepted", run().submit("a1")},
		{"TURN-7", "which is no *loop.TurnError of a declared kind", run().submit("a1").asks("a1", 1, base()).ends("a1", (*loop.TurnError)(nil)), "it is nil", run().turn("a1", base())},
		{
			"MODE-3", "which is none of the contract's error types",
			run().does("m1", mode("plan")).crash().lacking("plan").restoring().started((*loop.RestoreError)(nil)),
			"it is one", run().does("m1", mode("plan")).crash().lacking("plan").restoring().started(&loop.RestoreError{Kind: loop.RestoreUnknownMode}),
		},
	})
}

func TestACallThatPanicsBreaksWhatItShouldDo(t *testing.T) {
	set := x
	set.Panics = true
	for want, asked := range map[string]any{
		"MODE-1": mode("plan"), "CHG-1": high, "EXT-4": x, "INT-1": interrupt, "LIFE-1": shutdown, "LIFE-3": submit, "VIEW-2": read, "EXT-11": set,
		"REF-1": trace.User{},
	} {
		returns := run().call("c1", trace.User{}).ok("c1")
		check(t, []pair{{want, "c1: the call panicked: boom", run().call("c1", asked).panics("c1"), "it returns", returns}})
	}
}

func TestSuccessMeansCommitted(t *testing.T) {
	thin := descriptor("m1", "low")
	nothing := "it returned nil, and its event is not in the journal"
	long := set("s", strings.Repeat("g", loop.MaxGeneration+1), "x")
	empty := func(asked any) *script { return run().call("c1", asked).ok("c1") }
	check(t, []pair{
		{
			"REF-6", "c1: it returned nil before its event was durable",
			run().call("c1", high).begins("c1").ok("c1"), "it was durable, and the append had returned", run().does("c1", high),
		},
		{
			"REF-7", "c1: it returned nil while its append was outstanding",
			run().call("c1", high).begins("c1").written("c1").ok("c1"), "it had returned", run().does("c1", high),
		},
		{"REF-6", nothing, empty(high), "it is", run().does("c1", high)},
		{"REF-6", nothing, run().loses("c1", high).ok("c1"), "it is, although the append failed", run().doubts("c1", high).ok("c1")},
		{"REF-6", nothing, run().loses("c0", high).call("c1", mode("nope")).ok("c1"), "it is refused", run().refused("c1", mode("nope"), noMode("nope"))},
		{"MODE-1", nothing, empty(mode("nope")), "it is refused", run().refused("c1", mode("nope"), noMode("nope"))},
		{"MODE-2", nothing, empty(mode("")), "it is", run().does("c1", mode(""))},
		{"CHG-1", nothing, empty(trace.Change{}), "it is refused", run().refused("c1", trace.Change{}, refusal(loop.ChangeNoChanges))},
		{"CHG-2", nothing, empty(effort("low")), "it is", run().does("c1", effort("low"))},
		{"CHG-3", nothing, empty(invalid(thin)), "it is refused", run().refused("c1", invalid(thin), refusal(loop.ChangeInvalidModel))},
		{"CHG-4", nothing, empty(effort("max")), "it is refused", run().refused("c1", effort("max"), refusal(loop.ChangeInvalidEffort))},
		{"EXT-1", nothing, empty(long), "it is refused", run().refused("c1", long, refusal(loop.ChangeInvalidExternalGeneration))},
		{"EXT-3", nothing, empty(set("s", "g1")), "it is", run().does("c1", set("s", "g1"))},
		{"EXT-4", nothing, empty(broken("s", "g1", "q")), "it is refused", run().refused("c1", broken("s", "g1", "q"), refusalOf(loop.ChangeExternalBuildFailed, "q"))},
		{
			"EXT-4", nothing, run().call("c1", x).build("c1", "x").built("c1", "x", fakes.ErrBuild).ok("c1"),
			"it is refused", run().call("c1", x).build("c1", "x").built("c1", "x", fakes.ErrBuild).fails("c1", refusalOf(loop.ChangeExternalBuildFailed, "x", fakes.ErrBuild)),
		},
		{"EXT-5", nothing, empty(set("s", "g1", "d1")), "it is refused", run().refused("c1", set("s", "g1", "d1"), refusalOf(loop.ChangeExternalToolCollision, "d1"))},
		{"EXT-9", nothing, run().does("c0", x).crash().restored().call("c1", x).ok("c1"), "it is", run().does("c0", x).crash().restored().does("c1", x)},
		{"EXT-10", nothing, foreign().call("c1", x).ok("c1"), "it is refused", foreign().refused("c1", x, refusal(loop.ChangeExternalToolsUnsupported))},
		{"EXT-14", nothing, run().does("c0", x).call("c1", x).ok("c1"), "it is", run().does("c0", x).does("c1", x)},
	})
}

func TestNothingIsCommittedThatIsRefused(t *testing.T) {
	refusedAs := func(kind loop.ChangeErrorKind, cause ...error) *script {
		return run().writes("c1", high).call("s", shutdown).contextEnds("c1").fails("c1", refusal(kind, cause...))
	}
	after := func(kind loop.ChangeErrorKind, cause ...error) *script {
		return run().call("c1", high).call("s", shutdown).contextEnds("c1").fails("c1", refusal(kind, cause...)).call("a1", submit)
	}
	inFlight := func(s *script) *script { return s.begins("a1", inferenceChanged(base().after(high))).written("a1") }
	lost := refusal(loop.ChangeDurableAppendFailed, errAppend)
	is, late := "and its event is in the journal", "and its event is in the journal after all"
	check(t, []pair{
		{"REF-5", "it was refused as durable_append_failed, and its append succeeded", refusedAs(loop.ChangeDurableAppendFailed, errAppend), "it did not", run().doubts("c1", high).fails("c1", lost)},
		{"REF-3", is, refusedAs(loop.ChangeContextDone, errLate), "it is not", after(loop.ChangeContextDone, errLate)},
		{"REF-4", is, refusedAs(loop.ChangeLoopExited), "it is not", after(loop.ChangeLoopExited)},
		{"REF-4", is, refusedAs(loop.ChangeLoopShuttingDown), "it is not", after(loop.ChangeLoopShuttingDown)},
		{"REF-5", is, refusedAs(loop.ChangeLoopFaulted), "it is not", run().loses("c0", high).refused("c1", high, refusal(loop.ChangeLoopFaulted))},
		{"REF-1", is, refusedAs(loop.ChangeInvalidEffort), "it is not", run().refused("c1", effort("max"), refusal(loop.ChangeInvalidEffort))},
		{"REF-3", late, inFlight(after(loop.ChangeContextDone, errLate)), "it is not", after(loop.ChangeContextDone, errLate)},
		{"REF-4", late, inFlight(after(loop.ChangeLoopExited)), "it is not", after(loop.ChangeLoopExited)},
		{"REF-5", late, inFlight(run().loses("c1", high).fails("c1", lost).call("a1", submit)), "it is another's", run().loses("c1", high).fails("c1", lost).does("c2", high)},
		{"REF-1", late, inFlight(run().loses("c0", mode("plan")).fails("c0", lost).refused("c1", high, refusal(loop.ChangeLoopFaulted)).call("a1", submit)), "it is not", run().loses("c0", mode("plan")).fails("c0", lost).refused("c1", high, refusal(loop.ChangeLoopFaulted)).call("a1", submit)},
		{
			"REF-5", "durable_append_failed does not wrap the journal's error",
			run().doubts("c1", high).fails("c1", refusal(loop.ChangeDurableAppendFailed, errOther)), "it does", run().doubts("c1", high).fails("c1", lost),
		},
		{
			"REF-5", "durable_append_failed does not wrap the journal's error",
			run().loses("c1", high).fails("c1", refusal(loop.ChangeDurableAppendFailed)), "it does", run().loses("c1", high).fails("c1", lost),
		},
		{
			"REF-5", "it committed, although an earlier change was reported as failed whose event is durable",
			run().doubts("c1", high).fails("c1", lost).does("c2", effort("low")), "the second was called before that", run().doubts("c1", high).call("c2", effort("low")).fails("c1", lost).begins("c2").written("c2").appended("c2", nil).ok("c2"),
		},
		{
			"DUR-6", "an append of loop_mode_changed, which began after the loop had said that it faulted",
			run().loses("c0", high).fails("c0", lost).refused("c1", high, refusal(loop.ChangeLoopFaulted)).call("c2", mode("plan")).begins("c2").written("c2"),
			"before that", run().loses("c0", high).call("c2", mode("plan")).begins("c2").refused("c1", high, refusal(loop.ChangeLoopFaulted)).written("c2"),
		},
		{
			"DUR-6", "an append of loop_mode_changed, which began after the loop had said that it faulted",
			run().loses("c0", high).fails("c0", lost).refused("a1", submit, noInput(loop.SubmitFaulted)).call("c2", mode("plan")).begins("c2").written("c2"),
			"the append that failed was retried before", run().loses("c0", mode("plan")).begins("c0").written("c0").appended("c0", nil).ok("c0").refused("a1", submit, noInput(loop.SubmitFaulted)),
		},
		{
			"REF-2", "it committed, although an earlier change had been refused because of the shutdown before it began",
			run().call("s", shutdown).refused("c1", high, refusal(loop.ChangeLoopShuttingDown)).does("c2", high),
			"it had begun before", run().call("s", shutdown).call("c2", high).refused("c1", mode("plan"), refusal(loop.ChangeLoopShuttingDown)).begins("c2").written("c2").appended("c2", nil).ok("c2"),
		},
		{
			"REF-2", "it began after a Shutdown had returned nil",
			run().call("s", shutdown).ok("s").refused("c1", high, refusal(loop.ChangeLoopShuttingDown)),
			"it is refused as exited", run().call("s", shutdown).ok("s").refused("c1", high, refusal(loop.ChangeLoopExited)),
		},
	})
}

func TestARefusalIsJustified(t *testing.T) {
	thin := descriptor("m1", "low")
	why := ", and nothing that was in force justifies that"
	done := refusal(loop.ChangeContextDone, errLate)
	invalidEffort, collision := refusal(loop.ChangeInvalidEffort), refusalOf(loop.ChangeExternalToolCollision, "x")
	exited := refusal(loop.ChangeLoopExited)
	other := set("r", "g1", "x")
	ended := func(asked any) *script { return run().call("c1", asked).contextEnds("c1") }
	panicking := x
	panicking.Panics, panicking.Broken = true, []string{"x"}
	check(t, []pair{
		{"MODE-1", "the refusal names the wrong mode", run().refused("c1", mode("nope"), noMode("plan")), "it is the mode asked for", run().refused("c1", mode("nope"), noMode("nope"))},
		{"MODE-1", "it was refused as invalid_mode" + why, run().refused("c1", mode("plan"), noMode("plan")), "it is not declared", run().refused("c1", mode("nope"), noMode("nope"))},
		{"MODE-1", "it was refused as no_changes" + why, run().refused("c1", mode("nope"), refusal(loop.ChangeNoChanges)), "for another reason", ended(mode("nope")).fails("c1", done)},
		{"CHG-1", "it was refused as no_changes" + why, run().refused("c1", high, refusal(loop.ChangeNoChanges)), "it is empty", run().refused("c1", trace.Change{}, refusal(loop.ChangeNoChanges))},
		{"CHG-1", "it was refused as invalid_effort" + why, run().refused("c1", repeated(high), invalidEffort), "the last value is not supported", run().refused("c1", repeated(effort("max")), invalidEffort)},
		{"CHG-3", "it was refused as invalid_model" + why, run().refused("c1", change(thin), refusal(loop.ChangeInvalidModel)), "it is invalid", run().refused("c1", invalid(thin), refusal(loop.ChangeInvalidModel))},
		{"CHG-3", "it was refused as no_changes" + why, run().refused("c1", invalid(thin), refusal(loop.ChangeNoChanges)), "of two reasons any is right", run().does("c0", high).refused("c1", invalid(thin), invalidEffort)},
		{"CHG-4", "it was refused as invalid_effort" + why, run().refused("c1", high, invalidEffort), "a state in force during the call does not support it", run().call("c1", high).does("c0", change(thin)).fails("c1", invalidEffort)},
		{"CHG-4", "it was refused as no_changes" + why, run().refused("c1", effort("max"), refusal(loop.ChangeNoChanges)), "it is not declared", run().refused("c1", effort("bogus"), invalidEffort)},
		{"CHG-4", "it was refused as invalid_effort" + why, run().does("c0", change(thin)).does("c2", change(m0())).refused("c1", high, invalidEffort), "the state before may still be in force", run().does("c0", change(thin)).call("c1", high).does("c2", change(m0())).fails("c1", invalidEffort)},
		{"REF-11", "it was refused as invalid_effort" + why, run().call("c0", change(thin)).refused("c1", high, invalidEffort), "what would justify it is durable", run().writes("c0", change(thin)).refused("c1", high, invalidEffort)},
		{"REF-11", "it was refused as external_tool_collision" + why, run().call("c0", x).refused("c1", other, collision), "what would justify it is durable", run().writes("c0", x).refused("c1", other, collision)},
		{"REF-11", "it was refused as unsupported" + why, run().refused("c1", high, refusal(loop.ChangeUnsupported)), "the loop is foreign", foreign().refused("c1", high, refusal(loop.ChangeUnsupported))},
		{"REF-3", "it was refused as context_done" + why, run().refused("c1", high, done), "its context has ended", ended(high).fails("c1", done)},
		{"REF-8", "it was refused as context_done" + why, run().call("a1", submit).contextEnds("a1").ok("a1").refused("c1", high, done), "its own context has ended", ended(high).fails("c1", done)},
		{"REF-3", "context_done does not wrap the context's error", ended(high).fails("c1", refusal(loop.ChangeContextDone, errOther)), "it does", ended(high).fails("c1", done)},
		{
			but:  "an append that failed with the caller's context error may be told so",
			twin: ended(high).begins("c1").appended("c1", context.Canceled).fails("c1", done),
		},
		{"REF-5", "it was refused as durable_append_failed" + why, run().refused("c1", high, refusal(loop.ChangeDurableAppendFailed, errAppend)), "its append failed", run().loses("c1", high).fails("c1", refusal(loop.ChangeDurableAppendFailed, errAppend))},
		{"REF-5", "it was refused as loop_faulted" + why, run().refused("c1", high, refusal(loop.ChangeLoopFaulted)), "an append failed", run().loses("c0", high).refused("c1", high, refusal(loop.ChangeLoopFaulted))},
		{"REF-8", "it was refused as loop_exited" + why, run().refused("c1", high, exited), "a shutdown was called before it returned", run().call("c1", high).call("s", shutdown).fails("c1", exited)},
		{"EXT-1", "it was refused as invalid_external_source" + why, run().refused("c1", x, refusal(loop.ChangeInvalidExternalSource)), "it is invalid", run().refused("c1", set("", "g1", "x"), refusal(loop.ChangeInvalidExternalSource))},
		{"EXT-1", "it was refused as invalid_external_generation" + why, run().refused("c1", x, refusal(loop.ChangeInvalidExternalGeneration)), "it is invalid", run().refused("c1", set("s", "\n", "x"), refusal(loop.ChangeInvalidExternalGeneration))},
		{"EXT-1", "it was refused as no_changes" + why, run().refused("c1", set("", "g1"), refusal(loop.ChangeNoChanges)), "of two reasons any is right", run().refused("c1", set("", ""), refusal(loop.ChangeInvalidExternalGeneration))},
		{"EXT-4", "it was refused as external_build_failed" + why, run().refused("c1", x, refusal(loop.ChangeExternalBuildFailed)), "its context has ended", ended(x).fails("c1", refusal(loop.ChangeExternalBuildFailed))},
		{"EXT-4", "it was refused as no_changes" + why, run().refused("c1", broken("s", "g1", "q"), refusal(loop.ChangeNoChanges)), "it is said", run().refused("c1", broken("s", "g1", "q"), refusalOf(loop.ChangeExternalBuildFailed, "q"))},
		{"EXT-5", "it was refused as external_tool_collision" + why, run().refused("c1", x, collision), "the name is taken", run().does("c0", other).refused("c1", x, collision)},
		{"EXT-9", "it was refused as external_tool_collision" + why, run().does("c0", other).crash().restored().refused("c1", x, collision), "the slot is filled again", run().does("c0", other).crash().restored().does("c2", other).refused("c1", x, collision)},
		{"EXT-10", "it was refused as external_tools_unsupported" + why, run().refused("c1", x, refusal(loop.ChangeExternalToolsUnsupported)), "the loop is foreign", foreign().refused("c1", x, refusal(loop.ChangeExternalToolsUnsupported))},
		{"EXT-10", "it was refused as external_tool_collision" + why, foreign().refused("c1", x, collision), "it is told so", foreign().refused("c1", x, refusal(loop.ChangeExternalToolsUnsupported))},
		{
			"EXT-11", "it was refused as loop_exited" + why,
			run().call("b1", panicking).build("b1", "x").built("b1", "x", fakes.ErrBuild).panicking().refused("c1", high, exited),
			"the set is", run().call("b1", panicking).build("b1", "x").built("b1", "x", fakes.ErrBuild).panicking().fails("b1", refusalOf(loop.ChangeExternalBuildFailed, "x")),
		},
		{
			"EXT-11", "it was refused as loop_exited" + why,
			run().call("b1", panicking).build("b1", "x").built("b1", "x", nil).describe("b1", "x").describedBy("b1", "x").refused("c1", high, exited),
			"the set is", run().call("b1", panicking).build("b1", "x").built("b1", "x", nil).describe("b1", "x").describedBy("b1", "x").fails("b1", refusalOf(loop.ChangeExternalBuildFailed, "x")),
		},
	})
}

func TestARefusedSetIsToldWhatIsWrongWithIt(t *testing.T) {
	failing := func(err error) *script {
		return run().call("b1", xy).build("b1", "x").built("b1", "x", fakes.ErrBuild).fails("b1", err)
	}
	check(t, []pair{
		{
			"EXT-4", "the refusal names the wrong tool", failing(refusalOf(loop.ChangeExternalBuildFailed, "y", fakes.ErrBuild)),
			"it names the right one", failing(refusalOf(loop.ChangeExternalBuildFailed, "x", fakes.ErrBuild)),
		},
		{
			"REF-1", "the refusal does not wrap its cause", failing(refusalOf(loop.ChangeExternalBuildFailed, "x")),
			"a panic has no cause", run().call("b1", x).build("b1", "x").built("b1", "x", fakes.ErrBuild).panicking().fails("b1", refusalOf(loop.ChangeExternalBuildFailed, "x")),
		},
		{
			"EXT-5", "the refusal names the wrong tool",
			run().refused("b1", set("s", "g1", "x", "d1"), refusalOf(loop.ChangeExternalToolCollision, "x")),
			"any of two is right", run().refused("b1", set("s", "g1", "d2", "d1"), refusalOf(loop.ChangeExternalToolCollision, "d1")),
		},
		{
			but:  "a build was cut short by the context, of whatever tool",
			twin: run().call("b1", xy).build("b1", "x").built("b1", "x", context.Canceled).fails("b1", refusalOf(loop.ChangeExternalBuildFailed, "y")),
		},
		{
			"EXT-1", `definition "x" was built although source "" or generation "g1" is not valid`,
			run().call("b1", set("", "g1", "x")).build("b1", "x"), "they are valid", run().call("b1", x).build("b1", "x"),
		},
		{
			"EXT-10", "a definition was built for a foreign loop",
			foreign().call("b1", x).build("b1", "x"), "the loop is native", run().call("b1", x).build("b1", "x"),
		},
	})
}
