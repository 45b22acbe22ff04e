package event_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
)

const (
	digestOfObject  = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// goldens are the events of which testdata/golden has the encodings, by the names of the files. The files are part of the
// contract: they are written by hand, and a journal that is out there has such records.
func goldens() map[string]event.Event {
	header := event.Header{
		EventID: uuid.MustParse("0198a1b2-0000-7000-8000-000000000001"),
		LoopID:  uuid.MustParse("0198a1b2-0000-7000-8000-000000000002"),
		Time:    time.Date(2026, 8, 12, 11, 30, 0, 123_456_789, time.FixedZone("CEST", 2*60*60)),
	}
	turn := uuid.MustParse("0198a1b2-0000-7000-8000-000000000003")
	full := event.Runtime{Model: looptest.Model("m1").WithEffort(model.EffortHigh), Effort: model.EffortHigh}
	return map[string]event.Event{
		"loop_mode_changed": event.LoopModeChanged{Header: header, PreviousMode: "plan", Mode: "code", Runtime: full},
		"loop_mode_changed_least": event.LoopModeChanged{
			Runtime: event.Runtime{Model: model.Model{Provider: "p", APIFormat: "f", Name: "m", Efforts: []model.Effort{}}},
		},
		"loop_inference_changed": event.LoopInferenceChanged{Header: header, Runtime: full},
		"loop_inference_changed_text": event.LoopInferenceChanged{Header: header, Runtime: event.Runtime{Model: model.Model{
			Provider: "<&>", APIFormat: `"\`, Name: "é世😀\ufffd",
			Sampling: model.Sampling{Stop: []string{"\x00", "\u2028", `\ud800`, "\t", "\x7f"}},
		}}},
		"loop_external_toolset_changed": event.LoopExternalToolsetChanged{
			Header: header, Source: "mcp", Generation: "catalog-2026-08-12", Tools: []event.ExternalToolIdentity{
				{Name: "search", SchemaDigest: digestOfObject}, {Name: "<fetch>", SchemaDigest: digestOfNothing},
			},
		},
		"loop_external_toolset_changed_cleared": event.LoopExternalToolsetChanged{
			Header: header, Source: "mcp", Generation: "g2", Tools: []event.ExternalToolIdentity{},
		},
		"loop_started": event.LoopStarted{Header: header, Name: "assistant", Mode: "plan", Runtime: full},
		"loop_stopped": event.LoopStopped{Header: header},
		"turn_started": event.TurnStarted{Header: header, TurnID: turn, Mode: "code"},
		"turn_ended":   event.TurnEnded{Header: header, TurnID: turn, Outcome: event.TurnInterrupted},
		"other": event.Other{Tag: "another_make.checkpoint", Raw: json.RawMessage(
			`{"payload":{"type":"loop_stopped","a":1,"a":2}, "type":"another_make.checkpoint","Type":"x"}`)},
	}
}

func golden(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	require.NoError(t, err)
	return strings.TrimSuffix(string(text), "\n")
}

func TestDUR5_EventsEncodeAsDeclaredByteForByte(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(goldens()), "an encoding without an event, or the other way round")
	for name, e := range goldens() {
		t.Run(name, func(t *testing.T) {
			encoded, err := event.Encode(e)
			require.NoError(t, err)
			assert.Equal(t, golden(t, name), string(encoded))

			decoded, err := event.Decode([]byte(golden(t, name)))
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(e, decoded, looptest.SameEvent))
			assert.Equal(t, e.Type(), decoded.Type())
			assert.IsType(t, e, decoded)
		})
	}
}

func TestDUR5_TagsAreThoseOfTheContract(t *testing.T) {
	tags := make(map[event.Type]bool)
	for name, e := range goldens() {
		tags[e.Type()] = true
		if _, other := e.(event.Other); !other {
			assert.True(t, strings.HasPrefix(name, string(e.Type())), name)
		}
	}
	for _, tag := range []event.Type{
		"loop_mode_changed", "loop_inference_changed", "loop_external_toolset_changed", "loop_started", "loop_stopped", "turn_started", "turn_ended",
	} {
		assert.True(t, tags[tag], "no event of type %q", tag)
	}
}

func TestDUR5_ADecodedEventIsInUTCWithNilForNone(t *testing.T) {
	decoded, err := event.Decode([]byte(golden(t, "loop_mode_changed")))
	require.NoError(t, err)
	at := decoded.EventHeader().Time
	assert.Equal(t, time.UTC, at.Location())
	assert.Equal(t, 123_456_789, at.Nanosecond())

	for old, empty := range map[string]string{
		`["low","high"]`:            `[]`,
		`"efforts":["low","high"],`: ``,
		`["END","\n\n"]`:            `null`,
	} {
		text := strings.Replace(golden(t, "loop_mode_changed"), old, empty, 1)
		decoded, err := event.Decode([]byte(text))
		require.NoError(t, err, text)
		m := decoded.(event.LoopModeChanged).Runtime.Model
		if strings.Contains(old, "low") {
			assert.Nil(t, m.Efforts)
		} else {
			assert.Nil(t, m.Sampling.Stop)
		}
	}
	for _, none := range []string{`,"tools":[]}`, `,"tools":null}`, `}`} {
		decoded, err := event.Decode([]byte(strings.TrimSuffix(golden(t, "loop_external_toolset_changed_cleared"), "}") + none))
		require.NoError(t, err, none)
		assert.Nil(t, decoded.(event.LoopExternalToolsetChanged).Tools)
	}
}

func TestDUR5_EveryWayToWriteTheSameEventIsRead(t *testing.T) {
	for old, same := range map[string]string{
		`"type"`:                               `"\u0074ype"`,
		`"mode"`:                               `"m\u006fde"`,
		`"code"`:                               `"c\u006fd\u0065"`,
		"2026-08-12T09:30:00.123456789Z":       "2026-08-12T11:30:00.123456789+02:00",
		"0198a1b2-0000-7000-8000-000000000001": "0198A1B2-0000-7000-8000-000000000001",
		":200000":                              " :\t200000\r\n",
		"0.95":                                 "9.50e-1",
	} {
		text := golden(t, "loop_mode_changed")
		require.Contains(t, text, old)
		decoded, err := event.Decode([]byte(strings.Replace(text, old, same, 1)))
		require.NoError(t, err, same)
		assert.Empty(t, cmp.Diff(goldens()["loop_mode_changed"], decoded, looptest.SameEvent), same)
		assert.Equal(t, time.UTC, decoded.EventHeader().Time.Location(), same)
	}
	emoji := strings.Replace(golden(t, "turn_started"), `"code"`, `"\ud83d\ude00"`, 1)
	decoded, err := event.Decode([]byte(emoji))
	require.NoError(t, err)
	assert.Equal(t, loop.ModeName("😀"), decoded.(event.TurnStarted).Mode)
}

func TestDUR5_AnOtherIsKeptAsItWasWritten(t *testing.T) {
	text := []byte(" " + golden(t, "other") + "\n")
	decoded, err := event.Decode(text)
	require.NoError(t, err)
	kept := bytes.Clone(text)
	for i := range text {
		text[i] = '!'
	}
	other := decoded.(event.Other)
	assert.Equal(t, kept, []byte(other.Raw), "what was decoded shares memory with the text")
	assert.Equal(t, event.Type("another_make.checkpoint"), other.Tag)
	assert.Equal(t, event.Header{}, other.EventHeader())

	encoded, err := event.Encode(other)
	require.NoError(t, err)
	encoded[0] = '!'
	assert.Equal(t, kept, []byte(other.Raw), "what was encoded shares memory with the event")
}

func TestDUR5_ScopesAndHeadersAreThoseOfTheType(t *testing.T) {
	for name, e := range goldens() {
		want := event.ScopeLoop
		switch e.(type) {
		case event.TurnStarted, event.TurnEnded:
			want = event.ScopeTurn
		case event.Other:
			want = event.ScopeOther
		}
		assert.Equal(t, want, e.Scope(), name)
	}
	runtime := goldens()["loop_started"].(event.LoopStarted).Runtime
	clone := runtime.Clone()
	looptest.Overwrite(&runtime.Model)
	assert.Equal(t, looptest.Model("m1").WithEffort(model.EffortHigh), clone.Model)
}
