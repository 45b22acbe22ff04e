package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/loopcheck/loopcheck/conformance"
	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/workload"
)

// Run goes into a test of the package that has the loop.
func ExampleRun() {
	TestLoop := func(t *testing.T) {
		conformance.Run(t, conformance.Subject{
			Name: "myloop",
			Start: func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
				return native.New(ctx, native.Config{Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings})
			},
		})
	}
	_ = TestLoop
}

// Fuzz goes next to it. What it finds is replayed by the test with Run, of the same subject.
func ExampleFuzz() {
	FuzzLoop := func(f *testing.F) { conformance.Fuzz(f, reference()) }
	_ = FuzzLoop
}

// A program checks a loop that asks for the model anew in each step of a turn.
func ExampleCheck() {
	subject := conformance.Subject{
		Name: "myloop",
		Start: func(ctx context.Context, e conformance.Env) (loop.Loop, error) {
			return faulty.New(ctx, faulty.Config{
				Definition: e.Definition, Journal: e.Journal, Client: e.Client, Bindings: e.Bindings, Fault: "model-per-step",
			})
		},
	}
	report, err := conformance.Check(context.Background(), subject, conformance.Config{Schedules: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("passed:", report.Passed())
	for _, failure := range report.Failures {
		fmt.Println(failure.Message)
	}
	// Output:
	// passed: false
	// TURN-1 broken by turn a1, step 2: the model was asked with effort "high", the turn had captured "low"
}

// An operation of the user's own: schedules of the subject have lines like "a2 export form=full".
func ExampleOperation() {
	subject := reference()
	subject.Operations = []conformance.Operation{{
		Kind: "export", Weight: 10,
		Args: func(draw workload.Draw) []workload.Arg {
			return []workload.Arg{{Name: "form", Value: []string{"short", "full"}[draw(2)]}}
		},
		Do: func(_ context.Context, l loop.Loop, o workload.Operation) error {
			if form, _ := o.Value("form"); form == "full" && l.Model().Name == "" {
				return errors.New("there is nothing to export")
			}
			return nil
		},
	}}
	report, err := conformance.Check(context.Background(), subject, conformance.Config{Schedules: 20})
	fmt.Println(report.Passed(), err)
	// Output: true <nil>
}
