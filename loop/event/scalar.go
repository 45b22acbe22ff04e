package event

import (
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"
)

var (
	errSurrogate = errors.New("half a surrogate pair")
	errUUID      = errors.New("not a UUID in its form of 36 characters")
	errTime      = errors.New("not an RFC 3339 time, or finer than a nanosecond")
)

var (
	uuidType = reflect.TypeFor[uuid.UUID]()
	timeType = reflect.TypeFor[time.Time]()
)

var rfc3339 = regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)"$`)

// uuidLength is that of the one form in which a UUID is recorded; uuid.Parse takes others, one of them with any two bytes
// for its brackets.
const uuidLength = 36

// checkScalar checks that a JSON scalar, if it decodes to a t, does so without loss.
func checkScalar(data string, t reflect.Type) error {
	if data[0] != '"' {
		return nil
	}
	switch t {
	case uuidType:
		if len(data) != uuidLength+len(`""`) {
			return errUUID
		}
	case timeType:
		// An RFC 3339 time has no letters that JSON must escape, and time.Time does not undo escapes: data is the text. It takes
		// one digit for an hour and a comma for the point, and cuts what is finer than a nanosecond.
		if !rfc3339.MatchString(data) {
			return errTime
		}
	default:
		if hasLoneSurrogate(data) {
			return errSurrogate
		}
	}
	return nil
}

// hasLoneSurrogate reports whether a JSON string spells out, as \ud800, half a surrogate pair: no text has such a thing,
// and encoding/json would put U+FFFD in its place.
func hasLoneSurrogate(literal string) bool {
	for {
		i := strings.IndexByte(literal, '\\')
		if i < 0 {
			return false
		}
		literal = literal[i:]
		unit, ok := escapedUnit(literal)
		if !ok {
			literal = literal[2:] // with what is escaped, so that `\\u` is not taken for `\u`
			continue
		}
		literal = literal[len(`\u0000`):]
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := escapedUnit(literal)
		if !ok || utf16.DecodeRune(unit, low) == '\uFFFD' {
			return true
		}
		literal = literal[len(`\u0000`):]
	}
}

// escapedUnit returns the UTF-16 code unit of the escape of the form \u0000 that s begins with.
func escapedUnit(s string) (rune, bool) {
	if len(s) < len(`\u0000`) || !strings.HasPrefix(s, `\u`) {
		return 0, false
	}
	unit, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(unit), err == nil
}
