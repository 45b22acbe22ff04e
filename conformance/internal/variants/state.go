package variants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// state is a committed configuration. It is not written to.
type state struct {
	mode         loop.ModeName
	instructions string
	model        model.Model
	effort       model.Effort
	declared     []tool.Described
	slots        map[string][]tool.Described
}

func (s *state) runtime() event.Runtime {
	return event.Runtime{Model: s.model, Effort: s.effort}.Clone()
}

func (l *Loop) inMode(s *state, mode loop.ModeName) *state {
	c, _ := l.Definition.Configuration(mode)
	return &state{
		mode: mode, instructions: c.Instructions, model: c.Model, effort: c.Effort, declared: l.bound.Tools(mode), slots: s.slots,
	}
}

// tools are what a turn offers.
func (l *Loop) tools(s *state) []tool.Described {
	all := slices.Clone(s.declared)
	for _, source := range slices.Sorted(maps.Keys(s.slots)) {
		all = append(all, s.slots[source]...)
	}
	if l.policy.SortedTools {
		slices.SortFunc(all, func(a, b tool.Described) int { return strings.Compare(a.Info.Name, b.Info.Name) })
	}
	if l.policy.Compact {
		for i := range all {
			var b bytes.Buffer
			if json.Compact(&b, all[i].Info.Schema) == nil {
				all[i].Info.Schema = b.Bytes()
			}
		}
	}
	return all
}

// ReplaceExternalTools replaces one source's slot.
func (l *Loop) ReplaceExternalTools(ctx context.Context, set loop.ExternalToolset) error {
	if err := set.Validate(); err != nil {
		return err
	}
	l.mu.Lock()
	err := l.refusal(ctx)
	stopping := l.stopping
	l.mu.Unlock()
	if err != nil && (stopping || !l.policy.BuildsOn) { // what cannot be committed may be built, before the exit
		return err
	}
	tools, err := l.build(ctx, slices.Clone(set.Definitions))
	if err != nil {
		return err
	}
	return l.commit(ctx, change{
		line:  1,
		check: func(s *state) error { return l.collision(s, set.Source, tools) },
		event: func(_ *state, h event.Header) event.Event {
			e := event.LoopExternalToolsetChanged{Header: h, Source: set.Source, Generation: set.Generation}
			for _, t := range tools {
				e.Tools = append(e.Tools, event.ExternalToolIdentity{Name: t.Info.Name, SchemaDigest: t.Digest})
			}
			return e
		},
		apply: func(s *state) *state {
			next := *s
			next.slots = maps.Clone(s.slots)
			if next.slots == nil {
				next.slots = make(map[string][]tool.Described)
			}
			if next.slots[set.Source] = tools; len(tools) == 0 {
				delete(next.slots, set.Source)
			}
			return &next
		},
	})
}

func (l *Loop) collision(s *state, source string, tools []tool.Described) error {
	taken := make(map[string]bool)
	for other, slot := range s.slots {
		for _, t := range slot {
			taken[t.Info.Name] = taken[t.Info.Name] || other != source
		}
	}
	for _, t := range tools {
		name := t.Info.Name
		if taken[name] || l.bound.Declares(name) {
			return &loop.ChangeError{Kind: loop.ChangeExternalToolCollision, Tool: name, Cause: fmt.Errorf("tool %q is taken", name)}
		}
		taken[name] = true
	}
	return nil
}

// build builds and describes on other goroutines, and waits no longer than the caller and the loop want.
func (l *Loop) build(ctx context.Context, definitions []tool.Definition) ([]tool.Described, error) {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	if l.policy.BuildsOn {
		until = context.WithoutCancel(ctx)
	}
	defer context.AfterFunc(l.life, cancel)()
	bounds := bounded{until, l.life}
	type built struct {
		tools []tool.Described
		err   error
	}
	returned := make(chan built, 1)
	go func() {
		tools, err := l.describe(bounds, definitions)
		returned <- built{tools, err}
	}()
	var b built
	select {
	case b = <-returned:
	case <-ctx.Done():
	case <-l.life.Done():
	}
	l.mu.Lock()
	refused := l.refusal(ctx)
	l.mu.Unlock()
	var failed *tool.BuildError
	switch {
	case refused != nil && (b.err != nil || b.tools == nil):
		return nil, refused
	case errors.As(b.err, &failed):
		return nil, &loop.ChangeError{Kind: loop.ChangeExternalBuildFailed, Tool: failed.Name(), Cause: failed.Cause}
	case b.err != nil:
		return nil, &loop.ChangeError{Kind: loop.ChangeExternalBuildFailed, Cause: b.err}
	}
	return b.tools, nil
}

func (l *Loop) describe(ctx context.Context, definitions []tool.Definition) ([]tool.Described, error) {
	describe := func(ctx context.Context, definitions []tool.Definition) ([]tool.Described, error) {
		tools, err := tool.Describe(ctx, definitions, l.Bindings)
		for _, t := range tools {
			if l.policy.TwoInfos { // for the looks of it
				_, _ = t.Instance.Info(ctx)
			}
		}
		return tools, err
	}
	if !l.policy.Parallel || len(definitions) > 16 {
		return describe(ctx, definitions)
	}
	sets := make([][]tool.Described, len(definitions))
	errs := make([]error, len(definitions))
	var all sync.WaitGroup
	for i := range definitions {
		all.Go(func() { sets[i], errs[i] = describe(ctx, definitions[i:i+1]) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(sets...), nil
}

// bounded tells of a shutdown the instant that it has begun (LIFE-2).
type bounded struct {
	context.Context
	life context.Context
}

func (b bounded) Err() error { return errors.Join(b.Context.Err(), b.life.Err()) }
