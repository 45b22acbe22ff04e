package surroundings_test

import (
	"errors"
	"runtime"
	"testing"

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
