package conformance

import (
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/internal/variants"
	"github.com/loopcheck/loopcheck/loop"
)

var (
	variantSchedules = flag.Int("variants.schedules", 200, "how many runs are made of each conforming construction")
	variantSeed      = flag.Uint64("variants.seed", 0, "the seed of the first of them")
)

// variantSubject is a conforming loop of that construction.
func variantSubject(p variants.Policy) Subject {
	config := func(e Env) variants.Config {
		return variants.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings, Log: e.Log}
	}
	return Subject{
		Name:       p.Name,
		InputsJoin: p.Joins,
		Start:      func(ctx context.Context, e Env) (loop.Loop, error) { return variants.New(ctx, config(e), p) },
		Restore:    func(ctx context.Context, e Env) (loop.Loop, error) { return variants.Restore(ctx, config(e), p) },
	}
}

func TestNoConformingConstructionIsAccused(t *testing.T) {
	for n, p := range variants.All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			report, err := Check(t.Context(), variantSubject(p), Config{Schedules: max(1, int(schedules(uint64(*variantSchedules)))), Seed: *variantSeed + uint64(n)})
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, report.Text(&text))
			assert.Empty(t, report.Failures, "%s", text.String())
			assert.Empty(t, report.Problems)
			assert.True(t, report.Passed(), "%s", text.String())
		})
	}
}
