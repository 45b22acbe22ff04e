package faulty_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
)

// TestCorrectLoopUnderLoad has clients that do whatever they like at the same time, with appends that fail before and after
// the write. Whatever comes about: each input has one outcome, journal and handle agree in the end unless the loop has
// faulted, and the bubble finds no goroutine left.
func TestCorrectLoopUnderLoad(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			assert.Empty(t, play(t, "", func(b *bench) { load(b, seed) }))
		})
	}
}

func load(b *bench, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 1))
	for range 40 {
		switch dice.IntN(8) {
		case 0:
			b.journal.plan(plan{before: errDisk})
		case 1:
			b.journal.plan(plan{after: errDisk})
		default:
			b.journal.plan(plan{})
		}
		b.journal.planReads(plan{})
	}
	if dice.IntN(4) == 0 {
		b.journal.planReads(plan{before: errDisk})
	}
	for i := range 20 {
		b.client.calls(fmt.Sprint("t", i), [][]string{{"d1"}, {"d2", "x"}, {"nope"}, nil}[dice.IntN(4)]...)
	}
	b.d1.run = func(ctx context.Context) (string, error) { return "", b.SetMode(ctx, "quick") }
	b.d2.run = func(context.Context) (string, error) { panic("tool") }

	var mu sync.Mutex
	var turns []loop.Turn
	var wg sync.WaitGroup
	for client := range 4 {
		dice := rand.New(rand.NewPCG(seed, uint64(client)+2))
		wg.Go(func() {
			for i := range 10 {
				ctx, cancel := context.WithCancel(b.ctx)
				go func() {
					if i%3 == 0 {
						cancel()
					}
				}()
				before := b.Model()
				var err error
				switch dice.IntN(7) {
				case 0:
					err = b.SetMode(ctx, []loop.ModeName{"", "plan", "quick", "bare"}[dice.IntN(4)])
				case 1:
					err = b.Change(ctx, toModel(fmt.Sprint("m", dice.IntN(3)), model.EffortLow))
				case 2:
					err = b.Change(ctx, loop.ChangeEffort(model.EffortHigh))
				case 3:
					source := fmt.Sprint("s", dice.IntN(2))
					err = b.replaceWith(ctx, source, "g", named([]string{"x", "y"}[:dice.IntN(3)]...)...)()
				case 4:
					err = b.Interrupt(ctx)
				default:
					turn, refused := b.Submit(ctx, fmt.Sprint("t", dice.IntN(20)))
					if refused == nil {
						mu.Lock()
						turns = append(turns, turn)
						mu.Unlock()
					}
				}
				var refused *loop.ChangeError
				if err != nil && !errors.As(err, &refused) {
					panic(err)
				}
				*before.Sampling.Temperature = 2
				cancel()
			}
		})
	}
	wg.Wait()
	synctest.Wait()
	err := b.now(b.setMode(b.Mode()))
	if kindOf(err) != loop.ChangeLoopFaulted {
		b.check(err == nil || kindOf(err) == loop.ChangeDurableAppendFailed, "not in order: %v", err)
		b.settled()
	}
	b.ok(b.shutdown)
	for _, turn := range turns {
		b.outcome(turn)
	}
	folded, err := journal.Fold(journal.Initial(b.definition), b.journal.Memory.Events(context.Background()))
	b.check(err == nil && folded.Model.Name != "", "the journal cannot be folded: %v", err)
}
