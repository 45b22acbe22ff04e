package event

import (
	"encoding/json"
	"iter"
	"strings"
)

// What is here walks JSON that is known to be valid, and reads on in what is already in memory: json.Decoder, which can
// tell repeated members too, takes several times as long, and a loop that is restored reads every event that it ever wrote.

const jsonSpace = " \t\r\n"

// membersOf yields the members of a JSON object in their order, repeated ones too.
func membersOf(object string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for rest := inside(object); rest != ""; {
			var literal, value string
			literal, rest = cutValue(rest)
			rest = strings.TrimLeft(rest, jsonSpace)[len(":"):]
			value, rest = cutValue(rest)
			if !yield(unquote(literal), value) {
				return
			}
			rest = next(rest)
		}
	}
}

// elementsOf yields the elements of a JSON list.
func elementsOf(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := inside(list); rest != ""; {
			var element string
			element, rest = cutValue(rest)
			if !yield(element) {
				return
			}
			rest = next(rest)
		}
	}
}

// inside returns what stands between the brackets of an object or a list.
func inside(s string) string {
	s = strings.Trim(s, jsonSpace)
	return strings.Trim(s[1:len(s)-1], jsonSpace)
}

// next skips the comma after a member or an element, if there is one.
func next(rest string) string {
	rest = strings.TrimLeft(rest, jsonSpace)
	return strings.TrimLeft(strings.TrimPrefix(rest, ","), jsonSpace)
}

// cutValue cuts the value that s begins with, after white space, from what follows it.
func cutValue(s string) (value, rest string) {
	s = strings.TrimLeft(s, jsonSpace)
	end := 0
	switch s[0] {
	case '"':
		end = stringEnd(s)
	case '{', '[':
		for depth := 0; ; {
			end += strings.IndexAny(s[end:], `"{}[]`)
			if s[end] == '"' {
				end += stringEnd(s[end:])
				continue
			}
			if s[end] == '{' || s[end] == '[' {
				depth++
			} else {
				depth--
			}
			if end++; depth == 0 {
				break
			}
		}
	default:
		if end = strings.IndexAny(s, ",]}"+jsonSpace); end < 0 {
			end = len(s)
		}
	}
	return s[:end], s[end:]
}

// stringEnd returns the length of the JSON string that s begins with.
func stringEnd(s string) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// unquote returns the text of a JSON string.
func unquote(literal string) string {
	if !strings.Contains(literal, `\`) {
		return literal[1 : len(literal)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(literal), &text) // a valid string has a text
	return text
}
