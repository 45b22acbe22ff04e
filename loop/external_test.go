package loop_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
)

// identifiers are the bounded identifiers of the contract, each with its check.
var identifiers = []struct {
	name  string
	limit int
	kind  loop.ChangeErrorKind // of the refusal; none for what a loop does not refuse
	check func(string) error
}{
	{"source", 64, loop.ChangeInvalidExternalSource, loop.ValidateSource},
	{"generation", 128, loop.ChangeInvalidExternalGeneration, loop.ValidateGeneration},
	{"source of a set", 64, loop.ChangeInvalidExternalSource, func(s string) error {
		return loop.ExternalToolset{Source: s, Generation: "g"}.Validate()
	}},
	{"generation of a set", 128, loop.ChangeInvalidExternalGeneration, func(s string) error {
		return loop.ExternalToolset{Source: "s", Generation: s}.Validate()
	}},
	{"mode", 64, "", func(s string) error {
		if s == "" {
			return errors.New("the base mode's name is declared by being empty, not checked here")
		}
		return loop.ModeName(s).Validate()
	}},
	{"name", 128, "", loop.ValidateName},
}

func TestEXT1_SourceAndGenerationAreBounded(t *testing.T) {
	for _, id := range identifiers {
		t.Run(id.name, func(t *testing.T) {
			good := map[string]string{
				"1 byte":                  "s",
				"the limit":               strings.Repeat("s", id.limit),
				"one less":                strings.Repeat("s", id.limit-1),
				"two bytes at the limit":  strings.Repeat("s", id.limit-2) + "é",
				"four bytes at the limit": strings.Repeat("😀", id.limit/4),
				"spaces":                  " a b ",
				"punctuation":             `"</\>'`,
				"no-break space":          "\u00a0", // the first character after the C1 controls
				"tilde":                   "~",      // the last one before DEL
				"not controls":            "\u200b\u202e\u2028\ufeff",
				"replacement character":   "\ufffd",
			}
			for name, s := range good {
				assert.NoError(t, id.check(s), name)
			}
			bad := map[string]string{
				"0 bytes":                        "",
				"one more":                       strings.Repeat("s", id.limit+1),
				"two bytes over the limit":       strings.Repeat("s", id.limit-1) + "é",
				"bytes count and not characters": strings.Repeat("é", id.limit/2) + "s",
				"far more":                       strings.Repeat("s", 1<<20),
				"cut by the limit":               strings.Repeat("s", id.limit-1) + "é"[:1],
			}
			for _, broken := range looptest.Broken {
				bad["not UTF-8: "+broken] = "a" + broken
			}
			for r := rune(0); r < 0xa0; r++ {
				if r < 0x20 || r >= 0x7f {
					bad["control "+string(r)] = "a" + string(r) + "b"
				}
			}
			for name, s := range bad {
				err := id.check(s)
				if !assert.Error(t, err, "%q", name) || id.kind == "" {
					continue
				}
				var refusal *loop.ChangeError
				require.ErrorAs(t, err, &refusal, "%q", name)
				assert.Equal(t, id.kind, refusal.Kind, "%q", name)
				assert.Error(t, refusal.Cause, "%q", name)
				assert.Less(t, len(err.Error()), 200, "%q: the identifier is repeated", name)
			}
		})
	}
}

func TestEXT1_TheSourceIsCheckedBeforeTheGeneration(t *testing.T) {
	var refusal *loop.ChangeError
	require.ErrorAs(t, loop.ExternalToolset{}.Validate(), &refusal)
	assert.Equal(t, loop.ChangeInvalidExternalSource, refusal.Kind)
}

func TestMODE1_TheBaseModesNameIsValid(t *testing.T) {
	assert.NoError(t, loop.BaseMode.Validate())
	assert.Equal(t, loop.ModeName(""), loop.BaseMode)
}

func TestEXT1_LimitsAreThoseOfTheContract(t *testing.T) {
	assert.Equal(t, 64, loop.MaxSource)
	assert.Equal(t, 128, loop.MaxGeneration)
	assert.Equal(t, 1, loop.ContractVersion)
}

// bounded is another idea of a bounded identifier.
func bounded(s string, limit int) bool {
	return s != "" && len(s) <= limit && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

func TestEXT1_AnyTextIsJudgedByTheSameRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(identifiers).Draw(t, "identifier")
		s := rapid.OneOf(
			looptest.Identifier(id.limit), looptest.Identifier(id.limit+1), looptest.Text(id.limit), looptest.BrokenText(id.limit),
			rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "text")
		require.Equal(t, bounded(s, id.limit), id.check(s) == nil, "%q", s)
	})
}

func FuzzIdentifiers(f *testing.F) {
	for _, seed := range []string{"", "mcp", "é", "\x00", "\x7f", "\u0085", "\u00a0", "\xff", strings.Repeat("s", 64), strings.Repeat("s", 129)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, id := range identifiers {
			require.Equal(t, bounded(s, id.limit), id.check(s) == nil, "%s %q", id.name, s)
		}
	})
}
