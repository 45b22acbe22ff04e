package event_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// edited returns e after the edit.
func edited[E event.Event](e E, edit func(*E)) event.Event {
	edit(&e)
	return e
}

// goldenOf returns the golden event of a name, as its type.
func goldenOf[E event.Event](name string) E { return goldens()[name].(E) }

func TestDUR5_AnEventThatCouldNotBeReadIsNotWritten(t *testing.T) {
	mode := goldenOf[event.LoopModeChanged](modeChanged)
	tools := goldenOf[event.LoopExternalToolsetChanged](toolsetChanged)
	started := goldenOf[event.LoopStarted]("loop_started")
	turn := goldenOf[event.TurnStarted]("turn_started")
	ended := goldenOf[event.TurnEnded]("turn_ended")
	nan := math.NaN()
	for name, c := range map[string]struct {
		e     event.Event
		field string
	}{
		"broken mode":          {edited(mode, func(e *event.LoopModeChanged) { e.Mode = "a\xff" }), "mode"},
		"broken previous mode": {edited(mode, func(e *event.LoopModeChanged) { e.PreviousMode = "a\xff" }), "previous_mode"},
		"year out of range":    {edited(mode, func(e *event.LoopModeChanged) { e.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }), "time"},
		"year out of range in UTC": {edited(mode, func(e *event.LoopModeChanged) {
			e.Time = time.Date(9999, 12, 31, 23, 59, 0, 0, time.FixedZone("west", -3600))
		}), "time"},
		"year before all":   {edited(mode, func(e *event.LoopModeChanged) { e.Time = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) }), "time"},
		"zero model":        {event.LoopInferenceChanged{}, "runtime.model.provider"},
		"unknown effort":    {edited(mode, func(e *event.LoopModeChanged) { e.Runtime.Effort = "more" }), "runtime.effort"},
		"no number":         {edited(mode, func(e *event.LoopModeChanged) { e.Runtime.Model.Sampling.TopP = &nan }), "runtime.model.sampling.top_p"},
		"broken source":     {edited(tools, func(e *event.LoopExternalToolsetChanged) { e.Source = "\xed\xa0\x80" }), "source"},
		"broken generation": {edited(tools, func(e *event.LoopExternalToolsetChanged) { e.Generation = "\xc0\x80" }), "generation"},
		"broken tool name": {edited(tools, func(e *event.LoopExternalToolsetChanged) {
			e.Tools = []event.ExternalToolIdentity{{Name: "\xff", SchemaDigest: digestOfObject}}
		}), "tools[0].name"},
		"no digest":            {edited(tools, func(e *event.LoopExternalToolsetChanged) { e.Tools = []event.ExternalToolIdentity{{Name: "x"}} }), "tools[0].schema_digest"},
		"too many tools":       {edited(tools, func(e *event.LoopExternalToolsetChanged) { e.Tools = make([]event.ExternalToolIdentity, tool.MaxSet+1) }), "tools"},
		"broken loop name":     {edited(started, func(e *event.LoopStarted) { e.Name = "a\xff" }), "name"},
		"no loop name":         {edited(started, func(e *event.LoopStarted) { e.Name = "" }), "name"},
		"broken mode of start": {edited(started, func(e *event.LoopStarted) { e.Mode = "\x80" }), "mode"},
		"broken mode of turn":  {edited(turn, func(e *event.TurnStarted) { e.Mode = "\x80" }), "mode"},
		"no outcome":           {edited(ended, func(e *event.TurnEnded) { e.Outcome = "" }), "outcome"},
		"time of a stop":       {event.LoopStopped{Header: event.Header{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}, "time"},
	} {
		t.Run(name, func(t *testing.T) {
			requireInvalid(t, c.e.Validate(), c.e.Type(), c.field)
			encoded, err := event.Encode(c.e)
			assert.Nil(t, encoded)
			requireInvalid(t, err, c.e.Type(), c.field)
		})
	}
}

func TestDUR5_AnOtherIsWrittenOnlyIfItIsReadAsTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		e     event.Other
		field string
	}{
		"nothing":         {event.Other{}, ""},
		"no encoding":     {event.Other{Tag: "x"}, ""},
		"no object":       {event.Other{Tag: "x", Raw: json.RawMessage(`["type","x"]`)}, ""},
		"trailing data":   {event.Other{Tag: "x", Raw: json.RawMessage(`{"type":"x"}{}`)}, ""},
		"broken text":     {event.Other{Tag: "x", Raw: json.RawMessage("{\"type\":\"x\",\"a\":\"\xff\"}")}, ""},
		"another tag":     {event.Other{Tag: "x", Raw: json.RawMessage(`{"type":"y"}`)}, "type"},
		"no tag":          {event.Other{Raw: json.RawMessage(`{"type":""}`)}, "type"},
		"a declared type": {event.Other{Tag: "loop_stopped", Raw: json.RawMessage(`{"type":"loop_stopped"}`)}, "type"},
		"disguised":       {event.Other{Tag: "x", Raw: json.RawMessage(golden(t, "loop_stopped"))}, "type"},
		"two tags":        {event.Other{Tag: "x", Raw: json.RawMessage(`{"type":"x","type":"loop_stopped"}`)}, "type"},
	} {
		t.Run(name, func(t *testing.T) {
			encoded, err := event.Encode(c.e)
			assert.Nil(t, encoded)
			var invalid *event.InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, c.field, invalid.Field)
			assert.Error(t, c.e.Validate())
		})
	}
}

// foreign satisfies Event by embedding one, which is the one way for another package to do so.
type foreign struct{ event.LoopStopped }

func TestDUR5_OnlyTheEventsOfThisPackageAreWritten(t *testing.T) {
	mode := goldenOf[event.LoopModeChanged](modeChanged)
	other := goldenOf[event.Other]("other")
	for _, e := range []event.Event{nil, &mode, &other, foreign{}, &foreign{}, (*event.LoopModeChanged)(nil)} {
		encoded, err := event.Encode(e)
		assert.Nil(t, encoded)
		var invalid *event.InvalidError
		require.ErrorAs(t, err, &invalid, "%T", e)
	}
}

func TestDUR5_EncodingLeavesTheEventAlone(t *testing.T) {
	e := goldenOf[event.LoopModeChanged](modeChanged)
	kept := goldenOf[event.LoopModeChanged](modeChanged)
	_, err := event.Encode(e)
	require.NoError(t, err)
	assert.Equal(t, kept, e)
	assert.Equal(t, "CEST", e.Time.Location().String())
}

func TestDUR5_BrokenTextIsRefusedAndNeverAltered(t *testing.T) {
	broken := looptest.BrokenText(loop.MaxSource)
	rapid.Check(t, func(t *rapid.T) {
		text := broken.Draw(t, "text")
		header, runtime := looptest.Headers().Draw(t, "header"), looptest.Runtimes().Draw(t, "runtime")
		spoilt := func(spoil func(*model.Model)) event.Event {
			r := runtime.Clone()
			spoil(&r.Model)
			return event.LoopInferenceChanged{Header: header, Runtime: r}
		}
		e := rapid.SampledFrom([]event.Event{
			event.LoopModeChanged{Header: header, PreviousMode: loop.ModeName(text), Runtime: runtime},
			event.LoopModeChanged{Header: header, Mode: loop.ModeName(text), Runtime: runtime},
			event.LoopModeChanged{Header: header, Runtime: event.Runtime{Model: runtime.Model, Effort: model.Effort(text)}},
			event.LoopExternalToolsetChanged{Header: header, Source: text, Generation: "g"},
			event.LoopExternalToolsetChanged{Header: header, Source: "s", Generation: text},
			event.LoopExternalToolsetChanged{Header: header, Source: "s", Generation: "g", Tools: []event.ExternalToolIdentity{{Name: text, SchemaDigest: digestOfObject}}},
			event.LoopExternalToolsetChanged{Header: header, Source: "s", Generation: "g", Tools: []event.ExternalToolIdentity{{Name: "x", SchemaDigest: text}}},
			event.LoopStarted{Header: header, Name: text, Runtime: runtime},
			event.LoopStarted{Header: header, Name: "n", Mode: loop.ModeName(text), Runtime: runtime},
			event.TurnStarted{Header: header, Mode: loop.ModeName(text)},
			event.TurnEnded{Header: header, Outcome: event.TurnOutcome(text)},
			spoilt(func(m *model.Model) { m.Provider = text }),
			spoilt(func(m *model.Model) { m.APIFormat = text }),
			spoilt(func(m *model.Model) { m.Name = text }),
			spoilt(func(m *model.Model) { m.BaseURL = "https://a.example/" + text }),
			spoilt(func(m *model.Model) { m.Efforts = []model.Effort{model.Effort(text)} }),
			spoilt(func(m *model.Model) { m.Sampling.Effort = model.Effort(text) }),
			spoilt(func(m *model.Model) { m.Sampling.Stop = []string{text} }),
		}).Draw(t, "event")
		_, err := event.Encode(e)
		var invalid *event.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.NotEmpty(t, invalid.Field)
	})
}
