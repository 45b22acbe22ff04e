package event_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func requireInvalid(t require.TestingT, err error, kind event.Type, field string) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	var invalid *event.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, field, invalid.Field, "%v", err)
	require.Equal(t, kind, invalid.Type, "%v", err)
	require.Error(t, invalid.Cause)
	require.Contains(t, err.Error(), field)
}

// An edit of a golden encoding that makes it malformed, and the field that the error must name.
type edit struct {
	name         string
	golden       string
	old, instead string // old occurs once in the golden encoding
	field        string
}

func (e edit) apply(t *testing.T) string {
	t.Helper()
	text := golden(t, e.golden)
	require.Equal(t, 1, strings.Count(text, e.old), "%q in %s", e.old, text)
	return strings.Replace(text, e.old, e.instead, 1)
}

const (
	modeChanged      = "loop_mode_changed"
	inferenceChanged = "loop_inference_changed"
	toolsetChanged   = "loop_external_toolset_changed"
	eventID          = `"event_id":"0198a1b2-0000-7000-8000-000000000001"`
	stamp            = `"2026-08-12T09:30:00.123456789Z"`
)

func TestDUR5_AMalformedEventOfAKnownTypeNamesItsField(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	edits := []edit{
		{"unknown field", modeChanged, `"mode":"code"`, `"mode":"code","extra":1`, "extra"},
		{"unknown field that is null", modeChanged, `"mode":"code"`, `"mode":"code","extra":null`, "extra"},
		{"field of another type", modeChanged, `"mode":"code"`, `"mode":"code","source":"mcp"`, "source"},
		{"unknown field of a model", modeChanged, `"name":"m1"`, `"name":"m1","key":"secret"`, "runtime.model.key"},
		{"unknown field of a tool", toolsetChanged, `"name":"search"`, `"name":"search","schema":{}`, "tools[0].schema"},
		{"unknown field of the last tool", toolsetChanged, `"name":"<fetch>"`, `"name":"<fetch>","description":"d"`, "tools[1].description"},
		{"name of an embedded Go field", modeChanged, `"mode":"code"`, `"mode":"code","Header":{}`, "Header"},
		{"name of no field", modeChanged, `"mode":"code"`, `"mode":"code","":1`, `""`},

		{"cased", modeChanged, `"previous_mode"`, `"Previous_Mode"`, "Previous_Mode"},
		{"cased as in Go", toolsetChanged, `"generation"`, `"Generation"`, "Generation"},
		{"cased within", modeChanged, `"base_url"`, `"baseURL"`, "runtime.model.baseURL"},
		{"cased far within", modeChanged, `"top_p"`, `"TOP_P"`, "runtime.model.sampling.TOP_P"},
		{"cased by folding", toolsetChanged, `"source"`, `"ſource"`, "ſource"},

		{"repeated", modeChanged, `"mode":"code"`, `"mode":"code","mode":"code"`, "mode"},
		{"repeated with an escape", modeChanged, `"mode":"code"`, `"mode":"code","m\u006fde":"code"`, "mode"},
		{"repeated as null", toolsetChanged, `"source":"mcp"`, `"source":"mcp","source":null`, "source"},
		{"repeated with another case", modeChanged, `"mode":"code"`, `"mode":"code","MODE":"code"`, "MODE"},
		{"repeated within", modeChanged, `"context":200000`, `"context":200000,"context":1`, "runtime.model.limits.context"},
		{"repeated in a tool", toolsetChanged, `"name":"search"`, `"name":"x","name":"search"`, "tools[0].name"},
		{"repeated list", toolsetChanged, `"source":"mcp"`, `"tools":[],"source":"mcp"`, "tools"},

		{"missing id", modeChanged, eventID + ",", "", "event_id"},
		{"missing time", modeChanged, `"time":` + stamp + ",", "", "time"},
		{"missing mode", modeChanged, `"mode":"code",`, "", "mode"},
		{"missing source", toolsetChanged, `"source":"mcp",`, "", "source"},
		{"missing limits", modeChanged, `"limits":{"context":200000,"output":8000},`, "", "runtime.model.limits"},
		{"missing effort", inferenceChanged, `},"effort":"high"}}`, `}}}`, "runtime.effort"},
		{"missing digest", toolsetChanged, `,"schema_digest":"` + digestOfObject + `"`, "", "tools[0].schema_digest"},
		{"missing outcome", "turn_ended", `,"outcome":"interrupted"`, "", "outcome"},

		{"null mode", modeChanged, `"mode":"code"`, `"mode":null`, "mode"},
		{"null time", modeChanged, stamp, `null`, "time"},
		{"null id", modeChanged, eventID, `"event_id":null`, "event_id"},
		{"null tool", toolsetChanged, `"tools":[`, `"tools":[null,`, "tools[0]"},
		{"null in a list", modeChanged, `["low",`, `[null,`, "runtime.model.efforts[0]"},
		{"null sampling", "loop_mode_changed_least", `"sampling":{}`, `"sampling":null`, "runtime.model.sampling"},

		{"number for text", modeChanged, `"mode":"code"`, `"mode":1`, "mode"},
		{"text for a number", modeChanged, `200000`, `"200000"`, "runtime.model.limits.context"},
		{"fraction for a whole number", modeChanged, `200000`, `200000.5`, "runtime.model.limits.context"},
		{"exponent for a whole number", modeChanged, `200000`, `2e5`, "runtime.model.limits.context"},
		{"number out of range", modeChanged, `200000`, `9223372036854775808`, "runtime.model.limits.context"},
		{"float out of range", modeChanged, `0.95`, `1e400`, "runtime.model.sampling.top_p"},
		{"list for an object", modeChanged, `{"context":200000,"output":8000}`, `[]`, "runtime.model.limits"},
		{"object for a list", toolsetChanged, `"source":"mcp"`, `"source":{"a":1}`, "source"},
		{"text for a list", "loop_external_toolset_changed_cleared", `"g2"`, `"g2","tools":"x"`, "tools"},
		{"text for a tool", toolsetChanged, `"tools":[`, `"tools":["x",`, "tools[0]"},

		{"half a surrogate pair", modeChanged, `"code"`, `"\ud800"`, "mode"},
		{"the other half", modeChanged, `"code"`, `"a\uDFFFb"`, "mode"},
		{"halves in the wrong order", modeChanged, `"code"`, `"\ude00\ud83d"`, "mode"},
		{"two first halves", modeChanged, `"code"`, `"\ud83d\ud83d\ude00"`, "mode"},
		{"half a pair before an escape", modeChanged, `"code"`, `"\ud83d\n"`, "mode"},
		{"half a pair before a backslash", modeChanged, `"code"`, `"\ud83d\\ude00"`, "mode"},
		{"half a pair in a list", modeChanged, `"END"`, `"\ud800"`, "runtime.model.sampling.stop[0]"},
		{"half a pair in a tool", toolsetChanged, `"search"`, `"\udead"`, "tools[0].name"},

		{"no id", modeChanged, eventID, `"event_id":""`, "event_id"},
		{"id without hyphens", modeChanged, eventID, `"event_id":"0198a1b2000070008000000000000001"`, "event_id"},
		{"id in braces", modeChanged, eventID, `"event_id":"{0198a1b2-0000-7000-8000-000000000001}"`, "event_id"},
		{"id in anything", modeChanged, eventID, `"event_id":"x0198a1b2-0000-7000-8000-000000000001x"`, "event_id"},
		{"id as a URN", modeChanged, eventID, `"event_id":"urn:uuid:0198a1b2-0000-7000-8000-000000000001"`, "event_id"},
		{"id that is none", modeChanged, eventID, `"event_id":"0198a1b2-0000-7000-8000-00000000000g"`, "event_id"},
		{"turn's id", "turn_started", `"turn_id":"0198`, `"turn_id":"`, "turn_id"},

		{"time that is none", modeChanged, stamp, `"2026-08-12"`, "time"},
		{"time with a comma", modeChanged, stamp, `"2026-08-12T09:30:00,5Z"`, "time"},
		{"time finer than a nanosecond, with a comma", modeChanged, stamp, `"2026-08-12T09:30:00,1234567891Z"`, "time"},
		{"time of one digit", modeChanged, stamp, `"2026-08-12T9:30:00Z"`, "time"},
		{"time of no zone", modeChanged, stamp, `"2026-08-12T09:30:00"`, "time"},
		{"time of no such day", modeChanged, stamp, `"2026-02-30T09:30:00Z"`, "time"},
		{"time as a number", modeChanged, stamp, `1786527000`, "time"},
		{"time with an escape", modeChanged, stamp, `"2026-08-12T09:30:00\u005a"`, "time"},
		{"time finer than is kept", modeChanged, stamp, `"2026-08-12T09:30:00.1234567891Z"`, "time"},
		{"time before all years", modeChanged, stamp, `"0000-01-01T00:00:00+01:00"`, "time"},
		{"time after all years", modeChanged, stamp, `"9999-12-31T23:59:59-01:00"`, "time"},

		{"empty source", toolsetChanged, `"mcp"`, `""`, "source"},
		{"over-long source", toolsetChanged, `"mcp"`, long(65), "source"},
		{"control character in the source", toolsetChanged, `"mcp"`, `"m\u0085cp"`, "source"},
		{"empty generation", toolsetChanged, `"catalog-2026-08-12"`, `""`, "generation"},
		{"over-long generation", toolsetChanged, `"catalog-2026-08-12"`, long(129), "generation"},
		{"control character in the generation", toolsetChanged, `"catalog-2026-08-12"`, `"\u0000"`, "generation"},
		{"over-long mode", modeChanged, `"code"`, long(65), "mode"},
		{"control character in the previous mode", modeChanged, `"plan"`, `"\u007f"`, "previous_mode"},
		{"mode of a turn", "turn_started", `"code"`, long(65), "mode"},
		{"mode of a start", "loop_started", `"plan"`, long(65), "mode"},
		{"empty loop name", "loop_started", `"assistant"`, `""`, "name"},
		{"over-long loop name", "loop_started", `"assistant"`, long(129), "name"},
		{"unknown outcome", "turn_ended", `"interrupted"`, `"Interrupted"`, "outcome"},

		{"empty tool name", toolsetChanged, `"search"`, `""`, "tools[0].name"},
		{"over-long tool name", toolsetChanged, `"<fetch>"`, long(129), "tools[1].name"},
		{"duplicate tool", toolsetChanged, `"<fetch>"`, `"search"`, "tools[1].name"},
		{"duplicate tool with an escape", toolsetChanged, `"<fetch>"`, `"se\u0061rch"`, "tools[1].name"},
		{"digest in upper case", toolsetChanged, digestOfObject, strings.ToUpper(digestOfObject), "tools[0].schema_digest"},
		{"digest too short", toolsetChanged, digestOfNothing, digestOfNothing[1:], "tools[1].schema_digest"},
		{"digest too long", toolsetChanged, digestOfNothing, digestOfNothing + "0", "tools[1].schema_digest"},
		{"digest of other letters", toolsetChanged, digestOfNothing, "g" + digestOfNothing[1:], "tools[1].schema_digest"},
		{"empty digest", toolsetChanged, digestOfNothing, "", "tools[1].schema_digest"},

		{"unknown effort", inferenceChanged, `},"effort":"high"}}`, `},"effort":"High"}}`, "runtime.effort"},
		{"unknown effort of a model", modeChanged, `"low"`, `"lower"`, "runtime.model.efforts[0]"},
		{"model without a provider", modeChanged, `"acme"`, `""`, "runtime.model.provider"},
		{"model with a credential", modeChanged, "https://api", "https://user:canary@api", "runtime.model.base_url"},
		{"hot model", modeChanged, `0.7`, `2.5`, "runtime.model.sampling.temperature"},
		{"negative limit", modeChanged, `:8000`, `:-1`, "runtime.model.limits.output"},
	}
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			text := e.apply(t)
			decoded, err := event.Decode([]byte(text))
			assert.Nil(t, decoded)
			requireInvalid(t, err, goldens()[e.golden].Type(), e.field)
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}

func TestDUR5_WhatIsNoEventIsATypedError(t *testing.T) {
	stopped := golden(t, "loop_stopped")
	for name, c := range map[string]struct{ text, field string }{
		"nothing":                       {"", ""},
		"white space":                   {" \n", ""},
		"null":                          {"null", ""},
		"text":                          {`"loop_stopped"`, ""},
		"list":                          {"[" + stopped + "]", ""},
		"cut":                           {stopped[:len(stopped)-1], ""},
		"trailing brace":                {stopped + "}", ""},
		"trailing event":                {stopped + stopped, ""},
		"trailing NUL":                  {stopped + "\x00", ""},
		"trailing comma":                {strings.TrimSuffix(stopped, "}") + ",}", ""},
		"byte order mark":               {"\ufeff" + stopped, ""},
		"broken UTF-8":                  {strings.Replace(golden(t, "turn_started"), "code", "c\xffde", 1), ""},
		"broken UTF-8 of another make":  {`{"type":"x","a":"` + "\xed\xa0\x80" + `"}`, ""},
		"no type":                       {`{}`, "type"},
		"cased type":                    {strings.Replace(stopped, `"type"`, `"Type"`, 1), "type"},
		"empty type":                    {`{"type":""}`, "type"},
		"null type":                     {`{"type":null}`, "type"},
		"number for a type":             {`{"type":1}`, "type"},
		"list for a type":               {`{"type":["loop_stopped"]}`, "type"},
		"repeated type":                 {`{"type":"loop_stopped","type":"x"}`, "type"},
		"repeated type of another make": {`{"type":"x","type":"x"}`, "type"},
		"type repeated as null":         {`{"type":"x","type":null}`, "type"},
		"type repeated after null":      {`{"type":null,"type":"x"}`, "type"},
		"type repeated with an escape":  {`{"type":"x","typ\u0065":"loop_stopped"}`, "type"},
		"half a pair in the type":       {`{"type":"loop_stopped\ud800"}`, "type"},
		"nested beyond reason":          {`{"type":"x","a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			decoded, err := event.Decode([]byte(c.text))
			assert.Nil(t, decoded)
			requireInvalid(t, err, "", c.field)
		})
	}
}

func TestDUR5_AnUnknownTypeDecodesAsOther(t *testing.T) {
	for text, tag := range map[string]event.Type{
		`{"type":"x"}`: "x",
		`{"a":[{"type":1}],"type":"loop_mode_changed2"}`:           "loop_mode_changed2",
		`{"type":" loop_stopped"}`:                                 " loop_stopped",
		`{"type":"x","Type":"loop_stopped","a":null,"a":"\ud800"}`: "x",
		`{"type":"\ud83d\ude00"}`:                                  "😀",
	} {
		decoded, err := event.Decode([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, event.Other{Tag: tag, Raw: []byte(text)}, decoded)
	}
}

func TestDUR5_TheNumberOfToolsIsBounded(t *testing.T) {
	list := func(n int) string {
		var tools []string
		for i := range n {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d","schema_digest":"%s"}`, i, digestOfObject))
		}
		return strings.TrimSuffix(golden(t, "loop_external_toolset_changed_cleared"), "}") + `,"tools":[` + strings.Join(tools, ",") + "]}"
	}
	decoded, err := event.Decode([]byte(list(tool.MaxSet)))
	require.NoError(t, err)
	assert.Len(t, decoded.(event.LoopExternalToolsetChanged).Tools, tool.MaxSet)

	_, err = event.Decode([]byte(list(tool.MaxSet + 1)))
	requireInvalid(t, err, toolsetChanged, "tools")
}
