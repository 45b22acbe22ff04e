package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"
)

var (
	errSurrogate = errors.New("half a surrogate pair")
	errUUID      = errors.New("not a UUID in its form of 36 characters")
	errPrecision = errors.New("finer than a nanosecond")
)

// uuidLength is that of the one form in which a UUID is recorded; uuid.Parse takes others, one of them with any two bytes
// for its brackets.
const uuidLength = 36

// checkScalar checks that data, which is valid JSON and not null, decodes to a t without loss. It decodes for the sake of
// the path that the caller adds: the error of a type that decodes itself, as a time does, does not have it.
func checkScalar(data []byte, t reflect.Type) error {
	if err := json.Unmarshal(data, reflect.New(t).Interface()); err != nil {
		return mismatch(err)
	}
	if data[0] != '"' {
		return nil
	}
	switch t {
	case reflect.TypeFor[uuid.UUID]():
		if len(data) != uuidLength+len(`""`) {
			return errUUID
		}
	case reflect.TypeFor[time.Time]():
		// An RFC 3339 time has no letters that JSON must escape, and time.Time does not undo escapes: data is the text.
		if _, fraction, ok := strings.Cut(string(data), "."); ok && digits(fraction) > len("999999999") {
			return errPrecision
		}
	default:
		if hasLoneSurrogate(data) {
			return errSurrogate
		}
	}
	return nil
}

func mismatch(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Errorf("a JSON %s is not a %s", mismatch.Value, mismatch.Type)
	}
	return err
}

// digits returns how many decimal digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// hasLoneSurrogate reports whether a JSON string spells out, as \ud800, half a surrogate pair: no text has such a thing,
// and encoding/json would put U+FFFD in its place. literal is valid JSON.
func hasLoneSurrogate(literal []byte) bool {
	for i := 0; i < len(literal); i++ {
		if literal[i] != '\\' {
			continue
		}
		i++ // what is escaped, so that `\\u` is not taken for `\u`
		unit, ok := escapedUnit(literal[i-1:])
		if !ok {
			continue
		}
		i += 4
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := escapedUnit(literal[i+1:])
		if !ok || utf16.DecodeRune(unit, low) == '\uFFFD' {
			return true
		}
		i += len(`\u0000`)
	}
	return false
}

// escapedUnit returns the UTF-16 code unit of the escape of the form \u0000 that s begins with.
func escapedUnit(s []byte) (rune, bool) {
	if len(s) < len(`\u0000`) || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(unit), err == nil
}
