package model

import (
	"context"
	"iter"
	"slices"

	"github.com/loopcheck/loopcheck/loop/tool"
)

// Client is the port through which a loop asks models.
//
// Stream starts one request and returns its answer in parts. The request begins when Stream is called, and is over when
// the sequence ends, or the loop stops ranging over it. A pair with an error is the last one: the request failed. Stream
// and the sequence honour ctx; a loop survives one that does not (INT-2). A client may be called from several goroutines at
// once, and owns the request that it is handed.
type Client interface {
	Stream(ctx context.Context, request Request) iter.Seq2[Chunk, error]
}

// Request is one model request. Model.Sampling.Effort equals Effort.
type Request struct {
	Instructions string
	Model        Model
	Effort       Effort
	Tools        []tool.Info
	// Messages begins with the turn's input, word for word: that is how a request is attributed to its turn.
	Messages []Message
}

// Clone returns a copy that shares no memory with r.
func (r Request) Clone() Request {
	r.Model = r.Model.Clone()
	r.Tools = tool.CloneInfos(r.Tools)
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].ToolCalls = slices.Clone(r.Messages[i].ToolCalls)
	}
	return r
}

// Role says whose message it is.
type Role string

// The roles.
const (
	RoleUser      Role = "user"      // the turn's input
	RoleAssistant Role = "assistant" // an answer of the model: text, tool calls, or both
	RoleTool      Role = "tool"      // the result of one tool call
)

// Message is one message of a turn's conversation.
type Message struct {
	Role      Role
	Text      string
	ToolCalls []ToolCall // of RoleAssistant
	// ToolCallID and ToolName say which call a RoleTool message answers; Failed, that Text tells of a failure.
	ToolCallID string
	ToolName   string
	Failed     bool
}

// ToolCall is a model's wish to call a tool. Arguments is passed on as it is.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Chunk is a part of an answer: text to add, a whole tool call, or both.
type Chunk struct {
	Text     string
	ToolCall *ToolCall
}
