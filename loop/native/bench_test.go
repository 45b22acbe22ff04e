package native_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// threeSteps is a client whose turns take three requests and two tool calls, and which keeps nothing.
type threeSteps struct{}

func (threeSteps) Stream(_ context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if fixture.Step(request) < 3 {
			yield(model.Chunk{ToolCall: &model.ToolCall{ID: "1", Name: "declared"}}, nil)
			return
		}
		yield(model.Chunk{Text: "done"}, nil)
	}
}

func benchLoop(b *testing.B) *native.Loop {
	b.Helper()
	definition, err := loop.Define(
		loop.WithName("bench"), loop.WithModel(fixture.Model("m1", model.EffortLow)), loop.WithTools(fixture.Defines("declared")...))
	require.NoError(b, err)
	l, err := native.New(b.Context(), native.Config{Definition: definition, Journal: &journal.Memory{}, Client: threeSteps{}})
	require.NoError(b, err)
	b.Cleanup(func() { _ = l.Shutdown(context.Background()) })
	b.ReportAllocs()
	return l
}

func BenchmarkChange(b *testing.B) {
	l := benchLoop(b)
	change := changeModel("m2", model.EffortLow)
	for b.Loop() {
		if err := l.Change(b.Context(), change); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplace100Tools(b *testing.B) {
	l := benchLoop(b)
	var definitions []tool.Definition
	for i := range 100 {
		definitions = append(definitions, fixture.Define(&fixture.Tool{
			Name: fmt.Sprint("tool", i), Description: "what it does",
			Schema: []byte(`{"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}`),
		}))
	}
	set := loop.ExternalToolset{Source: "mcp", Generation: "g", Definitions: definitions}
	for b.Loop() {
		if err := l.ReplaceExternalTools(b.Context(), set); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTurn3Steps(b *testing.B) {
	l := benchLoop(b)
	for b.Loop() {
		turn, err := l.Submit(b.Context(), "input")
		if err != nil {
			b.Fatal(err)
		}
		<-turn.Done()
		if err := turn.Err(); err != nil {
			b.Fatal(err)
		}
	}
}
