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

var externalScenarios = map[string]scenario{
	"source-checked-after-build":     checksBeforeItBuilds,
	"generation-unchecked":           checksBeforeItBuilds,
	"generation-checked-after-build": checksBeforeItBuilds,

	"slot-merged": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("x", "y")...))
		b.ok(b.replace("mcp", "g2", named("y", "z")...))
		b.offers("d1", "d2", "y", "z")
	},
	"replacement-clears-others": func(b *bench) {
		b.ok(b.replace("a", "g1", named("x")...))
		b.ok(b.replace("b", "g1", named("y")...))
		b.offers("d1", "d2", "x", "y")
	},
	"slot-in-two-events": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("x")...))
		b.ok(b.replace("mcp", "g2", named("y")...))
		b.equal(2, b.recorded(), "events of two replacements")
	},
	"slot-emptied-during-append": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("x")...))
		held := b.hold()
		b.journal.plan(plan{hold: held})
		change := b.begin(b.replace("mcp", "g2", named("y")...))
		b.offers("d1", "d2", "x")
		release(held)
		b.check(b.result(change) == nil, "refused")
		b.offers("d1", "d2", "y")
	},
	"clear-not-recorded": clears,
	"empty-set-ignored":  clears,

	"failed-build-skipped": func(b *bench) {
		failing := broken(func(context.Context) ([]tool.InvokableTool, error) { return nil, errDisk })
		b.ok(b.replace("mcp", "g0", named("old")...))
		refused := b.refuses(b.replace("mcp", "g1", named("x")[0], failing), loop.ChangeExternalBuildFailed)
		b.equal("broken", refused.Tool, "definition named by the refusal")
		b.offers("d1", "d2", "old")
	},
	"nil-tool-skipped": func(b *bench) {
		b.refuses(b.replace("mcp", "g1", broken(func(context.Context) ([]tool.InvokableTool, error) {
			return []tool.InvokableTool{&live{name: "x"}, nil}, nil
		})), loop.ChangeExternalBuildFailed)
		b.refuses(b.replace("mcp", "g1", nil), loop.ChangeExternalBuildFailed)
		b.refuses(b.replace("mcp", "g1", (*recipe)(nil)), loop.ChangeExternalBuildFailed)
	},
	"schema-unchecked": func(b *bench) {
		refused := b.refuses(b.replace("mcp", "g1", def(&live{name: "x", schema: json.RawMessage("{")})), loop.ChangeExternalBuildFailed)
		b.equal("x", refused.Tool, "tool named by the refusal")
		b.refuses(b.replace("mcp", "g1", named(strings.Repeat("x", 129))...), loop.ChangeExternalBuildFailed)
		b.refuses(b.replace("mcp", "g1", def(&live{info: func() (*tool.Info, error) { return nil, nil }})), loop.ChangeExternalBuildFailed)
	},
	"too-many-tools-cut": func(b *bench) {
		var many []tool.InvokableTool
		for i := range tool.MaxSet + 1 {
			many = append(many, &live{name: string(rune('一' + i))})
		}
		all := func(n int) tool.Definition {
			return broken(func(context.Context) ([]tool.InvokableTool, error) { return many[:n], nil })
		}
		b.refuses(b.replace("mcp", "g1", all(tool.MaxSet+1)), loop.ChangeExternalBuildFailed)
		b.ok(b.replace("mcp", "g1", all(tool.MaxSet)))
	},
	"failed-build-unnamed": func(b *bench) {
		failing := broken(func(context.Context) ([]tool.InvokableTool, error) { return nil, errDisk })
		b.equal("broken", b.refuses(b.replace("mcp", "g1", failing), loop.ChangeExternalBuildFailed).Tool, "definition named")
	},
	"collision-current-mode-only": func(b *bench) {
		refused := b.refuses(b.replace("mcp", "g1", named("d3")...), loop.ChangeExternalToolCollision)
		b.equal("d3", refused.Tool, "tool named by the refusal")
	},
	"same-name-in-two-slots": func(b *bench) {
		b.ok(b.replace("a", "g1", named("x")...))
		refused := b.refuses(b.replace("b", "g1", named("y", "x")...), loop.ChangeExternalToolCollision)
		b.equal("x", refused.Tool, "tool named by the refusal")
	},
	"collision-checked-early": func(b *bench) {
		held := b.hold()
		b.journal.plan(plan{hold: held})
		first := b.begin(b.replace("a", "g1", named("x")...))
		second := b.begin(b.replace("b", "g1", named("x")...))
		release(held)
		b.check(b.result(first) == nil, "the first is refused")
		b.equal(loop.ChangeExternalToolCollision, kindOf(b.result(second)), "kind")
		b.offers("d1", "d2", "x")
	},
	"collision-by-folded-name": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("D1", "d\u200b1", "ｄ1", "x-y", "x_y")...))
	},
	"duplicate-last-wins": func(b *bench) {
		refused := b.refuses(b.replace("mcp", "g1", named("x", "x")...), loop.ChangeExternalToolCollision)
		b.equal("x", refused.Tool, "tool named by the refusal")
	},
	"cleared-names-stay-taken": func(b *bench) {
		b.ok(b.replace("a", "g1", named("x")...))
		b.ok(b.replace("a", "g2"))
		b.ok(b.replace("b", "g1", named("x")...))
	},
	"build-in-commit-section": buildsHoldUpNobody,
	"build-holds-turns":       buildsHoldUpNobody,
	"reads-wait-for-build":    buildsHoldUpNobody,

	"digest-of-raw-schema": identifies,
	"identities-reversed":  identifies,
	"fingerprint-by-names": func(b *bench) {
		b.ok(b.replace("mcp", "g1", def(&live{name: "x", schema: json.RawMessage(`{"a":1}`)})))
		b.ok(b.replace("mcp", "g2", def(&live{name: "x", schema: json.RawMessage(`{"b":1}`)})))
		r := b.capture("t")
		b.equal(`{"b":1}`, string(r.Tools[2].Schema), "schema offered")
		b.equal(2, b.recorded(), "events")
	},
	"mode-clears-slots": slotsSurvive(func(b *bench) { b.ok(b.setMode("quick")) }),
	"change-clears-slots": slotsSurvive(func(b *bench) {
		b.ok(b.change(loop.ChangeEffort(model.EffortHigh)))
	}),
	"restored-names-taken":      installsAgain,
	"restored-generation-known": installsAgain,
	"restored-stubs":            installsAgain,

	"build-panic-strands-caller": survivesAPanickingBuild,
	"build-panic-faults-loop":    survivesAPanickingBuild,
	"definitions-kept": reusesTheSlice(func(*bench) {
	}),
	"slots-rebuilt-on-mode":         reusesTheSlice(func(b *bench) { b.ok(b.setMode("quick")) }),
	"info-asked-each-turn":          fixesInfos,
	"declared-info-asked-each-turn": fixesInfos,
	"schema-shared":                 fixesInfos,

	"same-generation-skipped": func(b *bench) {
		b.ok(b.replace("mcp", "g1", named("x")...))
		b.ok(b.replace("mcp", "g1", named("y")...))
		b.offers("d1", "d2", "y")
	},
	"older-generation-ignored": func(b *bench) {
		b.ok(b.replace("mcp", "g2", named("x")...))
		b.ok(b.replace("mcp", "g1", named("y")...))
		b.offers("d1", "d2", "y")
	},
	"late-build-superseded": func(b *bench) {
		held := b.hold()
		slow := broken(func(context.Context) ([]tool.InvokableTool, error) {
			<-held
			return []tool.InvokableTool{&live{name: "y"}}, nil
		})
		late := b.begin(b.replace("mcp", "g1", slow))
		b.ok(b.replace("mcp", "g2", named("x")...))
		release(held)
		b.check(b.result(late) == nil, "refused")
		b.offers("d1", "d2", "y")
	},
}

func checksBeforeItBuilds(b *bench) {
	d := def(&live{name: "x"})
	b.refuses(b.replace("", "g", d), loop.ChangeInvalidExternalSource)
	b.refuses(b.replace(strings.Repeat("s", 65), "g", d), loop.ChangeInvalidExternalSource)
	b.refuses(b.replace("mcp", "", d), loop.ChangeInvalidExternalGeneration)
	b.refuses(b.replace("mcp", "a\nb", d), loop.ChangeInvalidExternalGeneration)
	b.equal(0, d.builds(), "builds")
}

func clears(b *bench) {
	b.ok(b.replace("mcp", "g1", named("x")...))
	b.ok(b.replace("mcp", "g2"))
	b.offers("d1", "d2")
	b.equal(2, b.recorded(), "events")
	b.equal(0, len(b.journal.durable()[1].(event.LoopExternalToolsetChanged).Tools), "tools of the last")
}

// buildsHoldUpNobody has a definition that looks at the loop and then stays.
func buildsHoldUpNobody(b *bench) {
	held := b.hold()
	slow := broken(func(context.Context) ([]tool.InvokableTool, error) {
		_, _ = b.Mode(), b.Model()
		<-held
		return nil, nil
	})
	ctx, cancel := context.WithCancel(b.ctx)
	building := b.begin(b.replaceWith(ctx, "mcp", "g1", slow))
	b.ok(b.setMode("quick"))
	b.isIn("quick", "m1", model.EffortLow)
	b.ok(b.replace("other", "g1", named("x")...))
	turn, _ := b.submitHeld("t1", true)
	b.ok(b.interrupt)
	b.outcome(turn)
	cancel()
	b.equal(loop.ChangeContextDone, kindOf(b.result(building)), "kind")
	building = b.begin(b.replace("mcp", "g1", slow))
	b.ok(b.shutdown)
	kind := kindOf(b.result(building))
	b.check(kind == loop.ChangeLoopShuttingDown || kind == loop.ChangeLoopExited, "kind %q", kind)
}

func identifies(b *bench) {
	schema := json.RawMessage("{ \"type\": \"object\" }\n")
	b.ok(b.replace("mcp", "g1", def(&live{name: "x", schema: schema}, &live{name: "y"})))
	digest, _ := tool.SchemaDigest(schema)
	blank, _ := tool.SchemaDigest(nil)
	want := []event.ExternalToolIdentity{{Name: "x", SchemaDigest: digest}, {Name: "y", SchemaDigest: blank}}
	b.equal(want, b.journal.durable()[0].(event.LoopExternalToolsetChanged).Tools, "tools recorded")
}

func slotsSurvive(f func(b *bench)) scenario {
	return func(b *bench) {
		x := &live{name: "x"}
		b.ok(b.replace("mcp", "g1", def(x)))
		f(b)
		b.offers("d1", "d2", "x")
		b.outcome(b.runs("t", "x"))
		b.equal(1, x.runs(), "runs")
	}
}

func installsAgain(b *bench) {
	b.ok(b.replace("a", "g1", named("x")...))
	b.check(b.restore(b.definition) == nil, "not restored")
	b.offers("d1", "d2")
	b.ok(b.replace("a", "g1", named("x")...))
	b.offers("d1", "d2", "x")
	b.ok(b.replace("a", "g2"))
	b.ok(b.replace("b", "g1", named("x")...))
}

func survivesAPanickingBuild(b *bench) {
	for _, d := range []tool.Definition{
		broken(func(context.Context) ([]tool.InvokableTool, error) { panic("build") }),
		def(&live{info: func() (*tool.Info, error) { panic(errors.New("info")) }}),
	} {
		b.refuses(b.replace("mcp", "g1", d), loop.ChangeExternalBuildFailed)
	}
	b.ok(b.setMode("quick"))
	b.capture("t")
}

func reusesTheSlice(f func(b *bench)) scenario {
	return func(b *bench) {
		definitions := named("x")
		b.ok(b.replace("mcp", "g1", definitions...))
		definitions[0] = named("y")[0]
		f(b)
		b.offers("d1", "d2", "x")
	}
}

func fixesInfos(b *bench) {
	schema := json.RawMessage(`{"a":1}`)
	x := &live{name: "x", schema: schema}
	b.ok(b.replace("mcp", "g1", def(x)))
	before := b.capture("t1").Tools
	copy(schema, `{"b":2}`)
	b.equal(before, b.capture("t2").Tools, "tools, after one wrote to its schema")
	x.info = func() (*tool.Info, error) { return &tool.Info{Name: "x", Description: "changed"}, nil }
	b.d1.info = func() (*tool.Info, error) { return &tool.Info{Name: "d1", Description: "changed"}, nil }
	b.equal(before, b.capture("t3").Tools, "tools, after they changed their minds")
	synctest.Wait()
}
