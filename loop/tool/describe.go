package tool

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
)

// Described is a built tool with what was fixed of it at that time.
type Described struct {
	Info     Info
	Digest   string // SchemaDigest of Info.Schema
	Instance InvokableTool
}

// BuildError says which definition of a set could not be built and described.
type BuildError struct {
	Definition string // the definition's name, or ""
	Tool       string // the tool's name, or "" when the failure came before it was known
	Cause      error
}

// Error names the tool, else the definition, and the cause.
func (e *BuildError) Error() string {
	switch {
	case e.Tool != "":
		return fmt.Sprintf("tool %q: %v", e.Tool, e.Cause)
	case e.Definition != "":
		return fmt.Sprintf("tool definition %q: %v", e.Definition, e.Cause)
	}
	return fmt.Sprintf("tool definition: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Cause }

// Name returns the most exact name that is known: the tool's, else the definition's, else "" (EXT-4).
func (e *BuildError) Name() string {
	if e.Tool != "" {
		return e.Tool
	}
	return e.Definition
}

// What makes a set fail to build, besides the errors of definitions and tools themselves.
var (
	ErrNilDefinition = errors.New("the definition is nil")
	ErrNilTool       = errors.New("the definition built a nil tool")
	ErrNilInfo       = errors.New("the tool has no info")
	ErrName          = errors.New("the tool's name is not 1 to 128 bytes of valid UTF-8")
	ErrSetTooLarge   = errors.New("the set has more than 512 tools")
)

// ValidName reports whether a tool may be called so: 1 to [MaxName] bytes of valid UTF-8.
func ValidName(name string) bool {
	return len(name) >= 1 && len(name) <= MaxName && utf8.ValidString(name)
}

// Describe builds the definitions one after the other, describes what they built, and returns it in that order. The first
// failure ends it, as a [*BuildError]: a nil definition, a failed or panicking build, a nil tool, a failed, panicking or nil
// info, a bad name, a bad schema, more than [MaxSet] tools in all (EXT-4, EXT-11), or the end of ctx. ctx.Err is asked right
// before each call of a definition or a tool, and none begins after it was not nil (LIFE-2); a call that is in progress when ctx
// ends is left behind on a goroutine of its own. Equal names are not looked for: which names collide depends on where the tools
// are installed.
func Describe(ctx context.Context, definitions []Definition, bindings Bindings) ([]Described, error) {
	var all []Described
	for _, definition := range definitions {
		name, instances, err := build(ctx, definition, bindings)
		if err != nil {
			return nil, &BuildError{Definition: name, Cause: err}
		}
		if len(all)+len(instances) > MaxSet {
			return nil, &BuildError{Definition: name, Cause: ErrSetTooLarge}
		}
		for _, instance := range instances {
			described, err := describe(ctx, instance)
			if err != nil {
				return nil, &BuildError{Definition: name, Tool: described.Info.Name, Cause: err}
			}
			all = append(all, described)
		}
	}
	return all, nil
}

// call makes one call of a definition or a tool, on a goroutine of its own.
func call[T any](ctx context.Context, what string, f func() (T, error)) (T, error) {
	return surroundings.Await(ctx, what, func() (T, error) {
		if err := ctx.Err(); err != nil {
			var none T
			return none, err
		}
		return f()
	})
}

func build(ctx context.Context, definition Definition, bindings Bindings) (name string, instances []InvokableTool, err error) {
	if definition == nil {
		return "", nil, ErrNilDefinition
	}
	// A typed nil pointer passes the check above; its methods may panic, which is a failed build like any other.
	name, err = call(ctx, "tool definition", func() (string, error) { return definition.Name(), nil })
	if err != nil {
		return "", nil, err
	}
	instances, err = call(ctx, fmt.Sprintf("tool definition %q", name), func() ([]InvokableTool, error) {
		return definition.Build(ctx, bindings)
	})
	return name, instances, err
}

// describe returns what it knows of the tool also when it fails, so that the failure can name it.
func describe(ctx context.Context, instance InvokableTool) (Described, error) {
	if instance == nil {
		return Described{}, ErrNilTool
	}
	info, err := call(ctx, "tool info", func() (*Info, error) { return instance.Info(ctx) })
	if err != nil {
		return Described{}, err
	}
	if info == nil {
		return Described{}, ErrNilInfo
	}
	// Cloned before anything is checked or the digest is taken: a tool that goes on writing to what it handed out must
	// not be able to slip in an unchecked name, or to make the recorded digest differ from the offered schema (EXT-13).
	described := Described{Info: info.Clone(), Instance: instance}
	if name := described.Info.Name; !ValidName(name) {
		return Described{}, fmt.Errorf("%w: %d bytes", ErrName, len(name))
	}
	described.Digest, err = SchemaDigest(described.Info.Schema)
	return described, err
}
