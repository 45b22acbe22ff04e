package faulty_test

import (
	"context"
	"errors"
	"testing/synctest"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

var changeScenarios = map[string]scenario{
	"empty-batch-succeeds": func(b *bench) {
		b.refuses(b.change(), loop.ChangeNoChanges)
		b.refuses(b.change(nil, nil), loop.ChangeNoChanges)
	},
	"first-value-wins": func(b *bench) {
		b.ok(b.change(loop.ChangeEffort(model.EffortNone), toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		b.isIn("", "m2", model.EffortHigh)
	},
	"nil-element-ends-batch": func(b *bench) {
		b.ok(b.change(toModel("m2", model.EffortHigh), nil, loop.ChangeEffort(model.EffortHigh)))
		b.isIn("", "m2", model.EffortHigh)
	},
	"batch-in-two-events": func(b *bench) {
		b.ok(b.change(toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		b.equal(1, b.recorded(), "events of one batch")
	},
	"batch-field-by-field": func(b *bench) {
		b.refuses(b.change(toModel("m2", model.EffortLow), loop.ChangeEffort(model.EffortMax)), loop.ChangeInvalidEffort)
	},
	"batch-drops-model": func(b *bench) {
		b.ok(b.change(toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		b.isIn("", "m2", model.EffortHigh)
	},
	"equal-batch-skipped": func(b *bench) {
		b.ok(b.change(loop.ChangeEffort(model.EffortLow)))
		b.equal(1, b.recorded(), "events")
	},
	"transport-by-provider": func(b *bench) {
		m := modelOf("m2", model.EffortLow)
		m.BaseURL = "https://elsewhere.example"
		b.refuses(b.change(loop.ChangeModel(m)), loop.ChangeInvalidModel)
	},
	"model-structure-unchecked": func(b *bench) {
		m := modelOf("m2", model.EffortLow)
		m.Limits.Context = -1
		b.refuses(b.change(loop.ChangeModel(m)), loop.ChangeInvalidModel)
		m = modelOf("", model.EffortLow)
		b.refuses(b.change(loop.ChangeModel(m)), loop.ChangeInvalidModel)
	},
	"effort-unchecked": func(b *bench) {
		b.refuses(b.change(loop.ChangeEffort(model.EffortMax)), loop.ChangeInvalidEffort)
		b.refuses(b.change(loop.ChangeEffort("enormous")), loop.ChangeInvalidEffort)
	},
	"effort-against-current-model": func(b *bench) {
		b.ok(b.change(loop.ChangeEffort(model.EffortMax), toModel("m2", model.EffortMax)))
		b.isIn("", "m2", model.EffortMax)
	},
	"model-alone-resets-effort": func(b *bench) {
		b.ok(b.change(toModel("m2", model.EffortLow)))
		b.isIn("", "m2", model.EffortLow)
	},
	"carried-effort-unchecked": func(b *bench) {
		b.refuses(b.change(toModel("m2", model.EffortMax)), loop.ChangeInvalidEffort)
	},
	"change-slice-kept": func(b *bench) {
		changes := []loop.Change{toModel("m2", model.EffortLow)}
		b.ok(func() error { return b.Change(b.ctx, changes...) })
		changes[0] = toModel("m3", model.EffortLow)
		b.equal("m2", b.capture("t").Model.Name, "model of the turn")
	},
	"definition-remembers": startsAlike,
	"slots-on-definition":  startsAlike,

	"unknown-mode-is-base": refusesUnknownModes,
	"refused-mode-unnamed": refusesUnknownModes,
	"base-mode-refused": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.ok(b.setMode(loop.BaseMode))
		b.isIn("", "m1", model.EffortLow)
	},
	"mode-inherits-current": func(b *bench) {
		b.ok(b.change(toModel("m1", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		b.ok(b.setMode("quick"))
		b.isIn("quick", "m1", model.EffortLow)
		b.equal("be quick", b.capture("t").Instructions, "instructions")
	},
	"current-mode-skipped": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.ok(b.change(loop.ChangeEffort(model.EffortNone)))
		b.ok(b.setMode("plan"))
		b.equal(3, b.recorded(), "events")
		b.isIn("plan", "planner", model.EffortMax)
	},
	"mode-in-two-events": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.equal(1, b.recorded(), "events of one change of mode")
	},
	"change-edits-mode": func(b *bench) {
		b.ok(b.change(toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		b.ok(b.setMode(loop.BaseMode))
		b.isIn("", "m1", model.EffortLow)
	},
	"unknown-mode-restored-as-base": refusesAModeThatIsGone,
	"unknown-mode-repaired":         refusesAModeThatIsGone,
	"unknown-mode-untyped":          refusesAModeThatIsGone,
}

func startsAlike(b *bench) {
	b.ok(b.change(toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
	b.ok(b.replace("mcp", "g", named("x")...))
	b.others = append(b.others, b.Loop)
	b.Loop = b.start(b.definition, &diary{})
	b.isIn("", "m1", model.EffortLow)
	b.offers("d1", "d2")
}

func refusesUnknownModes(b *bench) {
	b.ok(b.setMode("plan"))
	refused := b.refuses(b.setMode("no such mode"), loop.ChangeInvalidMode)
	b.equal(loop.ModeName("no such mode"), refused.Mode, "mode named by the refusal")
}

func refusesAModeThatIsGone(b *bench) {
	b.ok(b.setMode("plan"))
	poorer, err := loop.Define(loop.WithName("bench"), loop.WithModel(modelOf("m1", model.EffortLow)))
	b.check(err == nil, "%v", err)
	err = b.restore(poorer)
	var refused *loop.RestoreError
	b.check(errors.As(err, &refused), "restored, or an error of no type: %v", err)
	b.equal(loop.RestoreUnknownMode, refused.Kind, "kind")
	b.equal(loop.ModeName("plan"), refused.Mode, "mode")
	b.equal(1, b.recorded(), "events in the journal")
}

// moreScenarios are what of the correct loop no fault has asked for.
var moreScenarios = map[string]scenario{
	"every change is seen at once, and outlives a crash": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.settled()
		b.ok(b.change(toModel("m2", model.EffortHigh), loop.ChangeEffort(model.EffortHigh)))
		b.settled()
		b.isIn("plan", "m2", model.EffortHigh)
		id := b.ID()
		before := b.inForce()
		b.check(b.restore(b.definition) == nil, "not restored")
		b.equal(before, b.inForce(), "restored")
		b.equal(id, b.ID(), "id")
		b.settled()
	},
	"a context that has ended refuses every call": func(b *bench) {
		ended, cancel := context.WithCancel(b.ctx)
		cancel()
		for _, f := range []func() error{
			func() error { return b.SetMode(ended, "plan") },
			func() error { return b.Change(ended, loop.ChangeEffort(model.EffortNone)) },
			b.replaceWith(ended, "mcp", "g", named("x")...),
			func() error { return b.Interrupt(ended) },
		} {
			refused := b.refuses(f, loop.ChangeContextDone)
			b.check(errors.Is(refused, context.Canceled), "the context's error is not wrapped: %v", refused)
		}
		var refused *loop.SubmitError
		b.check(errors.As(b.now(func() error { _, err := b.Submit(ended, "t"); return err }), &refused), "accepted")
		b.equal(loop.SubmitContextDone, refused.Kind, "kind")
	},
	"a shutdown with an ended context goes on": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		change := b.begin(b.setMode("plan"))
		ended, cancel := context.WithCancel(b.ctx)
		cancel()
		b.equal(context.Canceled, b.now(func() error { return b.Shutdown(ended) }), "shutdown")
		b.refuses(b.setMode("quick"), loop.ChangeLoopShuttingDown)
		release(held)
		b.check(b.result(change) == nil, "an append that succeeded was reported as failed")
		b.ok(b.shutdown)
		b.settled()
	},
	"a shutdown in a doubt faults, and waits for nothing": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{after: errDisk})
		b.journal.planReads(plan{hold: held})
		change := b.begin(b.setMode("plan"))
		b.check(!change.returned(), "answered in a doubt")
		b.ok(b.shutdown)
		b.equal(loop.ChangeDurableAppendFailed, kindOf(b.result(change)), "kind")
		b.isIn("", "m1", model.EffortLow)
	},
	"a tool may shut the loop down": func(b *bench) {
		b.d1.run = func(ctx context.Context) (string, error) { return "", b.Shutdown(context.WithoutCancel(ctx)) }
		b.equal(loop.TurnInterrupted, b.outcome(b.runs("t", "d1")), "outcome")
		b.ok(b.shutdown)
	},
	"a panicking journal is a failed append": func(b *bench) {
		b.journal.plan(plan{panics: true})
		b.refusesAppend(b.setMode("plan"))
		b.ok(b.setMode("quick"))
		b.settled()
	},
	"an append that outlives its caller's context commits": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		ctx, cancel := context.WithCancel(b.ctx)
		change := b.begin(func() error { return b.SetMode(ctx, "plan") })
		cancel()
		synctest.Wait()
		b.check(!change.returned(), "returned during its append")
		release(held)
		b.check(b.result(change) == nil, "refused")
		b.isIn("plan", "planner", model.EffortMax)
	},
	"a doubt that its caller did not wait for, and an event that is there, fault the loop": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{after: errDisk})
		b.journal.planReads(plan{hold: held})
		ctx, cancel := context.WithCancel(b.ctx)
		change := b.begin(func() error { return b.SetMode(ctx, "plan") })
		cancel()
		b.equal(loop.ChangeDurableAppendFailed, kindOf(b.result(change)), "kind")
		waiting := b.begin(b.setMode("quick"))
		b.check(!waiting.returned(), "answered in a doubt")
		release(held)
		b.equal(loop.ChangeLoopFaulted, kindOf(b.result(waiting)), "kind")
		b.refuses(b.change(loop.ChangeEffort(model.EffortHigh)), loop.ChangeLoopFaulted)
		b.ok(b.interrupt)
		b.ok(b.shutdown)
	},
}

func kindOf(err error) loop.ChangeErrorKind {
	var refused *loop.ChangeError
	if errors.As(err, &refused) {
		return refused.Kind
	}
	return ""
}

// refusesAppend makes a change whose append fails with nothing written.
func (b *bench) refusesAppend(f func() error) *loop.ChangeError {
	before, recorded := b.inForce(), b.recorded()
	err := b.now(f)
	var refused *loop.ChangeError
	b.check(errors.As(err, &refused), "want a failed append, got %v", err)
	b.equal(loop.ChangeDurableAppendFailed, refused.Kind, "kind")
	b.equal(before, b.inForce(), "in force after a failed append")
	b.equal(recorded, b.recorded(), "events after a failed append")
	return refused
}
