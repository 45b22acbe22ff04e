package loop

import (
	"context"
	"errors"
	"slices"

	"github.com/loopcheck/loopcheck/loop/tool"
)

// Bound holds the declared tools of every mode, built and described once: their instances, and their infos as they were
// then (EXT-13). Safe for concurrent use.
type Bound struct {
	definition *definition
	sets       [][]tool.Described
	names      map[string]bool
}

// Bind builds and describes the declared tools of every mode, each list once: a mode that takes its tools from the base
// shares the base's instances. An error is a [*DefinitionError]: besides failures to build, a name that occurs twice in one
// mode is refused (TURN-3), and more than [tool.MaxSet] tools in one.
func (d Definition) Bind(ctx context.Context, bindings tool.Bindings) (*Bound, error) {
	if d.d == nil {
		return nil, &DefinitionError{Kind: DefinitionUndefined}
	}
	bound := &Bound{definition: d.d, names: make(map[string]bool)}
	for set, definitions := range d.d.toolSets {
		mode := d.d.modes[slices.Index(d.d.setOf, set)].Mode
		described, err := tool.Describe(ctx, definitions, bindings)
		if err != nil {
			failed := &DefinitionError{Kind: DefinitionBuildFailed, Mode: mode, Cause: err}
			var build *tool.BuildError
			if errors.As(err, &build) {
				failed.Tool, failed.Cause = build.Name(), build.Cause
			}
			return nil, failed
		}
		seen := make(map[string]bool, len(described))
		for _, t := range described {
			if seen[t.Info.Name] {
				return nil, &DefinitionError{Kind: DefinitionDuplicateTool, Mode: mode, Tool: t.Info.Name}
			}
			seen[t.Info.Name], bound.names[t.Info.Name] = true, true
		}
		bound.sets = append(bound.sets, described)
	}
	return bound, nil
}

// Tools returns the declared tools of a mode, in the order of their declaration; nil for an unknown mode. The slice is the
// caller's; the schemas in it are shared and are not to be written to.
func (b *Bound) Tools(mode ModeName) []tool.Described {
	if b.definition == nil {
		return nil
	}
	i, ok := b.definition.mode(mode)
	if !ok {
		return nil
	}
	return slices.Clone(b.sets[b.definition.setOf[i]])
}

// Declares reports whether a tool of that name is declared in any mode: such a name is closed to external tools (EXT-5).
func (b *Bound) Declares(name string) bool { return b.names[name] }
