// Package tool declares tools: how one is defined, built, described and called.
package tool

import (
	"context"
	"encoding/json"
	"slices"
)

// Limits on tools (EXT-4), in bytes and in number.
const (
	MaxName = 128 // bytes of a tool's name
	MaxSet  = 512 // tools in one set: a source's slot, or the declared tools of a mode
)

// Bindings are the live values that an application hands to its tool definitions when they are built: clients,
// credentials, handles. They never enter the journal (DUR-4). Definitions read them, from several goroutines at once,
// and do not write to them.
type Bindings map[string]any

// Definition makes tools. A loop calls Build once for each time that it installs the definition, and keeps what it built.
// Name is the definition's own name, for messages; a tool's name is what its Info says. The context bounds the building: it
// may end as soon as Build has returned, and is nothing for a tool to keep.
type Definition interface {
	Name() string
	Build(ctx context.Context, bindings Bindings) ([]InvokableTool, error)
}

// InvokableTool is a live tool. Both methods may be called from several goroutines at once. A loop calls Info when it
// installs the tool and fixes what it got (EXT-13).
type InvokableTool interface {
	Info(ctx context.Context) (*Info, error)
	InvokableRun(ctx context.Context, arguments string) (string, error)
}

// Info is what a model is told of a tool. Schema is a JSON document, or blank for a tool that takes nothing.
type Info struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Clone returns a copy that shares no memory with i.
func (i Info) Clone() Info {
	i.Schema = slices.Clone(i.Schema)
	return i
}

// CloneInfos returns copies that share no memory with infos; nil for none.
func CloneInfos(infos []Info) []Info {
	if len(infos) == 0 {
		return nil
	}
	clones := make([]Info, len(infos))
	for i, info := range infos {
		clones[i] = info.Clone()
	}
	return clones
}
