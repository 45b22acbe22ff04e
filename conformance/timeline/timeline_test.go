package timeline_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/timeline"
	"github.com/loopcheck/loopcheck/workload"
)

type failer interface {
	Errorf(format string, args ...any)
	FailNow()
}

// check holds lines against what is promised of all.
func check(t failer, lines []string, mark timeline.Mark) {
	for i, l := range lines {
		assert.LessOrEqual(t, utf8.RuneCountInString(l), timeline.Width, l)
		assert.True(t, utf8.ValidString(l), "%q", l)
		assert.NotEmpty(t, strings.TrimSpace(l))
		assert.False(t, strings.ContainsFunc(l, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) || !unicode.IsGraphic(r) }), "%q", l)
		assert.Equal(t, mark.Seq >= 0 && i == len(lines)-1, strings.Contains(l, "◀"), "only the last line has the mark: %q", l)
	}
	if mark.Seq >= 0 {
		require.NotEmpty(t, lines)
	}
}

func TestNothing(t *testing.T) {
	assert.Empty(t, timeline.Lines(workload.Workload{}, nil, timeline.Mark{Seq: -1}))
	assert.Equal(t, []string{"nothing was seen   ◀── here"}, timeline.Lines(workload.Workload{}, nil, timeline.Mark{}))
	assert.Zero(t, timeline.Steps(nil, timeline.Mark{}))
}

// A mark that the trace does not have is that of the last entry.
func TestMarkBeyond(t *testing.T) {
	s := newScript(t, "client a\n  a1 read")
	s.start()
	s.call("a1")
	s.sees("a1", "", "m0", "low")
	assert.Equal(t, []string{`a1 read ──▶ sees {base, m0, low}   ◀── expected ""`},
		timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: 99, Seen: "x"}))
}

// Only what was seen by the entry of the breach is told, whatever the trace goes on with.
func TestEndsAtMark(t *testing.T) {
	s := newScript(t, "client a\n  a1 change effort=high")
	s.start()
	s.call("a1")
	s.commits("a1", inference("m0", "high"))
	s.ok("a1")
	for back, want := range []string{
		"a1 change effort=high ──▶ journal: inference_changed ✓ ──▶ ok   ◀── here",
		"a1 change effort=high ──▶ journal: inference_changed {m0, high} ✓   ◀── here",
		"a1 change effort=high ──▶ journal: inference_changed {m0, high} written   ◀── here",
		"a1 change effort=high ──▶ journal: inference_changed {m0, high}   ◀── here",
		"a1 change effort=high   ◀── here",
		"loop starts: {base, m0, low}   ◀── here",
	} {
		lines := timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: s.last() - back})
		assert.Equal(t, want, strings.Join(lines, "\n"))
	}
}

// What is expected is in full if it is short, else what differs of it.
func TestMarking(t *testing.T) {
	for _, c := range []struct{ expected, seen, want string }{
		{"", "", "here"},
		{"low", "high", "expected low"},
		{"", "high", `expected ""`},
		{"a\tb\xff", "", `expected a\tb\xff`},
		// A configuration is written as the lines have it.
		{
			`{mode "plan", model mp, effort high, tools [d1 d3]}`, `{mode "", model m0, no effort, tools []}`,
			"expected {plan, mp, high, [d1 d3]}",
		},
		{
			`{mode "", model m0, no effort, tools []}`, `{instructions "plan", model m0, no effort, tools []}`,
			"expected {base, m0, no effort, no tools}",
		},
		{"model m-a1, effort high", "model m0, effort high", "expected {m-a1, high}"},
		{"model m0, effort low (acme chat, low medium)", "model m1, no effort (acme chat, low)", "expected {m0, low}"},
		{`mode "quick" after "", model m0, effort low`, `mode "quick" after "", model m0, effort high`, "expected {quick, m0, low}"},
		{
			`source "s1", generation "g-a3", tools [y 359a0231 v 359a0231]`, `source "s1", generation "g-a3", tools []`,
			"expected {s1, g-a3, [y v]}",
		},
		{`source "s1", generation "g", tools [y 359a0231]`, `source "s1", generation "g", tools [y 0231359a]`, "here"},
		// What the line cannot show is left to the report.
		{`{mode "", model m0, effort low, tools [d1]}`, `{instructions "base", model m0, effort low, tools [d1]}`, "here"},
		// Of tools, their names; what they say of themselves if that is what differs.
		{
			`[d1: d1 of mode base canary-7f3e {"type":"object"} x: x of s1 g-a3 canary-7f3e {"title":"s1 g-a1"}]`,
			`[d1: d1 of mode base canary-7f3e {"type":"object"}]`, "expected [d1 x]",
		},
		{
			`[d1: d1 of mode base canary-7f3e {"type":"object"} x: x of s1 g-a3 canary-7f3e {"title":"s1 g-a3"}]`,
			`[d1: d1 of mode base canary-7f3e {"type":"object"} x: x of s1 g-a1 canary-7f3e {"title":"s1 g-a1"}]`, "expected x of s1 g-a3",
		},
		// Of anything else that is long, the part that differs, with a word of what it is about.
		{
			"one two three four five six seven eight nine ten", "one two three four five and six seven eight nine ten",
			"expected … five six …",
		},
	} {
		lines := timeline.Lines(workload.Workload{}, nil, timeline.Mark{Expected: c.expected, Seen: c.seen})
		assert.Equal(t, []string{"nothing was seen   ◀── " + c.want}, lines)
	}
}

// The steps of the example of the design are six: two operations, an append, two requests and a tool run.
func TestSteps(t *testing.T) {
	s := newScript(t, "client a\n  a1 submit steps=d1\nclient b\n  b1 change effort=high")
	s.start()
	example(s)
	last := s.last()
	assert.Equal(t, 6, timeline.Steps(s.log.Entries(), timeline.Mark{Seq: last}))
	s.ends("b1")
	s.next(1, nil)
	assert.Equal(t, 6, timeline.Steps(s.log.Entries(), timeline.Mark{Seq: last}), "what came after it is no step")
	assert.Equal(t, 8, timeline.Steps(s.log.Entries(), timeline.Mark{Seq: -1}), "a context that ends and a restore are")
}
