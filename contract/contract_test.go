package contract_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/loop"
)

type row struct {
	ID    string
	Level contract.Level
	Group contract.Group
	Text  string
}

var (
	title   = regexp.MustCompile(`^# The loop contract, version (\d+)$`)
	aside   = regexp.MustCompile(` \(.*\)$`)
	rowLike = regexp.MustCompile(`^\|\s*[A-Za-z]+-\d+`)
	whole   = regexp.MustCompile(`^\| ([A-Z]+-\d+) \| (MUST|SHOULD|TYPES) \| (.+) \|$`)
)

// document reads the contract as it is published.
func document(t *testing.T) (version int, rows []row) {
	text, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)
	var group string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if m := title.FindStringSubmatch(line); m != nil {
			version, err = strconv.Atoi(m[1])
			require.NoError(t, err)
		}
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			group = aside.ReplaceAllString(heading, "")
		}
		if !rowLike.MatchString(line) {
			continue
		}
		m := whole.FindStringSubmatch(line)
		require.NotNil(t, m, "not a row of three cells: %s", line)
		rows = append(rows, row{m[1], contract.Level(m[2]), contract.Group(group), m[3]})
	}
	return version, rows
}

func TestTheRequirementsAreThoseOfTheDocument(t *testing.T) {
	version, want := document(t)
	assert.Equal(t, version, contract.Version)
	assert.Equal(t, loop.ContractVersion, contract.Version)
	var got []row
	for _, r := range contract.All() {
		got = append(got, row{r.ID, r.Level, r.Group, r.Text})
	}
	assert.Len(t, got, 60)
	assert.Empty(t, cmp.Diff(want, got), "- docs/contract.md, + contract.All()")
}

func TestTitlesAreShortAndTellTheRequirementsApart(t *testing.T) {
	seen := make(map[string]string)
	for _, r := range contract.All() {
		assert.NotEmpty(t, r.Title, r.ID)
		assert.LessOrEqual(t, utf8.RuneCountInString(r.Title), 52, r.ID)
		assert.Empty(t, seen[r.Title], r.ID)
		seen[r.Title] = r.ID
	}
}

func TestLookupAndIndex(t *testing.T) {
	for i, r := range contract.All() {
		assert.Equal(t, i, contract.Index(r.ID), r.ID)
		found, ok := contract.Lookup(r.ID)
		assert.True(t, ok, r.ID)
		assert.Equal(t, r, found)
	}
	for _, id := range []string{"", "TURN-0", "TURN-10", "turn-1", "TURN-1 ", "TURN"} {
		_, ok := contract.Lookup(id)
		assert.False(t, ok, id)
		assert.Equal(t, -1, contract.Index(id), id)
	}
}

func TestNeeds(t *testing.T) {
	for _, r := range contract.All() {
		var want []contract.Capability
		switch {
		case r.ID == "EXT-10":
			want = []contract.Capability{contract.Foreign}
		case r.ID == "EXT-9":
			want = []contract.Capability{contract.ExternalTools, contract.Restore}
		case strings.HasPrefix(r.ID, "EXT-"):
			want = []contract.Capability{contract.ExternalTools}
		case r.ID == "DUR-3", r.ID == "MODE-3":
			want = []contract.Capability{contract.Restore}
		}
		assert.Equal(t, want, r.Needs, r.ID)
		assert.True(t, r.AppliesTo(contract.Capabilities()), r.ID)
		assert.Equal(t, len(want) == 0, r.AppliesTo(nil), r.ID)
		assert.Equal(t, want, r.Lacking(nil), r.ID)
	}
	ext9, _ := contract.Lookup("EXT-9")
	assert.Equal(t, []contract.Capability{contract.Restore}, ext9.Lacking([]contract.Capability{contract.ExternalTools}))
	assert.False(t, ext9.AppliesTo([]contract.Capability{contract.ExternalTools}))
}

// Whoever writes to what it got must not change the contract for everyone else.
func TestWhatIsReturnedIsTheCallers(t *testing.T) {
	want := contract.All()
	all := contract.All()
	for i := range all {
		clear(all[i].Needs)
	}
	clear(all)
	found, _ := contract.Lookup("EXT-9")
	clear(found.Needs)
	clear(contract.Capabilities())
	assert.Equal(t, want, contract.All())
	found, _ = contract.Lookup("EXT-9")
	assert.Equal(t, want[contract.Index("EXT-9")], found)
}
