package command

import (
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// [ReplaceLoopExternalTools] and its fields.
const (
	CommandReplaceLoopExternalTools CommandName  = "ReplaceLoopExternalTools"
	ReplaceLoopExternalToolsAck     CommandField = "Ack"
	ReplaceLoopExternalToolsSource  CommandField = "Source"
	ReplaceLoopExternalToolsTools   CommandField = "Tools"
)

// LoopToolsResult is the reply to [ReplaceLoopExternalTools]. On success it reports the generation and the number of tools
// that the next turn sees from the source (CMD-3).
type LoopToolsResult struct {
	Err        error
	Generation string
	Installed  int
}

// ReplaceLoopExternalTools replaces one source's slot. The actor installs the live tools; the journal records the
// identities only (DUR-4), which is why both lists run side by side.
type ReplaceLoopExternalTools struct {
	Header
	Source     string
	Generation string
	Tools      []tool.InvokableTool
	Identities []event.ExternalToolIdentity
	Ack        chan<- LoopToolsResult
}

// CommandName returns CommandReplaceLoopExternalTools.
func (ReplaceLoopExternalTools) CommandName() CommandName { return CommandReplaceLoopExternalTools }

// Validate checks the ack, the source, and that each tool has an identity (CMD-1).
func (c ReplaceLoopExternalTools) Validate() error {
	if err := checkAck(CommandReplaceLoopExternalTools, ReplaceLoopExternalToolsAck, c.Ack); err != nil {
		return err
	}
	if c.Source == "" {
		return &InvalidError{
			Command: CommandReplaceLoopExternalTools, Field: ReplaceLoopExternalToolsSource, Kind: EmptySource,
		}
	}
	if len(c.Tools) != len(c.Identities) {
		return &InvalidError{
			Command: CommandReplaceLoopExternalTools, Field: ReplaceLoopExternalToolsTools, Kind: MisalignedTools,
		}
	}
	return nil
}

// Refuse answers with err and nothing else.
func (c ReplaceLoopExternalTools) Refuse(err error) { c.Reply(LoopToolsResult{Err: err}) }

// Reply answers the command.
func (c ReplaceLoopExternalTools) Reply(result LoopToolsResult) { reply(c.Ack, result) }
