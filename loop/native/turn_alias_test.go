package native_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestTURN1_WhatAToolDoesToItsInfoIsNotOffered(t *testing.T) {
	declared, declaredInfo := retained("declared")
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t, loop.WithTools(defs(declared)...))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		external, externalInfo := retained("x")
		b.install("mcp", "g1", external)
		for _, info := range []*tool.Info{declaredInfo, externalInfo} {
			copy(info.Schema, "[[[[[[[")
			info.Name, info.Description = "changed", "new"
		}
		b.client.Answer = answering("declared", "x", "changed")
		require.NoError(t, b.run("a1"))
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.SetMode(t.Context(), ""))
		require.NoError(t, b.run("a2"))
		for _, r := range b.client.Requests() {
			require.Equal(t, []tool.Info{
				{Name: "declared", Description: "old", Schema: json.RawMessage(`{"a":1}`)},
				{Name: "x", Description: "old", Schema: json.RawMessage(`{"a":1}`)},
			}, r.Tools)
		}
		require.Equal(t, []int{2, 2}, []int{declared.Runs(), external.Runs()})
	})
}

// scribble writes to all memory of a request.
func scribble(r model.Request) {
	for i := range r.Tools {
		copy(r.Tools[i].Schema, "[[[[[[[")
		r.Tools[i].Name = "changed"
	}
	for i := range r.Messages {
		for j := range r.Messages[i].ToolCalls {
			r.Messages[i].ToolCalls[j].Name = "changed"
		}
		r.Messages[i].Text = "changed"
	}
	for i := range r.Model.Efforts {
		r.Model.Efforts[i] = "changed"
	}
}

func TestTURN1_ClientOwnsItsRequest(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		x, _ := retained("x")
		b.install("mcp", "g1", x)
		b.client.Answer = func(_ context.Context, r model.Request, step int) ([]model.Chunk, error) {
			go scribble(r) // also while later requests are made: the race detector watches
			if step < 3 {
				return fixture.Calls("x"), nil
			}
			return nil, nil
		}
		require.NoError(t, b.run("a1"))
		require.NoError(t, b.run("a2"))
		requests := b.client.Requests()
		require.Len(t, requests, 6)
		for i, r := range requests {
			require.Equal(t, "|be brief|m1 low|low|declared@ x@old", describe("", r.Instructions, r.Model, r.Effort, r.Tools))
			require.JSONEq(t, `{"a":1}`, string(r.Tools[1].Schema))
			require.Equal(t, []model.Effort{model.EffortLow, model.EffortHigh}, r.Model.Efforts)
			for _, m := range r.Messages[1:] {
				require.Equal(t, m.Role == model.RoleTool, m.ToolName == "x")
				require.NotEqual(t, "changed", m.Text, "request %d", i)
			}
		}
		require.Equal(t, 4, x.Runs())
	})
}

func TestTURN1_EngineOwnsItsCapture(t *testing.T) {
	var captured []string
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t), Engine: engineFunc(func(ctx context.Context, r native.TurnRequest) error {
			captured = append(captured, describeCapture(r.Capture)+string(r.Tools[1].Info.Schema))
			assert.Equal(t, []model.Effort{model.EffortLow, model.EffortHigh}, r.Model.Efforts)
			info, err := r.Tools[1].Instance.Info(ctx)
			assert.NoError(t, err)
			copy(info.Schema, "[[[[[[[")
			info.Name = "changed"
			for i := range r.Tools {
				copy(r.Tools[i].Info.Schema, "[[[[[[[")
				r.Tools[i] = native.Tool{}
			}
			r.Model.Efforts[0] = "changed"
			return nil
		})}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		x, _ := retained("x")
		b.install("mcp", "g1", x)
		for range 2 {
			require.NoError(t, b.run("a"))
		}
		require.NoError(t, b.SetMode(t.Context(), ""))
		require.NoError(t, b.run("a"))
		for _, c := range captured {
			require.Equal(t, `|be brief|m1 low|low|declared@ x@old{"a":1}`, c)
		}
		require.Equal(t, []model.Effort{model.EffortLow, model.EffortHigh}, b.Model().Efforts)
	})
}
