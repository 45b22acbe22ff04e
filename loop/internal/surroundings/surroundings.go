// Package surroundings calls code that a loop does not own: tools, definitions, model clients, journals. Such code may
// panic, end its goroutine or never return; none of these may take the loop along (TURN-6, EXT-11). The methods of errors
// and contexts that such code hands over are such code too.
package surroundings

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of code that the loop called, recovered.
type PanicError struct {
	What  string // what was called, as `tool "search"`
	Value any
	Stack []byte

	text string
}

// Error tells what was called, and the value that it panicked with.
func (e *PanicError) Error() string { return e.text }

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
			// Worded here, where a value that misbehaves when it is printed does so in the call that it came from.
			err = &PanicError{What: what, Value: v, Stack: debug.Stack(), text: fmt.Sprintf("%s panicked: %v", what, v)}
		}
	}()
	return f()
}

// Go calls f in a goroutine of its own, and there done exactly once with what became of it: f's error, a
// [*PanicError], or [ErrGoexit]. Nothing protects done: it must not call a method of f's error.
func Go(what string, f func() error, done func(error)) {
	go func() {
		err := fmt.Errorf("%s: %w", what, ErrGoexit)
		// Deferred, because Goexit runs deferred calls and nothing else: a plain done after Call would strand who waits.
		defer func() { done(err) }()
		err = Call(what, f)
	}()
}

// Await calls f in a goroutine of its own and waits for it, or for the end of ctx: then f is left behind, and its result is
// lost. Errors are those of [Go] and of ctx.
func Await[T any](ctx context.Context, what string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	returned := make(chan result, 1)
	var value T
	Go(what, func() (err error) {
		value, err = f()
		return err
	}, func(err error) { returned <- result{value, err} })
	select {
	case r := <-returned:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
