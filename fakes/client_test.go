package fakes_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// asking is a request of the first step for an input.
func asking(input string) model.Request {
	half := 0.5
	return model.Request{
		Instructions: "base", Effort: model.EffortLow,
		Model:    model.Model{Name: "m", Efforts: []model.Effort{model.EffortLow}, Sampling: model.Sampling{Temperature: &half, Stop: []string{"stop"}}},
		Tools:    []tool.Info{{Name: "x", Description: "of x", Schema: json.RawMessage(`{}`)}, {Name: "y"}},
		Messages: []model.Message{{Role: model.RoleUser, Text: input}},
	}
}

// answer collects what a client answers.
func answer(ctx context.Context, l *fakes.Life, r model.Request) (text string, calls []model.ToolCall, err error) {
	for chunk, failed := range l.Client().Stream(ctx, r) {
		if failed != nil {
			return text, calls, failed
		}
		text += chunk.Text
		if chunk.ToolCall != nil {
			calls = append(calls, *chunk.ToolCall)
		}
	}
	return text, calls, nil
}

// The steps of a submit come one after the other, as the conversation tells. Tools need not be offered to be called.
func TestClientFollowsItsScript(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		ctx := s.World.Context()
		s.Expect("a1", "hello", [][]string{{"y", workload.Ghost}, {workload.EveryTool}})
		s.Expect("a2", "other", [][]string{{"x"}})
		act(s, func() {
			text, calls, err := answer(ctx, l, asking("hello"))
			assert.NoError(t, err)
			assert.Equal(t, "answer ", text)
			assert.Equal(t, []model.ToolCall{
				{ID: "a1.1.0", Name: "y", Arguments: `{"call":"a1.1.0"}`}, {ID: "a1.1.1", Name: workload.Ghost, Arguments: `{"call":"a1.1.1"}`},
			}, calls)

			r := asking("hello")
			r.Messages = append(r.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: calls}, model.Message{Role: model.RoleTool, ToolCallID: "a1.1.0"})
			_, calls, err = answer(ctx, l, r)
			assert.NoError(t, err)
			if assert.Len(t, calls, 2, "all that are offered") {
				assert.Equal(t, []string{"x", "y"}, []string{calls[0].Name, calls[1].Name})
			}
			seen := last(t, s, trace.RequestEnded).Request
			assert.Equal(t, "a1", seen.Turn)
			assert.Equal(t, 2, seen.Step)
			assert.Equal(t, []string{"a1.1.0"}, seen.Told, "the other call's result was kept from it")
			assert.Equal(t, calls, seen.Calls)

			r = asking("hello")
			for range 2 {
				r.Messages = append(r.Messages, model.Message{Role: model.RoleAssistant})
			}
			_, calls, err = answer(ctx, l, r)
			assert.NoError(t, err)
			assert.Empty(t, calls, "the script is over")

			// A loop may keep the turns before in the conversation: the input that comes last is the turn's.
			r = asking("other")
			r.Messages = append(asking("hello").Messages, model.Message{Role: model.RoleAssistant}, r.Messages[0])
			_, calls, err = answer(ctx, l, r)
			assert.NoError(t, err)
			if assert.Len(t, calls, 1) {
				assert.Equal(t, "a2.1.0", calls[0].ID)
			}

			_, calls, err = answer(ctx, l, asking("whose is that?"))
			assert.NoError(t, err)
			assert.Empty(t, calls)
			assert.Empty(t, last(t, s, trace.RequestEnded).Op)
		})
	})
}

// A request is its client's: the client overwrites it, so that a loop is found out that shares its memory.
func TestClientOverwritesTheRequest(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		s.Expect("a1", "hello", nil)
		r := asking("hello")
		r.Messages = append(r.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{Name: "x"}}})
		act(s, func() {
			_, _, err := answer(s.World.Context(), l, r)
			assert.NoError(t, err)
		})
		for _, text := range []string{
			r.Tools[0].Name, r.Tools[1].Description, r.Messages[0].Text, r.Messages[1].ToolCalls[0].Name, r.Model.Sampling.Stop[0], string(r.Model.Efforts[0]),
		} {
			assert.Equal(t, fakes.ByClient, text)
		}
		assert.Equal(t, "!!", string(r.Tools[0].Schema))
		assert.Equal(t, fakes.Mark(fakes.ByClient), *r.Model.Sampling.Temperature)

		seen := last(t, s, trace.RequestBegan).Request
		assert.Equal(t, asking("").Tools, seen.Tools, "what was seen is what was asked")
		assert.Equal(t, asking("").Model, seen.Model)
		assert.Equal(t, model.EffortLow, seen.Effort)
		assert.Equal(t, "base", seen.Instructions)
	})
}

func TestRequestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		schedule string
		text     string
		err      error
		panics   bool
	}{
		"ok":    {text: "answer "},
		"error": {schedule: "at a1 request 1 verdict error", err: fakes.ErrStream},
		"cut":   {schedule: "at a1 request 1 verdict cut", text: "answer ", err: fakes.ErrStream},
		"panic": {schedule: "at a1 request 1 verdict panic", panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, c.schedule, func(s *fakes.Stage, l *fakes.Life) {
				s.Expect("a1", "hello", [][]string{{"x"}})
				act(s, func() {
					defer func() {
						v := recover()
						assert.Equal(t, c.panics, v != nil)
						if c.panics {
							assert.IsType(t, fakes.Panic{}, v)
						}
					}()
					text, calls, err := answer(s.World.Context(), l, asking("hello"))
					assert.ErrorIs(t, err, c.err)
					assert.Equal(t, c.text, text)
					assert.Len(t, calls, map[bool]int{true: 1}[err == nil])
				})
				assert.Equal(t, []trace.Kind{trace.RequestBegan, trace.RequestEnded}, kinds(s))
				end := last(t, s, trace.RequestEnded)
				assert.Equal(t, c.panics, end.Panic)
				assert.Equal(t, c.schedule != "", end.Err != nil)
				assert.False(t, end.Held)
			})
		})
	}
}

// A client honours its context, unless it is held: then it is for the loop not to wait.
func TestRequestAndItsContext(t *testing.T) {
	for schedule, held := range map[string]bool{"after start run stop": false, "at a1 request 1 verdict held": true} {
		scene(t, schedule, func(s *fakes.Stage, l *fakes.Life) {
			s.Expect("a1", "hello", nil)
			ctx, cancel := context.WithCancel(s.World.Context())
			ended := false
			go func() {
				_, _, err := answer(ctx, l, asking("hello"))
				ended = true
				if held {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, context.Canceled)
				}
			}()
			go func() {
				if park(s, "stop") { // while the request is outstanding
					cancel()
				}
			}()
			assert.True(t, s.World.Settle())
			assert.Equal(t, !held, ended)
			s.LetGo()
			assert.True(t, s.World.Settle())
			assert.True(t, ended)
			end := last(t, s, trace.RequestEnded)
			assert.Equal(t, held, end.Held)
			assert.True(t, end.Cancelled)
			assert.False(t, last(t, s, trace.RequestBegan).Cancelled)
		})
	}
}

// Who stops reading the answer has the end of the request noted.
func TestRequestThatIsLeft(t *testing.T) {
	scene(t, "", func(s *fakes.Stage, l *fakes.Life) {
		s.Expect("a1", "hello", [][]string{{"x", "y"}})
		act(s, func() {
			for chunk := range l.Client().Stream(s.World.Context(), asking("hello")) {
				if chunk.ToolCall != nil {
					break
				}
			}
		})
		assert.Equal(t, []trace.Kind{trace.RequestBegan, trace.RequestEnded}, kinds(s))
		assert.NoError(t, last(t, s, trace.RequestEnded).Err)
	})
}

func TestScribble(t *testing.T) {
	marks := make(map[float64]bool)
	for _, mark := range []string{fakes.ByClient, fakes.ByCaller, fakes.ByReader} {
		marks[fakes.Mark(mark)] = true
		m, _ := fakes.Model("a1", workload.FreshModel)
		kept := m.Clone()
		fakes.Scribble(m, mark)
		assert.Equal(t, mark, m.Sampling.Stop[0])
		assert.Equal(t, mark, string(m.Efforts[0]))
		assert.Equal(t, fakes.Mark(mark), *m.Sampling.Temperature)
		assert.Equal(t, fakes.Mark(mark), *m.Sampling.TopP)
		assert.NotEqual(t, kept.Sampling.Stop, m.Sampling.Stop)
		fakes.Scribble(model.Model{}, mark) // has nothing to write to
	}
	assert.Len(t, marks, 3, "it can be told whose the memory was")
}
