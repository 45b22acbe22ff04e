// Package grid says which situations a run reached: what was called, in which phase of a turn, under which fault. Schedules are
// kept, and campaigns drawn, by the cells of this grid.
package grid

import (
	"errors"
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/trace"
)

// Cell is one situation.
type Cell struct {
	Phase     string // of the turn in flight when the operation was called: one of Phases
	Operation string // the kind of the operation: one of Operations, or a kind of the user's
	Fault     string // the latest thing that had gone wrong by the time it returned: one of Faults
}

// String returns the cell as "phase × operation × fault".
func (c Cell) String() string { return c.Phase + " × " + c.Operation + " × " + c.Fault }

// Phases are the phases of a turn.
func Phases() []string { return []string{"idle", "request", "tool", "exited"} }

// Operations are the kinds of calls.
func Operations() []string {
	return []string{"submit", "change", "set-mode", "replace", "interrupt", "shutdown", "read"}
}

// Faults are what can go wrong around a call.
func Faults() []string {
	return []string{
		"none", "append not written", "append written", "append outstanding", "context ended", "request failed", "tool failed", "panic", "held",
		"build failed", "restored",
	}
}

// Cells returns the cells that a run reached, each once, in the order of its calls.
func Cells(entries []trace.Entry) []Cell {
	var (
		cells []Cell
		s     = situation{fault: "none", open: make(map[string]Cell), calls: make(map[int]string), written: make(map[int]bool)}
	)
	for _, e := range entries {
		s.follow(e)
		switch e.Kind {
		case trace.Called:
			if kind := operation(e.Asked); kind != "" {
				s.open[e.Op] = Cell{Phase: s.phase(), Operation: kind}
			}
		case trace.Returned:
			if cell, open := s.open[e.Op]; open {
				cell.Fault = s.fault
				delete(s.open, e.Op)
				if !slices.Contains(cells, cell) {
					cells = append(cells, cell)
				}
			}
		}
	}
	return cells
}

// situation is what is the case at an instant of a run.
type situation struct {
	fault   string
	open    map[string]Cell // called and not returned
	calls   map[int]string  // requests and tool runs that have not ended, by what they are
	written map[int]bool    // appends that have not returned, by whether the event is durable
	exited  bool
}

func (s *situation) phase() string {
	request := false
	for _, what := range s.calls {
		if what == "tool" {
			return what
		}
		request = true
	}
	switch {
	case s.exited:
		return "exited"
	case request:
		return "request"
	}
	return "idle"
}

func (s *situation) follow(e trace.Entry) {
	switch e.Kind {
	case trace.Started:
		s.exited = false
		if e.Life > 1 {
			s.fault = "restored"
		}
	case trace.Crashed:
		clear(s.open)
		clear(s.calls)
		clear(s.written)
	case trace.Returned:
		if _, shutdown := s.open[e.Op]; shutdown && e.Err == nil && s.open[e.Op].Operation == "shutdown" {
			s.exited = true
		}
	case trace.ContextEnded:
		s.fault = "context ended"
	case trace.AppendBegan:
		s.written[e.Call] = false
	case trace.AppendWritten:
		s.written[e.Call] = true
		s.fault = "append outstanding"
	case trace.AppendReturned:
		switch {
		case e.Err == nil && s.fault == "append outstanding":
			s.fault = "none"
		case errors.Is(e.Err, fakes.ErrDead), e.Err == nil:
		case s.written[e.Call]:
			s.fault = "append written"
		default:
			s.fault = "append not written"
		}
		delete(s.written, e.Call)
	case trace.RequestBegan:
		s.calls[e.Call] = "request"
	case trace.ToolBegan:
		s.calls[e.Call] = "tool"
	case trace.RequestEnded, trace.ToolEnded:
		what := s.calls[e.Call]
		delete(s.calls, e.Call)
		switch {
		case e.Panic:
			s.fault = "panic"
		case e.Held:
			s.fault = "held"
		case e.Err != nil && what != "":
			s.fault = what + " failed"
		}
	case trace.BuildEnded:
		if e.Err != nil {
			s.fault = "build failed"
		}
	}
}

func operation(asked any) string {
	switch asked := asked.(type) {
	case trace.Submit:
		return "submit"
	case trace.Change:
		return "change"
	case trace.SetMode:
		return "set-mode"
	case trace.Replace:
		return "replace"
	case trace.Interrupt:
		return "interrupt"
	case trace.Shutdown:
		return "shutdown"
	case trace.Read:
		return "read"
	case trace.User:
		return asked.Kind
	}
	return ""
}
