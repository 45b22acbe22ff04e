// Package surroundings calls code that a loop does not own: tools, definitions, model clients, journals. Such code may
// panic or end its goroutine; neither may take the loop along (TURN-6, EXT-11).
package surroundings

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of code that the loop called, recovered.
type PanicError struct {
	What  string // what was called, as `tool "search"`
	Value any
	Stack []byte
}

// Error tells what was called, and the value that it panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.What, e.Value) }

// Unwrap returns the panic's value where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrGoexit is reported for a call that ended its goroutine with runtime.Goexit, as testing.T.FailNow does.
var ErrGoexit = errors.New("the call ended its goroutine")

// Call calls f, and returns a panic of it as a [*PanicError].
func Call(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{What: what, Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Go calls f in a goroutine of its own, and there done exactly once with what became of it: f's error, a
// [*PanicError], or [ErrGoexit].
func Go(what string, f func() error, done func(error)) {
	go func() {
		err := fmt.Errorf("%s: %w", what, ErrGoexit)
		// Deferred, because Goexit runs deferred calls and nothing else: a plain done after Call would strand who waits.
		defer func() { done(err) }()
		err = Call(what, f)
	}()
}
