package command_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var errSample = errors.New("sample")

// kind is one kind of command, made with an ack of its own that is nil, unbuffered or buffered.
type kind struct {
	name command.CommandName
	make func(buffer int) (c command.Command, receive func() (error, bool))
}

// noAck stands for a nil channel.
const noAck = -1

func acked[R any](build func(chan<- R) command.Command, errorOf func(R) error) func(int) (command.Command, func() (error, bool)) {
	return func(buffer int) (command.Command, func() (error, bool)) {
		var ack chan R
		if buffer != noAck {
			ack = make(chan R, buffer)
		}
		return build(ack), func() (error, bool) {
			select {
			case result := <-ack:
				return errorOf(result), true
			default:
				return nil, false
			}
		}
	}
}

func kinds() []kind {
	ofResult := func(r command.LoopResult) error { return r.Err }
	type ack = chan<- command.LoopResult
	return []kind{
		{"SetLoopMode", acked(func(a ack) command.Command { return command.SetLoopMode{Mode: "m", Ack: a} }, ofResult)},
		{"ChangeLoopInference", acked(func(a ack) command.Command { return command.ChangeLoopInference{Ack: a} }, ofResult)},
		{"InterruptLoop", acked(func(a ack) command.Command { return command.InterruptLoop{Ack: a} }, ofResult)},
		{"ShutdownLoop", acked(func(a ack) command.Command { return command.ShutdownLoop{Ack: a} }, ofResult)},
		{"SubmitLoopInput", acked(func(a chan<- command.LoopInputResult) command.Command {
			return command.SubmitLoopInput{Input: "hello", Ack: a}
		}, func(r command.LoopInputResult) error { return r.Err })},
		{"ReplaceLoopExternalTools", acked(func(a chan<- command.LoopToolsResult) command.Command {
			return command.ReplaceLoopExternalTools{Source: "s", Ack: a}
		}, func(r command.LoopToolsResult) error { return r.Err })},
	}
}

func requireInvalid(t *testing.T, err error, want command.InvalidError) {
	t.Helper()
	var invalid *command.InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, want, *invalid)
	for _, part := range []string{string(want.Command), string(want.Field), string(want.Kind)} {
		assert.Contains(t, err.Error(), part)
	}
}

func TestCMD1_EveryCommandNeedsABufferedAck(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(string(kind.name), func(t *testing.T) {
			without, _ := kind.make(noAck)
			assert.Equal(t, kind.name, without.CommandName())
			requireInvalid(t, without.Validate(), command.InvalidError{Command: kind.name, Field: "Ack", Kind: command.MissingAck})

			unbuffered, _ := kind.make(0)
			requireInvalid(t, unbuffered.Validate(), command.InvalidError{Command: kind.name, Field: "Ack", Kind: command.UnbufferedAck})

			for _, buffer := range []int{1, 2} {
				buffered, _ := kind.make(buffer)
				assert.NoError(t, buffered.Validate())
			}
		})
	}
}

func TestCMD1_AReplacementNeedsASourceAndAnIdentityForEachTool(t *testing.T) {
	valid := command.ReplaceLoopExternalTools{
		Header: command.Header{LoopID: uuid.New()}, Source: "mcp", Generation: "g",
		Tools:      []tool.InvokableTool{looptest.NewTool("a", ""), looptest.NewTool("b", "")},
		Identities: []event.ExternalToolIdentity{{Name: "a"}, {Name: "b"}},
		Ack:        make(chan command.LoopToolsResult, 1),
	}
	require.NoError(t, valid.Validate())

	misaligned := command.InvalidError{
		Command: command.CommandReplaceLoopExternalTools, Field: command.ReplaceLoopExternalToolsTools, Kind: command.MisalignedTools,
	}
	for name, c := range map[string]struct {
		spoil func(*command.ReplaceLoopExternalTools)
		want  command.InvalidError
	}{
		"no source": {func(c *command.ReplaceLoopExternalTools) { c.Source = "" }, command.InvalidError{
			Command: command.CommandReplaceLoopExternalTools, Field: command.ReplaceLoopExternalToolsSource, Kind: command.EmptySource,
		}},
		"fewer tools":      {func(c *command.ReplaceLoopExternalTools) { c.Tools = c.Tools[:1] }, misaligned},
		"fewer identities": {func(c *command.ReplaceLoopExternalTools) { c.Identities = c.Identities[:1] }, misaligned},
		"no tools":         {func(c *command.ReplaceLoopExternalTools) { c.Tools = nil }, misaligned},
		"no identities":    {func(c *command.ReplaceLoopExternalTools) { c.Identities = nil }, misaligned},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := valid
			c.spoil(&spoilt)
			requireInvalid(t, spoilt.Validate(), c.want)
		})
	}

	cleared := valid
	cleared.Tools, cleared.Identities = nil, []event.ExternalToolIdentity{}
	assert.NoError(t, cleared.Validate(), "nil and empty lists are one")
}

func TestCMD1_NamesAreThoseOfTheContract(t *testing.T) {
	assert.Equal(t, command.CommandName("ReplaceLoopExternalTools"), command.CommandReplaceLoopExternalTools)
	assert.Equal(t, command.CommandField("Ack"), command.ReplaceLoopExternalToolsAck)
	assert.Equal(t, command.CommandField("Source"), command.ReplaceLoopExternalToolsSource)
	assert.Equal(t, command.CommandField("Tools"), command.ReplaceLoopExternalToolsTools)
}

// A send that blocks here would block for ever: nobody else has the channel.
func TestCMD2_ARefusalNeverBlocksAndIsTheOnlyReply(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(string(kind.name), func(t *testing.T) {
			valid, receive := kind.make(1)
			valid.Refuse(errSample)
			valid.Refuse(errors.New("a second reply"))
			err, ok := receive()
			require.True(t, ok, "no reply")
			assert.Same(t, errSample, err)
			_, ok = receive()
			assert.False(t, ok, "two replies")

			for _, buffer := range []int{noAck, 0} {
				invalid, receive := kind.make(buffer)
				invalid.Refuse(errSample)
				_, ok := receive()
				assert.False(t, ok, "buffer %d", buffer)
			}
		})
	}
}

func TestCMD2_TheFirstReplyIsDeliveredWhole(t *testing.T) {
	results := make(chan command.LoopResult, 1)
	for name, reply := range map[string]func(command.LoopResult){
		"SetLoopMode":         command.SetLoopMode{Ack: results}.Reply,
		"ChangeLoopInference": command.ChangeLoopInference{Ack: results}.Reply,
		"InterruptLoop":       command.InterruptLoop{Ack: results}.Reply,
		"ShutdownLoop":        command.ShutdownLoop{Ack: results}.Reply,
	} {
		reply(command.LoopResult{})
		reply(command.LoopResult{Err: errSample})
		require.Len(t, results, 1, name)
		assert.NoError(t, (<-results).Err, name)
	}

	turns := make(chan command.LoopInputResult, 1)
	var turn loop.Turn = fakeTurn{errSample}
	command.SubmitLoopInput{Ack: turns}.Reply(command.LoopInputResult{Turn: turn})
	assert.Equal(t, command.LoopInputResult{Turn: turn}, <-turns)
}

type fakeTurn struct{ err error }

func (fakeTurn) Done() <-chan struct{} { return nil }
func (t fakeTurn) Err() error          { return t.err }

func TestCMD3_AToolsResultReportsGenerationAndNumber(t *testing.T) {
	results := make(chan command.LoopToolsResult, 1)
	c := command.ReplaceLoopExternalTools{Source: "mcp", Generation: "g", Ack: results}
	c.Reply(command.LoopToolsResult{Generation: "g", Installed: 2})
	assert.Equal(t, command.LoopToolsResult{Generation: "g", Installed: 2}, <-results)

	c.Refuse(errSample)
	assert.Equal(t, command.LoopToolsResult{Err: errSample}, <-results, "a refusal installed nothing")
}
