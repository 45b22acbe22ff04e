package native_test

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

// parrot is a model client: it repeats what it was told last.
type parrot struct{}

func (parrot) Stream(_ context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		answer := r.Messages[len(r.Messages)-1].Text
		fmt.Printf("%s (%s, effort %q): %s\n", r.Model.Name, r.Instructions, r.Effort, answer)
		yield(model.Chunk{Text: answer}, nil)
	}
}

func Example() {
	ctx := context.Background()
	definition, err := loop.Define(
		loop.WithName("assistant"),
		loop.WithInstructions("be brief"),
		loop.WithModel(model.Model{Provider: "acme", APIFormat: "chat", Name: "m1", Efforts: []model.Effort{model.EffortHigh}}),
		loop.WithMode("plan", loop.WithInstructions("only plan"), loop.WithEffort(model.EffortHigh)),
	)
	if err != nil {
		panic(err)
	}
	config := native.Config{Definition: definition, Journal: new(journal.Memory), Client: parrot{}}
	l, err := native.Restore(ctx, config) // on an empty journal: a new loop
	if err != nil {
		panic(err)
	}
	run := func(input string) {
		turn, err := l.Submit(ctx, input)
		if err != nil {
			panic(err)
		}
		<-turn.Done()
	}
	run("hello")
	if err := l.SetMode(ctx, "plan"); err != nil { // durable when it returns
		panic(err)
	}
	run("hello again")

	var refusal *loop.ChangeError
	if err := l.Change(ctx, loop.ChangeEffort(model.EffortMax)); errors.As(err, &refusal) {
		fmt.Println("refused:", refusal.Kind)
	}
	if err := l.Shutdown(ctx); err != nil {
		panic(err)
	}
	if l, err = native.Restore(ctx, config); err != nil {
		panic(err)
	}
	fmt.Printf("restored in mode %q\n", l.Mode())
	_ = l.Shutdown(ctx)
	// Output:
	// m1 (be brief, effort ""): hello
	// m1 (only plan, effort "high"): hello again
	// refused: invalid_effort
	// restored in mode "plan"
}
