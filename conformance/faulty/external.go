package faulty

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// ReplaceExternalTools replaces one source's slot; see [loop.ExternalToolInstaller].
func (l *Loop) ReplaceExternalTools(ctx context.Context, set loop.ExternalToolset) error {
	if err := l.validateSet(set); err != nil {
		return err
	}
	if err, done := l.plantBeforeBuild(ctx, set); done {
		return err
	}
	call := l.plantCallNumber()
	tools, err := l.build(ctx, set.Definitions)
	if err != nil {
		l.plantRefusedSet(set, err)
		return err
	}
	if err := l.plantAfterBuild(set, tools); err != nil {
		return err
	}
	if tools, err = l.checkSet(tools); err != nil {
		return err
	}
	content := &slot{tools: tools, call: call, generation: set.Generation}
	if l.has(definitionsKept) || l.has(slotsRebuiltOnMode) {
		content.definitions = set.Definitions
	}
	if l.has(toolsBoundToInstall) {
		for _, t := range tools {
			t.until = ctx
		}
	}
	if err := l.plantBeforeInstall(ctx, set, content); err != nil {
		return err
	}
	defer l.reserveNames(set.Source, tools)()
	return l.commit(ctx, opReplace, l.proposeSlot(set.Source, content))
}

func (l *Loop) validateSet(set loop.ExternalToolset) error {
	switch {
	case l.has(sourceCheckedAfterBuild):
		return loop.ValidateGeneration(set.Generation)
	case l.has(generationUnchecked), l.has(generationCheckedAfterBuild):
		return loop.ValidateSource(set.Source)
	}
	return set.Validate()
}

// proposeSlot replaces a slot. Whether a name is taken is looked at here, at the commit, and nowhere earlier: of two
// replacements that race on one name at most one commits (EXT-5).
func (l *Loop) proposeSlot(source string, content *slot) prepare {
	return func(s *state, header event.Header) (*proposal, error) {
		if err := l.plantAtCommit(s, source, content); err != nil {
			return nil, err
		}
		if !l.has(collisionCheckedEarly) {
			if err := l.checkOwners(s, source, content.tools); err != nil {
				return nil, err
			}
		}
		e := event.LoopExternalToolsetChanged{Header: header, Source: source, Generation: content.generation}
		for _, t := range content.tools {
			e.Tools = append(e.Tools, event.ExternalToolIdentity{Name: t.info.Name, SchemaDigest: t.digest})
		}
		if l.has(identitiesReversed) {
			slices.Reverse(e.Tools)
		}
		p := &proposal{
			event: e, next: l.withSlot(s, source, content),
			key: fmt.Sprintf("slot %q %q", source, content.generation),
		}
		l.plantSlot(s, source, content, p)
		return p, nil
	}
}

// build builds and describes the definitions one after the other (EXT-4). Nothing is left of the slice when it returns: it
// is the caller's again (EXT-12).
func (l *Loop) build(ctx context.Context, definitions []tool.Definition) ([]*installed, error) {
	if err := l.refuseBuild(ctx); err != nil {
		return nil, err
	}
	l.plantBuilding(+1)
	defer l.plantBuilding(-1)
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	life := l.life
	if l.buildsOn() {
		life = context.Background()
	}
	defer context.AfterFunc(life, cancel)()
	bounds := buildContext{until, life}
	var all []*installed
	for _, d := range definitions {
		tools, err := l.buildOne(bounds, d, len(all))
		if err != nil && l.has(failedBuildSkipped) && bounds.Err() == nil {
			continue
		}
		if err != nil {
			// A build cut short by the caller or the shutdown fails too, and is not what was wrong.
			if refused := l.refuseBuild(ctx); refused != nil {
				return nil, refused
			}
			return nil, l.buildFailed(err)
		}
		all = append(all, tools...)
	}
	return all, nil
}

// buildError says what could not be built.
type buildError struct {
	name  string // the tool's, else the definition's, else ""
	cause error
}

func (e *buildError) Error() string { return e.name }

func (l *Loop) buildFailed(err error) error {
	failed := &loop.ChangeError{Kind: loop.ChangeExternalBuildFailed, Cause: err}
	var build *buildError
	if errors.As(err, &build) {
		failed.Tool, failed.Cause = build.name, build.cause
	}
	if l.has(failedBuildUnnamed) {
		failed.Tool = ""
	}
	if l.has(buildCauseDropped) {
		failed.Cause = nil
	}
	return failed
}

// buildOne builds one definition and describes what it built.
func (l *Loop) buildOne(ctx context.Context, d tool.Definition, before int) ([]*installed, error) {
	if d == nil {
		return nil, &buildError{"", tool.ErrNilDefinition}
	}
	// A typed nil passes: its methods may panic, which is a failed build like any other.
	name, err := callOut(l, ctx, "tool definition", func() (string, error) { return d.Name(), nil })
	if err != nil {
		return nil, &buildError{"", err}
	}
	instances, err := callOut(l, ctx, fmt.Sprintf("tool definition %q", name), func() ([]tool.InvokableTool, error) {
		return d.Build(ctx, l.config.Bindings)
	})
	if err != nil {
		return nil, &buildError{name, err}
	}
	if l.has(tooManyToolsCut) && before+len(instances) > tool.MaxSet {
		instances = instances[:tool.MaxSet-before]
	}
	if before+len(instances) > tool.MaxSet {
		return nil, &buildError{name, tool.ErrSetTooLarge}
	}
	var tools []*installed
	for _, instance := range instances {
		if instance == nil && l.has(nilToolSkipped) {
			continue
		}
		t, err := l.describe(ctx, instance)
		switch {
		case err != nil && t != nil:
			return nil, &buildError{t.info.Name, err}
		case err != nil:
			return nil, &buildError{name, err}
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// describe fixes what a tool says of itself (EXT-13). With an error it returns the tool if its name is known.
func (l *Loop) describe(ctx context.Context, instance tool.InvokableTool) (*installed, error) {
	if instance == nil {
		return nil, tool.ErrNilTool
	}
	info, err := callOut(l, ctx, "tool info", func() (*tool.Info, error) { return instance.Info(ctx) })
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, tool.ErrNilInfo
	}
	// Cloned before it is looked at: the tool may go on writing to what it handed out.
	t := &installed{info: info.Clone(), instance: instance}
	if l.has(schemaShared) {
		t.info = *info
	}
	if name := t.info.Name; !tool.ValidName(name) {
		return nil, fmt.Errorf("%w: %d bytes", tool.ErrName, len(name))
	}
	t.digest, err = l.digest(t.info.Schema)
	return t, err
}

// callOut makes one call of a definition or a tool. Whether it may begin is looked at on the goroutine that makes it, right
// before: none begins once the loop stops (LIFE-2).
func callOut[T any](l *Loop, ctx context.Context, what string, f func() (T, error)) (T, error) {
	if l.has(buildIgnoresContext) {
		ctx = context.Background()
	}
	result, err := await(ctx, what, func() (T, error) {
		if err := ctx.Err(); err != nil {
			var none T
			return none, err
		}
		return plantCall(l, f)
	})
	var panicked *panicError
	if errors.As(err, &panicked) {
		l.plantBuildPanicked(ctx, err)
	}
	return result, err
}

// buildContext is the caller's context until the shutdown. Its Err tells of a shutdown the instant that it has begun, before
// whoever forwards it to Done has run.
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

// refuseBuild says why no build may begin or be waited for any more.
func (l *Loop) refuseBuild(ctx context.Context) error {
	err := ctx.Err()
	l.mu.Lock()
	why, fault := l.closed(), l.fault
	l.mu.Unlock()
	if l.buildsOn() && why != faulted {
		why = open
	}
	if err != nil && why != exited {
		why = contextDone
	}
	if why == open {
		return nil
	}
	return l.refusedChange(ctx, why, fault)
}

// checkSet finds the collisions that do not depend on the loop's state: within the set, and with a tool declared in any
// mode, for a later SetMode must not be able to shadow a name (EXT-5).
func (l *Loop) checkSet(tools []*installed) ([]*installed, error) {
	if l.has(duplicateLastWins) {
		tools = lastOfEach(tools)
	}
	seen := make(map[string]bool, len(tools))
	for _, t := range tools {
		name := t.info.Name
		switch {
		case seen[l.compared(name)]:
			return nil, l.collision(name, "the name occurs twice in the set")
		case l.closedName(name):
			return nil, l.collision(name, "the definition declares a tool of that name")
		}
		seen[l.compared(name)] = true
	}
	return tools, nil
}

func lastOfEach(tools []*installed) []*installed {
	var last []*installed
	for i, t := range tools {
		later := func(other *installed) bool { return other.info.Name == t.info.Name }
		if !slices.ContainsFunc(tools[i+1:], later) {
			last = append(last, t)
		}
	}
	return last
}

// closedName reports whether the name is closed to external tools.
func (l *Loop) closedName(name string) bool {
	switch {
	case l.has(collisionCurrentMode):
		return slices.ContainsFunc(l.read().declared, func(t *installed) bool { return t.info.Name == name })
	case l.has(collisionByFoldedName):
		for _, declared := range l.declared {
			if slices.ContainsFunc(declared, func(t *installed) bool { return folded(t.info.Name) == folded(name) }) {
				return true
			}
		}
	}
	return l.bound.Declares(name)
}

// checkOwners finds the collisions with other sources' slots.
func (l *Loop) checkOwners(s *state, source string, tools []*installed) error {
	if l.has(sameNameInTwoSlots) {
		return nil
	}
	for _, t := range tools {
		if owner, taken := s.owners[t.info.Name]; taken && owner != source {
			return l.collision(t.info.Name, fmt.Sprintf("source %q has a tool of that name", owner))
		}
	}
	return nil
}

func (l *Loop) collision(name, why string) error {
	if l.has(untypedRefusal) {
		return fmt.Errorf("tool %q: %s", name, why)
	}
	return &loop.ChangeError{Kind: loop.ChangeExternalToolCollision, Tool: name, Cause: errors.New(why)}
}
