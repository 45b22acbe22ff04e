package trace_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/trace"
)

func TestLogNumbersItsEntries(t *testing.T) {
	l := trace.NewLog(nil)
	assert.Zero(t, l.Now())
	assert.Zero(t, l.Add(trace.Entry{Kind: trace.Called, Op: "a1", Seq: 99, Step: 99}))
	assert.Equal(t, 1, l.Add(trace.Entry{Kind: trace.Logged}))
	assert.Equal(t, 2, l.Now())
	assert.Equal(t, 1, l.Happened(), "what the subject says has not happened to it")

	var seen []trace.Entry
	from := l.Rest(0, func(entries []trace.Entry) { seen = entries })
	assert.Equal(t, 2, from)
	assert.Len(t, seen, 2)
	l.Add(trace.Entry{Kind: trace.Returned, Op: "a1"})
	from = l.Rest(from, func(entries []trace.Entry) { seen = entries })
	assert.Equal(t, 3, from)
	require.Len(t, seen, 1, "what came since")
	assert.Equal(t, trace.Entry{Kind: trace.Returned, Op: "a1", Seq: 2, Step: 1}, seen[0])
	assert.Equal(t, 0, l.Entries()[0].Step)
}

// What is found out late is noted ahead of what comes next, so that the order tells.
func TestLogLooksAheadOfEachEntry(t *testing.T) {
	ended := false
	l := trace.NewLog(func(add func(trace.Entry)) {
		if ended {
			ended = false
			add(trace.Entry{Kind: trace.TurnEnded, Op: "a1"})
		}
	})
	l.Add(trace.Entry{Kind: trace.Called})
	ended = true
	assert.Equal(t, 2, l.Add(trace.Entry{Kind: trace.Returned}), "the number is that of the entry itself")
	ended = true
	l.Rest(0, func(entries []trace.Entry) {
		var kinds []trace.Kind
		for i, e := range entries {
			kinds = append(kinds, e.Kind)
			assert.Equal(t, i, e.Seq)
		}
		assert.Equal(t, []trace.Kind{trace.Called, trace.TurnEnded, trace.Returned, trace.TurnEnded}, kinds)
	})
}

// Nobody gets between an entry and what is done with it.
func TestLogAddAnd(t *testing.T) {
	l := trace.NewLog(nil)
	var (
		wg   sync.WaitGroup
		last = -1 // under the log's own lock
		torn bool
	)
	for range 8 {
		wg.Go(func() {
			for range 200 {
				l.AddAnd(trace.Entry{Kind: trace.Called}, func() {
					torn = torn || last != -1
					last = 0
					last = -1
				})
			}
		})
	}
	wg.Wait()
	assert.False(t, torn)
	entries := l.Entries()
	require.Len(t, entries, 1600)
	for i, e := range entries {
		require.Equal(t, i, e.Seq)
	}
}

// Entries that somebody holds do not grow by what she appends.
func TestLogEntriesAreNotWrittenInto(t *testing.T) {
	l := trace.NewLog(nil)
	l.Add(trace.Entry{Op: "a1"})
	held := l.Entries()
	_ = append(held, trace.Entry{Op: "mine"})
	l.Add(trace.Entry{Op: "a2"})
	assert.Len(t, held, 1)
	assert.Equal(t, "a2", l.Entries()[1].Op)
}
