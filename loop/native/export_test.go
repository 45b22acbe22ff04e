package native

import (
	"context"

	"github.com/loopcheck/loopcheck/loop/command"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// Send hands the actor a command as a call does, and reports whether it took it. It does not wait for the answer.
func (l *Loop) Send(ctx context.Context, cmd command.Command) bool {
	_, taken := l.send(ctx, cmd)
	return taken
}

// SendAndWithdraw is Send by a caller who then gives up.
func (l *Loop) SendAndWithdraw(ctx context.Context, cmd command.Command) {
	if r, taken := l.send(ctx, cmd); taken {
		select {
		case l.withdrawals <- withdrawal{r, ctx.Err()}:
		case <-l.exited:
		}
	}
}

func (l *Loop) send(ctx context.Context, cmd command.Command) (*request, bool) {
	r := newRequest(ctx, cmd)
	select {
	case l.inbox <- r:
		return r, true
	case <-l.exited:
		return r, false
	}
}

// Installed makes of described tools what a command carries.
func Installed(described []tool.Described) []tool.InvokableTool {
	var tools []tool.InvokableTool
	for _, t := range fixTools(described) {
		tools = append(tools, t)
	}
	return tools
}
