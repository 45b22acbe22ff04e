package conformance_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fuzz runs the seeds of the fuzz target, as `go test` does.
const fuzz = "-test.run=^FuzzChild$"

func TestFuzzPassesAConformingSubject(t *testing.T) {
	t.Parallel()
	r := newHome(t).test(t, "reference", fuzz)
	assert.Zero(t, r.code, r.out)
	assert.Greater(t, len(r.tests), 20, "there are varied inputs to begin with: %v", r.tests)
}

var tokenFlag = regexp.MustCompile(`(?m)^ *replay:  -loopcheck\.replay=(\S+) \(of a test with conformance\.Run\)$`)

// What fuzzing finds is seen again in a test.
func TestFuzzFailsWithATokenThatRunReplays(t *testing.T) {
	t.Parallel()
	for subject, message := range map[string]string{
		"model-per-step":  "loopcheck: TURN-1 broken by turn ",
		"exporting-twice": "loopcheck: EXPORT-1 broken by 2 full exports, of at most 1",
	} {
		t.Run(subject, func(t *testing.T) {
			h := newHome(t)
			r := h.test(t, subject, fuzz)
			assert.Equal(t, 1, r.code)
			assert.Contains(t, r.out, message)
			token := tokenFlag.FindStringSubmatch(r.out)
			require.NotNil(t, token, r.out)
			again := h.test(t, subject, "-loopcheck.replay="+token[1])
			assert.Equal(t, 1, again.code)
			assert.Contains(t, again.out, message)
			assert.NoDirExists(t, h.path(""), "the engine has a corpus of its own")
		})
	}
}

// A seed of the settings makes other inputs.
func TestFuzzTakesTheSeed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first, other := h.test(t, "model-per-step", fuzz), h.test(t, "model-per-step", fuzz, "-loopcheck.seed=3")
	assert.NotEqual(t, tokenFlag.FindAllString(first.out, -1), tokenFlag.FindAllString(other.out, -1))
	bad := h.test(t, "reference", fuzz, "-loopcheck.strategy=luck")
	assert.Equal(t, 1, bad.code)
	assert.Contains(t, bad.out, `there is no "luck"`)
}
