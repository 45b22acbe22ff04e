package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// building returns a definition that counts its builds and builds a new instance each time.
func building(name string, builds *int) tool.Definition {
	return &looptest.Definition{
		OnName: func() string { return name },
		OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			*builds++
			return []tool.InvokableTool{looptest.NewTool(name, "{}")}, nil
		},
	}
}

func define(t *testing.T, options ...loop.Option) loop.Definition {
	t.Helper()
	d, err := loop.Define(append([]loop.Option{loop.WithName("n"), loop.WithModel(looptest.Model("m"))}, options...)...)
	require.NoError(t, err)
	return d
}

func bind(t *testing.T, d loop.Definition) *loop.Bound {
	t.Helper()
	bound, err := d.Bind(t.Context(), nil)
	require.NoError(t, err)
	return bound
}

func toolNames(tools []tool.Described) []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Info.Name)
	}
	return names
}

func TestTURN3_EveryDeclaredToolOfAModeIsThereUnderItsNameAsItsOwnInstance(t *testing.T) {
	builds := 0
	shared := building("shared", &builds)
	bound := bind(t, define(t,
		loop.WithTools(building("b", &builds), shared, building("a", &builds)),
		loop.WithMode("same", loop.WithEffort(model.EffortLow)),
		loop.WithMode("own", loop.WithTools(shared, building("c", &builds))),
		loop.WithMode("none", loop.WithTools()),
	))
	assert.Equal(t, []string{"b", "shared", "a"}, toolNames(bound.Tools("")))
	assert.Equal(t, []string{"shared", "c"}, toolNames(bound.Tools("own")))
	assert.Empty(t, bound.Tools("none"))
	assert.Nil(t, bound.Tools("unknown"))
	assert.Equal(t, 5, builds, "each list is built once")

	for i, described := range bound.Tools("same") {
		assert.Same(t, bound.Tools("")[i].Instance, described.Instance, "the mode takes the base's tools")
	}
	seen := make(map[tool.InvokableTool]bool)
	for _, described := range append(bound.Tools(""), bound.Tools("own")...) {
		assert.False(t, seen[described.Instance], "an instance has two names")
		seen[described.Instance] = true
	}
}

func TestTURN3_ANameThatOccursTwiceInOneModeIsRefused(t *testing.T) {
	twice := loop.WithTools(looptest.Define("d1", looptest.NewTool("x", "")), looptest.Define("d2", looptest.NewTool("y", ""), looptest.NewTool("x", "{}")))
	for _, c := range []struct {
		mode    loop.ModeName
		options []loop.Option
	}{
		{"", []loop.Option{twice, loop.WithMode("plan")}},
		{"plan", []loop.Option{loop.WithMode("first"), loop.WithMode("plan", twice)}},
	} {
		bound, err := define(t, c.options...).Bind(t.Context(), nil)
		assert.Nil(t, bound)
		var failed *loop.DefinitionError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, loop.DefinitionError{Kind: loop.DefinitionDuplicateTool, Mode: c.mode, Tool: "x"}, *failed)
	}
	// Byte by byte: these are three names, and in different modes one name may stand for different tools.
	bind(t, define(t,
		loop.WithTools(looptest.Define("d", looptest.NewTool("x", ""), looptest.NewTool("X", ""), looptest.NewTool("x\u200b", ""))),
		loop.WithMode("plan", loop.WithTools(looptest.Define("d", looptest.NewTool("x", "{}")))),
	))
}

func TestEXT5_ANameOfAnyModeIsDeclared(t *testing.T) {
	bound := bind(t, sample(t))
	for _, name := range []string{"t1", "t2", "t3"} {
		assert.True(t, bound.Declares(name), name)
	}
	for _, name := range []string{"", "d1", "T1", "t1 ", "t"} {
		assert.False(t, bound.Declares(name), name)
	}
}

func TestTURN3_WhatCannotBeBuiltIsRefusedByModeAndName(t *testing.T) {
	failing := &looptest.Definition{
		OnName:  func() string { return "failing" },
		OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return nil, errSample },
	}
	panicking := looptest.Define("panicking", &looptest.Tool{OnInfo: func(context.Context) (*tool.Info, error) { panic(errSample) }})
	for _, c := range []struct {
		tool  string
		bad   tool.Definition
		cause error
	}{
		{"failing", failing, errSample},
		{"panicking", panicking, errSample},
		{"x", looptest.Define("d", looptest.NewTool("x", "{")), tool.ErrSchema},
	} {
		for mode, option := range map[loop.ModeName]loop.Option{"": loop.WithTools(c.bad), "plan": loop.WithMode("plan", loop.WithTools(c.bad))} {
			_, err := define(t, option).Bind(t.Context(), nil)
			var failed *loop.DefinitionError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, loop.DefinitionBuildFailed, failed.Kind)
			assert.Equal(t, mode, failed.Mode)
			assert.Equal(t, c.tool, failed.Tool)
			assert.ErrorIs(t, err, c.cause)
			assert.Equal(t, 1, strings.Count(err.Error(), fmt.Sprintf("tool %q", c.tool)), "the tool is named once: %v", err)
		}
	}
}

func TestTURN3_BindEndsWithItsContext(t *testing.T) {
	builds := 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := define(t, loop.WithTools(building("a", &builds))).Bind(ctx, nil)
	var failed *loop.DefinitionError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, loop.DefinitionBuildFailed, failed.Kind)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, builds)
}

func TestEXT13_WhatADeclaredToolDoesLaterChangesNothing(t *testing.T) {
	info := &tool.Info{Name: "x", Description: "before", Schema: json.RawMessage(`{"a":1}`)}
	answering := &looptest.Tool{OnInfo: func(context.Context) (*tool.Info, error) { return info, nil }}
	bound := bind(t, define(t, loop.WithTools(looptest.Define("d", answering))))

	copy(info.Schema, "overwritten")
	info.Name, info.Description = "y", "after"
	tools := bound.Tools("")
	require.Len(t, tools, 1)
	assert.Equal(t, tool.Info{Name: "x", Description: "before", Schema: json.RawMessage(`{"a":1}`)}, tools[0].Info)

	tools[0] = tool.Described{}
	assert.Same(t, answering, bound.Tools("")[0].Instance, "the returned slice is shared")
	assert.True(t, bound.Declares("x"))
	assert.False(t, bound.Declares("y"))
}

func TestCHG6_BindingLeavesTheDefinitionAsItWas(t *testing.T) {
	d := sample(t)
	first, second := bind(t, d), bind(t, d)
	assert.Equal(t, toolNames(first.Tools("code")), toolNames(second.Tools("code")))
	assert.NotSame(t, &first.Tools("")[0], &second.Tools("")[0])
	assert.Equal(t, []string{"d1", "d2"}, names(configuration(t, d, "plan").Tools))
}

func TestTURN3_NothingIsBoundByTheZeroBound(t *testing.T) {
	assert.Nil(t, new(loop.Bound).Tools(loop.BaseMode))
	assert.False(t, new(loop.Bound).Declares("x"))
}
