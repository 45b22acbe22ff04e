package faulty_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing/synctest"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var lifeScenarios = map[string]scenario{
	"interrupt-clears-queue": func(b *bench) {
		t1, _ := b.submitHeld("t1", true)
		t2 := b.submit("t2")
		b.ok(b.interrupt)
		b.equal(loop.TurnInterrupted, b.outcome(t1), "outcome")
		b.equal(loop.TurnErrorKind(""), b.outcome(t2), "outcome of the queued turn")
	},
	"interrupt-latched": func(b *bench) {
		b.ok(b.interrupt)
		b.capture("t")
	},
	"interrupt-at-next-step": interruptsWhatIsInFlight,
	"interrupt-rolls-back": func(b *bench) {
		b.submitHeld("t1", true)
		b.ok(b.setMode("plan"))
		b.ok(b.interrupt)
		b.isIn("plan", "planner", model.EffortMax)
		b.settled()
	},
	"interrupt-waits-for-calls": interruptsWhatIsInFlight,
	"tool-context-detached": func(b *bench) {
		held := b.hold()
		b.d1.run = func(context.Context) (string, error) {
			<-held
			return "", nil
		}
		b.runs("t", "d1")
		b.ok(b.interrupt)
		b.check(b.d1.context().Err() != nil, "the tool does not see the interrupt")
	},
	"request-context-detached": func(b *bench) {
		turn, _ := b.submitHeld("t", false)
		b.ok(b.interrupt)
		b.outcome(turn)
		b.check(b.client.context(0).Err() != nil, "the request does not see the interrupt")
	},
	"shutdown-waits-for-calls": func(b *bench) {
		t1, _ := b.submitHeld("t1", false)
		t2 := b.submit("t2")
		b.ok(b.shutdown)
		b.equal(loop.TurnInterrupted, b.outcome(t1), "outcome")
		b.equal(loop.TurnDropped, b.outcome(t2), "outcome of the queued turn")
	},
	"shutdown-waits-for-build": func(b *bench) {
		held := b.hold()
		b.begin(b.replace("mcp", "g", broken(func(context.Context) ([]tool.InvokableTool, error) {
			<-held
			return nil, nil
		})))
		b.ok(b.shutdown)
	},
	"shutdown-undone":          shutsDownPastItsContext,
	"shutdown-ignores-context": shutsDownPastItsContext,
	"second-shutdown-fails": func(b *bench) {
		b.ok(b.shutdown)
		b.ok(b.shutdown)
	},
	"build-after-exit": refusesAfterTheExit,
	"stopped-event-after-exit": func(b *bench) {
		b.ok(b.shutdown)
		b.equal(0, len(b.journal.events()), "events after the exit")
	},
	"queue-dropped-silently": dropsTheQueue,
	"dropped-without-error":  dropsTheQueue,
	"submit-after-exit": func(b *bench) {
		b.ok(b.shutdown)
		var refused *loop.SubmitError
		b.check(errors.As(b.now(func() error { _, err := b.Submit(b.ctx, "t"); return err }), &refused), "accepted")
		b.equal(loop.SubmitExited, refused.Kind, "kind")
		synctest.Wait()
		b.equal(0, len(b.client.all()), "requests after the exit")
	},
	"event-with-prior-effort": recordsWhatIsInForce,
	"event-model-key-only":    recordsWhatIsInForce,
	"mode-event-old-runtime":  recordsWhatIsInForce,
	"restore-default-model":   restoresWhatWasInForce,
	"restore-forgets-mode":    restoresWhatWasInForce,
	"restore-prefix": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.journal.planReads(plan{after: errDisk})
		var refused *loop.RestoreError
		err := b.restore(b.definition)
		b.check(errors.As(err, &refused), "restored from a part: %v", err)
		b.equal(loop.RestoreUnreadable, refused.Kind, "kind")
		b.check(errors.Is(err, errDisk), "the cause is lost")
	},
	"inputs-replayed": func(b *bench) {
		b.submitHeld("t1", true)
		b.ok(b.setMode("quick"))
		b.check(b.restore(b.definition) == nil, "not restored")
		synctest.Wait()
		b.equal(1, len(b.client.of("t1")), "requests of a turn of the former life")
	},
	"fallback-saved": func(b *bench) {
		b.ok(b.change(toModel("m2", model.EffortLow)))
		b.client.on("t", func(context.Context, int) ([]string, error) { return nil, errDisk })
		b.equal(loop.TurnFailed, b.outcome(b.submit("t")), "outcome")
		b.isIn("", "m2", model.EffortLow)
		b.equal(1, b.recorded(), "events")
	},
	"schema-journalled":      recordsNoSecrets,
	"build-error-journalled": recordsNoSecrets,
	"ambiguous-ignored": func(b *bench) {
		b.journal.plan(plan{after: errDisk})
		b.ok(b.setMode("plan")) // or refused and faulted: this loop finds out
		b.settled()
	},
	"turns-in-doubt": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{after: errDisk})
		b.journal.planReads(plan{hold: held})
		change := b.begin(b.setMode("plan"))
		b.begin(func() error {
			_, err := b.Submit(b.ctx, "t")
			return err
		})
		b.equal(0, len(b.client.all()), "requests in a doubt")
		release(held)
		b.check(b.result(change) == nil, "refused")
		synctest.Wait()
		b.equal("only plan", b.client.of("t")[0].Instructions, "instructions after the doubt")
	},
	"read-back-prefix":     faults,
	"fault-accepts-inputs": faults,
	"event-ids-from-counter": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.check(b.restore(b.definition) == nil, "not restored")
		b.journal.plan(plan{before: errDisk})
		b.refusesAppend(b.setMode("quick"))
		b.settled()
	},
}

// interruptsWhatIsInFlight interrupts a turn whose request ignores its context, with another queued.
func interruptsWhatIsInFlight(b *bench) {
	t1, held := b.submitHeld("t1", false)
	t2 := b.submit("t2")
	b.ok(b.interrupt)
	b.equal(loop.TurnInterrupted, b.outcome(t1), "outcome")
	b.equal(loop.TurnErrorKind(""), b.outcome(t2), "outcome of the queued turn")
	release(held)
	synctest.Wait()
	b.equal(1, len(b.client.of("t1")), "requests of the interrupted turn")
}

func shutsDownPastItsContext(b *bench) {
	held := b.hold()
	b.journal.plan(plan{hold: held})
	change := b.begin(b.setMode("plan"))
	ctx, cancel := context.WithCancel(b.ctx)
	shutdown := b.begin(func() error { return b.Shutdown(ctx) })
	b.check(!shutdown.returned(), "exited during an append")
	cancel()
	b.equal(context.Canceled, b.result(shutdown), "shutdown")
	release(held)
	b.check(b.result(change) == nil, "refused")
	b.refuses(b.setMode("quick"), loop.ChangeLoopExited)
}

func dropsTheQueue(b *bench) {
	b.submitHeld("t1", true)
	t2, t3 := b.submit("t2"), b.submit("t3")
	b.ok(b.shutdown)
	b.equal(loop.TurnDropped, b.outcome(t2), "outcome")
	b.equal(loop.TurnDropped, b.outcome(t3), "outcome")
	b.equal(0, len(b.client.of("t2")), "requests of a dropped turn")
}

func recordsWhatIsInForce(b *bench) {
	b.ok(b.change(loop.ChangeEffort(model.EffortHigh)))
	b.settled()
	b.ok(b.setMode("plan"))
	b.settled()
	e := b.journal.durable()[1].(event.LoopModeChanged)
	b.equal(loop.BaseMode, e.PreviousMode, "previous mode")
}

func restoresWhatWasInForce(b *bench) {
	b.ok(b.setMode("plan"))
	b.ok(b.change(toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
	b.check(b.restore(b.definition) == nil, "not restored")
	b.isIn("plan", "m2", model.EffortHigh)
	b.equal("only plan", b.capture("t").Instructions, "instructions")
}

func recordsNoSecrets(b *bench) {
	leaky := broken(func(context.Context) ([]tool.InvokableTool, error) { return nil, errors.New("no access with s3cret") })
	b.now(b.replace("mcp", "g", leaky))
	b.ok(b.replace("mcp", "g", def(&live{name: "x", schema: json.RawMessage(`{"default":"s3cret"}`)})))
	for _, e := range b.journal.durable() {
		raw, err := event.Encode(e)
		b.check(err == nil, "%v", err)
		b.check(!strings.Contains(string(raw), "s3cret"), "a secret is recorded: %s", raw)
	}
}

// faults fails an append whose outcome cannot be told: the loop may only fault.
func faults(b *bench) {
	b.journal.plan(plan{after: errDisk})
	b.journal.planReads(plan{before: errDisk})
	b.equal(loop.ChangeDurableAppendFailed, kindOf(b.now(b.setMode("plan"))), "kind")
	b.refuses(b.setMode("quick"), loop.ChangeLoopFaulted)
	var refused *loop.SubmitError
	b.check(errors.As(b.now(func() error { _, err := b.Submit(b.ctx, "t"); return err }), &refused), "accepted")
	b.equal(loop.SubmitFaulted, refused.Kind, "kind")
	b.ok(b.interrupt)
	b.ok(b.shutdown)
}
