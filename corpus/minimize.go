package corpus

import (
	"cmp"
	"slices"
)

// Minimize returns a small set of the entries that reaches every cell that all of them reach, in the order in which they came.
// What a cell is, cells says: it is called once for each entry, and is to give the requirement too where every requirement is to
// keep a file. The set is found greedily, from the entry that adds most cells, the plainer one where several add as many, and
// none of it can be left out. The same entries in another order give the same set, as long as their paths differ.
func Minimize(entries []Entry, cells func(Entry) []string) []Entry {
	type candidate struct {
		index int
		cells []string
	}
	candidates := make([]candidate, len(entries))
	for i, e := range entries {
		reached := slices.Clone(cells(e))
		slices.Sort(reached)
		candidates[i] = candidate{i, slices.Compact(reached)}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return plainer(entries[a.index], entries[b.index]) })

	covered := make(map[string]int) // by how many of the chosen
	adds := func(c candidate) (n int) {
		for _, cell := range c.cells {
			if covered[cell] == 0 {
				n++
			}
		}
		return n
	}
	var chosen []candidate
	for {
		best, most := candidate{}, 0
		for _, c := range candidates {
			if n := adds(c); n > most {
				best, most = c, n
			}
		}
		if most == 0 {
			break
		}
		chosen = append(chosen, best)
		for _, cell := range best.cells {
			covered[cell]++
		}
	}
	// Those that came early may have become superfluous: the least plain goes first.
	slices.SortStableFunc(chosen, func(a, b candidate) int { return -plainer(entries[a.index], entries[b.index]) })
	chosen = slices.DeleteFunc(chosen, func(c candidate) bool {
		for _, cell := range c.cells {
			if covered[cell] == 1 {
				return false
			}
		}
		for _, cell := range c.cells {
			covered[cell]--
		}
		return true
	})
	slices.SortFunc(chosen, func(a, b candidate) int { return a.index - b.index })
	var least []Entry
	for _, c := range chosen {
		least = append(least, entries[c.index])
	}
	return least
}

// plainer orders by what a reader has to take in.
func plainer(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(a.File.Workload.Size(), b.File.Workload.Size()),
		cmp.Compare(len(a.File.Record.Schedule), len(b.File.Record.Schedule)),
		cmp.Compare(a.Path, b.Path),
	)
}
