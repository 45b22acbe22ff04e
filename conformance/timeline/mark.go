package timeline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/fakes"
)

// maxMark is the number of columns of what was expected.
const maxMark = 44

// marking is what is written behind the line of the breach. The report has the values in full; here they are in the words of
// the line, so that the eye can compare the two.
func marking(m Mark) string {
	if !m.compared() {
		return point + "here"
	}
	expected, seen := strings.TrimSpace(m.Expected), strings.TrimSpace(m.Seen)
	if want, got := notation(expected), notation(seen); want != "" {
		if want == got { // it differs in what the line does not show
			return point + "here"
		}
		expected, seen = want, got
	} else if want := offers(expected, seen); want != "" {
		expected = want
	}
	if width(expected) > maxMark {
		expected = difference(expected, seen)
	}
	if expected == "" {
		expected = `""`
	}
	return point + "expected " + strings.TrimSpace(shorten(clean(expected), maxMark))
}

// configuration is how package oracle words a state, a request, an event, and a model with the rest of its descriptor behind it.
var configuration = regexp.MustCompile(
	`^\{?(?:(?:mode|instructions) "([^"]*)"(?: after "[^"]*")?, )?model (\S*), (?:effort (\S+?)|(no effort))(?:, tools \[(.*)\])?\}?(?: \(.*\))?$`)

// toolsets is how it words the event of a set of external tools: each tool with the beginning of its digest.
var toolsets = regexp.MustCompile(`^source "([^"]*)", generation "([^"]*)", tools \[(.*)\]$`)

// notation rewrites a configuration as the lines have it: {mode "", model m0, effort low, tools [d1]} as {base, m0, low, [d1]}.
// It returns "" for any other text.
func notation(s string) string {
	if m := toolsets.FindStringSubmatch(s); m != nil {
		var names []string
		for i, word := range strings.Fields(m[3]) {
			if i%2 == 0 {
				names = append(names, word)
			}
		}
		return "{" + m[1] + ", " + m[2] + ", [" + list(names, " ") + "]}"
	}
	m := configuration.FindStringSubmatchIndex(s)
	if m == nil {
		return ""
	}
	group := func(n int) (string, bool) {
		if m[2*n] < 0 {
			return "", false
		}
		return s[m[2*n]:m[2*n+1]], true
	}
	var parts []string
	if mode, is := group(1); is {
		if mode == "" {
			mode = "base"
		}
		parts = append(parts, mode)
	}
	name, _ := group(2)
	parts = append(parts, name)
	for _, n := range []int{3, 4} {
		if effort, is := group(n); is {
			parts = append(parts, effort)
		}
	}
	if tools, is := group(5); is {
		names := strings.Fields(tools)
		if len(names) == 0 {
			parts = append(parts, "no tools")
		} else {
			parts = append(parts, "["+list(names, " ")+"]")
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// offers shortens what package oracle says of the tools that are offered, [NAME: DESCRIPTION SCHEMA …], to their names, or to
// the descriptions that differ if the names do not. It returns "" for any other text.
func offers(expected, seen string) string {
	wantNames, want := offered(expected)
	gotNames, got := offered(seen)
	if len(want) == 0 {
		return ""
	}
	if !slices.Equal(wantNames, gotNames) {
		return "[" + list(wantNames, " ") + "]"
	}
	var differ []string
	for i := range want {
		if want[i] != got[i] {
			text, _, _ := strings.Cut(want[i], " {")
			differ = append(differ, text)
		}
	}
	return strings.Join(differ, ", ")
}

// offered takes such a text apart. A schema is compact JSON, so that only a name ends in a colon.
func offered(s string) (names, texts []string) {
	s, is := strings.CutPrefix(s, "[")
	s, ends := strings.CutSuffix(s, "]")
	if !is || !ends {
		return nil, nil
	}
	for _, word := range strings.Fields(s) {
		switch name, is := strings.CutSuffix(word, ":"); {
		case is:
			names, texts = append(names, name), append(texts, "")
		case len(texts) == 0:
			return nil, nil
		case strings.HasPrefix(word, fakes.Canary): // it is in every text, to be found where it must not be
		default:
			texts[len(texts)-1] = strings.TrimSpace(texts[len(texts)-1] + " " + word)
		}
	}
	return names, texts
}

// difference is the part of expected that is not in seen, by words: of two whole configurations the eye is to find the one
// thing that differs.
func difference(expected, seen string) string {
	want, got := strings.Fields(expected), strings.Fields(seen)
	from := 0
	for from < len(want) && from < len(got) && want[from] == got[from] {
		from++
	}
	to := 0
	for to < len(want)-from && to < len(got)-from && want[len(want)-1-to] == got[len(got)-1-to] {
		to++
	}
	if from == 0 && to == 0 || len(want) == 0 {
		return expected
	}
	if from == len(want)-to && to > 0 { // something is too much: what it is between
		to--
	}
	if from > 0 { // and what it is about
		from--
	}
	text := strings.Join(want[from:len(want)-to], " ")
	if from > 0 {
		text = "… " + text
	}
	if to > 0 {
		text += " …"
	}
	return text
}
