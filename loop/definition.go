package loop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Limits on the names of a definition, in bytes of valid UTF-8 without control characters.
const (
	MaxName     = 128
	MaxModeName = 64
)

// Definition is the immutable description of a loop. Loops made of one definition start alike, whatever was changed in
// others (CHG-6). The zero Definition describes nothing; [Define] makes the others. Safe for concurrent use.
type Definition struct{ d *definition }

type definition struct {
	name       string
	engine     Engine
	transports []model.Transport
	modes      []Configuration // the base mode first
	toolSets   [][]tool.Definition
	setOf      []int // the index in toolSets of each mode's tools: a mode that takes the base's shares its set
}

// Configuration is what one mode comes to, what it takes from the base included.
type Configuration struct {
	Mode         ModeName
	Instructions string
	Model        model.Model
	Effort       model.Effort
	Tools        []tool.Definition
}

// DefinitionErrorKind says what is wrong with a definition.
type DefinitionErrorKind string

// The kinds of a [DefinitionError].
const (
	DefinitionUndefined        DefinitionErrorKind = "undefined" // the zero Definition was used
	DefinitionInvalidName      DefinitionErrorKind = "invalid_name"
	DefinitionInvalidEngine    DefinitionErrorKind = "invalid_engine"
	DefinitionInvalidTransport DefinitionErrorKind = "invalid_transport" // declared, but no valid model can have it
	DefinitionInvalidMode      DefinitionErrorKind = "invalid_mode"      // the mode's name
	DefinitionDuplicateMode    DefinitionErrorKind = "duplicate_mode"    // Mode
	DefinitionInvalidModel     DefinitionErrorKind = "invalid_model"
	DefinitionInvalidEffort    DefinitionErrorKind = "invalid_effort" // unknown, or not supported by the mode's model
	DefinitionNilTool          DefinitionErrorKind = "nil_tool"
	DefinitionInvalidTool      DefinitionErrorKind = "invalid_tool"   // a bad name, or one that panics when asked for it
	DefinitionDuplicateTool    DefinitionErrorKind = "duplicate_tool" // Tool, twice in one mode
	DefinitionTooManyTools     DefinitionErrorKind = "too_many_tools"
	DefinitionForeignTools     DefinitionErrorKind = "foreign_tools" // declared for a foreign engine, whose tools are its own
	DefinitionBuildFailed      DefinitionErrorKind = "build_failed"  // by Bind: Tool could not be built and described
)

// DefinitionError says what is wrong with a definition, and where: Mode is the mode concerned ("" is the base), Tool the
// tool.
type DefinitionError struct {
	Kind  DefinitionErrorKind
	Mode  ModeName
	Tool  string
	Cause error // may be nil
}

// Error names the kind, the place and the cause.
func (e *DefinitionError) Error() string {
	what := string(e.Kind)
	if e.Mode != BaseMode {
		what += fmt.Sprintf(": mode %q", e.Mode)
	}
	if e.Tool != "" {
		what += fmt.Sprintf(": tool %q", e.Tool)
	}
	return describe("loop: bad definition", what, e.Cause)
}

// Unwrap returns the cause.
func (e *DefinitionError) Unwrap() error { return e.Cause }

// ValidateName reports why a loop cannot be called so: the name is not 1 to [MaxName] bytes of valid UTF-8 without control
// characters.
func ValidateName(name string) error { return checkIdentifier(name, MaxName) }

// Define makes a definition. A name and a base model are required. An error is a [*DefinitionError]. Tools are only
// asked for their definition's name; [Definition.Bind] builds them.
func Define(options ...Option) (Definition, error) {
	d := draft{engine: EngineNative}
	for _, o := range options {
		if o != nil {
			o.define(&d)
		}
	}
	if err := ValidateName(d.name); err != nil {
		return Definition{}, &DefinitionError{Kind: DefinitionInvalidName, Cause: err}
	}
	if d.engine != EngineNative && d.engine != EngineForeign {
		return Definition{}, &DefinitionError{Kind: DefinitionInvalidEngine, Cause: fmt.Errorf("unknown engine %q", d.engine)}
	}
	built := &definition{name: d.name, engine: d.engine}
	for i, t := range d.transports {
		if err := t.Validate(); err != nil {
			return Definition{}, &DefinitionError{
				Kind: DefinitionInvalidTransport, Cause: fmt.Errorf("transport %d: %w", i, err),
			}
		}
		built.declare(t)
	}
	if d.base.model == nil {
		return Definition{}, &DefinitionError{Kind: DefinitionInvalidModel, Cause: errors.New("no base model")}
	}
	for _, mode := range append([]modeDraft{d.base}, d.modes...) {
		if err := built.add(mode); err != nil {
			return Definition{}, err
		}
	}
	return Definition{built}, nil
}

// add resolves one mode, the base first, and checks what it comes to.
func (d *definition) add(m modeDraft) error {
	fail := func(kind DefinitionErrorKind, tool string, cause error) error {
		return &DefinitionError{Kind: kind, Mode: m.name, Tool: tool, Cause: cause}
	}
	var c Configuration
	set := 0
	if len(d.modes) > 0 {
		c = d.modes[0]
		if err := checkIdentifier(string(m.name), MaxModeName); err != nil {
			return fail(DefinitionInvalidMode, "", err)
		}
		if _, known := d.mode(m.name); known {
			return fail(DefinitionDuplicateMode, "", nil)
		}
	}
	c.Mode = m.name
	if m.instructions != nil {
		c.Instructions = *m.instructions
	}
	if m.effort != nil {
		c.Effort = *m.effort
	}
	if m.model != nil {
		c.Model = *m.model
	}
	if err := c.Model.Validate(); err != nil {
		return fail(DefinitionInvalidModel, "", err)
	}
	if !c.Model.Supports(c.Effort) {
		return fail(DefinitionInvalidEffort, "", fmt.Errorf("model %q does not support effort %q", c.Model.Name, c.Effort))
	}
	c.Model = c.Model.WithEffort(c.Effort)
	if len(m.tools) > 0 && d.engine == EngineForeign {
		// Such tools could neither be bound nor offered, so no capture could have them (TURN-3).
		return fail(DefinitionForeignTools, "", nil)
	}
	if m.toolsSet || len(d.modes) == 0 {
		if tool, kind, err := checkDefinitions(m.tools); kind != "" {
			return fail(kind, tool, err)
		}
		set = len(d.toolSets)
		d.toolSets = append(d.toolSets, m.tools)
	}
	c.Tools = d.toolSets[set]
	d.declare(c.Model.Transport())
	d.modes, d.setOf = append(d.modes, c), append(d.setOf, set)
	return nil
}

func (d *definition) declare(t model.Transport) {
	if !slices.Contains(d.transports, t) {
		d.transports = append(d.transports, t)
	}
}

func checkDefinitions(definitions []tool.Definition) (string, DefinitionErrorKind, error) {
	if len(definitions) > tool.MaxSet {
		return "", DefinitionTooManyTools, fmt.Errorf("%d, more than %d", len(definitions), tool.MaxSet)
	}
	seen := make(map[string]bool, len(definitions))
	for i, definition := range definitions {
		if definition == nil {
			return "", DefinitionNilTool, fmt.Errorf("tool %d is nil", i)
		}
		var name string
		err := surroundings.Call(fmt.Sprintf("tool definition %d", i), func() error {
			name = definition.Name()
			return nil
		})
		switch {
		case err != nil:
			return "", DefinitionInvalidTool, err
		case !tool.ValidName(name):
			return "", DefinitionInvalidTool, fmt.Errorf("tool %d: %w", i, tool.ErrName)
		case seen[name]:
			return name, DefinitionDuplicateTool, nil
		}
		seen[name] = true
	}
	return "", "", nil
}

func (d *definition) mode(name ModeName) (int, bool) {
	for i, c := range d.modes {
		if c.Mode == name {
			return i, true
		}
	}
	return 0, false
}

// Defined reports whether [Define] made d.
func (d Definition) Defined() bool { return d.d != nil }

// Name returns the loop's name.
func (d Definition) Name() string {
	if d.d == nil {
		return ""
	}
	return d.d.name
}

// Engine says who runs the turns.
func (d Definition) Engine() Engine {
	if d.d == nil {
		return ""
	}
	return d.d.engine
}

// Modes returns the declared modes in the order of their declaration, without the base mode.
func (d Definition) Modes() []ModeName {
	if d.d == nil {
		return nil
	}
	names := make([]ModeName, 0, len(d.d.modes)-1)
	for _, c := range d.d.modes[1:] {
		names = append(names, c.Mode)
	}
	return names
}

// Configuration returns, in memory of its own, what the named mode comes to. Its model reports the mode's effort.
func (d Definition) Configuration(name ModeName) (Configuration, bool) {
	if d.d == nil {
		return Configuration{}, false
	}
	i, ok := d.d.mode(name)
	if !ok {
		return Configuration{}, false
	}
	c := d.d.modes[i]
	c.Model = c.Model.Clone()
	c.Tools = slices.Clone(c.Tools)
	return c, true
}

// Transports returns the declared transports, those of the definition's own models included, each once.
func (d Definition) Transports() []model.Transport {
	if d.d == nil {
		return nil
	}
	return slices.Clone(d.d.transports)
}
