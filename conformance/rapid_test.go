package conformance_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/workload"
)

// The generators are for properties of the user's own, too: here she takes the programs of one client after the other, without
// any concurrency, and holds a loop of hers against its journal.
func TestWorkloadsInAPropertyOfTheUsersOwn(t *testing.T) {
	m := model.Model{Provider: "acme", APIFormat: "chat", Name: "m", Efforts: []model.Effort{model.EffortLow, model.EffortHigh}}
	options := []loop.Option{loop.WithName("mine"), loop.WithModel(m)}
	for _, mode := range workload.Modes() {
		options = append(options, loop.WithMode(loop.ModeName(mode), loop.WithEffort(model.EffortHigh)))
	}
	definition, err := loop.Define(options...)
	require.NoError(t, err)

	committed := 0
	rapid.Check(t, func(t *rapid.T) {
		program := workload.Workloads(workload.Profile{MaxClients: 2}).Draw(t, "program")
		require.NoError(t, program.Validate())
		log := new(journal.Memory)
		l, err := native.New(t.Context(), native.Config{Definition: definition, Journal: log, Client: silent{}})
		require.NoError(t, err)
		defer func() { require.NoError(t, l.Shutdown(context.Background())) }()
		for _, o := range program.Operations() {
			switch o.Kind {
			case workload.SetMode:
				mode, _ := o.Value("mode")
				err = l.SetMode(t.Context(), loop.ModeName(workload.Expand(mode)))
			case workload.Change:
				effort, _ := o.Value("effort")
				err = l.Change(t.Context(), loop.ChangeEffort(model.Effort(effort)))
			default:
				continue
			}
			if err == nil {
				committed++
			}
			state, err := journal.Fold(journal.Initial(definition), log.Events(t.Context()))
			require.NoError(t, err)
			assert.Equal(t, state.Mode, l.Mode(), "%s", o)
			assert.Equal(t, state.Model, l.Model(), "%s", o)
		}
	})
	assert.Positive(t, committed, "else nothing was compared")
}

// Single operations are for programs that she composes herself.
func TestOperationsInAPropertyOfTheUsersOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profile := workload.Profile{External: true, Extra: []workload.Extra{{Kind: kindExport, Weight: 50}}}
		w := workload.Workload{Clients: []workload.Client{{Name: "a", Operations: []workload.Operation{
			workload.Operations(profile, "a1").Draw(t, "first"), workload.Operations(profile, "a2").Draw(t, "second"),
		}}}}
		require.NoError(t, w.Validate(kindExport), "%s", w)
		again, err := workload.Parse(w.String(), kindExport)
		require.NoError(t, err)
		assert.Equal(t, w.String(), again.String())
	})
}

// silent is a client that nobody asks here.
type silent struct{}

func (silent) Stream(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	return func(func(model.Chunk, error) bool) {}
}
