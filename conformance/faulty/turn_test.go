package faulty_test

import (
	"context"
	"errors"
	"testing/synctest"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

var turnScenarios = map[string]scenario{
	"model-per-step":        keepsItsCapture,
	"instructions-per-step": keepsItsCapture,
	"tools-per-step":        keepsItsCapture,

	"dispatch-by-live-name": func(b *bench) {
		x := &live{name: "x"}
		b.ok(b.replace("mcp", "g1", def(x)))
		b.d1.run = func(ctx context.Context) (string, error) { return "", b.replaceWith(ctx, "mcp", "g2")() }
		b.outcome(b.runs("t", "d1", "x"))
		b.equal(1, x.runs(), "runs of the captured tool")
	},
	"capture-reused-after-interrupt": func(b *bench) {
		b.submitHeld("t1", true)
		b.ok(b.change(loop.ChangeEffort(model.EffortHigh)))
		b.ok(b.interrupt)
		b.equal(model.EffortHigh, b.capture("t2").Effort, "effort of the next turn")
	},
	"mode-tools-one-turn-late": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.offers("d1", "d3")
		b.ok(b.setMode("bare"))
		b.offers()
	},
	"names-folded": func(b *bench) {
		dash, score := &live{name: "x-y"}, &live{name: "x_y"}
		b.ok(b.replace("mcp", "g1", def(dash, score)))
		b.outcome(b.runs("t", "x-y"))
		b.equal(1, dash.runs(), "runs of x-y")
		b.equal(0, score.runs(), "runs of x_y")
	},
	"declared-first-built-wins": func(b *bench) {
		b.ok(b.setMode("plan"))
		b.outcome(b.runs("t", "d1"))
		b.equal(1, b.p1.runs(), "runs of the mode's own instance")
	},
	"declared-lost-on-clear": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("x")...))
		b.ok(b.replace("mcp", "g2"))
		b.offers("d1", "d2")
	},
	"capture-at-submit": func(b *bench) {
		_, held := b.submitHeld("t1", false)
		t2 := b.submit("t2")
		b.ok(b.setMode("plan"))
		release(held)
		b.outcome(t2)
		b.equal("only plan", b.client.of("t2")[0].Instructions, "instructions of the queued turn")
	},
	"unknown-tool-nearest": runsWhatIsOffered,
	"unknown-tool-silent":  runsWhatIsOffered,
	"dispatch-all-modes":   runsWhatIsOffered,
	"cleared-tool-still-runs": func(b *bench) {
		x := &live{name: "x"}
		b.ok(b.replace("mcp", "g1", def(x)))
		b.ok(b.replace("mcp", "g2"))
		b.outcome(b.runs("t", "x"))
		b.equal(0, x.runs(), "runs of the cleared tool")
	},
	"failed-turn-drops-queue": survivesAFailedRequest,
	"failed-turn-faults-loop": survivesAFailedRequest,
	"client-panic-wedges": func(b *bench) {
		b.client.on("t1", func(context.Context, int) ([]string, error) { panic("client") })
		b.equal(loop.TurnFailed, b.outcome(b.submit("t1")), "outcome")
		b.capture("t2")
	},
	"tool-panic-stops-loop": func(b *bench) {
		b.d1.run = func(context.Context) (string, error) { panic("tool") }
		b.outcome(b.runs("t1", "d1"))
		b.capture("t2")
		b.isIn("", "m1", model.EffortLow)
	},
	"lifo-queue": func(b *bench) {
		_, held := b.submitHeld("t1", false)
		b.submit("t2")
		t3 := b.submit("t3")
		release(held)
		b.outcome(t3)
		var order []string
		for _, r := range b.client.all() {
			order = append(order, r.Messages[0].Text)
		}
		b.equal([]string{"t1", "t2", "t3"}, order, "order of the turns")
	},
	"turn-starts-during-tool": func(b *bench) {
		first, held := b.hold(), b.hold()
		b.client.on("t1", func(_ context.Context, step int) ([]string, error) {
			if step == 1 {
				<-first
				return []string{"d1"}, nil
			}
			return nil, nil
		})
		b.d1.run = func(context.Context) (string, error) {
			<-held
			return "", nil
		}
		t1 := b.submit("t1")
		t2 := b.submit("t2")
		release(first)
		b.check(!ended(t1), "the turn has ended before its tool")
		b.equal(0, len(b.client.of("t2")), "requests of the second turn during the first")
		release(held)
		b.outcome(t1)
		b.outcome(t2)
	},
	"interrupted-turn-retried": func(b *bench) {
		turn, _ := b.submitHeld("t1", true)
		b.ok(b.interrupt)
		b.equal(loop.TurnInterrupted, b.outcome(turn), "outcome")
		b.equal(1, len(b.client.of("t1")), "requests of the interrupted turn")
	},
	"step-after-end": func(b *bench) {
		held := b.hold()
		b.d1.run = func(context.Context) (string, error) {
			<-held
			return "", nil
		}
		turn := b.runs("t1", "d1")
		b.ok(b.interrupt)
		b.equal(loop.TurnInterrupted, b.outcome(turn), "outcome")
		release(held)
		synctest.Wait()
		b.equal(1, len(b.client.of("t1")), "requests of the interrupted turn")
	},
	"remaining-tools-after-end": func(b *bench) {
		held := b.hold()
		b.d1.run = func(context.Context) (string, error) {
			<-held
			return "", nil
		}
		b.client.on("t1", func(context.Context, int) ([]string, error) { return []string{"d1", "d2", "d2"}, nil })
		turn := b.submit("t1")
		b.ok(b.interrupt)
		b.outcome(turn)
		begun := b.d2.runs()
		release(held)
		synctest.Wait()
		b.equal(begun, b.d2.runs(), "tool calls begun after the turn's end")
	},
	"slots-by-install-order": func(b *bench) {
		x, y := def(&live{name: "x"}), def(&live{name: "y"})
		b.ok(b.replace("b", "g1", x))
		b.ok(b.replace("a", "g1", y))
		first := names(b.capture("t1"))
		b.ok(b.replace("b", "g1", x))
		b.equal(first, names(b.capture("t2")), "tools of an equal configuration")
	},
	"used-tools-first": func(b *bench) {
		turn := b.runs("t1", "d2", "d2")
		b.outcome(turn)
		b.equal(names(b.client.of("t1")[0]), names(b.capture("t2")), "tools of an equal configuration")
	},
}

// keepsItsCapture changes everything from inside a turn, which must not notice (TURN-1), and the next one must (TURN-4).
func keepsItsCapture(b *bench) {
	x := &live{name: "x"}
	b.ok(b.replace("mcp", "g1", def(x)))
	b.d1.run = func(ctx context.Context) (string, error) {
		return "", errors.Join(
			b.SetMode(ctx, "plan"),
			b.replaceWith(ctx, "mcp", "g2", named("y")...)(),
			b.Change(ctx, toModel("m2"), loop.ChangeEffort(model.EffortNone)),
		)
	}
	b.outcome(b.runs("t1", "d1", "x"))
	requests := b.client.of("t1")
	b.equal(3, len(requests), "requests")
	for _, r := range requests {
		r.Messages, requests[0].Messages = nil, nil
		b.equal(requests[0], r, "configuration of a later step")
	}
	b.equal(1, x.runs(), "runs of the captured tool")
	next := b.capture("t2")
	b.equal("m2", next.Model.Name, "model of the next turn")
	b.equal("only plan", next.Instructions, "instructions of the next turn")
	b.equal([]string{"d1", "d3", "y"}, names(next), "tools of the next turn")
	b.settled()
}

func runsWhatIsOffered(b *bench) {
	b.outcome(b.runs("t", "nope", "d3"))
	b.equal(0, b.d1.runs()+b.d2.runs()+b.p1.runs()+b.p3.runs(), "runs of tools")
	for i, r := range b.client.of("t")[1:] {
		b.equal(2*(i+1)+1, len(r.Messages), "messages")
		last := r.Messages[len(r.Messages)-1]
		b.check(last.Role == model.RoleTool && last.Failed, "the model is not told: %+v", last)
	}
}

func survivesAFailedRequest(b *bench) {
	held := b.hold()
	b.client.on("t1", func(context.Context, int) ([]string, error) {
		<-held
		return nil, errDisk
	})
	t1 := b.submit("t1")
	t2 := b.submit("t2")
	release(held)
	b.equal(loop.TurnFailed, b.outcome(t1), "outcome of the failed turn")
	b.check(errors.Is(t1.Err(), errDisk), "the cause is lost: %v", t1.Err())
	b.equal(loop.TurnErrorKind(""), b.outcome(t2), "outcome of the queued turn")
	b.ok(b.change(loop.ChangeEffort(model.EffortHigh)))
}
