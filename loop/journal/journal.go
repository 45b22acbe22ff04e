// Package journal declares the durable, ordered record of a loop's events, keeps one in memory, and folds one to the
// state that it stands for. Package filejournal keeps one in a file.
package journal

import (
	"context"
	"iter"

	"github.com/loopcheck/loopcheck/loop/event"
)

// Journal is the port to a durable record. Its methods are safe for concurrent use.
type Journal interface {
	// Append writes one event so that it survives a crash, and returns nil only then. An error leaves open whether the
	// event was written, unless the implementation says more; whoever must know reads back. The event stays the
	// caller's.
	Append(ctx context.Context, e event.Event) error
	// Events yields every event in the order of the appends. A pair with an error is the last one: what came before is then
	// only a part of the history, and is not to be taken for the whole (DUR-3).
	Events(ctx context.Context) iter.Seq2[event.Event, error]
	// Close gives up the journal. Closing again does nothing.
	Close() error
}
