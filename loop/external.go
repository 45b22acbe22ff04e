package loop

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Limits on the identifiers of an [ExternalToolset], in bytes (EXT-1).
const (
	MaxSource     = 64
	MaxGeneration = 128
)

// ValidateSource refuses, with [ChangeInvalidExternalSource], a source that is not 1 to [MaxSource] bytes of valid UTF-8
// without control characters.
func ValidateSource(source string) error {
	if err := checkIdentifier(source, MaxSource); err != nil {
		return &ChangeError{Kind: ChangeInvalidExternalSource, Cause: err}
	}
	return nil
}

// ValidateGeneration refuses, with [ChangeInvalidExternalGeneration], a generation that is not 1 to [MaxGeneration] bytes of
// valid UTF-8 without control characters.
func ValidateGeneration(generation string) error {
	if err := checkIdentifier(generation, MaxGeneration); err != nil {
		return &ChangeError{Kind: ChangeInvalidExternalGeneration, Cause: err}
	}
	return nil
}

// Validate checks source and generation: what is checked before anything is built (EXT-1).
func (s ExternalToolset) Validate() error {
	if err := ValidateSource(s.Source); err != nil {
		return err
	}
	return ValidateGeneration(s.Generation)
}

// checkIdentifier does not repeat the identifier: what is over-long or unprintable has no place in a message.
func checkIdentifier(s string, limit int) error {
	switch {
	case s == "":
		return errors.New("empty")
	case len(s) > limit:
		return fmt.Errorf("%d bytes long, more than %d", len(s), limit)
	case !utf8.ValidString(s):
		return errors.New("not valid UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("has the control character %U", r)
		}
	}
	return nil
}
