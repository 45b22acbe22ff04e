package faulty_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/faulty"
)

// levels are the requirements of the contract with their levels, in its order.
func levels(t *testing.T) (ids []string, level map[string]string) {
	t.Helper()
	contract, err := os.ReadFile("../../docs/contract.md")
	require.NoError(t, err)
	level = make(map[string]string)
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]+-\d+) \| ([A-Z]+) \|`).FindAllStringSubmatch(string(contract), -1) {
		ids, level[row[1]] = append(ids, row[1]), row[2]
	}
	require.Len(t, ids, 60)
	return ids, level
}

func TestCatalogueIsWellFormed(t *testing.T) {
	ids, _ := levels(t)
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := make(map[string]bool)
	last := 0
	for _, f := range faulty.Faults() {
		assert.Regexp(t, name, f.Name)
		assert.False(t, seen[f.Name], "%s is there twice", f.Name)
		seen[f.Name] = true
		assert.NotEmpty(t, f.Doc, f.Name)
		assert.NotContains(t, f.Doc, "\n", f.Name)
		assert.Contains(t, []faulty.Class{faulty.Stock, faulty.Controlled, faulty.Race, faulty.Process}, f.Class, f.Name)
		require.NotEmpty(t, f.Requirements, f.Name)
		for _, r := range f.Requirements {
			assert.Contains(t, ids, r, f.Name)
		}
		assert.Len(t, f.Requirements, len(slices.Compact(slices.Sorted(slices.Values(f.Requirements)))), f.Name)
		place := slices.Index(ids, f.Requirements[0])
		assert.GreaterOrEqual(t, place, last, "%s is out of order", f.Name)
		last = place

		found, known := faulty.Lookup(f.Name)
		assert.True(t, known)
		assert.Equal(t, f, found)
	}
	for _, none := range []string{"", "no-such-fault"} {
		_, known := faulty.Lookup(none)
		assert.False(t, known)
	}
}

func TestCatalogueIsTheCallersOwn(t *testing.T) {
	first := faulty.Faults()
	first[0].Name, first[0].Requirements[0] = "spoilt", "spoilt"
	found, _ := faulty.Lookup(faulty.Faults()[0].Name)
	found.Requirements[0] = "spoilt"
	for _, f := range faulty.Faults() {
		assert.NotEqual(t, "spoilt", f.Name)
		assert.NotContains(t, f.Requirements, "spoilt")
	}
}

func TestCatalogueCoversTheContract(t *testing.T) {
	ids, level := levels(t)
	direct, classes := make(map[string]int), make(map[faulty.Class]int)
	for _, f := range faulty.Faults() {
		classes[f.Class]++
		if f.Class != faulty.Stock {
			continue // a requirement is to be covered by faults that any run can find
		}
		for _, r := range f.Requirements[:min(2, len(f.Requirements))] {
			direct[r]++
		}
	}
	for _, id := range ids {
		switch level[id] {
		case "MUST":
			assert.GreaterOrEqual(t, direct[id], 2, "faults that break %s", id)
		case "SHOULD":
			assert.GreaterOrEqual(t, direct[id], 1, "faults that break %s", id)
		case "TYPES":
			assert.Zero(t, direct[id], "%s is no property of a loop", id)
		}
	}
	assert.GreaterOrEqual(t, classes[faulty.Stock], 65)
	for _, class := range []faulty.Class{faulty.Controlled, faulty.Race, faulty.Process} {
		assert.GreaterOrEqual(t, classes[class], 4, class)
	}
	t.Log(classes)
}

// notExpressible are the faults seen in the field that no loop can have at the ports of the contract.
var notExpressible = map[string]string{
	"F11": "inputs are not recorded, and nobody subscribes to the beginning of a turn",
	"F14": "a torn record is the inside of a journal: the tests of the file journal have it",
	"F32": "tools are not closed: nothing at the ports tells of an instance that was superseded",
}

func TestCatalogueHasWhatWasSeenInTheField(t *testing.T) {
	known, err := os.ReadFile("../../docs/known-faults.md")
	require.NoError(t, err)
	var seen strings.Builder
	for _, f := range faulty.Faults() {
		seen.WriteString(f.Seen + "\n")
	}
	for _, section := range strings.Split(string(known), "\n## ")[1:] {
		heading, _, _ := strings.Cut(section, "\n")
		id, reports, _ := strings.Cut(heading, " · seen in ")
		if !strings.HasPrefix(id, "F") {
			continue
		}
		if _, cannot := notExpressible[id]; cannot {
			assert.NotContains(t, seen.String(), id)
			continue
		}
		assert.Contains(t, seen.String(), id)
		_ = reports
	}
	// What is cited is cited as it is there.
	for _, f := range faulty.Faults() {
		if f.Seen == "" {
			continue
		}
		id, reports, _ := strings.Cut(f.Seen, ", ")
		_, section, found := strings.Cut(string(known), "\n## "+id)
		require.True(t, found, f.Name)
		heading, _, _ := strings.Cut(section, "\n")
		for _, report := range strings.Split(reports, ", ") {
			assert.Contains(t, heading, report, f.Name)
		}
	}
}
