package faulty

import (
	"context"

	"github.com/loopcheck/loopcheck/loop"
)

// NewForeign starts a foreign loop: its definition's engine must be [loop.EngineForeign]. It takes changes of mode, model and
// effort, and refuses external tools (EXT-10). Errors are those of [New].
func NewForeign(ctx context.Context, c Config) (loop.Loop, error) {
	if err := c.validate(loop.EngineForeign); err != nil {
		return nil, err
	}
	l, err := begin(ctx, c)
	if err != nil {
		return nil, err
	}
	return &foreign{l}, nil
}

type inner = Loop

// foreign is a loop whose tools are another agent's.
type foreign struct{ *inner }

// ReplaceExternalTools refuses at once: nothing is built, nothing looked at (EXT-10).
func (f *foreign) ReplaceExternalTools(ctx context.Context, set loop.ExternalToolset) error {
	unsupported := &loop.ChangeError{Kind: loop.ChangeExternalToolsUnsupported}
	switch {
	case f.has(foreignInstalls):
		return f.inner.ReplaceExternalTools(ctx, set)
	case f.has(foreignClears) && len(set.Definitions) == 0:
		return nil
	case f.has(foreignDropsCommand):
		select {
		case <-ctx.Done():
			return f.refusedChange(ctx, contextDone, nil)
		case <-f.exited:
			return f.refusedChange(ctx, exited, nil)
		}
	case f.has(foreignBuildsFirst):
		if _, err := f.build(ctx, set.Definitions); err != nil {
			return err
		}
	}
	return unsupported
}
