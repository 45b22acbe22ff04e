package timeline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	arrow = " ──▶ "
	goes  = " … "
	point = "   ◀── "
)

// clean makes a text safe for one line of a terminal or a log: what does not show, and what pretends to be a mark, is escaped.
func clean(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0])|0x100, 16)[1:])
		case r == '◀' || r != ' ' && unicode.IsSpace(r) || !unicode.IsGraphic(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// maxName is the number of columns of a name.
const maxName = 24

// name writes a name: as it is where that leaves no doubt, else quoted in ASCII, so that a look-alike is seen to be one. Both
// ends of a long one are kept: names that are equal in their first 64 bytes differ at the end.
func name(s string) string {
	if s == "" {
		return `""`
	}
	plain := true
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return shorten(s, maxName)
	}
	return shorten(strconv.QuoteToASCII(s), maxName)
}

// maxNames is the number of names of a list.
const maxNames = 6

// list writes names, the middle of a long list left out.
func list(names []string, separator string) string {
	if n := len(names); n > maxNames {
		const first = 3
		more := "… " + strconv.Itoa(n-first-1) + " more …"
		names = append(append([]string(nil), names[:first]...), more, names[n-1])
	}
	return strings.Join(names, separator)
}

// width is the number of columns of a text, at the most.
func width(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if wide(r) {
			n++
		}
	}
	return n
}

// wide reports whether a terminal may give a character two columns: scripts of East Asia and pictures. Too many is no harm.
func wide(r rune) bool {
	return r >= 0x1100 && r < 0x1200 || r >= 0x2e80 && r < 0xfb00 || r >= 0xfe30 && r < 0xfff0 || r >= 0x16fe0
}

// shorten takes out of the middle what is more than so many columns.
func shorten(s string, columns int) string {
	if width(s) <= columns {
		return s
	}
	if columns <= 1 {
		return "…"
	}
	tail := (columns - 1) / 3
	head := columns - 1 - tail
	runes := []rune(s)
	i := 0
	for ; i < len(runes); i++ {
		if head -= width(string(runes[i])); head < 0 {
			break
		}
	}
	j := len(runes)
	for ; j > i; j-- {
		if tail -= width(string(runes[j-1])); tail < 0 {
			break
		}
	}
	return string(runes[:i]) + "…" + string(runes[j:])
}

// words are what a message may name operations by.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
