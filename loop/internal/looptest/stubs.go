package looptest

import (
	"context"
	"encoding/json"

	"github.com/loopcheck/loopcheck/loop/tool"
)

// Tool is a tool made of a function. Two are never the same: an instance can be told from another of its name.
type Tool struct {
	OnInfo func(ctx context.Context) (*tool.Info, error)
}

// NewTool returns a tool that describes itself so, with a fresh Info each time that it is asked.
func NewTool(name, schema string) *Tool {
	return &Tool{OnInfo: func(context.Context) (*tool.Info, error) {
		return &tool.Info{Name: name, Description: "about " + name, Schema: json.RawMessage(schema)}, nil
	}}
}

// Info calls OnInfo.
func (t *Tool) Info(ctx context.Context) (*tool.Info, error) { return t.OnInfo(ctx) }

// InvokableRun returns the arguments.
func (t *Tool) InvokableRun(_ context.Context, arguments string) (string, error) {
	return arguments, nil
}

// Definition is a tool definition made of functions.
type Definition struct {
	OnName  func() string
	OnBuild func(ctx context.Context, bindings tool.Bindings) ([]tool.InvokableTool, error)
}

// Define returns a definition of that name that builds the tools, the same ones each time.
func Define(name string, tools ...tool.InvokableTool) *Definition {
	return &Definition{
		OnName:  func() string { return name },
		OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return tools, nil },
	}
}

// Name calls OnName.
func (d *Definition) Name() string { return d.OnName() }

// Build calls OnBuild.
func (d *Definition) Build(ctx context.Context, bindings tool.Bindings) ([]tool.InvokableTool, error) {
	return d.OnBuild(ctx, bindings)
}
