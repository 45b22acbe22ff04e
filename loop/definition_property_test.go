package loop_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// part is what one mode sets; nil is what it leaves out.
type part struct {
	name         loop.ModeName
	instructions *string
	model        *model.Model
	effort       *model.Effort
	tools        []tool.Definition
}

// drawPart generates a part. Every model supports every effort, so that whatever is mixed is valid.
func drawPart(t *rapid.T, name loop.ModeName, base bool) part {
	p := part{name: name}
	set := func(what string) bool { return base || rapid.Bool().Draw(t, what+" set") }
	if set("instructions") {
		s := looptest.Text(20).Draw(t, "instructions")
		p.instructions = &s
	}
	if set("model") {
		m := looptest.Models().Draw(t, "model")
		m.Efforts = model.Efforts()[1:]
		p.model = &m
	}
	if set("effort") {
		effort := looptest.Efforts().Draw(t, "effort")
		p.effort = &effort
	}
	if set("tools") {
		p.tools = []tool.Definition{}
		for _, name := range rapid.SliceOfDistinct(looptest.Text(20), rapid.ID[string]).Draw(t, "tools") {
			p.tools = append(p.tools, looptest.Define(name))
		}
	}
	return p
}

func (p part) settings() []loop.Setting {
	var settings []loop.Setting
	if p.instructions != nil {
		settings = append(settings, loop.WithInstructions(*p.instructions))
	}
	if p.model != nil {
		settings = append(settings, loop.WithModel(*p.model))
	}
	if p.effort != nil {
		settings = append(settings, loop.WithEffort(*p.effort))
	}
	if p.tools != nil {
		settings = append(settings, loop.WithTools(p.tools...))
	}
	return settings
}

// over returns what p comes to over a base that sets everything: another idea of how a mode is resolved.
func (p part) over(base part) loop.Configuration {
	c := loop.Configuration{Mode: p.name, Instructions: *base.instructions, Model: *base.model, Effort: *base.effort, Tools: base.tools}
	if p.instructions != nil {
		c.Instructions = *p.instructions
	}
	if p.model != nil {
		c.Model = *p.model
	}
	if p.effort != nil {
		c.Effort = *p.effort
	}
	if p.tools != nil {
		c.Tools = p.tools
	}
	c.Model = c.Model.WithEffort(c.Effort)
	c.Tools = slices.Clone(c.Tools)
	return c
}

// sameConfiguration compares tool definitions by identity: they are the caller's live values.
var sameConfiguration = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b tool.Definition) bool { return a == b }),
}

// drawn is a generated definition with what it must answer for ever.
type drawn struct {
	definition     loop.Definition
	configurations map[loop.ModeName]loop.Configuration
	modes          []loop.ModeName
	transports     []model.Transport
}

func (d drawn) check(t *rapid.T) {
	require.Equal(t, "drawn", d.definition.Name())
	require.Equal(t, loop.EngineNative, d.definition.Engine())
	require.Empty(t, cmp.Diff(d.modes, d.definition.Modes(), cmpopts.EquateEmpty()))
	require.ElementsMatch(t, d.transports, d.definition.Transports())
	for mode, want := range d.configurations {
		require.Empty(t, cmp.Diff(want, configuration(t, d.definition, mode), sameConfiguration), "mode %q", mode)
	}
}

// overwrite writes to all that the definition was made of, and to all that it hands out.
func (d drawn) overwrite(parts []part, transports []model.Transport) {
	spoilTools := func(tools []tool.Definition) {
		for i := range tools {
			tools[i] = nil
		}
		_ = append(tools, nil)
	}
	for _, p := range parts {
		if p.model != nil {
			looptest.Overwrite(p.model)
		}
		spoilTools(p.tools)
	}
	clear(transports)
	clear(d.definition.Modes())
	clear(d.definition.Transports())
	for mode := range d.configurations {
		c, _ := d.definition.Configuration(mode)
		looptest.Overwrite(&c.Model)
		spoilTools(c.Tools)
	}
}

func TestCHG6_ADefinitionIsImmutableAndItsModesFillUpFromTheBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := drawPart(t, loop.BaseMode, true)
		parts := []part{base}
		modes := rapid.SliceOfNDistinct(looptest.Identifier(loop.MaxModeName), 0, 3, rapid.ID[string]).Draw(t, "modes")
		for _, name := range modes {
			parts = append(parts, drawPart(t, loop.ModeName(name), false))
		}
		transports := []model.Transport{other, looptest.Model("m").Transport()}

		want := drawn{configurations: make(map[loop.ModeName]loop.Configuration)}
		declared := map[model.Transport]bool{transports[0]: true, transports[1]: true}
		options := []loop.Option{loop.WithName("drawn"), loop.WithTransports(transports...)}
		for _, setting := range base.settings() {
			options = append(options, setting)
		}
		for i, p := range parts {
			c := p.over(base)
			want.configurations[p.name] = c
			declared[c.Model.Transport()] = true
			if i > 0 {
				want.modes = append(want.modes, p.name)
				settings := p.settings()
				options = append(options, loop.WithMode(p.name, settings...))
				clear(settings)
			}
		}
		for transport := range declared {
			want.transports = append(want.transports, transport)
		}

		var err error
		want.definition, err = loop.Define(options...)
		require.NoError(t, err)
		want.check(t)
		want.overwrite(parts, transports)
		want.check(t)

		// The options are values too: a second definition from them is as the first was.
		want.definition, err = loop.Define(options...)
		require.NoError(t, err)
		want.check(t)
	})
}
