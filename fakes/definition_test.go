package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// What the oracle is told of the definition is what the loops get.
func TestDefine(t *testing.T) {
	openly(t, func(s *fakes.Stage, l *fakes.Life) {
		definition, facts, err := s.Define(false, "")
		if !assert.NoError(t, err) {
			return
		}
		assert.Equal(t, loop.EngineNative, definition.Engine())
		assert.Equal(t, definition.Transports(), facts.Transports)
		var names []string
		for _, mode := range definition.Modes() {
			names = append(names, string(mode))
		}
		assert.Equal(t, workload.Modes(), names)
		bound, err := definition.Bind(context.Background(), l.Bindings())
		if !assert.NoError(t, err) {
			return
		}
		for _, name := range append(definition.Modes(), loop.BaseMode) {
			c, _ := definition.Configuration(name)
			want := facts.Modes[name]
			if !assert.NotNil(t, want, name) {
				continue
			}
			assert.Equal(t, c.Instructions, want.Instructions)
			assert.Equal(t, c.Effort, want.Effort)
			got := c.Model
			got.Sampling.Effort = model.EffortNone
			assert.Equal(t, want.Model, got)
			if assert.Len(t, bound.Tools(name), len(want.Tools)) {
				for i, d := range bound.Tools(name) {
					assert.Equal(t, want.Tools[i].Name, d.Info.Name)
					assert.Equal(t, want.Tools[i].Description, d.Info.Description)
					assert.Equal(t, want.Tools[i].Schema, string(d.Info.Schema))
					_, err := d.Instance.InvokableRun(s.World.Context(), "{}")
					assert.NoError(t, err)
					assert.Equal(t, want.Tools[i].Instance, last(t, s, trace.ToolBegan).Run.Instance)
					assert.True(t, facts.Declared[d.Info.Name])
				}
			}
		}
		assert.Len(t, facts.Declared, len(workload.DeclaredTools()))
		for _, name := range workload.DeclaredTools() {
			assert.True(t, facts.Declared[name], name)
		}
	})
}

func TestDefineLess(t *testing.T) {
	openly(t, func(s *fakes.Stage, _ *fakes.Life) {
		definition, facts, err := s.Define(false, "plan")
		assert.NoError(t, err)
		assert.NotContains(t, definition.Modes(), loop.ModeName("plan"))
		assert.NotContains(t, facts.Modes, loop.ModeName("plan"))
		assert.Len(t, definition.Modes(), len(workload.Modes())-1)

		definition, facts, err = s.Define(true, "")
		assert.NoError(t, err)
		assert.Equal(t, loop.EngineForeign, definition.Engine())
		assert.True(t, facts.Foreign)
		assert.Empty(t, facts.Declared)
	})
}

// The declared tool that changes does so after the start.
func TestSpoilDeclared(t *testing.T) {
	openly(t, func(s *fakes.Stage, l *fakes.Life) {
		definition, _, err := s.Define(false, "")
		assert.NoError(t, err)
		bound, err := definition.Bind(context.Background(), l.Bindings())
		assert.NoError(t, err)
		d2 := bound.Tools(loop.BaseMode)[1]
		info, err := d2.Instance.Info(context.Background())
		assert.NoError(t, err)
		assert.True(t, fakes.Changed(*info))
		schema := info.Schema
		fakes.SpoilDeclared(definition)
		assert.NotContains(t, string(schema), "changed", "memory that was handed out is written over")
		assert.False(t, fakes.Changed(d2.Info), "what was bound keeps its own")
	})
}

// Declared tools note what happens in the life that had them built last: all lives of a run are of one definition.
func TestDeclaredToolsBelongToTheLifeThatBuiltThem(t *testing.T) {
	openly(t, func(s *fakes.Stage, l *fakes.Life) {
		definition, _, err := s.Define(false, "")
		assert.NoError(t, err)
		l.Crash()
		next := s.Begin(l.Store())
		bound, err := definition.Bind(context.Background(), next.Bindings())
		assert.NoError(t, err)
		_, err = bound.Tools(loop.BaseMode)[0].Instance.InvokableRun(s.World.Context(), "{}")
		assert.NoError(t, err)
		assert.Equal(t, 2, last(t, s, trace.ToolBegan).Life)
	})
}

// The variants of models are what package workload says of them.
func TestModels(t *testing.T) {
	openly(t, func(s *fakes.Stage, _ *fakes.Life) {
		_, facts, err := s.Define(false, "")
		assert.NoError(t, err)
		for _, variant := range workload.Models() {
			m, refused := fakes.Model("a1", variant)
			switch variant {
			case workload.KeylessModel, workload.MalformedModel:
				assert.Error(t, refused, variant)
				assert.Error(t, m.Validate(), variant)
			case workload.UndeclaredModel:
				assert.Error(t, refused)
				assert.NoError(t, m.Validate())
				assert.NotContains(t, facts.Transports, m.Transport())
			default:
				assert.NoError(t, refused, variant)
				assert.NoError(t, m.Validate(), variant)
				assert.Contains(t, facts.Transports, m.Transport(), variant)
			}
		}
		base, _ := fakes.Model("a1", workload.BaseModel)
		assert.Equal(t, facts.Modes[loop.BaseMode].Model, base)
		plain, _ := fakes.Model("a1", workload.PlainModel)
		assert.Empty(t, plain.Efforts)
		low, _ := fakes.Model("a1", workload.LowModel)
		assert.Equal(t, []model.Effort{model.EffortLow}, low.Efforts)
		one, _ := fakes.Model("a1", workload.FreshModel)
		two, _ := fakes.Model("a2", workload.FreshModel)
		assert.NotEqual(t, one.Name, two.Name, "whose it is can be told")
	})
}

func TestModelsShareNoMemory(t *testing.T) {
	one, err := fakes.Model("a1", workload.BaseModel)
	require.NoError(t, err)
	fakes.Scribble(one, fakes.ByReader)
	two, err := fakes.Model("a1", workload.BaseModel)
	require.NoError(t, err)
	assert.NotEqual(t, one, two)
}
