package event_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
)

// checkDecoding holds the promise about any bytes at all: a typed error and no event, or an event that is valid, and that
// is written and read again as the same event.
func checkDecoding(t require.TestingT, data []byte) (event.Event, error) {
	kept := bytes.Clone(data)
	e, err := event.Decode(data)
	require.Equal(t, kept, data, "Decode wrote to its argument")
	if err != nil {
		var invalid *event.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Error(t, invalid.Cause)
		require.Nil(t, e)
		return nil, err
	}
	require.NoError(t, e.Validate())
	first, err := event.Encode(e)
	require.NoError(t, err)
	again, err := event.Decode(first)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(e, again, looptest.SameEvent))
	second, err := event.Encode(again)
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	return e, nil
}

func TestDUR5_EventsDecodeToEqualValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := looptest.Events().Draw(t, "event")
		encoded, err := event.Encode(e)
		require.NoError(t, err)
		decoded, err := checkDecoding(t, encoded)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(e, decoded, looptest.SameEvent))
		require.IsType(t, e, decoded)

		at := decoded.EventHeader().Time
		require.Equal(t, time.UTC, at.Location())
		require.Equal(t, e.EventHeader().Time.UnixNano(), at.UnixNano())
		if _, other := e.(event.Other); !other {
			require.Equal(t, at.Round(0), at, "a monotonic reading was kept")
			require.NotContains(t, string(encoded), "\n", "an encoding is one line")
		}
	})
}

func TestDUR5_AnyBytesAreAnErrorOrAnEvent(t *testing.T) {
	fragments := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"`, `"type"`, `"loop_stopped"`, `"time"`, "null", "1e9", `\ud800`, " ", "\x00", "\xff", "\u2028", golden(t, "loop_stopped"),
	})
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.Map(rapid.SliceOf(fragments), func(parts []string) []byte {
				var data []byte
				for _, part := range parts {
					data = append(data, part...)
				}
				return data
			}),
		).Draw(t, "data")
		_, _ = checkDecoding(t, data)
	})
}

func TestDUR5_AnyChangedByteIsAnErrorOrAnotherEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		encoded, err := event.Encode(looptest.Events().Draw(t, "event"))
		require.NoError(t, err)
		at := rapid.IntRange(0, len(encoded)-1).Draw(t, "at")
		switch rapid.SampledFrom([]string{"replace", "delete", "insert", "cut"}).Draw(t, "how") {
		case "replace":
			encoded[at] = rapid.Byte().Draw(t, "byte")
		case "delete":
			encoded = append(encoded[:at], encoded[at+1:]...)
		case "insert":
			encoded = append(encoded[:at], append([]byte{rapid.Byte().Draw(t, "byte")}, encoded[at:]...)...)
		case "cut":
			// What a torn write leaves is no event. (Another make's may end in white space.)
			whole := bytes.TrimSpace(encoded)
			_, err := checkDecoding(t, whole[:min(at, len(whole)-1)])
			require.Error(t, err)
			return
		}
		_, _ = checkDecoding(t, encoded)
	})
}

func FuzzDecode(f *testing.F) {
	for name := range goldens() {
		f.Add([]byte(golden(f, name)))
	}
	for _, seed := range []string{
		"", "null", "{}", `{"type":"x"}`, `{"type":"turn_ended","outcome":"completed"}`, `{"type":"loop_stopped","type":"x"}`,
		`{"type":"loop_stopped","event_id":"x0198a1b2-0000-7000-8000-000000000001x","loop_id":"0198a1b2-0000-7000-8000-000000000002","time":"2026-08-12T09:30:00.1234567891Z"}`,
		`{"type":"loop_external_toolset_changed","source":"\ud800","generation":"\ud83d\ude00","tools":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = checkDecoding(t, data) })
}
