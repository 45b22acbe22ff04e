package loop

import (
	"slices"

	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Engine says who runs a loop's turns.
type Engine string

// The engines.
const (
	EngineNative  Engine = "native"  // the loop itself: it owns the tools
	EngineForeign Engine = "foreign" // another agent: its tools are its own, external ones cannot be installed (EXT-10)
)

// Option is an argument of [Define].
type Option interface{ define(*draft) }

// Setting is an Option that sets a part of the configuration: of the base mode in [Define], of a named mode in [WithMode].
// A part that is set twice takes the last value.
type Setting interface {
	Option
	set(*modeDraft)
}

type draft struct {
	name       string
	engine     Engine
	transports []model.Transport
	base       modeDraft
	modes      []modeDraft
}

// modeDraft holds what was set; nil, or false, is what a mode takes from the base.
type modeDraft struct {
	name         ModeName
	instructions *string
	model        *model.Model
	effort       *model.Effort
	tools        []tool.Definition
	toolsSet     bool
}

type option func(*draft)

func (o option) define(d *draft) { o(d) }

type setting func(*modeDraft)

func (s setting) define(d *draft)  { s(&d.base) }
func (s setting) set(m *modeDraft) { s(m) }

// WithName names the loop.
func WithName(name string) Option { return option(func(d *draft) { d.name = name }) }

// WithEngine says who runs the turns; without it, [EngineNative].
func WithEngine(engine Engine) Option { return option(func(d *draft) { d.engine = engine }) }

// WithTransports declares transports that Change may select besides those of the definition's own models, which are
// declared by being there (CHG-3).
func WithTransports(transports ...model.Transport) Option {
	transports = slices.Clone(transports)
	return option(func(d *draft) { d.transports = append(d.transports, transports...) })
}

// WithMode declares a mode. What the settings leave out the mode takes from the base.
func WithMode(name ModeName, settings ...Setting) Option {
	mode := modeDraft{name: name}
	for _, s := range settings {
		if s != nil {
			s.set(&mode)
		}
	}
	return option(func(d *draft) { d.modes = append(d.modes, mode) })
}

// WithInstructions sets the instructions.
func WithInstructions(instructions string) Setting {
	return setting(func(m *modeDraft) { m.instructions = &instructions })
}

// WithModel sets the model. The effort in its sampling is ignored; see [WithEffort].
func WithModel(m model.Model) Setting {
	m = m.Clone()
	return setting(func(d *modeDraft) { d.model = &m })
}

// WithEffort sets the effort; without it the base has [model.EffortNone].
func WithEffort(effort model.Effort) Setting {
	return setting(func(m *modeDraft) { m.effort = &effort })
}

// WithTools sets the declared tools. With no arguments it declares none, also in a mode whose base has some.
func WithTools(definitions ...tool.Definition) Setting {
	definitions = slices.Clone(definitions)
	return setting(func(m *modeDraft) { m.tools, m.toolsSet = definitions, true })
}
