package faulty_test

import (
	"context"
	"errors"
	"testing/synctest"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var failing = broken(func(context.Context) ([]tool.InvokableTool, error) { return nil, errDisk })

var callScenarios = map[string]scenario{
	"untyped-refusal": func(b *bench) { b.refuses(b.replace("mcp", "g", named("d1")...), loop.ChangeExternalToolCollision) },
	"append-cause-dropped": func(b *bench) {
		b.journal.plan(plan{before: errDisk})
		b.check(errors.Is(b.refusesAppend(b.setMode("plan")), errDisk), "the journal's error is not wrapped")
	},
	"build-cause-dropped": func(b *bench) {
		refused := b.refuses(b.replace("mcp", "g", failing), loop.ChangeExternalBuildFailed)
		b.check(errors.Is(refused, errDisk), "the build's error is not wrapped")
	},
	"refused-set-clears": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("x")...))
		b.refuses(b.replace("mcp", "g2", failing), loop.ChangeExternalBuildFailed)
		b.offers("d1", "d2", "x")
	},
	"mode-after-exit":       refusesAfterTheExit,
	"exit-as-shutting-down": refusesAfterTheExit,
	"replace-after-exit":    refusesAfterTheExit,

	"cancelled-but-commits": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		ctx, cancel := context.WithCancel(b.ctx)
		change := b.begin(func() error { return b.SetMode(ctx, "plan") })
		cancel()
		synctest.Wait()
		b.check(!change.returned(), "returned during its append")
		release(held)
		b.check(b.result(change) == nil, "refused")
	},
	"withdrawn-change-commits": withdraws,
	"context-error-unwrapped":  withdraws,
	"cancelled-waiter-stays":   withdraws,
	"reply-to-next-caller":     withdraws,

	"exit-during-append": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{slow: held})
		change := b.begin(b.setMode("plan"))
		shutdown := b.begin(b.shutdown)
		b.check(!shutdown.returned(), "exited during an append")
		release(held)
		b.check(b.result(change) == nil, "refused")
		b.check(b.result(shutdown) == nil, "not shut down")
	},
	"shutdown-flushes-waiting": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		b.begin(b.setMode("plan"))
		waiting := b.begin(b.setMode("quick"))
		shutdown := b.begin(b.shutdown)
		b.equal(loop.ChangeLoopShuttingDown, kindOf(b.result(waiting)), "kind")
		release(held)
		b.check(b.result(shutdown) == nil, "not shut down")
		b.equal(1, b.recorded(), "events")
	},
	"append-error-ignored": failsAndGoesOn,
	"failed-change-stays":  failsAndGoesOn,
	"retry-deduped":        failsAndGoesOn,
	"persistence-disabled": failsAndGoesOn,

	"success-before-append": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		change := b.begin(b.setMode("plan"))
		b.check(!change.returned(), "success with nothing in the journal")
		b.isIn("", "m1", model.EffortLow)
		release(held)
		b.check(b.result(change) == nil, "refused")
	},
	"persisted-at-turn": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.equal(1, b.recorded(), "events")
		b.settled()
	},
	"change-waits-for-turn": func(b *bench) {
		b.submitHeld("t1", true)
		b.ok(b.setMode("plan"))
		b.ok(b.replace("mcp", "g", named("x")...))
	},
	"build-ignores-context": func(b *bench) {
		held := b.hold()
		ctx, cancel := context.WithCancel(b.ctx)
		change := b.begin(b.replaceWith(ctx, "mcp", "g", broken(func(context.Context) ([]tool.InvokableTool, error) {
			<-held
			return nil, nil
		})))
		cancel()
		b.equal(loop.ChangeContextDone, kindOf(b.result(change)), "kind")
	},
	"submit-waits-for-turn": func(b *bench) {
		b.submitHeld("t1", true)
		b.submit("t2")
	},
	"turn-bound-to-submit": func(b *bench) {
		held := b.hold()
		b.client.on("t1", func(ctx context.Context, _ int) ([]string, error) {
			select {
			case <-held:
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithCancel(b.ctx)
		turn, err := b.Submit(ctx, "t1")
		b.check(err == nil, "refused: %v", err)
		cancel()
		b.check(!ended(turn), "the submitter's context has ended the turn")
		release(held)
		b.equal(loop.TurnErrorKind(""), b.outcome(turn), "outcome")
	},
	"loop-bound-to-start": func(b *bench) {
		ctx, cancel := context.WithCancel(b.ctx)
		l, err := faulty.New(ctx, b.config(b.definition, &diary{}))
		b.check(err == nil, "%v", err)
		b.others = append(b.others, l)
		cancel()
		synctest.Wait()
		b.ok(func() error { return l.SetMode(b.ctx, "plan") })
	},
	"tools-bound-to-install": func(b *bench) {
		ctx, cancel := context.WithCancel(b.ctx)
		x := &live{name: "x", run: func(ctx context.Context) (string, error) {
			synctest.Wait()
			return "", ctx.Err()
		}}
		b.ok(b.replaceWith(ctx, "mcp", "g", def(x)))
		cancel()
		b.client.calls("t", "x")
		turn, err := b.Submit(b.ctx, "t")
		b.check(err == nil, "refused: %v", err)
		<-turn.Done()
		last := b.client.of("t")[1].Messages[2]
		b.check(!last.Failed, "the tool's context has ended: %s", last.Text)
	},
	"shutdown-grace": func(b *bench) { b.ok(b.shutdown) },
	"turn-debounced": func(b *bench) { b.capture("t") },

	"validated-against-pending": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held, before: errDisk})
		pending := b.begin(b.setMode("plan"))
		change := b.begin(b.change(loop.ChangeEffort(model.EffortHigh)))
		release(held)
		b.equal(loop.ChangeDurableAppendFailed, kindOf(b.result(pending)), "kind")
		b.check(b.result(change) == nil, "refused by a change that failed")
	},
	"names-reserved-while-pending": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held, before: errDisk})
		pending := b.begin(b.replace("a", "g", named("x")...))
		change := b.begin(b.replace("b", "g", named("x")...))
		release(held)
		b.equal(loop.ChangeDurableAppendFailed, kindOf(b.result(pending)), "kind")
		b.check(b.result(change) == nil, "refused by a change that failed")
	},
	"failed-names-stay-taken": func(b *bench) {
		b.journal.plan(plan{before: errDisk})
		b.refusesAppend(b.replace("a", "g", named("x")...))
		b.ok(b.replace("b", "g", named("x")...))
	},
	"view-at-turn": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.isIn("plan", "planner", model.EffortMax)
	},
	"view-without-effort": func(b *bench) { b.isIn("", "m1", model.EffortLow) },
	"model-view-ignores-mode": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.isIn("plan", "planner", model.EffortMax)
	},
	"model-ahead-of-mode": showsNothingPending,
	"turn-sees-pending":   showsNothingPending,

	"model-shared-with-reader": sharesNoModel,
	"model-shallow-copy":       sharesNoModel,
}

func refusesAfterTheExit(b *bench) {
	d := def(&live{name: "x"})
	b.ok(b.shutdown)
	b.refuses(b.setMode("plan"), loop.ChangeLoopExited)
	b.refuses(b.change(loop.ChangeEffort(model.EffortNone)), loop.ChangeLoopExited)
	b.refuses(b.replace("mcp", "g", d), loop.ChangeLoopExited)
	b.equal(0, d.builds(), "builds")
	b.ok(b.interrupt)
	b.ok(b.shutdown)
}

// withdraws has a change wait for another's append, and its caller give up.
func withdraws(b *bench) {
	held := b.hold()
	b.journal.plan(plan{hold: held})
	first := b.begin(b.setMode("plan"))
	ctx, cancel := context.WithCancel(b.ctx)
	waiting := b.begin(func() error { return b.SetMode(ctx, "quick") })
	b.check(!waiting.returned(), "returned while another's append was outstanding")
	cancel()
	err := b.result(waiting)
	b.equal(loop.ChangeContextDone, kindOf(err), "kind")
	b.check(errors.Is(err, context.Canceled), "the context's error is not wrapped")
	release(held)
	b.check(b.result(first) == nil, "the first is refused")
	b.isIn("plan", "planner", model.EffortMax)
	b.equal(1, b.recorded(), "events")
	b.ok(b.setMode("bare"))
}

func failsAndGoesOn(b *bench) {
	b.journal.plan(plan{before: errDisk})
	b.refusesAppend(b.setMode("plan"))
	b.settled()
	b.ok(b.setMode("plan"))
	b.settled()
	b.equal(1, b.recorded(), "events")
	b.capture("t")
}

func showsNothingPending(b *bench) {
	held := b.hold()
	b.journal.plan(plan{hold: held, before: errDisk})
	change := b.begin(b.setMode("plan"))
	b.isIn("", "m1", model.EffortLow)
	b.equal("be brief", b.capture("t").Instructions, "instructions during the append")
	release(held)
	b.equal(loop.ChangeDurableAppendFailed, kindOf(b.result(change)), "kind")
}

func sharesNoModel(b *bench) {
	before := b.inForce()
	m := b.Model()
	*m.Sampling.Temperature, m.Sampling.Stop[0], m.Efforts[0] = 1.5, "spoilt", model.EffortMax
	b.equal(before, b.inForce(), "in force, after a reader wrote to what it got")
	m = b.Model()
	b.ok(b.change(loop.ChangeModel(m)))
	*m.Sampling.Temperature = 1.5
	b.equal(before, b.inForce(), "in force, after a caller wrote to what it handed over")
}
