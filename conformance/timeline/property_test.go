package timeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/timeline"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// hostile is an error of a subject all of whose methods panic.
type hostile struct{ b *byte }

func (h hostile) Error() string { return string(rune(*h.b)) }
func (h hostile) Is(error) bool { return *h.b == 0 }
func (h hostile) As(any) bool   { return *h.b == 0 }
func (h hostile) Unwrap() error { panic(h) }

// asError is what errors.As gets a nil pointer from.
type asError struct{}

func (asError) Error() string { return "\x00" + strings.Repeat("\u202e\u2028x\xff", 100) }
func (asError) As(target any) bool {
	if t, is := target.(**loop.ChangeError); is {
		*t = nil
		return true
	}
	return false
}

var texts = []string{
	"", "a", "x\x00y", "\xff\xfe", "\u202eright to left", "line\nbreak\r", "◀── here", strings.Repeat("long ", 60), strings.Repeat("字", 90),
	"e\u0301", "\u2028\u2029\u00a0\u3000\ufeff", "\x1b[31mred", " … ──▶ ", strings.Repeat("\x00", 200), "plan ", "😀",
}

func drawText(t *rapid.T) string {
	return rapid.OneOf(rapid.SampledFrom(texts), rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) })).Draw(t, "text")
}

func drawError(t *rapid.T) error {
	text := drawText(t)
	return rapid.SampledFrom([]error{
		nil, nil, nil, errors.New(text), context.Canceled, hostile{}, asError{}, fmt.Errorf("%s: %w", text, hostile{}), (*loop.ChangeError)(nil),
		&loop.ChangeError{Kind: loop.ChangeErrorKind(text), Tool: text}, &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: loop.ModeName(text)},
		&loop.SubmitError{Kind: loop.SubmitErrorKind(text)}, &loop.TurnError{Kind: loop.TurnFailed, Cause: hostile{}},
		&loop.RestoreError{Kind: loop.RestoreUnknownMode, Mode: loop.ModeName(text)}, errors.Join(context.DeadlineExceeded, hostile{}),
	}).Draw(t, "err")
}

func drawModel(t *rapid.T) model.Model {
	return model.Model{Name: drawText(t), Provider: rapid.SampledFrom(texts).Draw(t, "provider"), Sampling: model.Sampling{Effort: model.Effort(drawText(t))}}
}

func drawEvent(t *rapid.T) event.Event {
	runtime := event.Runtime{Model: drawModel(t), Effort: model.Effort(drawText(t))}
	return rapid.SampledFrom([]event.Event{
		nil, (*event.LoopStopped)(nil), event.LoopStopped{}, event.LoopModeChanged{Mode: loop.ModeName(drawText(t)), Runtime: runtime},
		event.LoopInferenceChanged{Runtime: runtime}, event.TurnEnded{Outcome: event.TurnOutcome(drawText(t))}, event.Other{Tag: event.Type(drawText(t))},
		toolset(drawText(t), drawText(t), rapid.SliceOfN(rapid.SampledFrom(texts), 0, 12).Draw(t, "tools")...),
	}).Draw(t, "event")
}

func drawAsked(t *rapid.T) any {
	m, effort := drawModel(t), model.Effort(drawText(t))
	return rapid.SampledFrom([]any{
		nil, trace.Submit{}, trace.Change{}, trace.Change{Model: &m, Effort: &effort}, trace.SetMode{Mode: "plan"}, trace.Interrupt{}, trace.Shutdown{},
		trace.Replace{Tools: []trace.Tool{{Name: drawText(t)}}}, trace.Read{}, trace.Wait{Turn: "a1"}, trace.User{Kind: drawText(t)}, struct{ X int }{},
		trace.Crash{}, trace.Restore{}, &trace.Submit{},
	}).Draw(t, "asked")
}

func drawRequest(t *rapid.T) *trace.Request {
	if rapid.IntRange(0, 9).Draw(t, "no request") == 0 {
		return nil
	}
	r := &trace.Request{Step: rapid.IntRange(-1, 3).Draw(t, "step"), Model: drawModel(t), Instructions: drawText(t)}
	for _, n := range rapid.SliceOfN(rapid.SampledFrom(texts), 0, 12).Draw(t, "tools") {
		r.Tools, r.Calls = append(r.Tools, tool.Info{Name: n, Description: n}), append(r.Calls, model.ToolCall{Name: n})
	}
	return r
}

func drawEntry(t *rapid.T) trace.Entry {
	flag := func(name string) bool { return rapid.IntRange(0, 4).Draw(t, name) == 0 }
	e := trace.Entry{
		Kind: trace.Kind(rapid.IntRange(0, int(trace.Invariant)+1).Draw(t, "kind")), Life: rapid.IntRange(1, 3).Draw(t, "life"),
		Op:   rapid.SampledFrom([]string{"", "a1", "a1", "a2", "b1", "b1", "b2", "no op\n", "z9"}).Draw(t, "op"),
		Call: rapid.IntRange(0, 6).Draw(t, "call"), Err: drawError(t), Cancelled: flag("cancelled"), Held: flag("held"), Panic: flag("panic"),
		Asked: drawAsked(t), Event: drawEvent(t), Request: drawRequest(t), Text: drawText(t),
	}
	if flag("run") {
		e.Run = &trace.Run{Instance: drawText(t), Called: drawText(t), Step: rapid.IntRange(0, 2).Draw(t, "step")}
	}
	if flag("seen") {
		e.Seen = &trace.Seen{Mode: loop.ModeName(drawText(t)), Model: drawModel(t)}
	}
	if flag("turn") {
		e.Turn = turn{}
	}
	switch {
	case flag("definition"):
		e.Definition = definition(rapid.IntRange(0, 2).Draw(t, "journal"))
	case flag("odd definition"):
		e.Definition = &trace.Definition{Modes: map[loop.ModeName]*trace.Mode{"": nil, "x": nil}}
	}
	return e
}

const anyLoad = `client a
  a1 submit steps=d1
  a2 change effort=high inside=a1
client b
  b1 replace source="s\x00" tools=@513 generation=@128 cancel
  b2 wait turn=a1`

// Whatever a trace says: nothing panics, every line is safe to print, and the last one, and only that, has the mark.
func TestAnyTrace(t *testing.T) {
	load, err := workload.Parse(anyLoad)
	assert.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		pool := rapid.SliceOfN(rapid.Custom(drawEntry), 1, 12).Draw(t, "pool")
		n := rapid.IntRange(0, 120).Draw(t, "n")
		entries := make([]trace.Entry, n)
		step := 0
		for i := range entries {
			entries[i] = pool[rapid.IntRange(0, len(pool)-1).Draw(t, "entry")]
			step += rapid.IntRange(0, 2).Draw(t, "steps") / 2
			entries[i].Seq, entries[i].Step = i, step
		}
		mark := timeline.Mark{Seq: rapid.IntRange(-1, n).Draw(t, "mark"), Op: "a1", Message: "b1: " + drawText(t)}
		if mark.Seq >= 0 {
			mark.Expected, mark.Seen = drawText(t), drawText(t)
		}
		lines := timeline.Lines(load, entries, mark)
		check(t, lines, mark)
		assert.Equal(t, lines, timeline.Lines(load, entries, mark), "the same every time")
		assert.LessOrEqual(t, timeline.Steps(entries, mark), n)
	})
}

// However long a story is, what it leaves out is of no operation concerned, no commit and no crash.
func TestLeavesOut(t *testing.T) {
	load, err := workload.Parse("client a\n  a1 read\nclient b\n  b1 read\n  b2 change effort=high\nclient c\n  c1 read")
	assert.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		s := &script{log: trace.NewLog(nil), load: load, life: 1}
		s.start()
		matters := make(map[string]int)
		for range rapid.IntRange(30, 120).Draw(t, "n") {
			switch op := rapid.SampledFrom([]string{"a1", "b1", "b1", "c1", "c1", "c1", "b2", "crash"}).Draw(t, "op"); op {
			case "crash":
				s.step()
				s.add(trace.Entry{Kind: trace.Crashed})
				matters["── crash ──"]++
				s.next(1, nil)
			case "b2":
				s.call(op)
				s.commits(op, inference("m0", "high"))
				s.ok(op)
				matters["b2 change effort=high ──▶ journal: inference_changed ✓ ──▶ ok"]++
			default:
				s.call(op)
				s.sees(op, "", "m0", "low")
				if op == "a1" {
					matters["a1 read ──▶ sees {base, m0, low}"]++
				}
			}
		}
		s.says("the end")
		lines := timeline.Lines(load, s.log.Entries(), timeline.Mark{Seq: s.last(), Op: "a1"})
		check(t, lines, timeline.Mark{})
		for text, n := range matters {
			of := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l != text })
			assert.Len(t, of, n, text)
		}
	})
}
