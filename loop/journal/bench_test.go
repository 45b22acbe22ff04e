package journal_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
)

// history is a history of n events of which three in four change the state.
func history(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		switch i % 4 {
		case 0:
			events[i] = event.LoopModeChanged{Header: sampleHeader, Mode: "plan", Runtime: runtime("m1", model.EffortHigh)}
		case 1:
			events[i] = event.TurnStarted{Header: sampleHeader, Mode: "plan"}
		default:
			events[i] = event.LoopInferenceChanged{Header: sampleHeader, Runtime: runtime(fmt.Sprint("m", i), model.EffortLow)}
		}
	}
	return events
}

// again yields the events over and over, n in all: that the longest history does not fit into the processor's cache is no
// property of a fold.
func again(n int, events []event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for i := range n {
			if !yield(events[i%len(events)], nil) {
				return
			}
		}
	}
}

// BenchmarkFold shows by ns/event, which is about the same for each length, that a fold is linear: of events at hand, and
// of a journal that decodes them.
func BenchmarkFold(b *testing.B) {
	start, events := initial(b), history(1_000)
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("prepared/%d", n), func(b *testing.B) {
			perEvent(b, n, func() error {
				_, err := journal.Fold(start, again(n, events))
				return err
			})
		})
		b.Run(fmt.Sprintf("memory/%d", n), func(b *testing.B) {
			var kept journal.Memory
			for e := range again(n, events) {
				require.NoError(b, kept.Append(b.Context(), e))
			}
			perEvent(b, n, func() error {
				_, err := journal.Fold(start, kept.Events(b.Context()))
				return err
			})
		})
	}
}

func perEvent(b *testing.B, n int, run func() error) {
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
}
