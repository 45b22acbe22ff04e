package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
)

func TestACallReturnsWhenAllIsQuiet(t *testing.T) {
	appending := func() *script { return run().call("c0", high).begins("c0") }
	building := func() *script { return run().call("b1", x).build("b1", "x") }
	stuck := "the call does not return"
	panicking := x
	panicking.Panics = true
	check(t, []pair{
		{"REF-7", "c1: " + stuck, run().call("c1", high).quiet(), "an append is outstanding", appending().call("c1", high).quiet()},
		{"REF-7", "i: " + stuck, run().call("i", interrupt).quiet(), "it returns", run().call("i", interrupt).ok("i").quiet()},
		{"REF-7", "a1: " + stuck, run().call("a1", submit).quiet(), "an append is outstanding", appending().call("a1", submit).quiet()},
		{"REF-7", "r: " + stuck, run().call("r", read).quiet(), "it returns", run().reads("r", base()).quiet()},
		{"REF-7", "c1: " + stuck, held().call("c1", mode("plan")).inside("a1").quiet(), "it returns", held().call("c1", mode("nope")).inside("a1").fails("c1", noMode("nope")).quiet()},
		{
			"REF-7", "c1: " + stuck + ", although its context has ended",
			appending().call("c1", mode("plan")).contextEnds("c1").quiet(), "the append is its own", appending().contextEnds("c0").quiet(),
		},
		{
			"REF-7", "c1: " + stuck + ", although its context has ended",
			appending().call("c1", mode("plan")).contextEnds("c1").quiet(), "the append may be its own", run().call("c1", high).call("c2", high).begins("c1").contextEnds("c1").contextEnds("c2").quiet(),
		},
		{
			"REF-7", "its context has ended, and it waits for a build that does not return",
			building().contextEnds("b1").quiet(), "its context has not ended", building().quiet(),
		},
		{
			"REF-7", "its context has ended, and it waits for a build that does not return",
			building().built("b1", "x", nil).describe("b1", "x").contextEnds("b1").quiet(), "it returns", building().contextEnds("b1").fails("b1", refusal(loop.ChangeContextDone, errLate)).quiet(),
		},
		{"EXT-6", "c1: " + stuck + ", and only the build of b1 is outstanding", building().call("c1", high).quiet(), "it returns", building().does("c1", high).quiet()},
		{"EXT-6", "s: " + stuck + ", and only the build of b1 is outstanding", building().call("s", shutdown).quiet(), "it returns", building().call("s", shutdown).ok("s").fails("b1", refusal(loop.ChangeLoopExited)).quiet()},
		{"EXT-6", "turn a1: it was accepted and does not start, and only the build of b1 is outstanding", building().submit("a1").quiet(), "it runs", building().turn("a1", base()).quiet()},
		{
			"EXT-11", "a definition or tool panicked, and the call does not return",
			building().built("b1", "x", fakes.ErrBuild).panicking().quiet(), "it is refused", building().built("b1", "x", fakes.ErrBuild).panicking().fails("b1", refusalOf(loop.ChangeExternalBuildFailed, "x")).quiet(),
		},
		{"EXT-11", "a definition or tool panicked, and the call does not return", run().call("b1", panicking).quiet(), "its append is outstanding", run().call("b1", x).builds("b1", x).begins("b1").quiet()},
		{but: "whether a turn may wait for an append is left open", twin: appending().submit("a1").quiet()},
	})
}

func TestAnIdleLoopWithWorkIsOpen(t *testing.T) {
	for name, c := range map[string]struct {
		trace *script
		open  bool
	}{
		"nothing":                             {run(), false},
		"no loop":                             {unstarted(), false},
		"a call":                              {run().call("c1", high), true},
		"a call that returned":                {run().does("c1", high), false},
		"an input":                            {run().submit("a1"), true},
		"a turn that ended":                   {run().turn("a1", base()), false},
		"a crash":                             {run().submit("a1").crash(), false},
		"a shutdown that goes on":             {run().call("s", shutdown).contextEnds("s").fails("s", errLate), true},
		"a shutdown that has been waited for": {run().call("s", shutdown).contextEnds("s").fails("s", errLate).quiet(), false},
		"a shutdown that has come to its end": {run().call("s", shutdown).ok("s"), false},
	} {
		assert.Equal(t, c.open, c.trace.play(newJudge(options())).Open(), name)
	}
}
