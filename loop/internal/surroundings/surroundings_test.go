package surroundings_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/internal/surroundings"
)

var errSample = errors.New("sample")

func TestTURN6_APanicBecomesAnError(t *testing.T) {
	assert.NoError(t, surroundings.Call("it", func() error { return nil }))
	assert.Equal(t, errSample, surroundings.Call("it", func() error { return errSample }))

	for _, value := range []any{errSample, "text", 1, nil} {
		err := surroundings.Call("it", func() error { panic(value) })
		var panicked *surroundings.PanicError
		require.ErrorAs(t, err, &panicked, "%v", value)
		assert.Equal(t, "it", panicked.What)
		assert.Contains(t, err.Error(), "it panicked")
		assert.Contains(t, string(panicked.Stack), "surroundings_test")
		assert.Equal(t, value == errSample, errors.Is(err, errSample), "%v", value)
	}
}

func TestTURN6_GoReportsOnceWhateverBecomesOfTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		call  func() error
		check func(*testing.T, error)
	}{
		"success": {func() error { return nil }, func(t *testing.T, err error) { assert.NoError(t, err) }},
		"failure": {func() error { return errSample }, func(t *testing.T, err error) { assert.Equal(t, errSample, err) }},
		"panic":   {func() error { panic(errSample) }, func(t *testing.T, err error) { assert.ErrorAs(t, err, new(*surroundings.PanicError)) }},
		"Goexit": {func() error { runtime.Goexit(); return nil }, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, surroundings.ErrGoexit)
			assert.ErrorContains(t, err, "it: ")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			reports := make(chan error, 2)
			surroundings.Go("it", c.call, func(err error) { reports <- err })
			c.check(t, <-reports)
			assert.Empty(t, reports)
		})
	}
}

func TestREF7_AwaitWaitsForTheCallOrForItsContext(t *testing.T) {
	value, err := surroundings.Await(t.Context(), "it", func() (int, error) { return 1, errSample })
	assert.Equal(t, 1, value)
	assert.Equal(t, errSample, err)

	_, err = surroundings.Await(t.Context(), "it", func() (int, error) { panic(errSample) })
	assert.ErrorAs(t, err, new(*surroundings.PanicError))
	_, err = surroundings.Await(t.Context(), "it", func() (int, error) { runtime.Goexit(); return 1, nil })
	assert.ErrorIs(t, err, surroundings.ErrGoexit)

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		go func() {
			synctest.Wait() // until the call is stuck, and whoever awaits it too
			cancel()
		}()
		value, err := surroundings.Await(ctx, "it", func() (int, error) {
			<-release
			return 1, nil
		})
		assert.Zero(t, value)
		assert.ErrorIs(t, err, context.Canceled)
		close(release) // what was left behind ends, or the bubble says that it does not
	})
}

// misprinted panics when it is printed, in a way that fmt does not survive.
type misprinted struct{}

func (misprinted) Error() string { runtime.Goexit(); return "" }

func TestTURN6_APanicsValueIsPrintedOnlyInTheCallThatItCameFrom(t *testing.T) {
	reports := make(chan error, 1)
	surroundings.Go("it", func() error { panic(misprinted{}) }, func(err error) { reports <- err })
	assert.ErrorIs(t, <-reports, surroundings.ErrGoexit)
}
