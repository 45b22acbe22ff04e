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
// info, a bad name, a bad schema, more than [MaxSet] tools in all (EXT-4, EXT-11), or the end of ctx, after which no further
// build begins. Equal names are not looked for: which names collide depends on where the tools are installed.
func Describe(ctx context.Context, definitions []Definition, bindings Bindings) ([]Described, error) {
	var all []Described
	for _, definition := range definitions {
		if err := ctx.Err(); err != nil {
			return nil, &BuildError{Cause: err}
		}
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

func build(ctx context.Context, definition Definition, bindings Bindings) (name string, instances []InvokableTool, err error) {
	if definition == nil {
		return "", nil, ErrNilDefinition
	}
	// A typed nil pointer passes the check above; its methods may panic, which is a failed build like any other.
	err = surroundings.Call("tool definition", func() error {
		name = definition.Name()
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	err = surroundings.Call(fmt.Sprintf("tool definition %q", name), func() error {
		var err error
		instances, err = definition.Build(ctx, bindings)
		return err
	})
	return name, instances, err
}

// describe returns what it knows of the tool also when it fails, so that the failure can name it.
func describe(ctx context.Context, instance InvokableTool) (Described, error) {
	if instance == nil {
		return Described{}, ErrNilTool
	}
	var info *Info
	err := surroundings.Call("tool info", func() error {
		var err error
		info, err = instance.Info(ctx)
		return err
	})
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
