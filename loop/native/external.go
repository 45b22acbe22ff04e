package native

import (
	"context"
	"errors"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// ReplaceExternalTools replaces one source's slot; see [loop.ExternalToolInstaller]. The definitions are built one after
// the other, each on a goroutine of its own: a build that ignores its context holds up neither this call, when that context
// ends or the loop shuts down, nor the loop (EXT-6, REF-7).
func (l *Loop) ReplaceExternalTools(ctx context.Context, set loop.ExternalToolset) error {
	// Keyed on the engine, and before all else: a guard on what there is to bind would let an empty set through (EXT-10).
	if l.config.Definition.Engine() == loop.EngineForeign {
		return &loop.ChangeError{Kind: loop.ChangeExternalToolsUnsupported}
	}
	if err := set.Validate(); err != nil {
		return err
	}
	described, err := l.build(ctx, set.Definitions)
	if err != nil {
		return err
	}
	if err := l.checkNames(described); err != nil {
		return err
	}
	tools := make([]tool.InvokableTool, len(described))
	identities := make([]event.ExternalToolIdentity, len(described))
	for i, t := range fixTools(described) {
		tools[i] = t
		identities[i] = event.ExternalToolIdentity{Name: t.name(), SchemaDigest: described[i].Digest}
	}
	ack := make(chan command.LoopToolsResult, 1)
	cmd := command.ReplaceLoopExternalTools{
		Header: l.header(), Source: set.Source, Generation: set.Generation, Tools: tools, Identities: identities, Ack: ack,
	}
	return call(ctx, l, cmd, ack).Err
}

// build builds and describes the definitions, and gives up on them when the caller does or the loop shuts down.
func (l *Loop) build(ctx context.Context, definitions []tool.Definition) ([]tool.Described, error) {
	if err := l.refuseBuild(ctx); err != nil {
		return nil, err
	}
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	// Nothing is left of the slice when this returns: it is the caller's again (EXT-12).
	described, err := tool.Describe(buildContext{until, l.life}, definitions, l.config.Bindings)
	if err == nil {
		return described, nil
	}
	// A build cut short by the caller or the shutdown fails too, and is not what was wrong.
	if err := l.refuseBuild(ctx); err != nil {
		return nil, err
	}
	failed := &loop.ChangeError{Kind: loop.ChangeExternalBuildFailed, Cause: err}
	var build *tool.BuildError
	if errors.As(err, &build) {
		failed.Tool, failed.Cause = build.Name(), build.Cause
	}
	return nil, failed
}

// refuseBuild says why no build may begin or be waited for any more.
func (l *Loop) refuseBuild(ctx context.Context) error {
	select {
	case <-l.exited:
		return &loop.ChangeError{Kind: loop.ChangeLoopExited}
	default:
	}
	if err := ctx.Err(); err != nil {
		return &loop.ChangeError{Kind: loop.ChangeContextDone, Cause: err}
	}
	if l.life.Err() != nil {
		return &loop.ChangeError{Kind: loop.ChangeLoopShuttingDown}
	}
	return nil
}

// buildContext is the caller's context until the shutdown. Its Err tells of a shutdown the instant that it has begun,
// before whoever forwards it to Done has run: a build must not begin in between (LIFE-2).
type buildContext struct {
	context.Context
	life context.Context
}

func (c buildContext) Err() error {
	if err := c.life.Err(); err != nil {
		return err
	}
	return c.Context.Err()
}

// checkNames finds the collisions that do not depend on the loop's state: within the set, and with a tool declared in
// any mode, current or not, for a later SetMode must not be able to shadow a name (EXT-5).
func (l *Loop) checkNames(described []tool.Described) error {
	seen := make(map[string]bool, len(described))
	for _, d := range described {
		name := d.Info.Name
		switch {
		case seen[name]:
			return collision(name, errors.New("the name occurs twice in the set"))
		case l.bound.Declares(name):
			return collision(name, errors.New("the definition declares a tool of that name"))
		}
		seen[name] = true
	}
	return nil
}

func collision(name string, cause error) error {
	return &loop.ChangeError{Kind: loop.ChangeExternalToolCollision, Tool: name, Cause: cause}
}
