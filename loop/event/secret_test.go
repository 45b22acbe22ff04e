package event_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestDUR4_LiveValuesHaveNoWayIntoAnEncodedIdentity(t *testing.T) {
	const canary = "canary-1f9c"
	definition := &looptest.Definition{
		OnName: func() string { return "definition " + canary },
		OnBuild: func(_ context.Context, bindings tool.Bindings) ([]tool.InvokableTool, error) {
			return []tool.InvokableTool{&looptest.Tool{OnInfo: func(context.Context) (*tool.Info, error) {
				return &tool.Info{
					Name:        "search",
					Description: "uses " + bindings["token"].(string),
					Schema:      json.RawMessage(`{"default":"` + canary + `"}`),
				}, nil
			}}}, nil
		},
	}
	described, err := tool.Describe(t.Context(), []tool.Definition{definition}, tool.Bindings{"token": canary})
	require.NoError(t, err)
	require.Contains(t, described[0].Info.Description, canary)
	require.Contains(t, string(described[0].Info.Schema), canary)

	encoded, err := event.Encode(event.LoopExternalToolsetChanged{
		Header: event.Header{EventID: uuid.New(), LoopID: uuid.New()}, Source: "mcp", Generation: "g",
		Tools: []event.ExternalToolIdentity{{Name: described[0].Info.Name, SchemaDigest: described[0].Digest}},
	})
	require.NoError(t, err)
	assert.NotContains(t, string(encoded), canary)
	assert.Contains(t, string(encoded), `"tools":[{"name":"search","schema_digest":"`+described[0].Digest+`"}]`)
}

func TestDUR4_AnIdentityRecordsANameAndADigestAndNothingElse(t *testing.T) {
	encoded, err := json.Marshal(event.ExternalToolIdentity{Name: "search", SchemaDigest: digestOfObject})
	require.NoError(t, err)
	assert.Equal(t, `{"name":"search","schema_digest":"`+digestOfObject+`"}`, string(encoded))
}
