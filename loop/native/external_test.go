package native_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func TestEXT1_SourceAndGeneration(t *testing.T) {
	bad := func(limit int) []string {
		return []string{"", strings.Repeat("x", limit+1), strings.Repeat("é", limit/2) + "x", "a\nb", "a\u0085b", "\x7f", "\xff", "a\x00"}
	}
	good := func(limit int) []string {
		return []string{"x", strings.Repeat("x", limit), strings.Repeat("é", limit/2), " ", "a/b", "😀", "\u200b"}
	}
	inBubble(t, func(t *testing.T, b *bench) {
		untouched := &fixture.Definition{DefinitionName: "x"}
		for _, source := range bad(loop.MaxSource) {
			b.refuses(loop.ChangeInvalidExternalSource, func() error { return b.replace(source, "g", untouched) })
		}
		for _, generation := range bad(loop.MaxGeneration) {
			b.refuses(loop.ChangeInvalidExternalGeneration, func() error { return b.replace("mcp", generation, untouched, nil) })
		}
		require.Zero(t, untouched.Builds(), "checked before anything is built")
		for _, source := range good(loop.MaxSource) {
			require.NoError(t, b.replace(source, "g"))
			require.Equal(t, source, b.toolsEvent().Source)
		}
		for _, generation := range good(loop.MaxGeneration) {
			require.NoError(t, b.replace("mcp", generation))
			require.Equal(t, generation, b.toolsEvent().Generation)
		}
	})
}

func TestEXT2_ReplacesOneSlotAsAWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.replace("b", "g1", fixture.Defines("b2", "b1")...))
		require.NoError(t, b.replace("a", "g1", fixture.Defines("a1")...))
		require.Equal(t, []string{"declared", "a1", "b2", "b1"}, b.offers("t1"))
		require.NoError(t, b.replace("b", "g2", fixture.Defines("b3", "b1")...))
		require.Equal(t, []string{"declared", "a1", "b3", "b1"}, b.offers("t2"))
		require.Len(t, b.journal.Durable(), 3, "one event each")
	})
}

// F21: no turn sees a slot that is half replaced.
func TestEXT2_TurnsSeeWholeSets(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		sets := [][]string{{"x", "y"}, {"y", "z", "w"}}
		require.NoError(t, b.replace("mcp", "g", fixture.Defines(sets[0]...)...))
		stop := make(chan struct{})
		turns := async(func() error {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return nil
				default:
				}
				turn, err := b.Submit(t.Context(), "t"+strconv.Itoa(i))
				if err != nil {
					return err
				}
				<-turn.Done()
			}
		})
		for i := range 100 {
			require.NoError(t, b.replace("mcp", "g", fixture.Defines(sets[i%2]...)...))
		}
		close(stop)
		require.NoError(t, <-turns)
		for _, r := range b.client.Requests() {
			require.Contains(t, sets, fixture.ToolNames(r)[1:])
		}
	})
}

// F03: what is not offered any more cannot be called any more, and what is still offered can.
func TestEXT3_EmptySetClearsTheSlot(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		x := &fixture.Tool{Name: "x"}
		require.NoError(t, b.replace("mcp", "g1", defs(x)...))
		require.NoError(t, b.replace("other", "g1", fixture.Defines("y")...))
		hold := make(chan struct{})
		b.client.Answer = func(ctx context.Context, r model.Request, step int) ([]model.Chunk, error) {
			<-hold
			return callOnce("x")(ctx, r, step)
		}
		turn := b.submit("t1")
		synctest.Wait()
		require.NoError(t, b.replace("mcp", "g2"))
		require.Empty(t, b.toolsEvent().Tools)
		require.Equal(t, "g2", b.toolsEvent().Generation)
		close(hold)
		<-turn.Done()
		require.NoError(t, turn.Err())
		require.Equal(t, 1, x.Runs(), "the turn had captured it")

		require.Equal(t, []string{"declared", "y"}, b.offers("t2"))
		require.Equal(t, 1, x.Runs())
		result := b.client.RequestsOf("t2")[1].Messages[2]
		require.True(t, result.Failed, "the model is told")

		require.NoError(t, b.replace("never used", "g1"))
		require.Equal(t, "never used", b.toolsEvent().Source, "clearing nothing is recorded too")
		require.NoError(t, b.replace("other", "g2", fixture.Defines("x")...), "the name is free again")
	})
}

func TestEXT5_Collisions(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.replace("a", "g1", fixture.Defines("x")...))
		for name, set := range map[string][]string{
			"declared": {"n", "declared"}, // in this mode
			"outline":  {"n", "outline"},  // in another
			"twice":    {"twice", "n", "twice"},
			"x":        {"n", "x"}, // of another source
		} {
			refusal := b.refuses(loop.ChangeExternalToolCollision, func() error { return b.replace("b", "g1", fixture.Defines(set...)...) })
			require.Equal(t, name, refusal.Tool)
		}
		require.Equal(t, []string{"declared", "x"}, b.offers("t1"))
		require.NoError(t, b.replace("a", "g2", fixture.Defines("x", "n")...), "a source may reuse its own names")
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		b.refuses(loop.ChangeExternalToolCollision, func() error { return b.replace("b", "g1", fixture.Defines("declared")...) })

		// The name that counts is the tool's, not its definition's.
		misnamed := &fixture.Definition{DefinitionName: "harmless", Tools: []tool.InvokableTool{&fixture.Tool{Name: "x"}}}
		require.Equal(t, "x", b.refuses(loop.ChangeExternalToolCollision, func() error { return b.replace("b", "g1", misnamed) }).Tool)
		require.NoError(t, b.replace("b", "g1", &fixture.Definition{DefinitionName: "x", Tools: []tool.InvokableTool{&fixture.Tool{Name: "b"}}}))
	})
}

// F05: a slot that goes takes only its own tools along.
func TestEXT5_NamesAreFreedWithTheirOwnSlot(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.replace("a", "g1", fixture.Defines("x")...))
		b.refuses(loop.ChangeExternalToolCollision, func() error { return b.replace("b", "g1", fixture.Defines("x")...) })
		require.NoError(t, b.replace("b", "g1", fixture.Defines("y")...))
		require.NoError(t, b.replace("a", "g2"))
		require.Equal(t, []string{"declared", "y"}, b.offers("t1"))
		require.NoError(t, b.replace("b", "g2", fixture.Defines("x", "y")...))
		b.refuses(loop.ChangeExternalToolCollision, func() error { return b.replace("a", "g3", fixture.Defines("x")...) })
	})
}

func TestEXT5_RacingReplacementsOfOneName(t *testing.T) {
	for _, fails := range []bool{false, true} {
		inBubble(t, func(t *testing.T, b *bench) {
			hold := make(chan struct{})
			plan := fixture.Plan{Hold: hold}
			if fails {
				plan.Before = errDisk
			}
			b.journal.PlanAppends(plan)
			first := async(func() error { return b.replace("a", "g1", fixture.Defines("x", "a")...) })
			synctest.Wait()
			second := async(func() error { return b.replace("b", "g1", fixture.Defines("x", "b")...) })
			require.True(t, pending(second), "not judged by a change that is pending")
			close(hold)
			if fails {
				require.Equal(t, loop.ChangeDurableAppendFailed, kind(<-first))
				require.NoError(t, <-second)
				require.Equal(t, []string{"declared", "x", "b"}, b.offers("t1"))
				return
			}
			require.NoError(t, <-first)
			require.Equal(t, loop.ChangeExternalToolCollision, kind(<-second))
			require.Equal(t, []string{"declared", "x", "a"}, b.offers("t1"))
		})
	}
}

func TestEXT5_ManyRacingReplacements(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		var results []<-chan error
		for i := range 16 {
			results = append(results, async(func() error { return b.replace("s"+strconv.Itoa(i), "g", fixture.Defines("x")...) }))
		}
		won := 0
		for _, result := range results {
			if err := <-result; err == nil {
				won++
			} else {
				require.Equal(t, loop.ChangeExternalToolCollision, kind(err))
			}
		}
		require.Equal(t, 1, won)
		require.Len(t, b.journal.Begun(), 1)
		require.Equal(t, []string{"declared", "x"}, b.offers("t1"))
	})
}

// F22, F23: names that look alike, or would after shortening or cleaning, are different names all the same.
func TestEXT5_NamesAreComparedByteByByte(t *testing.T) {
	long := strings.Repeat("n", tool.MaxName-1)
	names := []string{
		"Declared", "declared ", " declared", "ｄeclared", "deсlared", "declared\u200b", "\u202edeclared", "declared\x00", "declared\n",
		long + "1", long + "2", "a.b", "A.b", "a-b", "a_b", "a b", "\u00e9", "e\u0301",
	}
	inBubble(t, func(t *testing.T, b *bench) {
		var tools []*fixture.Tool
		for _, name := range names {
			tools = append(tools, &fixture.Tool{Name: name})
		}
		require.NoError(t, b.replace("mcp", "g1", defs(tools...)...))
		b.client.Answer = callOnce(names...)
		require.Equal(t, append([]string{"declared"}, names...), b.offers("t1"))
		for _, x := range tools {
			require.Equal(t, 1, x.Runs(), x.Name)
		}
		for i, identity := range b.toolsEvent().Tools {
			require.Equal(t, names[i], identity.Name, "and the journal keeps them apart")
		}

		require.NoError(t, b.replace("mcp", "g2"))
		for i, x := range tools {
			require.NoError(t, b.replace("mcp"+strconv.Itoa(i), "g1", defs(x)...), "nor do they collide across sources")
		}
		require.ElementsMatch(t, append([]string{"declared"}, names...), b.offers("t2"))
	})
}

func TestEXT7_RecordsNamesAndDigestsInInstallOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		several := &fixture.Definition{DefinitionName: "several", Tools: []tool.InvokableTool{
			&fixture.Tool{Name: "z", Schema: []byte(" {\n \"b\": 1, \"a\": \"x y\" }\n")},
			&fixture.Tool{Name: "a"},
		}}
		none := &fixture.Definition{DefinitionName: "none"}
		require.NoError(t, b.replace("mcp", "g1", several, none, fixture.Define(&fixture.Tool{Name: "m", Schema: []byte(" \t\r\n")})))
		require.Equal(t, []event.ExternalToolIdentity{
			{Name: "z", SchemaDigest: digest(`{"b":1,"a":"x y"}`)},
			{Name: "a", SchemaDigest: digest("")},
			{Name: "m", SchemaDigest: digest("")},
		}, b.toolsEvent().Tools)
		require.Equal(t, []string{"declared", "z", "a", "m"}, b.offers("t1"))
	})
}

// F28: a set with the same names is not the same set.
func TestEXT7_EditedSchemaIsRecordedAndOffered(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for i, schema := range []string{`{"v":1}`, `{"v":2}`} {
			x := &fixture.Tool{Name: "x", Schema: []byte(schema)}
			require.NoError(t, b.replace("mcp", "g", defs(x)...))
			require.Equal(t, digest(schema), b.toolsEvent().Tools[0].SchemaDigest)
			b.client.Answer = callOnce("x")
			require.JSONEq(t, schema, string(b.capture("t" + strconv.Itoa(i)).Tools[1].Schema))
			require.Equal(t, 1, x.Runs(), "and the new instance is the one that runs")
		}
	})
}

// F04: a rebuild of the configuration keeps what was installed live.
func TestEXT8_SlotsSurviveSetModeAndChange(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		x := &fixture.Tool{Name: "x"}
		require.NoError(t, b.replace("mcp", "g1", defs(x)...))
		b.client.Answer = callOnce("x")
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.Equal(t, []string{"outline", "x"}, b.offers("t1"))
		require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortMax)))
		require.Equal(t, []string{"outline", "x"}, b.offers("t2"))
		require.NoError(t, b.SetMode(t.Context(), loop.BaseMode))
		require.Equal(t, []string{"declared", "x"}, b.offers("t3"))
		require.Equal(t, 3, x.Runs())
	})
}

// F20: the caller's slice, its spare capacity included, is the caller's again after the call.
func TestEXT12_DefinitionsSliceStaysTheCallers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		first := fixture.Defines("x", "y")
		set := append(make([]tool.Definition, 0, 4), first...)
		require.NoError(t, b.replace("mcp", "g1", set[:1]...))
		require.Equal(t, []tool.Definition{first[0], first[1]}, set, "what the loop does with them is not written there")
		set[0] = nil
		set = append(set, nil)
		require.Equal(t, []string{"declared", "x"}, b.offers("t1"))

		// Also when the call gave up on a build that is still going on.
		hold := make(chan struct{})
		stubborn := &fixture.Definition{DefinitionName: "z", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			<-hold
			return nil, nil
		}}
		next := &fixture.Definition{DefinitionName: "w"}
		set[0], set[1] = stubborn, next
		ctx, cancel := context.WithCancel(t.Context())
		result := async(func() error {
			return b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "mcp", Generation: "g2", Definitions: set[:2]})
		})
		synctest.Wait()
		cancel()
		require.Equal(t, loop.ChangeContextDone, kind(<-result))
		clear(set)
		close(hold)
		synctest.Wait()
		require.Zero(t, next.Builds())
		require.Equal(t, []string{"declared", "x"}, b.offers("t2"))
	})
}

func TestEXT13_InfoIsFixedAtInstallation(t *testing.T) {
	fickle := func(name string) (*fixture.Tool, func()) {
		var mu sync.Mutex
		x, schema := &fixture.Tool{}, []byte(`{"type":"object"}`)
		info := &tool.Info{Name: name, Description: "about " + name, Schema: schema}
		asked := false
		x.OnInfo = func(context.Context) (*tool.Info, error) {
			mu.Lock()
			defer mu.Unlock()
			if asked {
				return &tool.Info{Name: "changed", Description: "changed", Schema: []byte(`{"type":"changed"}`)}, nil
			}
			asked = true
			return info, nil
		}
		return x, func() {
			copy(schema, `[0,0,0,0,0,0,0,0]`)
			info.Name, info.Description = "overwritten", "overwritten"
		}
	}
	var declared *fixture.Tool
	var overwriteDeclared func()
	configure := func(t *testing.T) native.Config {
		declared, overwriteDeclared = fickle("declared")
		definition := &fixture.Definition{DefinitionName: "declared", Tools: []tool.InvokableTool{declared}}
		return native.Config{Definition: standard(t, loop.WithTools(definition))}
	}
	inBubbleWith(t, configure, func(t *testing.T, b *bench) {
		x, overwrite := fickle("x")
		require.NoError(t, b.replace("mcp", "g1", fixture.Define(x)))
		b.client.Answer = func(ctx context.Context, r model.Request, step int) ([]model.Chunk, error) {
			for _, info := range r.Tools {
				copy(info.Schema, "garbage") // the request is the client's
			}
			return callOnce("declared", "x")(ctx, r, step)
		}
		want := []tool.Info{
			{Name: "declared", Description: "about declared", Schema: []byte(`{"type":"object"}`)},
			{Name: "x", Description: "about x", Schema: []byte(`{"type":"object"}`)},
		}
		require.Equal(t, want, b.capture("t1").Tools)
		overwrite()
		overwriteDeclared()
		require.NoError(t, b.SetMode(t.Context(), "plan"))
		require.NoError(t, b.SetMode(t.Context(), loop.BaseMode))
		require.Equal(t, want, b.capture("t2").Tools)
		require.Equal(t, digest(`{"type":"object"}`), b.journal.Durable()[0].(event.LoopExternalToolsetChanged).Tools[0].SchemaDigest)
		require.Equal(t, 2, x.Runs(), "callable under the name that it was installed with")
		require.Equal(t, 2, declared.Runs())
	})
}

// The commit order alone decides, whatever the generations look like.
func TestEXT14_GenerationsAreOpaque(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for i, generation := range []string{"2", "1", "1", "2", "10"} {
			name := "x" + strconv.Itoa(i)
			require.NoError(t, b.replace("mcp", generation, fixture.Defines(name)...))
			require.Equal(t, generation, b.toolsEvent().Generation)
			require.Equal(t, []string{"declared", name}, b.offers("t"+strconv.Itoa(i)))
		}
		// A build that takes longer commits later.
		hold := make(chan struct{})
		slow := fixture.Define(&fixture.Tool{Name: "slow"})
		slow.OnBuild = func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
			<-hold
			return slices.Clone(slow.Tools), nil
		}
		older := async(func() error { return b.replace("mcp", "20", slow) })
		synctest.Wait()
		require.NoError(t, b.replace("mcp", "21", fixture.Defines("fast")...))
		close(hold)
		require.NoError(t, <-older)
		require.Equal(t, []string{"declared", "slow"}, b.offers("last"))
		require.Equal(t, "20", b.toolsEvent().Generation)
	})
}
