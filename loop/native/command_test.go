package native_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// acks are where the replies to a set of commands go: with room for more than the one that each may get.
type acks struct {
	results chan command.LoopResult
	inputs  chan command.LoopInputResult
	tools   chan command.LoopToolsResult
}

func newAcks(room int) acks {
	return acks{make(chan command.LoopResult, room), make(chan command.LoopInputResult, room), make(chan command.LoopToolsResult, room)}
}

func (a acks) replies() int { return len(a.results) + len(a.inputs) + len(a.tools) }

// err returns the error of the one reply.
func (a acks) err() error {
	select {
	case r := <-a.results:
		return r.Err
	case r := <-a.inputs:
		return r.Err
	case r := <-a.tools:
		return r.Err
	}
}

// commands are one valid command of each kind, to be answered there.
func commands(t *testing.T) map[command.CommandName]func(a acks) command.Command {
	effort := model.EffortHigh
	return map[command.CommandName]func(a acks) command.Command{
		command.CommandSetLoopMode: func(a acks) command.Command { return command.SetLoopMode{Mode: "plan", Ack: a.results} },
		command.CommandChangeLoopInference: func(a acks) command.Command {
			return command.ChangeLoopInference{Effort: &effort, Ack: a.results}
		},
		command.CommandInterruptLoop:   func(a acks) command.Command { return command.InterruptLoop{Ack: a.results} },
		command.CommandSubmitLoopInput: func(a acks) command.Command { return command.SubmitLoopInput{Input: "a", Ack: a.inputs} },
		command.CommandShutdownLoop:    func(a acks) command.Command { return command.ShutdownLoop{Ack: a.results} },
		command.CommandReplaceLoopExternalTools: func(a acks) command.Command {
			return replacement(t, a, "mcp", "g1", "x", "y")
		},
	}
}

func replacement(t *testing.T, a acks, source, generation string, names ...string) command.ReplaceLoopExternalTools {
	described, err := tool.Describe(t.Context(), fixture.Defines(names...), nil)
	require.NoError(t, err)
	c := command.ReplaceLoopExternalTools{Source: source, Generation: generation, Tools: native.Installed(described), Ack: a.tools}
	for _, d := range described {
		c.Identities = append(c.Identities, event.ExternalToolIdentity{Name: d.Info.Name, SchemaDigest: d.Digest})
	}
	return c
}

func TestCMD2_EachCommandGetsExactlyOneReply(t *testing.T) {
	failure := errors.New("maybe")
	type situation struct {
		prepare func(b *bench, hold chan struct{}) // leaves the loop in a situation, until hold is closed
		refused map[command.CommandName]bool
	}
	changes := map[command.CommandName]bool{
		command.CommandSetLoopMode: true, command.CommandChangeLoopInference: true, command.CommandReplaceLoopExternalTools: true,
	}
	all := map[command.CommandName]bool{command.CommandSubmitLoopInput: true}
	for name := range changes {
		all[name] = true
	}
	block := func(b *bench) {
		acks := newAcks(1)
		require.True(b.t, b.Send(b.t.Context(), command.ChangeLoopInference{Ack: acks.results}))
		synctest.Wait()
	}
	for name, s := range map[string]situation{
		"idle": {func(*bench, chan struct{}) {}, nil},
		"append outstanding": {func(b *bench, hold chan struct{}) {
			b.journal.PlanAppends(fixture.Plan{Hold: hold})
			block(b)
		}, nil},
		"in doubt": {func(b *bench, hold chan struct{}) {
			b.journal.PlanAppends(fixture.Plan{After: failure})
			b.journal.PlanReads(fixture.Plan{Hold: hold})
			block(b)
		}, nil},
		"its append fails": {func(b *bench, _ chan struct{}) { b.journal.PlanAppends(fixture.Plan{Before: failure}) }, changes},
		"about to fault": {func(b *bench, hold chan struct{}) {
			b.journal.PlanAppends(fixture.Plan{After: failure})
			b.journal.PlanReads(fixture.Plan{Hold: hold, Before: failure})
			block(b)
		}, all},
		"shutting down": {func(b *bench, hold chan struct{}) {
			b.journal.PlanAppends(fixture.Plan{Hold: hold})
			block(b)
			require.True(b.t, b.Send(b.t.Context(), command.ShutdownLoop{Ack: make(chan command.LoopResult, 1)}))
		}, all},
	} {
		for commandName := range commands(t) {
			t.Run(name+"/"+string(commandName), func(t *testing.T) {
				inBubble(t, func(t *testing.T, b *bench) {
					cmd := commands(t)[commandName]
					hold := make(chan struct{})
					s.prepare(b, hold)
					answered, full := newAcks(4), newAcks(1)
					full.results <- command.LoopResult{}
					full.inputs <- command.LoopInputResult{}
					full.tools <- command.LoopToolsResult{}
					require.True(t, b.Send(t.Context(), cmd(answered)))
					b.Send(t.Context(), cmd(full)) // must not block the actor either; it may have exited
					synctest.Wait()
					require.LessOrEqual(t, answered.replies(), 1)
					close(hold)
					synctest.Wait()
					require.NoError(t, b.Shutdown(t.Context()))
					synctest.Wait()
					require.Equal(t, 1, answered.replies())
					require.Equal(t, 3, full.replies())
					require.Equal(t, s.refused[commandName], answered.err() != nil)
				})
			})
		}
	}
}

func TestCMD2_AWithdrawnCommandGetsExactlyOneReply(t *testing.T) {
	for _, held := range []bool{false, true} {
		for name := range commands(t) {
			t.Run(fmt.Sprint(name, "/held: ", held), func(t *testing.T) {
				inBubble(t, func(t *testing.T, b *bench) {
					hold := make(chan struct{})
					if held {
						b.journal.PlanAppends(fixture.Plan{Hold: hold})
						require.True(t, b.Send(t.Context(), command.SetLoopMode{Ack: make(chan command.LoopResult, 1)}))
					}
					ctx, cancel := context.WithCancel(t.Context())
					answered := newAcks(4)
					cmd := commands(t)[name](answered)
					cancel()
					b.SendAndWithdraw(ctx, cmd)
					b.SendAndWithdraw(ctx, commands(t)[name](newAcks(1)))
					synctest.Wait()
					close(hold)
					require.NoError(t, b.Shutdown(t.Context()))
					require.Equal(t, 1, answered.replies())
				})
			})
		}
	}
}

func TestCMD2_InvalidCommandsHarmNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for _, unusable := range []acks{{}, newAcks(0)} {
			for _, cmd := range commands(t) {
				require.True(t, b.Send(t.Context(), cmd(unusable)))
			}
		}
		misaligned := newAcks(2)
		cmd := replacement(t, misaligned, "mcp", "g1", "x")
		cmd.Identities = nil
		require.True(t, b.Send(t.Context(), cmd))
		sourceless := newAcks(2)
		require.True(t, b.Send(t.Context(), replacement(t, sourceless, "", "g1", "x")))
		synctest.Wait()
		for _, answered := range []acks{misaligned, sourceless} {
			require.Equal(t, 1, answered.replies(), "there is an ack to tell of it")
			require.ErrorAs(t, answered.err(), new(*command.InvalidError))
		}
		require.NoError(t, b.run("a1"), "not interrupted, not shut down")
		require.Equal(t, []string{"declared"}, fixture.ToolNames(b.client.Requests()[0]))
		require.Empty(t, b.journal.Begun())
	})
}

// A command that Validate takes is answered, also if it carries what no call of the loop would send.
func TestCMD2_ToolsOfAnotherMakeAreRefused(t *testing.T) {
	for name, foreign := range map[string]tool.InvokableTool{"another type": &fixture.Tool{Name: "x"}, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				answered := newAcks(2)
				cmd := replacement(t, answered, "mcp", "g1", "x")
				cmd.Tools[0] = foreign
				require.True(t, b.Send(t.Context(), cmd))
				synctest.Wait()
				require.Equal(t, 1, answered.replies())
				require.Error(t, answered.err())
				require.Empty(t, b.journal.Begun())
			})
		})
	}
}

type otherCommand struct{ command.SetLoopMode }

func TestCMD2_ACommandOfAnotherMakeIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		answered := newAcks(2)
		require.True(t, b.Send(t.Context(), otherCommand{command.SetLoopMode{Mode: "plan", Ack: answered.results}}))
		synctest.Wait()
		require.Equal(t, 1, answered.replies())
		require.Error(t, answered.err())
		require.Equal(t, loop.BaseMode, b.Mode())
	})
}

func TestCMD3_ReportsWhatTheNextTurnSees(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.install("other", "g1", &fixture.Tool{Name: "z"})
		send := func(generation string, names ...string) command.LoopToolsResult {
			answered := newAcks(1)
			require.True(t, b.Send(t.Context(), replacement(t, answered, "mcp", generation, names...)))
			return <-answered.tools
		}
		for i, names := range [][]string{{"x"}, {"x", "y", "w"}, {"y"}, {}, {}, {"x", "y"}} {
			g := fmt.Sprint("g", i%3)
			require.Equal(t, command.LoopToolsResult{Generation: g, Installed: len(names)}, send(g, names...))
			require.NoError(t, b.run(fmt.Sprint(i)))
			offered := fixture.ToolNames(b.client.RequestsOf(fmt.Sprint(i))[0])
			require.Len(t, offered, 2+len(names))
			require.Equal(t, append(append([]string{"declared"}, names...), "z"), offered)
		}
		refused := send("g9", "v", "z")
		require.Equal(t, loop.ChangeExternalToolCollision, kind(refused.Err))
		require.Equal(t, command.LoopToolsResult{Err: refused.Err}, refused)
	})
}
