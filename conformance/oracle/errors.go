package oracle

import (
	"context"
	"errors"
)

// What a loop returns is the subject's: an error may be a nil pointer, and its methods may panic. It is asked with care.

// as returns the error of a type that err is or wraps; nil if there is none, or a nil pointer.
func as[T any, E interface {
	*T
	error
}](err error) (found E) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	errors.As(err, &found)
	return found
}

// wraps reports whether err is or wraps a cause.
func wraps(err, cause error) (is bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, cause)
}

func isContext(err error) bool {
	return wraps(err, context.Canceled) || wraps(err, context.DeadlineExceeded)
}
