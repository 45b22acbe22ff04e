package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// load keeps the loop busy from three clients until ctx ends, then lets them finish the call that they are in.
func load(ctx context.Context, l *native.Loop, seed uint64, seen *watch) {
	var clients sync.WaitGroup
	for i, name := range []string{"a", "b", "c"} {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		clients.Go(func() {
			for n := 1; ctx.Err() == nil; n++ {
				o := draw(random, fmt.Sprintf("%s%d", name, n))
				seen.operation(name, o, o.do(ctx, l))
				pause(ctx, random)
			}
		})
	}
	clients.Wait()
}

// operation is one operation of a client.
type operation struct {
	kind, detail string
	do           func(context.Context, *native.Loop) error
}

// draw draws an operation. The name is the input of a turn, and the generation of a set of tools.
func draw(random *rand.Rand, name string) operation {
	switch random.IntN(10) {
	case 0, 1, 2, 3:
		return operation{"turn", name, func(ctx context.Context, l *native.Loop) error {
			turn, err := l.Submit(ctx, name)
			if err != nil {
				return err
			}
			<-turn.Done()
			return turn.Err()
		}}
	case 4, 5:
		m := pick(random, "m1", "m2", "m3")
		effort := pick(random, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax)
		return operation{"change", fmt.Sprintf("model=%s effort=%s", m, effort), func(ctx context.Context, l *native.Loop) error {
			return l.Change(ctx, loop.ChangeModel(newModel(m)), loop.ChangeEffort(effort))
		}}
	case 6:
		mode := pick[loop.ModeName](random, loop.BaseMode, "plan", "review", "dream")
		return operation{"set mode", fmt.Sprintf("%q", mode), func(ctx context.Context, l *native.Loop) error {
			return l.SetMode(ctx, mode)
		}}
	case 7, 8:
		source, tools := pick(random, "mcp", "db"), pick(random, "search", "query", "read")
		set := loop.ExternalToolset{Source: source, Generation: name, Definitions: []tool.Definition{echo(tools)}}
		return operation{"replace", fmt.Sprintf("source=%s tools=%s", source, tools), func(ctx context.Context, l *native.Loop) error {
			return l.ReplaceExternalTools(ctx, set)
		}}
	default:
		return operation{"interrupt", "", func(ctx context.Context, l *native.Loop) error { return l.Interrupt(ctx) }}
	}
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// pause waits a little: a demonstration is to be followed by eye, and the load to come in varying order.
func pause(ctx context.Context, random *rand.Rand) {
	timer := time.NewTimer(time.Duration(random.IntN(4000)) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// outcome words what became of an operation.
func outcome(err error) string {
	var change *loop.ChangeError
	var submit *loop.SubmitError
	var turn *loop.TurnError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &change):
		return "refused: " + string(change.Kind)
	case errors.As(err, &submit):
		return "refused: " + string(submit.Kind)
	case errors.As(err, &turn):
		return string(turn.Kind)
	}
	return err.Error()
}
