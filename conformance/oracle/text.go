package oracle

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

// texts yields every text that the encoding of an event holds.
func texts(e event.Event) iter.Seq[string] {
	return func(yield func(string) bool) {
		inference := func(r event.Runtime) bool {
			for _, s := range []string{r.Model.Provider, r.Model.APIFormat, r.Model.BaseURL, r.Model.Name, string(r.Effort), string(r.Model.Sampling.Effort)} {
				if !yield(s) {
					return false
				}
			}
			for _, s := range r.Model.Efforts {
				if !yield(string(s)) {
					return false
				}
			}
			for _, s := range r.Model.Sampling.Stop {
				if !yield(s) {
					return false
				}
			}
			return true
		}
		switch e := e.(type) {
		case event.LoopModeChanged:
			_ = yield(string(e.PreviousMode)) && yield(string(e.Mode)) && inference(e.Runtime)
		case event.LoopInferenceChanged:
			inference(e.Runtime)
		case event.LoopExternalToolsetChanged:
			if !yield(e.Source) || !yield(e.Generation) {
				return
			}
			for _, t := range e.Tools {
				if !yield(t.Name) || !yield(t.SchemaDigest) {
					return
				}
			}
		case event.LoopStarted:
			_ = yield(e.Name) && yield(string(e.Mode)) && inference(e.Runtime)
		case event.TurnStarted:
			yield(string(e.Mode))
		case event.TurnEnded:
			yield(string(e.Outcome))
		case event.Other:
			_ = yield(string(e.Tag)) && yield(string(e.Raw))
		}
	}
}

// showEvent words an event without what differs from run to run.
func showEvent(e event.Event) string {
	switch e := e.(type) {
	case event.LoopModeChanged:
		return fmt.Sprintf("mode %s, %s", quote(string(e.Mode)), showInference(e.Runtime.Model, e.Runtime.Effort))
	case event.LoopInferenceChanged:
		return showInference(e.Runtime.Model, e.Runtime.Effort)
	case event.LoopExternalToolsetChanged:
		return fmt.Sprintf("source %s, generation %s, %d tools", quote(e.Source), quote(e.Generation), len(e.Tools))
	}
	return string(e.Type())
}

// recordedEvent is what an event says, without what differs from run to run.
type recordedEvent struct {
	Mode, PreviousMode string
	Model              model.Model
	Effort             string
	Source, Generation string
	Tools              []string
}

// String words it in a line.
func (r recordedEvent) String() string {
	if r.Source != "" {
		return fmt.Sprintf("source %s, generation %s, tools %v", quote(r.Source), quote(r.Generation), r.Tools)
	}
	inference := showInference(r.Model, model.Effort(r.Effort))
	if r.Mode == r.PreviousMode && r.Mode == "" {
		return inference
	}
	return fmt.Sprintf("mode %s after %s, %s", quote(r.Mode), quote(r.PreviousMode), inference)
}

func recordedOf(e event.Event) recordedEvent {
	switch e := e.(type) {
	case event.LoopModeChanged:
		return recordedEvent{Mode: string(e.Mode), PreviousMode: string(e.PreviousMode), Model: plain(e.Runtime.Model), Effort: string(e.Runtime.Effort)}
	case event.LoopInferenceChanged:
		return recordedEvent{Model: plain(e.Runtime.Model), Effort: string(e.Runtime.Effort)}
	case event.LoopExternalToolsetChanged:
		r := recordedEvent{Source: e.Source, Generation: e.Generation}
		for _, t := range e.Tools {
			r.Tools = append(r.Tools, t.Name+" "+t.SchemaDigest[:min(8, len(t.SchemaDigest))])
		}
		return r
	}
	return recordedEvent{}
}

func showInference(m model.Model, effort model.Effort) string {
	if effort == "" {
		return "model " + m.Name + ", no effort"
	}
	return "model " + m.Name + ", effort " + string(effort)
}

// showState words a state in a line.
func showState(s *state) string {
	names := make([]string, 0, 8)
	for _, t := range s.offer() {
		names = append(names, t.Name)
	}
	return fmt.Sprintf("{mode %s, %s, tools %v}", quote(string(s.mode.Name)), showInference(s.model, s.effort), names)
}

func quote(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:32]) + "… (" + strconv.Itoa(len(s)) + " bytes)"
	}
	return strconv.Quote(s)
}
