package tool_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// ofNothing is the SHA-256 of no bytes.
const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func digestOf(t require.TestingT, schema string) string {
	digest, err := tool.SchemaDigest([]byte(schema))
	require.NoError(t, err, "%q", schema)
	return digest
}

// strip removes the white space outside of strings: an independent idea of compaction.
func strip(schema []byte) []byte {
	var out []byte
	inside := false
	for i := 0; i < len(schema); i++ {
		switch c := schema[i]; {
		case inside && c == '\\':
			out = append(out, c, schema[i+1])
			i++
			continue
		case c == '"':
			inside = !inside
		case !inside && strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		}
		out = append(out, schema[i])
	}
	return out
}

func TestEXT7_DigestsOfKnownSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		"":                          ofNothing,
		" \t\r\n":                   ofNothing,
		"{}":                        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
		" { } ":                     "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
		"null":                      "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
		"{\"a\": [1, 2],\n\"b\":1}": hexOf(`{"a":[1,2],"b":1}`),
	} {
		assert.Equal(t, want, digestOf(t, schema), "%q", schema)
	}
	digest, err := tool.SchemaDigest(nil)
	require.NoError(t, err)
	assert.Equal(t, ofNothing, digest)
}

func hexOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestEXT7_EverythingButWhiteSpaceMatters(t *testing.T) {
	schemas := []string{
		"", "{}", "[]", "null", "0", "-0", "1", "1.0", "1e0", "1E0", `""`, `" "`, `"  "`, `"a"`, `"\u0061"`, `"A"`, `"\t"`, `"<"`, `"\u003c"`,
		"\"\u2028\"", `"\u2028"`, `"/"`, `"\/"`, `{"a":1}`, `{"a":1,"a":1}`, `{"A":1}`, `{"a":1,"b":2}`, `{"b":2,"a":1}`, `[1,2]`, `[12]`, `[2,1]`,
		`"é"`, "\"e\u0301\"",
	}
	seen := make(map[string]string)
	for _, schema := range schemas {
		digest := digestOf(t, schema)
		assert.Empty(t, seen[digest], "%q", schema)
		seen[digest] = schema + " has the same digest"
	}
}

func TestEXT4_ASchemaIsBlankOrValidJSON(t *testing.T) {
	for _, bad := range []string{
		"{", "}", "{}{}", "{} x", "nul", "'a'", "{a:1}", `{"a":1,}`, "[1,]", "01", "\"\n\"", `"\x"`, "// no", "\u00a0", "\ufeff{}", "\x00", "\v", "\f", "NaN",
	} {
		digest, err := tool.SchemaDigest([]byte(bad))
		assert.ErrorIs(t, err, tool.ErrSchema, "%q", bad)
		assert.Empty(t, digest, "%q", bad)
	}
}

func TestEXT7_TheSchemaIsNotWrittenTo(t *testing.T) {
	schema := []byte(" { \"a\" : 1 } ")
	kept := bytes.Clone(schema)
	digestOf(t, string(schema))
	_, err := tool.SchemaDigest(schema)
	require.NoError(t, err)
	assert.Equal(t, kept, schema)
}

func TestEXT7_ADigestHasItsForm(t *testing.T) {
	valid := digestOf(t, "{}")
	assert.Len(t, valid, tool.DigestLength)
	assert.True(t, tool.ValidDigest(valid))
	for _, bad := range []string{
		"", valid[1:], valid + "0", strings.ToUpper(valid), " " + valid[1:], "g" + valid[1:], "/" + valid[1:], ":" + valid[1:], "`" + valid[1:],
		"é" + valid[2:],
	} {
		assert.False(t, tool.ValidDigest(bad), "%q", bad)
	}
}

// documents generates JSON documents as lists of tokens, between which white space may stand.
func documents() *rapid.Generator[[]string] {
	var document func(depth int) *rapid.Generator[[]string]
	quote := func(s string) string {
		quoted, _ := json.Marshal(s)
		return string(quoted)
	}
	scalar := rapid.OneOf(
		rapid.Map(looptest.Text(20), func(s string) []string { return []string{quote(s)} }),
		rapid.SampledFrom([][]string{{"null"}, {"true"}, {"false"}, {"0"}, {"-1.5e+7"}, {`"\ud800"`}, {`" \" "`}, {`"\\"`}}),
	)
	document = func(depth int) *rapid.Generator[[]string] {
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(scalar, rapid.Custom(func(t *rapid.T) []string {
			object := rapid.Bool().Draw(t, "object")
			tokens := []string{"["}
			if object {
				tokens = []string{"{"}
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "members") {
				if i > 0 {
					tokens = append(tokens, ",")
				}
				if object {
					tokens = append(tokens, quote(looptest.Text(8).Draw(t, "name")), ":")
				}
				tokens = append(tokens, document(depth-1).Draw(t, "value")...)
			}
			if object {
				return append(tokens, "}")
			}
			return append(tokens, "]")
		}))
	}
	return document(3)
}

func spaced(t *rapid.T, tokens []string) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\n", "\t", "\r\n", "   "})
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString(space.Draw(t, "space") + token)
	}
	return b.String() + space.Draw(t, "space")
}

func TestEXT7_WhiteSpaceBetweenTokensNeverMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := documents().Draw(t, "document")
		want := hexOf(strings.Join(tokens, ""))
		require.Equal(t, want, digestOf(t, strings.Join(tokens, "")))
		require.Equal(t, want, digestOf(t, spaced(t, tokens)))
	})
}

func TestEXT7_AnyOtherChangeOfASchemaMatters(t *testing.T) {
	replacements := []string{`""`, `" "`, `"  "`, `"a"`, `"A"`, `"\u0061"`, `"\t"`, `"\\t"`}
	rapid.Check(t, func(t *rapid.T) {
		tokens := documents().Draw(t, "document")
		var scalars []int
		for i, token := range tokens {
			if !strings.Contains("{}[],:", token) {
				scalars = append(scalars, i)
			}
		}
		schema := strings.Join(tokens, "")
		if len(scalars) == 0 {
			require.NotEqual(t, digestOf(t, schema), digestOf(t, "["+schema+"]"))
			return
		}
		at := rapid.SampledFrom(scalars).Draw(t, "at")
		tokens[at] = rapid.SampledFrom(replacements).Filter(func(s string) bool { return s != tokens[at] }).Draw(t, "replacement")
		require.NotEqual(t, digestOf(t, schema), digestOf(t, strings.Join(tokens, "")))
	})
}

func FuzzSchemaDigest(f *testing.F) {
	for _, seed := range []string{"", " ", "{}", `{"type":"object","properties":{"a b":{"default":" \" "}}}`, "\u00a0", `"\ud800"`, "\"\xff\"", "[1 2]", "{}{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		digest, err := tool.SchemaDigest(schema)
		blank := len(bytes.Trim(schema, " \t\r\n")) == 0
		if !blank && !json.Valid(schema) {
			require.ErrorIs(t, err, tool.ErrSchema)
			require.Empty(t, digest)
			return
		}
		require.NoError(t, err)
		require.True(t, tool.ValidDigest(digest))
		require.Equal(t, hexOf(string(strip(schema))), digest)
	})
}
