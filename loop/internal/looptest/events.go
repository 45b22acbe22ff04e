package looptest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// SameEvent are the options under which two events are equal that the contract calls equal: nil and empty lists are one,
// and so are two times of one instant.
var SameEvent = cmp.Options{cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true })}

// started has a monotonic reading, which no encoding keeps.
var started = time.Now()

var (
	earliest = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// Times generates the times that an event can have, in any zone, at the ends of what can be written, and with a monotonic
// reading.
func Times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		at := rapid.OneOf(
			rapid.SampledFrom([]time.Time{{}, earliest, latest, started}),
			rapid.Custom(func(t *rapid.T) time.Time {
				return time.Unix(rapid.Int64Range(earliest.Unix(), latest.Unix()).Draw(t, "seconds"),
					rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
			}),
		).Draw(t, "instant")
		if offset := rapid.IntRange(-86399, 86399).Draw(t, "offset"); offset != 0 {
			at = at.In(time.FixedZone("somewhere", offset))
		}
		return at
	})
}

func ids() *rapid.Generator[uuid.UUID] {
	return rapid.Custom(func(t *rapid.T) uuid.UUID {
		return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	})
}

// Headers generates the headers of events.
func Headers() *rapid.Generator[event.Header] {
	return rapid.Custom(func(t *rapid.T) event.Header {
		return event.Header{EventID: ids().Draw(t, "event"), LoopID: ids().Draw(t, "loop"), Time: Times().Draw(t, "time")}
	})
}

// Modes generates names of modes, the base mode among them.
func Modes() *rapid.Generator[loop.ModeName] {
	return rapid.Map(rapid.OneOf(rapid.Just(""), Identifier(loop.MaxModeName)), func(s string) loop.ModeName { return loop.ModeName(s) })
}

// Identities generates the tools of a slot.
func Identities() *rapid.Generator[[]event.ExternalToolIdentity] {
	identity := rapid.Custom(func(t *rapid.T) event.ExternalToolIdentity {
		digest, err := tool.SchemaDigest(fmt.Appendf(nil, "%d", rapid.Uint32().Draw(t, "schema")))
		if err != nil {
			t.Fatal(err)
		}
		return event.ExternalToolIdentity{Name: Text(tool.MaxName).Draw(t, "name"), SchemaDigest: digest}
	})
	return rapid.SliceOfNDistinct(identity, 0, 5, func(i event.ExternalToolIdentity) string { return i.Name })
}

// Optional generates events that folds ignore: those of [event.Other] and of the types that a loop need not record, and the
// one of external tools.
func Optional() *rapid.Generator[event.Event] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) event.Event {
			return event.LoopExternalToolsetChanged{
				Header: Headers().Draw(t, "header"), Source: Identifier(loop.MaxSource).Draw(t, "source"),
				Generation: Identifier(loop.MaxGeneration).Draw(t, "generation"), Tools: Identities().Draw(t, "tools"),
			}
		}),
		rapid.Custom(func(t *rapid.T) event.Event {
			return event.LoopStarted{
				Header: Headers().Draw(t, "header"), Name: Identifier(loop.MaxName).Draw(t, "name"),
				Mode: Modes().Draw(t, "mode"), Runtime: Runtimes().Draw(t, "runtime"),
			}
		}),
		rapid.Custom(func(t *rapid.T) event.Event { return event.LoopStopped{Header: Headers().Draw(t, "header")} }),
		rapid.Custom(func(t *rapid.T) event.Event {
			return event.TurnStarted{Header: Headers().Draw(t, "header"), TurnID: ids().Draw(t, "turn"), Mode: Modes().Draw(t, "mode")}
		}),
		rapid.Custom(func(t *rapid.T) event.Event {
			outcomes := rapid.SampledFrom([]event.TurnOutcome{event.TurnCompleted, event.TurnInterrupted, event.TurnFailed})
			return event.TurnEnded{Header: Headers().Draw(t, "header"), TurnID: ids().Draw(t, "turn"), Outcome: outcomes.Draw(t, "outcome")}
		}),
		rapid.Map(Others(), func(e event.Other) event.Event { return e }),
	)
}

// Others generates events of another make.
func Others() *rapid.Generator[event.Other] {
	return rapid.Custom(func(t *rapid.T) event.Other {
		tag := "x-" + Text(40).Draw(t, "tag")
		members := rapid.MapOfN(Text(12), rapid.OneOf(
			rapid.Map(Text(12), func(s string) any { return s }),
			rapid.Map(rapid.Int64(), func(n int64) any { return n }),
			rapid.Just[any](nil), rapid.Just[any](map[string]any{"type": "loop_stopped"}),
		), 0, 4).Draw(t, "members")
		members["type"] = tag
		raw, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		space := rapid.SampledFrom([]string{"", " ", "\t\r\n"}).Draw(t, "space")
		return event.Other{Tag: event.Type(tag), Raw: json.RawMessage(space + string(raw) + space)}
	})
}

// Changes generates the two events that folds follow.
func Changes() *rapid.Generator[event.Event] {
	return rapid.Custom(func(t *rapid.T) event.Event {
		header, runtime := Headers().Draw(t, "header"), Runtimes().Draw(t, "runtime")
		if rapid.Bool().Draw(t, "inference") {
			return event.LoopInferenceChanged{Header: header, Runtime: runtime}
		}
		return event.LoopModeChanged{
			Header: header, PreviousMode: Modes().Draw(t, "previous"), Mode: Modes().Draw(t, "mode"), Runtime: runtime,
		}
	})
}

// Events generates valid events of every type.
func Events() *rapid.Generator[event.Event] { return rapid.OneOf(Changes(), Optional()) }
