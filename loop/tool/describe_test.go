package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var errSample = errors.New("sample")

// answering returns a tool whose Info answers so.
func answering(info *tool.Info, err error) *looptest.Tool {
	return &looptest.Tool{OnInfo: func(context.Context) (*tool.Info, error) { return info, err }}
}

func building(name string, build func() ([]tool.InvokableTool, error)) *looptest.Definition {
	return &looptest.Definition{
		OnName:  func() string { return name },
		OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return build() },
	}
}

func TestEXT4_WhatFailsRefusesTheWholeSetAndIsNamed(t *testing.T) {
	good := looptest.Define("good", looptest.NewTool("g", "{}"))
	many := func(n int) []tool.InvokableTool {
		tools := make([]tool.InvokableTool, n)
		for i := range tools {
			tools[i] = looptest.NewTool(fmt.Sprint("t", i), "")
		}
		return tools
	}
	for _, c := range []struct {
		name  string
		bad   tool.Definition
		blame string // the name in the error
		cause error
	}{
		{"nil definition", nil, "", tool.ErrNilDefinition},
		{"failed build", building("d", func() ([]tool.InvokableTool, error) { return many(1), errSample }), "d", errSample},
		{"failed build of a definition without a name", building("", func() ([]tool.InvokableTool, error) { return nil, errSample }), "", errSample},
		{"nil tool", looptest.Define("d", looptest.NewTool("x", ""), nil), "d", tool.ErrNilTool},
		{"failed info", looptest.Define("d", answering(&tool.Info{Name: "x"}, errSample)), "d", errSample},
		{"nil info", looptest.Define("d", answering(nil, nil)), "d", tool.ErrNilInfo},
		{"no name", looptest.Define("d", looptest.NewTool("", "")), "d", tool.ErrName},
		{"long name", looptest.Define("d", looptest.NewTool(strings.Repeat("x", tool.MaxName+1), "")), "d", tool.ErrName},
		{"long name, by bytes", looptest.Define("d", looptest.NewTool(strings.Repeat("é", tool.MaxName/2)+"x", "")), "d", tool.ErrName},
		{"broken name", looptest.Define("d", looptest.NewTool("a\xff", "")), "d", tool.ErrName},
		{"broken schema", looptest.Define("d", looptest.NewTool("x", "{")), "x", tool.ErrSchema},
		{"too many tools", looptest.Define("d", many(tool.MaxSet)...), "d", tool.ErrSetTooLarge}, // with the good one
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, set := range [][]tool.Definition{{good, c.bad}, {good, c.bad, good}} {
				described, err := tool.Describe(t.Context(), set, nil)
				assert.Nil(t, described)
				var failed *tool.BuildError
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, c.blame, failed.Name())
				assert.ErrorIs(t, err, c.cause)
				assert.Contains(t, err.Error(), c.blame)
			}
		})
	}
}

func TestEXT4_BoundariesAreInside(t *testing.T) {
	names := []string{"x", strings.Repeat("x", tool.MaxName), strings.Repeat("é", tool.MaxName/2), "\x00", "a b", "\u0085"}
	var tools []tool.InvokableTool
	for _, name := range names {
		tools = append(tools, looptest.NewTool(name, " "))
	}
	for i := len(tools); i < tool.MaxSet; i++ {
		tools = append(tools, looptest.NewTool(fmt.Sprint("t", i), "{}"))
	}
	described, err := tool.Describe(t.Context(), []tool.Definition{
		looptest.Define("a", tools[:100]...), looptest.Define("none"), looptest.Define("b", tools[100:]...),
	}, nil)
	require.NoError(t, err)
	require.Len(t, described, tool.MaxSet)
	for i, name := range names {
		assert.Equal(t, name, described[i].Info.Name)
	}
}

func TestEXT7_WhatIsDescribedKeepsItsOrderItsInstancesAndItsDigest(t *testing.T) {
	a, b, c := looptest.NewTool("a", ""), looptest.NewTool("b", " {} "), looptest.NewTool("a", `{"x": 1}`)
	described, err := tool.Describe(t.Context(), []tool.Definition{looptest.Define("one", b, a), looptest.Define("two", c)}, nil)
	require.NoError(t, err)
	require.Len(t, described, 3)
	for i, want := range []*looptest.Tool{b, a, c} {
		info, err := want.Info(t.Context())
		require.NoError(t, err)
		assert.Same(t, want, described[i].Instance)
		assert.Equal(t, *info, described[i].Info)
		assert.Equal(t, digestOf(t, string(info.Schema)), described[i].Digest)
	}
	none, err := tool.Describe(t.Context(), nil, nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestEXT11_APanicIsABuildFailure(t *testing.T) {
	fine := func() string { return "d" }
	for name, c := range map[string]struct {
		bad   tool.Definition
		blame string
	}{
		"Name": {&looptest.Definition{OnName: func() string { panic(errSample) }}, ""},
		"Build": {&looptest.Definition{OnName: fine, OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			panic(errSample)
		}}, "d"},
		"Info": {looptest.Define("d", &looptest.Tool{OnInfo: func(context.Context) (*tool.Info, error) { panic(errSample) }}), "d"},
	} {
		t.Run(name, func(t *testing.T) {
			described, err := tool.Describe(t.Context(), []tool.Definition{c.bad}, nil)
			assert.Nil(t, described)
			var failed *tool.BuildError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, c.blame, failed.Name())
			var panicked *loop.PanicError
			require.ErrorAs(t, err, &panicked)
			assert.ErrorIs(t, err, errSample)
			assert.NotEmpty(t, panicked.Stack)
		})
	}
}

func TestEXT11_NilPointersAreBuildFailures(t *testing.T) {
	var definition *looptest.Definition
	_, err := tool.Describe(t.Context(), []tool.Definition{definition}, nil)
	assert.ErrorAs(t, err, new(*loop.PanicError))

	var instance *looptest.Tool
	_, err = tool.Describe(t.Context(), []tool.Definition{looptest.Define("d", instance)}, nil)
	assert.ErrorAs(t, err, new(*loop.PanicError))
}

func TestEXT13_WhatAToolDoesLaterChangesNothing(t *testing.T) {
	info := &tool.Info{Name: "x", Description: "before", Schema: json.RawMessage(`{"a":1}`)}
	described, err := tool.Describe(t.Context(), []tool.Definition{looptest.Define("d", answering(info, nil))}, nil)
	require.NoError(t, err)

	copy(info.Schema, `[{{{{{{`)
	info.Name, info.Description, info.Schema = "y", "after", nil
	assert.Equal(t, tool.Info{Name: "x", Description: "before", Schema: json.RawMessage(`{"a":1}`)}, described[0].Info)
	assert.Equal(t, digestOf(t, string(described[0].Info.Schema)), described[0].Digest)
}

func TestEXT13_ClonedInfosShareNoMemory(t *testing.T) {
	infos := []tool.Info{{Name: "x", Schema: json.RawMessage(`{"a":1}`)}}
	clones := tool.CloneInfos(infos)
	require.Equal(t, infos, clones)
	infos[0].Schema[0], infos[0].Name = '!', "y"
	assert.Equal(t, []tool.Info{{Name: "x", Schema: json.RawMessage(`{"a":1}`)}}, clones)
	assert.Nil(t, tool.CloneInfos([]tool.Info{}))
}

func TestLIFE2_NoCallBeginsAfterTheContextEnded(t *testing.T) {
	for _, last := range []string{"none", "Name", "Build", "Info"} {
		t.Run("after "+last, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				calls := []string{"none"}
				called := func(what string) {
					if calls = append(calls, what); what == last {
						cancel()
					}
				}
				if last == "none" {
					cancel()
				}
				counting := &looptest.Definition{
					OnName: func() string { called("Name"); return "d" },
					OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
						called("Build")
						describing := &looptest.Tool{OnInfo: func(context.Context) (*tool.Info, error) {
							called("Info")
							return &tool.Info{Name: "x"}, nil
						}}
						return []tool.InvokableTool{describing, describing}, nil
					},
				}
				described, err := tool.Describe(ctx, []tool.Definition{counting, counting}, nil)
				assert.Nil(t, described)
				assert.ErrorIs(t, err, context.Canceled)
				synctest.Wait() // for a call that was left behind, too
				assert.Equal(t, last, calls[len(calls)-1])
			})
		})
	}
}

func TestEXT4_DefinitionsAreBuiltWithTheContextAndTheBindings(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	bindings := tool.Bindings{"client": errSample}
	_, err := tool.Describe(ctx, []tool.Definition{&looptest.Definition{
		OnName: func() string { return "d" },
		OnBuild: func(ctx context.Context, got tool.Bindings) ([]tool.InvokableTool, error) {
			assert.Equal(t, "value", ctx.Value(key{}))
			assert.Equal(t, bindings, got)
			return nil, nil
		},
	}}, bindings)
	require.NoError(t, err)
}
