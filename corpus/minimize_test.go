package corpus_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/workload"
)

// reaching makes an entry that reaches the cells, one letter each, and is as large as its size says.
func reaching(path, cells string, size int) corpus.Entry {
	return corpus.Entry{Path: path, File: corpus.File{
		Subject: cells, Workload: workload.Workload{Clients: make([]workload.Client, size)},
	}}
}

func cells(e corpus.Entry) []string { return strings.Split(e.File.Subject, "") }

func paths(entries []corpus.Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Path)
	}
	return strings.Join(list, " ")
}

func TestMinimize(t *testing.T) {
	for _, c := range []struct {
		what, want string
		entries    []corpus.Entry
	}{
		{"nothing", "", nil},
		{"what reaches nothing", "", []corpus.Entry{reaching("1", "", 1)}},
		{"one for all", "2", []corpus.Entry{reaching("1", "ab", 1), reaching("2", "abc", 9), reaching("3", "c", 1)}},
		{"the plainer one", "2", []corpus.Entry{reaching("1", "ab", 2), reaching("2", "ba", 1), reaching("3", "aab", 3)}},
		{"the first by path", "1", []corpus.Entry{reaching("2", "a", 1), reaching("1", "a", 1)}},
		{"the order stays", "3 1", []corpus.Entry{reaching("3", "ab", 1), reaching("1", "cde", 1)}},
		{"what became superfluous", "2 3", []corpus.Entry{reaching("1", "bcde", 1), reaching("2", "abc", 1), reaching("3", "def", 1)}},
		{"of what became superfluous the least plain", "1 2 3 5 6", []corpus.Entry{ // 1 or 4 can go
			reaching("1", "bhi", 1), reaching("2", "cj", 3), reaching("3", "efi", 3), reaching("4", "cfh", 1), reaching("5", "d", 1),
			reaching("6", "bg", 2),
		}},
	} {
		require.Equal(t, c.want, paths(corpus.Minimize(c.entries, cells)), c.what)
	}
}

func TestMinimizeReachesTheSame(t *testing.T) {
	all := func(entries []corpus.Entry) []string {
		seen := map[string]bool{}
		for _, e := range entries {
			for _, cell := range cells(e) {
				seen[cell] = true
			}
		}
		return slices.Sorted(maps.Keys(seen))
	}
	rapid.Check(t, func(t *rapid.T) {
		var entries []corpus.Entry
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			entries = append(entries, reaching(string(rune('A'+i)), rapid.StringMatching(`[a-h]{1,6}`).Draw(t, "cells"), rapid.IntRange(0, 3).Draw(t, "size")))
		}
		least := corpus.Minimize(entries, cells)
		require.Equal(t, all(entries), all(least))
		for i := range least {
			rest := slices.Delete(slices.Clone(least), i, i+1)
			require.NotEqual(t, all(entries), all(rest), "%s can be left out", least[i].Path)
		}
		shuffled := slices.Clone(entries)
		rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "shuffle"))).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		again := corpus.Minimize(shuffled, cells)
		slices.SortFunc(again, func(a, b corpus.Entry) int { return strings.Compare(a.Path, b.Path) })
		require.Equal(t, paths(least), paths(again))
	})
}
