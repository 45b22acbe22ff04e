package journal_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
)

func collect(t *testing.T, j journal.Journal) []event.Event {
	t.Helper()
	var events []event.Event
	for e, err := range j.Events(t.Context()) {
		require.NoError(t, err)
		events = append(events, e)
	}
	return events
}

func other(i int) event.Other {
	tag := fmt.Sprint("x", i)
	return event.Other{Tag: event.Type(tag), Raw: fmt.Appendf(nil, `{"type":%q}`, tag)}
}

func TestREF6_EventsAreKeptInTheOrderOfTheAppends(t *testing.T) {
	var j journal.Memory
	assert.Empty(t, collect(t, &j))
	var want []event.Event
	for i := range 10 {
		want = append(want, other(i))
		require.NoError(t, j.Append(t.Context(), want[i]))
	}
	assert.Equal(t, want, collect(t, &j))
	assert.Equal(t, want, collect(t, &j), "reading takes nothing away")
}

func TestREF5_AFailedAppendKeepsNothing(t *testing.T) {
	var j journal.Memory
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, j.Append(ended, other(1)), context.Canceled)

	var invalid *event.InvalidError
	assert.ErrorAs(t, j.Append(t.Context(), event.LoopInferenceChanged{}), &invalid, "an event that could not be read again")
	assert.ErrorAs(t, j.Append(t.Context(), nil), &invalid)
	assert.Empty(t, collect(t, &j))

	require.NoError(t, j.Close())
	assert.ErrorIs(t, j.Append(t.Context(), other(1)), journal.ErrClosed)
	assert.NoError(t, j.Close(), "closing again")
	for e, err := range j.Events(t.Context()) {
		assert.Nil(t, e)
		assert.ErrorIs(t, err, journal.ErrClosed)
	}
}

func TestDUR3_ReadingPastItsContextIsAnErrorAndNeverAPrefix(t *testing.T) {
	var j journal.Memory
	for i := range 3 {
		require.NoError(t, j.Append(t.Context(), other(i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var events []event.Event
	var failed error
	for e, err := range j.Events(ctx) {
		if err != nil {
			require.NoError(t, failed, "a second error")
			failed = err
			continue
		}
		events = append(events, e)
		cancel()
	}
	assert.Len(t, events, 1)
	assert.ErrorIs(t, failed, context.Canceled)
	_, err := journal.Fold(initial(t), j.Events(ctx))
	assert.ErrorIs(t, err, context.Canceled)
}

func TestDUR2_WhatIsReadSharesNoMemoryWithWhatWasAppended(t *testing.T) {
	var j journal.Memory
	appended := event.LoopInferenceChanged{Header: sampleHeader, Runtime: runtime("m1", model.EffortHigh)}
	require.NoError(t, j.Append(t.Context(), appended))
	looptest.Overwrite(&appended.Runtime.Model)
	read := collect(t, &j)[0].(event.LoopInferenceChanged)
	assert.Empty(t, cmp.Diff(runtime("m1", model.EffortHigh), read.Runtime))
	looptest.Overwrite(&read.Runtime.Model)
	assert.Empty(t, cmp.Diff(runtime("m1", model.EffortHigh), collect(t, &j)[0].(event.LoopInferenceChanged).Runtime))

	raw := other(1)
	require.NoError(t, j.Append(t.Context(), raw))
	clear(raw.Raw)
	assert.Equal(t, other(1), collect(t, &j)[1])
}

func TestDUR2_AReadingSeesWhatWasThereWhenItBegan(t *testing.T) {
	var j journal.Memory
	require.NoError(t, j.Append(t.Context(), other(0)))
	n := 0
	for _, err := range j.Events(t.Context()) {
		require.NoError(t, err)
		n++
		require.NoError(t, j.Append(t.Context(), other(n)), "a reader that appends waits for itself")
	}
	assert.Equal(t, 1, n)
	assert.Len(t, collect(t, &j), 2)

	for range j.Events(t.Context()) {
		break
	}
}

func TestREF6_AppendsMayRace(t *testing.T) {
	var j journal.Memory
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := range each {
				assert.NoError(t, j.Append(t.Context(), other(i)))
				for _, err := range j.Events(t.Context()) {
					assert.NoError(t, err)
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, collect(t, &j), writers*each)
}
