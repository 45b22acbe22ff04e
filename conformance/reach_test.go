package conformance

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/grid"
	"github.com/loopcheck/loopcheck/corpus"
)

// TestReach minimises the committed corpus: what is left reaches the same cells, and nothing of it can be left out.
func TestReach(t *testing.T) {
	entries, err := corpus.Load(filepath.Join("..", "corpus", "faults"))
	require.NoError(t, err)
	reached, err := Reach(referenceSubject(), entries)
	require.NoError(t, err)
	cells := func(e corpus.Entry) (list []string) {
		for _, c := range reached[e.Path] {
			list = append(list, c.String())
		}
		return list
	}
	all := func(entries []corpus.Entry) (list []string) {
		for _, e := range entries {
			list = append(list, cells(e)...)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	least := corpus.Minimize(entries, cells)
	require.Equal(t, all(entries), all(least))
	require.Less(t, len(least), len(entries))
	for i := range least {
		require.NotEqual(t, all(least), all(slices.Delete(slices.Clone(least), i, i+1)), "%s is not needed", least[i].Path)
	}
	t.Logf("%d schedules, %d needed for %d cells", len(entries), len(least), len(all(entries)))
}

// TestCampaignReachesTheGrid holds that generated workloads come to every phase, operation and fault that there is a name for.
func TestCampaignReachesTheGrid(t *testing.T) {
	c, err := newChecker(referenceSubject(), Config{})
	require.NoError(t, err)
	phases, operations, faults := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for n := range schedules(4000) + 400 {
		load, strategy := c.choice(n)
		for _, cell := range grid.Cells(c.once(load, strategy.Begin(n), c.config.Run).entries()) {
			phases[cell.Phase], operations[cell.Operation], faults[cell.Fault] = true, true, true
		}
	}
	named := func(seen map[string]bool, names []string) {
		t.Helper()
		for _, name := range names {
			require.True(t, seen[name], "%s is never reached", name)
		}
		require.Len(t, seen, len(names), "something is reached that has no name: %v", seen)
	}
	named(phases, grid.Phases())
	named(operations, grid.Operations())
	named(faults, grid.Faults())
}
