package timeline_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/timeline"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// stories are runs by hand, each with where the breach shows.
var stories = map[string]struct {
	load string
	run  func(*script) timeline.Mark
}{
	"capture": {`client a
  a1 submit steps=d1
client b
  b1 change effort=high cancel`, func(s *script) timeline.Mark {
		s.start()
		example(s)
		return timeline.Mark{Seq: s.last(), Expected: "low", Seen: "high", Op: "a1"}
	}},

	"appends": {`client a
  a1 set-mode mode=plan
  a2 change model=fresh effort=high
  a3 change effort=low
client b
  b1 change effort=max cancel
  b2 read`, func(s *script) timeline.Mark {
		s.start()
		s.call("a1")
		written, returned := s.append("a1", modeChanged("plan", "mp", "high"))
		s.call("b1")
		written()
		returned(nil)
		s.ok("a1")
		s.ends("b1")
		s.refused("b1", loop.ChangeContextDone)
		s.call("a2")
		_, returned = s.append("a2", inference("m-a2", "high"))
		s.step()
		returned(errAppend)
		s.refused("a2", loop.ChangeDurableAppendFailed)
		s.call("a3")
		written, returned = s.append("a3", inference("mp", "low"))
		written() // slow
		s.call("b2")
		s.sees("b2", "plan", "mp", "high")
		s.step()
		returned(errAppend)
		s.step()
		s.refused("a3", loop.ChangeDurableAppendFailed)
		s.step()
		s.commits("", event.LoopStopped{})
		s.commits("", inference("mp", "max"))
		return timeline.Mark{Seq: s.last() - 1, Expected: "nothing", Seen: "model mp, effort max"}
	}},

	"builds": {`client a
  a1 replace source=s1 tools=x,y
  a2 replace source=s1 generation="g\x00" tools=x:badname
client b
  b1 replace source=s2 tools=v,w,u:panic
  b2 submit steps=*`, func(s *script) timeline.Mark {
		s.start()
		s.call("a1")
		s.build("a1", "x")(nil)
		info := s.info("a1", "x")
		s.add(trace.Entry{Kind: trace.DescribeEnded, Call: 2, Op: "a1"}) // at once, and not worth telling
		y := s.build("a1", "y")
		s.call("b1")
		v, w, u := s.build("b1", "v"), s.build("b1", "w"), s.build("b1", "u")
		w(nil)
		u(panics)
		y(nil)
		_ = info
		slow := s.info("a1", "y")
		v(letGo)
		s.no("b1", &loop.ChangeError{Kind: loop.ChangeExternalBuildFailed, Tool: "u"})
		slow(nil)
		s.commits("a1", toolset("s1", "g-a1", "x", "y"))
		s.ok("a1")
		s.call("a2")
		s.build("a2", "x")(nil)
		s.commits("a2", toolset("s1", "g\x00", "n\xff"))
		return timeline.Mark{Seq: s.last() - 1, Op: "a2"}
	}},

	"lives": {`client a
  a1 set-mode mode=plan
  a2 submit steps=d1
  a3 crash
tail
  z1 read
  z2 shutdown
  z3 restore-without
  z4 anew
  z5 submit`, func(s *script) timeline.Mark {
		s.start()
		s.call("a1")
		s.commits("a1", modeChanged("plan", "mp", "high"))
		s.ok("a1")
		s.call("a2")
		s.commits("", event.Other{Tag: "input_accepted"})
		s.accepted("a2")
		s.request("a2", 1, "plan", "mp", "high", offer("plan", "d1", "d3"), "d1")
		s.step()
		s.add(trace.Entry{Kind: trace.Crashed})
		s.next(1, &loop.RestoreError{Kind: loop.RestoreUnreadable})
		s.next(1, nil)
		s.call("z1")
		s.sees("z1", "plan", "mp", "high")
		s.call("z2")
		s.ok("z2")
		s.next(1, &loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: "plan"})
		s.next(2, nil)
		s.call("z5")
		s.request("z5", 1, "plan", "m0", "low", offer("base", "d1", "d2"))
		return timeline.Mark{
			Seq: s.last(), Expected: `{mode "", model m0, effort low, tools [d1 d2]}`,
			Seen: `{instructions "plan", model m0, effort low, tools [d1 d2]}`, Op: "z5",
		}
	}},

	"turns": {`client a
  a1 submit steps=d1,x/ghost cancel
  a2 interrupt
  a3 submit
  a4 reload inside=a1
client b
  b1 submit steps=d1/d1/d1
  b2 wait turn=b1
  b3 shutdown cancel
  b4 submit`, func(s *script) timeline.Mark {
		s.start()
		s.call("a1")
		first := s.request("a1", 1, "base", "m0", "low", offer("base", "d1", "d2"), "d1", "x")
		s.accepted("a1")
		first(nil)
		d1, x := s.tool("a1", 1, "base/d1", "d1"), s.tool("a1", 1, "base/d2", "x")
		s.call("a4")
		s.says("reloading\tthe \x1b[31mworld")
		s.add(trace.Entry{Kind: trace.Invariant, Op: "a4", Text: "BILLING-1 was put to the test"})
		s.no("a4", errCall)
		x(fails)
		d1(panics)
		second := s.request("a1", 2, "base", "m0", "low", offer("base", "d1", "d2"), "ghost")
		s.call("a2")
		s.turnEnds("a1", loop.TurnInterrupted)
		s.ok("a2")
		s.call("b1")
		s.accepted("b1")
		second(cut)
		s.call("a3")
		s.accepted("a3")
		b1 := s.request("b1", 1, "base", "m0", "low", offer("base", "d1", "d2"), "d1")
		s.call("b2")
		b1(nil)
		s.tool("b1", 1, "base/d1", "d1")(nil)
		s.request("b1", 2, "base", "m0", "low", offer("base", "d1", "d2"))(nil)
		s.turnEnds("b1", "")
		s.ok("b2")
		held := s.request("a3", 1, "base", "m0", "", offer("base", "d1", "d2"))
		s.call("b3")
		s.ends("b3")
		s.no("b3", errCall)
		s.call("b4")
		s.no("b4", &loop.SubmitError{Kind: loop.SubmitShuttingDown})
		s.turnEnds("a3", loop.TurnInterrupted)
		held(letGo)
		s.step()
		s.add(trace.Entry{Kind: trace.Returned, Op: "b3", Panic: true, Text: "twice"})
		return timeline.Mark{Seq: s.last(), Op: "b3"}
	}},

	"differences": {`client a
  a1 replace source=s1 tools=x
  a2 replace source=s1 tools=x,y
client b
  b1 submit steps=x/x/x/x`, func(s *script) timeline.Mark {
		s.start()
		for op, tools := range map[string][]string{"a1": {"x"}} {
			s.call(op)
			s.commits(op, toolset("s1", "g-a1", tools...))
			s.ok(op)
		}
		s.call("b1")
		s.accepted("b1")
		base := offer("base", "d1", "d2")
		s.request("b1", 1, "base", "m0", "low", append(base, offer("a1", "x")...), "x")(nil)
		s.call("a2")
		s.commits("a2", toolset("s1", "g-a2", "x"))
		s.ok("a2")
		s.tool("b1", 1, "a2/0/x", "x")(nil)
		s.request("b1", 2, "base", "m0", "", append(base, offer("a2", "x", "y")...), "x")(nil)
		s.request("b1", 3, "plan", "mp", "low", append(offer("base", "d2", "d1"), offer("a1", "x")...), "x")(nil)
		s.request("b1", 4, "else", "m0", "low", append(offer("nobody", "d1", "d9"), offer("a1", "x", "x")...), "x")(nil)
		return timeline.Mark{Seq: s.last() - 1, Seen: "x"}
	}},

	"hang": {`client a
  a1 submit steps=d1
  a2 submit
client b
  b1 replace source=s1 tools=x
  b2 change effort=high
  b3 wait turn=a1`, func(s *script) timeline.Mark {
		s.start()
		s.call("a1")
		s.accepted("a1")
		s.call("b1")
		s.build("b1", "x")
		s.request("a1", 1, "base", "m0", "low", offer("base", "d1", "d2"), "d1")(nil)
		s.tool("a1", 1, "base/d1", "d1")
		s.call("a2")
		s.accepted("a2")
		s.call("b2")
		s.append("b2", inference("m0", "high"))
		return timeline.Mark{Seq: -1}
	}},

	"first start": {"client a\n  a1 read", func(s *script) timeline.Mark {
		s.add(trace.Entry{Kind: trace.Started, Definition: definition(1), Err: errCall})
		return timeline.Mark{Seq: 0, Op: "a1"}
	}},

	"long names": {`client a
  a1 replace source=@64 generation=@128 tools=@513
client b
  b1 set-mode mode=nowhere`, func(s *script) timeline.Mark {
		endless := "plan\u200b of a name that is long, and longer, and longer than that, and does not end"
		s.load.Clients[1].Operations[0].Args[0].Value = endless
		s.start()
		s.call("a1")
		var names []string
		for _, t := range s.load.Clients[0].Operations[0].Tools() {
			s.build("a1", t.Name)(nil)
			names = append(names, t.Name)
		}
		s.call("b1")
		s.no("b1", &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: loop.ModeName(endless)})
		s.commits("a1", toolset("s1", "g-a1", names...))
		return timeline.Mark{Seq: s.last() - 1, Expected: "nothing of " + strings.Repeat("the kind ", 20), Seen: "x", Op: "a1"}
	}},

	"long": {`client a
  a1 submit
  a2 read
client b
  b1 change effort=high
  b2 wait turn=a1
client c
  c1 submit
  c2 read
tail
  z1 read`, func(s *script) timeline.Mark {
		s.start()
		s.call("c1")
		for range 12 {
			s.call("a1")
			first := s.request("a1", 1, "base", "m0", "low", nil)
			s.accepted("a1")
			s.call("b2")
			first(nil)
			s.turnEnds("a1", "")
			s.ok("b2")
			s.call("c2")
			s.sees("c2", "", "m0", "low")
			s.call("a2")
			s.sees("a2", "", "m0", "low")
		}
		s.call("b1")
		s.commits("b1", inference("m0", "high"))
		s.ok("b1")
		for range 12 {
			s.call("c2")
			s.sees("c2", "", "m0", "low")
			s.call("a2")
			s.sees("a2", "", "m0", "low")
		}
		s.call("z1")
		s.sees("z1", "", "m0", "low")
		return timeline.Mark{Seq: s.last(), Op: "z1", Message: "z1: Model() shows what b1 asked for, and no event of that is in the journal"}
	}},
}

// example is the one of the design.
func example(s *script) {
	s.call("a1")
	first := s.request("a1", 1, "base", "m0", "low", offer("base", "d1", "d2"), "d1")
	s.accepted("a1")
	first(nil)
	s.call("b1")
	s.commits("b1", inference("m0", "high"))
	s.ok("b1")
	s.tool("a1", 1, "base/d1", "d1")(nil)
	s.request("a1", 2, "base", "m0", "high", offer("base", "d1", "d2"))
}

func TestGolden(t *testing.T) {
	for title, story := range stories {
		t.Run(title, func(t *testing.T) {
			s := newScript(t, story.load)
			mark := story.run(s)
			lines := timeline.Lines(s.load, s.log.Entries(), mark)
			for mark := 0; mark < s.log.Now(); mark += 1 + s.log.Now()/100 { // wherever it ends
				check(t, timeline.Lines(s.load, s.log.Entries(), timeline.Mark{Seq: mark}), timeline.Mark{Seq: mark})
			}
			check(t, lines, mark)
			got := strings.Join(lines, "\n") + "\n"
			file := filepath.Join("testdata", strings.ReplaceAll(title, " ", "-")+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}
