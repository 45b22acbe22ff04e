package native_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

type buildFunc = func(context.Context, tool.Bindings) ([]tool.InvokableTool, error)

// built is a build function that returns the tools.
func built(tools ...tool.InvokableTool) buildFunc {
	return func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return tools, nil }
}

// blocked is a build function that ignores its context and waits for hold.
func blocked(hold <-chan struct{}, tools ...tool.InvokableTool) buildFunc {
	return func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
		<-hold
		return tools, nil
	}
}

// rude is a definition with a value receiver, so that calling a nil pointer to it panics.
type rude struct{ name string }

func (r rude) Name() string                                                       { return r.name }
func (r rude) Build(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return nil, nil }

// speechless is a definition whose Name does not return.
type speechless struct{ say func() }

func (s speechless) Name() string {
	s.say()
	return "never"
}
func (s speechless) Build(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
	return nil, nil
}

func TestEXT4_WhatMakesASetFailToBuild(t *testing.T) {
	info := func(info *tool.Info, err error) *fixture.Tool {
		return &fixture.Tool{OnInfo: func(context.Context) (*tool.Info, error) { return info, err }}
	}
	many := func(n int) []tool.InvokableTool {
		var tools []tool.InvokableTool
		for i := range n {
			tools = append(tools, &fixture.Tool{Name: fmt.Sprint("tool", i)})
		}
		return tools
	}
	failure := errors.New("no such server")
	define := func(build buildFunc) tool.Definition {
		return &fixture.Definition{DefinitionName: "def", OnBuild: build}
	}
	for _, c := range []struct {
		what  string
		bad   tool.Definition
		tool  string // what the refusal names
		cause error  // what it wraps; nil stands for any
	}{
		{"nil definition", nil, "", tool.ErrNilDefinition},
		{"typed nil definition", (*rude)(nil), "", nil},
		{"failed build", define(func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return nil, failure }), "def", failure},
		{"failed build with tools", define(func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) { return many(1), failure }), "def", failure},
		{"nil tool", define(built(&fixture.Tool{Name: "y"}, nil)), "def", tool.ErrNilTool},
		{"typed nil tool", define(built((*fixture.Tool)(nil))), "def", nil},
		{"failed info", define(built(info(nil, failure))), "def", failure},
		{"failed info with an info", define(built(info(&tool.Info{Name: "y"}, failure))), "def", failure},
		{"nil info", define(built(info(nil, nil))), "def", tool.ErrNilInfo},
		{"no name", define(built(&fixture.Tool{})), "def", tool.ErrName},
		{"long name", define(built(&fixture.Tool{Name: strings.Repeat("y", 129)})), "def", tool.ErrName},
		{"broken name", define(built(&fixture.Tool{Name: "y\xff"})), "def", tool.ErrName},
		{"bad schema", define(built(&fixture.Tool{Name: "y", Schema: []byte(`{"a":`)})), "y", tool.ErrSchema},
		{"two schemas", define(built(&fixture.Tool{Name: "y", Schema: []byte(`{} {}`)})), "y", tool.ErrSchema},
		{"not JSON's white space", define(built(&fixture.Tool{Name: "y", Schema: []byte("\u00a0")})), "y", tool.ErrSchema},
		{"513 tools", define(built(many(513)...)), "def", tool.ErrSetTooLarge},
		{"512 more", define(built(many(512)...)), "def", tool.ErrSetTooLarge},
	} {
		t.Run(c.what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				require.NoError(t, b.replace("mcp", "g1", fixture.Defines("x")...))
				after := &fixture.Definition{DefinitionName: "after"}
				set := []tool.Definition{fixture.Define(&fixture.Tool{Name: "before"}), c.bad, after}
				refusal := b.refuses(loop.ChangeExternalBuildFailed, func() error { return b.replace("mcp", "g2", set...) })
				require.Equal(t, c.tool, refusal.Tool)
				require.Error(t, refusal.Cause)
				if c.cause != nil {
					require.ErrorIs(t, refusal, c.cause)
				}
				require.Zero(t, after.Builds())
				require.Equal(t, []string{"declared", "x"}, b.offers("t1"), "the slot is as it was")
			})
		})
	}
}

func TestEXT4_LimitsAreInclusive(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		var all []tool.Definition
		for i := range tool.MaxSet {
			all = append(all, fixture.Define(&fixture.Tool{Name: fmt.Sprintf("%0128d", i), Schema: []byte(" true ")}))
		}
		empty := fixture.Definition{}
		require.NoError(t, b.replace("mcp", "g1", append(all, &empty)...), "tools are counted, not definitions")
		require.Len(t, b.offers("t1"), 1+tool.MaxSet)
		require.NoError(t, b.replace("more", "g1", fixture.Defines("y")...), "the limit is a slot's")
	})
}

// EXT-4 asks for the definition's name also where a build ends its goroutine rather than panic.
func TestEXT11_PanickingSetIsABuildFailure(t *testing.T) {
	boom := errors.New("boom")
	for what, end := range map[string]func(){"panic": func() { panic(boom) }, "Goexit": runtime.Goexit} {
		for _, c := range []struct {
			where string
			bad   tool.Definition
			tool  string
		}{
			{"name", speechless{end}, ""},
			{"build", &fixture.Definition{DefinitionName: "def", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
				end()
				return nil, nil
			}}, "def"},
			{"info", &fixture.Definition{DefinitionName: "def", OnBuild: built(&fixture.Tool{OnInfo: func(context.Context) (*tool.Info, error) {
				end()
				return nil, nil
			}})}, "def"},
		} {
			t.Run(what+" in "+c.where, func(t *testing.T) {
				inBubble(t, func(t *testing.T, b *bench) {
					set := append(fixture.Defines("before"), c.bad)
					refusal := b.refuses(loop.ChangeExternalBuildFailed, func() error { return b.replace("mcp", "g1", set...) })
					require.Equal(t, c.tool, refusal.Tool)
					if what == "panic" {
						require.ErrorIs(t, refusal, boom)
						require.ErrorAs(t, refusal, new(*loop.PanicError))
					} else {
						require.ErrorIs(t, refusal, loop.ErrGoexit)
					}
					require.NoError(t, b.replace("mcp", "g1", fixture.Defines("x")...), "the loop lives on")
					require.Equal(t, []string{"declared", "x"}, b.offers("t1"))
				})
			})
		}
	}
}

func TestEXT6_BlockedBuildBlocksNothing(t *testing.T) {
	places := map[string]func(hold <-chan struct{}) tool.Definition{
		"name": func(hold <-chan struct{}) tool.Definition { return speechless{func() { <-hold }} },
		"build": func(hold <-chan struct{}) tool.Definition {
			return &fixture.Definition{DefinitionName: "slow", OnBuild: blocked(hold)}
		},
		"info": func(hold <-chan struct{}) tool.Definition {
			return fixture.Define(&fixture.Tool{OnInfo: func(context.Context) (*tool.Info, error) {
				<-hold
				return &tool.Info{Name: "slow"}, nil
			}})
		},
	}
	for place, slow := range places {
		t.Run(place, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				hold := make(chan struct{})
				building := async(func() error { return b.replace("slow", "g1", slow(hold)) })
				require.True(t, pending(building))
				require.NoError(t, b.run("t1"))
				require.NoError(t, b.SetMode(t.Context(), "plan"))
				require.NoError(t, b.Change(t.Context(), changeModel("m2", model.EffortMax)))
				require.NoError(t, b.replace("fast", "g1", fixture.Defines("x")...), "nor the build of another source")
				require.NoError(t, b.replace("slow", "g0", fixture.Defines("y")...), "nor of the same source")
				stuck := b.submitHeld("t2")
				require.NoError(t, b.Interrupt(t.Context()))
				<-stuck.Done()
				require.True(t, pending(building))

				require.NoError(t, b.Shutdown(t.Context()))
				k := kind(<-building)
				require.Contains(t, []loop.ChangeErrorKind{loop.ChangeLoopShuttingDown, loop.ChangeLoopExited}, k)
				events := len(b.journal.Begun())
				close(hold)
				synctest.Wait()
				require.Len(t, b.journal.Begun(), events)
			})
		})
	}
}

func TestEXT6_BuildSeesTheEndOfItsCall(t *testing.T) {
	ends := map[string]func(t *testing.T, b *bench, cancel func()){
		"caller":   func(_ *testing.T, _ *bench, cancel func()) { cancel() },
		"shutdown": func(t *testing.T, b *bench, _ func()) { require.NoError(t, b.Shutdown(t.Context())) },
	}
	for what, end := range ends {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				polite := &fixture.Definition{DefinitionName: "polite", OnBuild: func(ctx context.Context, _ tool.Bindings) ([]tool.InvokableTool, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				building := async(func() error {
					return b.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: "a", Generation: "g", Definitions: []tool.Definition{polite}})
				})
				require.True(t, pending(building))
				end(t, b, cancel)
				err := <-building
				if what == "caller" {
					require.Equal(t, loop.ChangeContextDone, kind(err), "not a failed build: nothing was wrong with it")
					require.ErrorIs(t, err, context.Canceled)
					require.NoError(t, b.run("t1"))
				} else {
					require.Contains(t, []loop.ChangeErrorKind{loop.ChangeLoopShuttingDown, loop.ChangeLoopExited}, kind(err))
				}
				require.Empty(t, b.journal.Begun())
			})
		})
	}
}

// What a build returns after the exit has no effect: neither are its tools asked what they are, nor is the next one begun.
func TestEXT6_NothingIsBuiltOrDescribedAfterTheExit(t *testing.T) {
	for _, place := range []string{"build", "info"} {
		inBubble(t, func(t *testing.T, b *bench) {
			hold := make(chan struct{})
			asked := 0
			curious := &fixture.Tool{OnInfo: func(context.Context) (*tool.Info, error) {
				asked++
				return &tool.Info{Name: "x"}, nil
			}}
			slow := &fixture.Definition{DefinitionName: "slow", OnBuild: blocked(hold, curious)}
			if place == "info" {
				slow.OnBuild = built(&fixture.Tool{OnInfo: func(context.Context) (*tool.Info, error) {
					<-hold
					return &tool.Info{Name: "first"}, nil
				}}, curious)
			}
			next := fixture.Define(&fixture.Tool{Name: "next"})
			building := async(func() error { return b.replace("mcp", "g1", slow, next) })
			require.True(t, pending(building))
			require.NoError(t, b.Shutdown(t.Context()))
			<-building
			close(hold)
			synctest.Wait()
			require.Zero(t, next.Builds())
			require.Zero(t, asked)

			late := fixture.Define(&fixture.Tool{Name: "late"})
			b.refuses(loop.ChangeLoopExited, func() error { return b.replace("mcp", "g2", late) })
			require.Zero(t, late.Builds())
		})
	}
}

// A definition may end the loop that it is built for. Whoever tells the call of that may be slower than the build's return.
func TestEXT6_BuildShutsTheLoopDown(t *testing.T) {
	for range 100 {
		inBubble(t, func(t *testing.T, b *bench) {
			last := &fixture.Definition{DefinitionName: "last", OnBuild: func(context.Context, tool.Bindings) ([]tool.InvokableTool, error) {
				return nil, b.Shutdown(context.Background())
			}}
			next := fixture.Define(&fixture.Tool{Name: "next"})
			err := b.replace("mcp", "g1", last, next)
			require.Contains(t, []loop.ChangeErrorKind{loop.ChangeLoopShuttingDown, loop.ChangeLoopExited}, kind(err))
			require.Zero(t, next.Builds())
			require.Empty(t, b.journal.Begun())
		})
	}
}

// F33: a definition may ask the loop that it is built for, and even change it.
func TestEXT6_BuildCallsTheController(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		nested := &fixture.Definition{DefinitionName: "nested", OnBuild: func(ctx context.Context, _ tool.Bindings) ([]tool.InvokableTool, error) {
			if b.Mode() != loop.BaseMode || b.Model().Name != "m1" {
				return nil, errors.New("not the state in force")
			}
			if err := b.SetMode(ctx, "plan"); err != nil {
				return nil, err
			}
			if err := b.replace("inner", "g1", fixture.Defines("y")...); err != nil {
				return nil, err
			}
			turn, err := b.Submit(ctx, "t1")
			if err != nil {
				return nil, err
			}
			<-turn.Done()
			return []tool.InvokableTool{&fixture.Tool{Name: "x"}}, b.Interrupt(ctx)
		}}
		require.NoError(t, b.replace("outer", "g1", nested))
		require.Equal(t, []string{"outline", "y", "x"}, b.offers("t2"))
	})
}

// A build that takes long is judged by what is in force when it is done.
func TestEXT5_CollisionsAreJudgedAtCommit(t *testing.T) {
	for _, freed := range []bool{false, true} {
		inBubble(t, func(t *testing.T, b *bench) {
			if freed {
				require.NoError(t, b.replace("b", "g1", fixture.Defines("x")...))
			}
			hold := make(chan struct{})
			slow := &fixture.Definition{DefinitionName: "slow", OnBuild: blocked(hold, &fixture.Tool{Name: "x"})}
			building := async(func() error { return b.replace("a", "g1", slow) })
			require.True(t, pending(building))
			if freed {
				require.NoError(t, b.replace("b", "g2"))
			} else {
				require.NoError(t, b.replace("b", "g1", fixture.Defines("x")...))
			}
			close(hold)
			if freed {
				require.NoError(t, <-building)
			} else {
				require.Equal(t, loop.ChangeExternalToolCollision, kind(<-building))
			}
			require.Equal(t, []string{"declared", "x"}, b.offers("t1"))
		})
	}
}
