package timeline

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/trace"
)

const accepted = "accepted"

// result words what an operation returned.
func result(asked any, e *trace.Entry) string {
	_, submit := asked.(trace.Submit)
	switch {
	case e.Panic:
		return "✗ panics: " + shorten(clean(e.Text), 60)
	case e.Err != nil:
		return "✗ " + outcome(e.Err)
	case e.Seen != nil:
		effort := e.Seen.Model.Sampling.Effort
		return "sees " + config{e.Seen.Mode, e.Seen.Model.Name, effort}.String()
	case submit && e.Turn == nil:
		return "neither a turn nor an error"
	case submit:
		return accepted
	}
	return "ok"
}

// ended words how a call of the surroundings ended.
func ended(e *trace.Entry, good string) string {
	result := good
	switch {
	case e.Panic:
		result = "✗ panics"
	case e.Err == nil:
	case isContext(e.Err):
		result = "✗ its context has ended"
	default:
		result = "✗ fails"
	}
	switch {
	case !e.Held:
		return result
	case result == good:
		return letGo
	}
	return letGo + ", " + result
}

// outcome words an error of the subject: by its kind, where it is one of the contract's. The methods of any other may do
// anything: the text of one that panics is left out.
func outcome(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "an error whose methods panic"
		}
	}()
	var (
		change  *loop.ChangeError
		submit  *loop.SubmitError
		turn    *loop.TurnError
		restore *loop.RestoreError
	)
	switch {
	case errors.As(err, &change) && change != nil:
		text = clean(string(change.Kind))
		if change.Kind == loop.ChangeInvalidMode {
			text += " " + name(string(change.Mode))
		}
		if change.Tool != "" {
			text += " " + name(change.Tool)
		}
	case errors.As(err, &submit) && submit != nil:
		text = clean(string(submit.Kind))
	case errors.As(err, &turn) && turn != nil:
		text = clean(string(turn.Kind))
	case errors.As(err, &restore) && restore != nil:
		text = clean(string(restore.Kind))
		if restore.Kind == loop.RestoreUnknownMode {
			text += " " + name(string(restore.Mode))
		}
	default:
		text = clean(strings.TrimSpace(err.Error()))
	}
	if text == "" {
		text = "an error without a text"
	}
	return shorten(text, 70)
}

// isContext reports whether an error says that a context has ended.
func isContext(err error) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// eventName is an event's type, but for what all of them are about.
func eventName(e event.Event) (text string) {
	defer func() {
		if recover() != nil { // a nil pointer to an event
			text = "nothing"
		}
	}()
	if e == nil {
		return "nothing"
	}
	return name(strings.TrimPrefix(string(e.Type()), "loop_"))
}

// optional reports whether a loop need not record such an event.
func optional(e event.Event) bool {
	switch e.(type) {
	case event.LoopModeChanged, event.LoopInferenceChanged, event.LoopExternalToolsetChanged, nil:
		return false
	}
	return true
}

// eventContent writes what an event says, where the operation that it belongs to does not.
func eventContent(e event.Event) string {
	switch e := e.(type) {
	case event.LoopModeChanged:
		return " " + config{e.Mode, e.Runtime.Model.Name, e.Runtime.Effort}.String()
	case event.LoopInferenceChanged:
		return " {" + name(e.Runtime.Model.Name) + ", " + effortName(e.Runtime.Effort) + "}"
	case event.LoopExternalToolsetChanged:
		names := eventTools(e)
		for i := range names {
			names[i] = name(names[i])
		}
		return " {" + name(e.Source) + ", " + name(e.Generation) + ", [" + list(names, " ") + "]}"
	case event.TurnEnded:
		return " {" + name(string(e.Outcome)) + "}"
	}
	return ""
}

func eventTools(e event.LoopExternalToolsetChanged) []string {
	names := make([]string, len(e.Tools))
	for i, t := range e.Tools {
		names[i] = t.Name
	}
	return names
}

// differs reports whether an event says something else than the operation asked for, to which it was given.
func (s *story) differs(e *trace.Entry) bool {
	c := s.called[e.Op]
	if c == nil {
		return true
	}
	switch asked := c.entry.Asked.(type) {
	case trace.Change:
		e, is := e.Event.(event.LoopInferenceChanged)
		return !is || asked.Model != nil && asked.Model.Name != e.Runtime.Model.Name ||
			asked.Effort != nil && *asked.Effort != e.Runtime.Effort
	case trace.SetMode:
		e, is := e.Event.(event.LoopModeChanged)
		return !is || e.Mode != asked.Mode
	case trace.Replace:
		e, is := e.Event.(event.LoopExternalToolsetChanged)
		return !is || e.Source != asked.Source || e.Generation != asked.Generation ||
			!slices.EqualFunc(asked.Tools, e.Tools, func(t trace.Tool, i event.ExternalToolIdentity) bool { return t.Name == i.Name })
	}
	return true
}

// toolName names the tool that ran: by its instance, and by what the model called if that is another name.
func toolName(r *trace.Run) string {
	if r == nil {
		return "?"
	}
	instance := r.Instance
	own := instance[strings.LastIndexByte(instance, '/')+1:]
	if r.Called == "" || r.Called == own {
		return name(instance)
	}
	return name(instance) + " (called as " + name(r.Called) + ")"
}
