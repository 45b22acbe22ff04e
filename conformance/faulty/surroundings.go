package faulty

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/loopcheck/loopcheck/loop"
)

// panicError is a recovered panic of code that the loop does not own.
type panicError struct {
	text  string
	value any
	stack []byte
}

func (e *panicError) Error() string { return e.text }

// Unwrap returns the panic's value where that is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// guard calls f and returns a panic of it as an error. The value is worded here, where one that misbehaves when it is
// printed does so in the call that it came from.
func guard(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{text: fmt.Sprintf("%s panicked: %v", what, v), value: v, stack: debug.Stack()}
		}
	}()
	return f()
}

// apart calls f on a goroutine of its own, and there done, once, with what became of it. An f that ends its goroutine is
// done too: that is why this needs one, also for who then waits for it.
func apart(what string, f func() error, done func(error)) {
	go func() {
		err := fmt.Errorf("%s: %w", what, loop.ErrGoexit)
		defer func() { done(err) }()
		err = guard(what, f)
	}()
}

// await calls f on a goroutine of its own and waits for it, or for the end of ctx: then f is left behind.
func await[T any](ctx context.Context, what string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	returned := make(chan result, 1)
	var value T
	apart(what, func() (err error) {
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

func isDone(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// carriedKey marks the contexts that turns and appends get.
type carriedKey struct{}

// carried returns the context without its end, for what goes on after the call (REF-8). One that comes from a turn is
// dropped: a tool that submits the next input would else make a chain of contexts to which each turn adds.
func carried(ctx context.Context) context.Context {
	if ctx.Value(carriedKey{}) != nil {
		return context.Background()
	}
	return context.WithValue(context.WithoutCancel(ctx), carriedKey{}, true)
}
