package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/loopcheck/loopcheck/loop/event"
)

// ErrClosed is returned for the use of a closed journal.
var ErrClosed = errors.New("journal: closed")

// Memory is a journal that lives as long as the process: for tests and for loops that need not survive. It keeps events
// encoded, so that what is read back shares no memory with what was appended, and an event that a durable journal would
// refuse is refused here too. The zero Memory is empty and ready.
type Memory struct {
	mu      sync.RWMutex
	records [][]byte
	closed  bool
}

var _ Journal = (*Memory)(nil)

// Append keeps the event. An error means that it did not: ctx had ended, the event does not encode, or [ErrClosed].
func (m *Memory) Append(ctx context.Context, e event.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	encoded, err := event.Encode(e)
	if err != nil {
		return fmt.Errorf("journal: append: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.records = append(m.records, encoded)
	return nil
}

// Events yields the events that were there when the iteration began.
func (m *Memory) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		m.mu.RLock()
		records, closed := m.records, m.closed
		m.mu.RUnlock()
		if closed {
			yield(nil, ErrClosed)
			return
		}
		for i, record := range records {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			e, err := event.Decode(record)
			if err != nil {
				yield(nil, fmt.Errorf("journal: event %d: %w", i, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Close makes every later use fail with [ErrClosed].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
