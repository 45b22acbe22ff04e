package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

func TestARequirementIsExercisedWhenItsAntecedentHolds(t *testing.T) {
	times := func(s *script, id string) uint64 {
		exercised := make([]uint64, oracle.Requirements())
		s.play(oracle.New(options(), exercised))
		return exercised[contract.Index(id)]
	}
	lost := refusal(loop.ChangeDurableAppendFailed, errAppend)
	for _, c := range []struct {
		id        string
		does, not *script
	}{
		{"TURN-1", step().does("c1", high).request("a1", 2, base()), step().request("a1", 2, base())},
		{"TURN-2", run().turn("a1", base()), run().submit("a1")},
		{"TURN-4", run().does("c1", high).turn("a1", base().after(high)), run().turn("a1", base())},
		{"TURN-5", run().submit("a1").asks("a1", 1, base(), "zz").request("a1", 2, base()), step().request("a1", 2, base())},
		{"TURN-7", run().turn("a1", base()).turn("b1", base()), run().submit("a1").asks("a1", 1, base())},
		{"TURN-8", held().call("i", interrupt).ok("i").ends("a1", interrupted), run().turn("a1", base())},
		{"TURN-9", run().turn("a1", base()).turn("b1", base()), run().turn("a1", base())},
		{"CHG-2", run().does("c1", both(mp(), "low")), run().does("c1", high)},
		{"CHG-6", run().crash().another().started(nil).turn("a1", base()), run().turn("a1", base())},
		{"MODE-3", run().does("m1", mode("plan")).crash().lacking("plan").restoring().started(&loop.RestoreError{}), run().does("m1", mode("plan")).crash().restored()},
		{"EXT-1", run().call("b1", set("", "g", "x")), run().call("b1", x)},
		{"EXT-3", run().does("b1", set("s", "g")), run().does("b1", x)},
		{"EXT-6", run().call("b1", x).build("b1", "x").quiet(), run().call("b1", x).build("b1", "x")},
		{"EXT-8", run().does("b1", x).does("m1", mode("plan")).turn("a1", plan().after(x)), run().does("m1", mode("plan")).does("b1", x).turn("a1", plan().after(x))},
		{"EXT-9", run().does("b1", x).crash().restored().does("b2", x), run().does("b1", x)},
		{"EXT-14", run().does("b1", x).does("b2", x), run().does("b1", x).does("b2", set("s", "g2"))},
		{"REF-2", run().call("s", shutdown).does("c1", high), run().does("c1", high)},
		{"REF-5", run().loses("c1", high).fails("c1", lost), run().does("c1", high)},
		{"REF-7", run().call("c1", high).contextEnds("c1").begins("c1").written("c1").appended("c1", nil).ok("c1"), run().does("c1", high)},
		{"REF-10", run().call("s", shutdown).ok("s").refused("m1", mode("nope"), refusal(loop.ChangeLoopExited)), run().call("s", shutdown).ok("s").refused("m1", mode("plan"), refusal(loop.ChangeLoopExited))},
		{"VIEW-1", run().does("c1", high).reads("r", base().after(high)), run().writes("c1", high).reads("r", base())},
		{"VIEW-2", run().reads("r1", base()).reads("r2", base()), run().reads("r1", base())},
		{"INT-2", held().call("i", interrupt).ok("i"), run().call("i", interrupt).ok("i")},
		{"LIFE-2", run().call("s", shutdown).ok("s"), run().call("s", shutdown)},
		{"DUR-3", run().crash().restored(), run().crash().another().started(nil)},
		{"DUR-6", run().loses("c1", high).fails("c1", lost).does("c2", high), run().does("c2", high)},
	} {
		assert.NotZero(t, times(c.does, c.id), c.id)
		assert.Zero(t, times(c.not, c.id), c.id)
	}
}

func TestAWarningIsNoBreachAndGivenOnce(t *testing.T) {
	s := run().call("c1", high).timed().timed().call("c2", mode("nope")).timed().fails("c2", refusal(loop.ChangeNoChanges))
	judge := s.play(newJudge(options()))
	require.NotNil(t, judge.Breach(), "the judging goes on")
	assert.Equal(t, "MODE-1", judge.Breach().Requirement)
	require.Len(t, judge.Warnings(), 1)
	assert.Equal(t, "REF-9", judge.Warnings()[0].Requirement)
}

func TestABreachShowsWhereAndHowValuesDiffer(t *testing.T) {
	judge := step().does("c1", high).request("a1", 2, base().after(high)).play(newJudge(options()))
	b := judge.Breach()
	require.NotNil(t, b)
	assert.Equal(t, "a1", b.Op)
	assert.Equal(t, "low", b.Expected)
	assert.Equal(t, "high", b.Seen)
	assert.Contains(t, b.Diff, "low")
	last := step().does("c1", high).request("a1", 2, base().after(high)).last()
	assert.Equal(t, last.Seq, b.Seq)

	b = run().records("c1", change(mp()), inferenceChanged(base().on(descriptor("mp", "low")))).play(newJudge(options())).Breach()
	require.NotNil(t, b)
	assert.Contains(t, b.Expected, "max", "what differs is shown")
	assert.Contains(t, b.Diff, "max")

	b = run().turn("a1", base().saying("bare")).play(newJudge(options())).Breach()
	require.NotNil(t, b)
	assert.Contains(t, b.Expected, `model m0, effort low, tools [d1 d2]`)
	assert.Contains(t, b.Seen, `instructions "bare"`)
}

func TestTheJudgeTellsWhatTheLoopHasComeTo(t *testing.T) {
	judge := newJudge(options())
	_, alive := judge.Mode()
	assert.False(t, alive)
	assert.False(t, judge.Exited())
	run().does("m1", mode("plan")).play(judge)
	name, alive := judge.Mode()
	assert.True(t, alive)
	assert.Equal(t, loop.ModeName("plan"), name)
	assert.False(t, judge.Exited())
	assert.True(t, run().call("s", shutdown).ok("s").play(newJudge(options())).Exited())

	require.Equal(t, len(contract.All()), oracle.Requirements())
}

// Whatever a loop does, the judge judges: the same each time, and without a panic.
func TestAnyTraceIsJudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		joins := rapid.Bool().Draw(t, "joins")
		s := anyScript(t)
		var judges [2]*oracle.Judge
		for i := range judges {
			judges[i] = s.play(newJudge(oracle.Options{Joins: joins}))
		}
		require.Equal(t, judges[0].Breach(), judges[1].Breach())
		require.Equal(t, judges[0].Warnings(), judges[1].Warnings())
		if b := judges[0].Breach(); b != nil {
			r, known := contract.Lookup(b.Requirement)
			require.True(t, known)
			require.Equal(t, contract.Must, r.Level)
			require.NotContains(t, b.Message, "\n")
			require.Less(t, b.Seq, s.seq)
		}
	})
}

// anyScript draws a trace of which nothing is sure but that what ends has begun.
func anyScript(t *rapid.T) *script {
	from := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	s := unstarted()
	s.facts.Foreign = rapid.Bool().Draw(t, "foreign")
	if from("start", "yes", "yes", "yes", "no") == "yes" {
		s.started(nil)
	}
	var open []func()
	for range rapid.IntRange(0, 60).Draw(t, "length") {
		op, turn, tool := from("op", "c1", "c2", "c3", "c4"), from("turn", "a1", "b1", ""), from("tool", "d1", "d2", "x", "zz")
		c := rapid.SampledFrom(anyConfigs).Draw(t, "config")
		err := rapid.SampledFrom(anyErrors).Draw(t, "error")
		if rapid.Bool().Draw(t, "same") {
			s.same()
		}
		switch from("what", "call", "call", "submit", "return", "ends context", "append", "end", "end", "end", "request", "run", "turn ends", "build", "describe", "read", "life", "quiet") {
		case "call":
			s.call(op, rapid.SampledFrom(anyAsked).Draw(t, "asked"))
		case "submit":
			s.submit(turn)
		case "return":
			if s.asked[op] != nil {
				s.fails(op, err)
			}
		case "ends context":
			s.contextEnds(op)
		case "append":
			s.begins(op)
			open = append(open, func() { s.written(op) }, func() { s.appended(op, err) })
		case "end":
			if len(open) > 0 {
				open[0]()
				open = open[1:]
			}
		case "request":
			step := rapid.IntRange(1, 3).Draw(t, "step")
			if s.request(turn, step, c, tool); rapid.Bool().Draw(t, "cancelled") {
				s.cancelled()
			}
			open = append(open, func() { s.answers(turn, err) })
		case "run":
			s.runs(turn, tool, "base/"+tool)
			open = append(open, func() { s.ran(turn, tool, err) })
		case "turn ends":
			s.ends(turn, err)
		case "build":
			s.build(op, tool)
			open = append(open, func() { s.built(op, tool, err) })
		case "describe":
			s.describe(op, tool)
			open = append(open, func() { s.describedBy(op, tool) })
		case "read":
			s.reads(op, c)
		case "life":
			if s.crash(); rapid.Bool().Draw(t, "anew") {
				s.another()
			} else {
				s.restoring()
			}
			s.started(rapid.SampledFrom([]error{nil, nil, errOther}).Draw(t, "error of the start"))
			open = nil
		case "quiet":
			s.passes().quiet().timed()
		}
	}
	return s
}

var (
	anyConfigs = []config{base(), base(), base().after(high), plan(), quick(), base().after(x), base().saying("?"), base().on(mp()), base().without("d1")}
	anyAsked   = []any{
		mode("plan"), mode("nope"), high, change(mp()), both(mp(), "max"), trace.Change{}, x, xy, set("s", "g1"), set("", "g"), broken("s", "g1", "q"),
		interrupt, shutdown, submit, read, trace.Wait{Turn: "a1"}, trace.User{}, nil,
	}
	anyErrors = []error{
		nil, nil, nil, errOther, errLate, fakes.ErrStream, interrupted, failed, dropped, noMode("nope"), refusal(loop.ChangeContextDone, errLate),
		refusal(loop.ChangeLoopExited), refusal(loop.ChangeLoopFaulted), refusal(loop.ChangeDurableAppendFailed, errAppend), noInput(loop.SubmitExited),
		refusalOf(loop.ChangeExternalToolCollision, "x"), refusalOf(loop.ChangeExternalBuildFailed, "q"), (*loop.ChangeError)(nil), (*loop.TurnError)(nil), (*loop.SubmitError)(nil),
	}
)
