package native_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

func TestVIEW1_ReadsShowWhatWasAcknowledged(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for i := range 20 {
			name := fmt.Sprint("m", i)
			require.NoError(t, b.Change(t.Context(), changeModel(name, model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
			require.Equal(t, fixture.Model(name, model.EffortHigh).WithEffort(model.EffortHigh), b.Model())
			require.NoError(t, b.SetMode(t.Context(), "plan"))
			require.Equal(t, loop.ModeName("plan"), b.Mode())
			require.Equal(t, fixture.Model("planner", model.EffortMax).WithEffort(model.EffortMax), b.Model())
			require.NoError(t, b.SetMode(t.Context(), ""))
			require.Equal(t, loop.BaseMode, b.Mode())
		}
		b.install("mcp", "g1", &fixture.Tool{Name: "x"})
		require.Equal(t, "m1", b.Model().Name, "external tools leave it alone")
		require.Error(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortMax)))
		require.Equal(t, model.EffortLow, b.Model().Sampling.Effort, "so does a refusal")
	})
}

func TestVIEW1_ReadsShowNothingThatIsNotDurable(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, b *bench) error{"SetMode": everyChange["SetMode"], "Change": everyChange["Change"]} {
		for _, ambiguous := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/ambiguous: ", ambiguous), func(t *testing.T) {
				inBubble(t, func(t *testing.T, b *bench) {
					hold, reading := make(chan struct{}), make(chan struct{})
					plan := fixture.Plan{Hold: hold}
					if ambiguous {
						plan.After = errors.New("maybe")
						b.journal.PlanReads(fixture.Plan{Hold: reading})
					} else {
						close(reading)
					}
					b.journal.PlanAppends(plan)
					before := b.Model()
					result := async(func() error { return change(t.Context(), b) })
					require.True(t, pending(result))
					require.Equal(t, before, b.Model())
					require.Equal(t, loop.BaseMode, b.Mode())
					close(hold)
					if ambiguous {
						require.True(t, pending(result))
						require.Equal(t, before, b.Model(), "durable, but the loop does not know")
						require.Equal(t, loop.BaseMode, b.Mode())
						close(reading)
					}
					require.NoError(t, <-result)
					require.NotEqual(t, before, b.Model())
				})
			})
		}
	}
}

// The version that a mode or a model of numbered shows: version 2i is the mode i, 2i+1 that mode with another model.
func versionOfModel(m model.Model) int64 {
	kind, number, _ := strings.Cut(m.Name, "-")
	i, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return -1
	}
	if kind == "changed" {
		return 2*i + 1
	}
	return 2 * i
}

// versionsOfMode returns the versions that have that mode.
func versionsOfMode(mode loop.ModeName) (first, last int64) {
	if mode == loop.BaseMode {
		return 0, 1
	}
	i, err := strconv.ParseInt(string(mode), 10, 64)
	if err != nil {
		return -1, -1
	}
	return 2 * i, 2*i + 1
}

// F34: while a writer goes through versions that can be told apart, no read is older than one that returned before it, by whomever.
func TestVIEW2_F34_ReadsNeverGoBack(t *testing.T) {
	const modes, readers = 150, 4
	options := []loop.Option{loop.WithName("numbered"), loop.WithModel(fixture.Model("mode-0"))}
	for i := 1; i <= modes; i++ {
		options = append(options, loop.WithMode(loop.ModeName(strconv.Itoa(i)), loop.WithModel(fixture.Model(fmt.Sprint("mode-", i)))))
	}
	configure := func(t *testing.T) native.Config {
		definition, err := loop.Define(options...)
		require.NoError(t, err)
		return native.Config{Definition: definition}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		var seen, acknowledged atomic.Int64 // versions
		var stop atomic.Bool
		raise := func(to int64) {
			for at := seen.Load(); at < to && !seen.CompareAndSwap(at, to); at = seen.Load() {
				continue
			}
		}
		var all sync.WaitGroup
		for r := range readers {
			all.Go(func() {
				for n := r; !stop.Load() && !t.Failed(); n++ {
					floor := max(seen.Load(), acknowledged.Load())
					if n%2 == 0 {
						first, last := versionsOfMode(b.Mode())
						assert.GreaterOrEqual(t, last, floor, "Mode()")
						raise(first)
					} else {
						version := versionOfModel(b.Model())
						assert.GreaterOrEqual(t, version, floor, "Model()")
						raise(version)
					}
					runtime.Gosched()
				}
			})
		}
		for i := 1; i <= modes; i++ {
			require.NoError(t, b.SetMode(t.Context(), loop.ModeName(strconv.Itoa(i))))
			acknowledged.Store(int64(2 * i))
			require.NoError(t, b.Change(t.Context(), changeModel(fmt.Sprint("changed-", i))))
			acknowledged.Store(int64(2*i + 1))
		}
		stop.Store(true)
		all.Wait()
		require.Equal(t, fmt.Sprint("changed-", modes), b.Model().Name)
		require.Equal(t, loop.ModeName(strconv.Itoa(modes)), b.Mode())
	})
}

func TestVIEW2_WhenAllIsQuietReadsEqualTheLastCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for range 20 {
			var writers sync.WaitGroup
			for i := range 4 {
				writers.Go(func() {
					assert.NoError(t, b.SetMode(t.Context(), []loop.ModeName{"plan", ""}[i%2]))
					assert.NoError(t, b.Change(t.Context(), changeModel(fmt.Sprint("m", i), model.EffortMax, model.EffortLow)))
				})
			}
			writers.Wait()
			state, err := journal.Fold(journal.Initial(b.config.Definition), b.journal.Events(t.Context()))
			require.NoError(t, err)
			require.Equal(t, state.Mode, b.Mode())
			require.Equal(t, state.Model, b.Model())
			require.NoError(t, b.run("a"))
			requests := b.client.Requests()
			require.Equal(t, state.Model, requests[len(requests)-1].Model)
		}
	})
}

func TestVIEW3_ModelSharesNoMemoryWithTheLoop(t *testing.T) {
	full := looptest.Model("full")
	configure := func(t *testing.T) native.Config {
		return native.Config{Definition: standard(t, loop.WithModel(full), loop.WithMode("full", loop.WithEffort(model.EffortHigh)))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		want := looptest.Model("full").WithEffort(model.EffortLow)
		check := func() {
			t.Helper()
			got := b.Model()
			require.Equal(t, want, got)
			looptest.Overwrite(&got)
			require.Equal(t, want, b.Model())
			require.NoError(t, b.run("a"))
			requests := b.client.Requests()
			require.Equal(t, want, requests[len(requests)-1].Model)
		}
		check()
		looptest.Overwrite(&full)
		check()
		require.NoError(t, b.Change(t.Context(), loop.ChangeEffort(model.EffortHigh))) // keeps the model
		want = want.WithEffort(model.EffortHigh)
		check()
		changed := looptest.Model("changed")
		require.NoError(t, b.Change(t.Context(), loop.ChangeModel(changed)))
		looptest.Overwrite(&changed)
		want = looptest.Model("changed").WithEffort(model.EffortHigh)
		check()
		require.NoError(t, b.SetMode(t.Context(), "full"))
		want = looptest.Model("full").WithEffort(model.EffortHigh)
		check()
		state, err := journal.Fold(journal.Initial(b.config.Definition), b.journal.Events(t.Context()))
		require.NoError(t, err)
		require.Equal(t, want, state.Model)
	})
}
