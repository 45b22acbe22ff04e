// Package looptest has what the tests of the contract's types have in common: valid samples, and generators of valid values
// that are as unpleasant as validity allows.
package looptest

import (
	"strings"

	"pgregory.net/rapid"
)

// visible is text that an encoding may stumble over and an identifier may have: HTML, what JavaScript takes for line ends,
// quotes, what looks like an escape but is none, bidirectional and zero-width characters, several bytes to a character.
var visible = []string{
	"a", "Z", "0", "_", ".", "/", "-", " ", "\u00a0", `"`, "'", "`", `\`, `\u0000`, `\ud800`, `\n`, "<b>", "&amp;", "{", "}", "[", ",", ":",
	"null", "type", "é", "e\u0301", "世", "😀", "\u2028", "\u2029", "\u200b", "\u202e", "\ufeff", "\ufffd", "\uffff", "\U0010ffff",
}

var controls = []string{"\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\u0080", "\u0085", "\u009f"}

// Broken lists fragments that are not valid UTF-8: a stray byte, a cut character, an encoded surrogate, an overlong NUL.
var Broken = []string{"\xff", "\x80", "\xe2\x82", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"}

// Identifier generates 1 to limit bytes of valid UTF-8 without control characters. It often reaches the limit.
func Identifier(limit int) *rapid.Generator[string] { return text(visible, limit) }

// Text generates 1 to limit bytes of valid UTF-8.
func Text(limit int) *rapid.Generator[string] {
	return text(append(append([]string(nil), visible...), controls...), limit)
}

func text(fragments []string, limit int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 12).Draw(t, "fragments")
		var b strings.Builder
		for _, part := range parts {
			if b.Len()+len(part) <= limit {
				b.WriteString(part)
			}
		}
		if b.Len() == 0 || rapid.IntRange(0, 7).Draw(t, "fill") == 7 {
			b.WriteString(strings.Repeat("x", limit-b.Len()))
		}
		return b.String()
	})
}

// BrokenText generates text of at most limit bytes that is not valid UTF-8; limit is at least 4.
func BrokenText(limit int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		broken := rapid.SampledFrom(Broken).Draw(t, "broken")
		if limit <= len(broken) {
			return broken
		}
		whole := Identifier(limit-len(broken)).Draw(t, "whole")
		if rapid.Bool().Draw(t, "first") {
			return broken + whole
		}
		return whole + broken
	})
}
