package faulty

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/model"
)

const tagInput event.Type = "input_accepted"

func (l *Loop) plantBeforeSubmit(values context.Context, input string) {
	if !l.has(inputsReplayed) {
		return
	}
	l.mu.Lock()
	why := l.closed()
	l.mu.Unlock()
	if why == open {
		<-l.append(values, l.other(tagInput, input))
	}
}

// plantBeforeTurn is called on the turn's goroutine.
func (l *Loop) plantBeforeTurn(t *turn) {
	switch {
	case l.has(turnDebounced):
		timer := time.NewTimer(50 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.ctx.Done():
		}
	case l.has(persistedAtTurn):
		l.mu.Lock()
		e := l.planted.unsaved
		l.planted.unsaved = nil
		l.mu.Unlock()
		if e != nil {
			<-l.append(t.ctx, e)
		}
	case l.has(definitionsKept):
		fresh := slices.Clone(t.from.declared)
		for _, source := range sortedSources(t.from) {
			s := t.from.slots[source]
			if again, ok := l.rebuild(t.ctx, s); ok {
				s = again
			}
			fresh = append(fresh, s.tools...)
		}
		t.capture.tools = fresh
	case l.has(infoAskedEachTurn), l.has(declaredInfoEachTurn):
		for i, offered := range t.capture.tools {
			_, external := t.from.owners[offered.info.Name]
			if external != l.has(infoAskedEachTurn) {
				continue
			}
			if again, err := l.describe(t.ctx, offered.instance); err == nil {
				t.capture.tools[i] = again
			}
		}
	}
}

func sortedSources(s *state) []string {
	var sources []string
	for source := range s.slots {
		sources = append(sources, source)
	}
	slices.Sort(sources)
	return sources
}

func (l *Loop) plantBeforeStep() {
	if !l.has(interruptAtNextStep) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.planted.interruptPending {
		l.planted.interruptPending = false
		l.endTurn(&loop.TurnError{Kind: loop.TurnInterrupted})
		l.advance()
	}
}

func (l *Loop) plantRequest(t *turn, r *model.Request) {
	if !l.has(modelPerStep) && !l.has(instructionsPerStep) && !l.has(toolsPerStep) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	switch {
	case l.has(modelPerStep):
		r.Model, r.Effort = s.model, s.effort
	case l.has(instructionsPerStep):
		r.Instructions = s.instructions
	case l.has(toolsPerStep):
		fresh := *t.capture
		fresh.tools = l.tools(s)
		t.capture = &fresh
		r.Tools = fresh.infos()
	}
}

func (l *Loop) plantRequestFailed(t *turn, err error) {
	if l.has(fallbackSaved) && t.ctx.Err() == nil {
		fallback := l.configuration(loop.BaseMode)
		_ = l.commit(t.ctx, opOwn, l.proposeInference(loop.Batch{Model: &fallback.Model, Effort: &fallback.Effort}))
	}
}

func (l *Loop) plantBeforeTools(t *turn) {
	if !l.has(turnStartsDuringTool) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		next := l.queue[0]
		l.queue = l.queue[1:]
		next.side = true
		l.launch(next)
	}
}

func (l *Loop) plantToolCall(name string) {
	switch {
	case l.has(toolCountUnlocked):
		l.planted.toolRuns++
	case l.has(usedToolsFirst):
		l.mu.Lock()
		defer l.mu.Unlock()
		set(&l.planted.uses, name, l.planted.uses[name]+1)
	}
}

func (l *Loop) plantDispatch(t *turn, name string) (found *installed, planted bool) {
	unknown := t.capture.find(name) == nil
	switch {
	case l.has(dispatchByLiveName):
		s := l.read()
		return (&capture{tools: append(slices.Clone(s.declared), slotTools(s)...)}).find(name), true
	case l.has(namesFolded):
		for _, t := range t.capture.tools {
			if folded(t.info.Name) == folded(name) {
				found = t // the last one wins
			}
		}
		return found, true
	case l.has(unknownToolNearest) && unknown && len(t.capture.tools) > 0:
		return t.capture.tools[0], true
	case l.has(dispatchAllModes) && unknown:
		for _, mode := range append(l.Modes(), loop.BaseMode) {
			if found := (&capture{tools: l.declared[mode]}).find(name); found != nil {
				return found, true
			}
		}
	case l.has(clearedToolStillRuns) && unknown:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.planted.ever[name], true
	}
	return nil, false
}

func slotTools(s *state) []*installed {
	var all []*installed
	for _, slot := range s.slots {
		all = append(all, slot.tools...)
	}
	return all
}

// toolApart calls a tool on a goroutine of its own.
func (l *Loop) toolApart(what string, f func() error, done func(error)) {
	switch {
	case l.has(toolPanicUnrecovered):
		go func() { done(f()) }()
	case l.has(toolPanicStopsLoop):
		apart(what, f, func(err error) {
			var panicked *panicError
			if errors.As(err, &panicked) {
				l.mu.Lock()
				l.stop()
				l.mu.Unlock()
			}
			done(err)
		})
	default:
		apart(what, f, done)
	}
}

// inSequence runs the calls one after the other, whatever becomes of the turn.
func (l *Loop) inSequence(t *turn, calls []model.ToolCall, done func(int, model.Message)) {
	go func() {
		for i, c := range calls {
			m := model.Message{Role: model.RoleTool, ToolCallID: c.ID, ToolName: c.Name}
			err := guard("tool", func() (err error) {
				m.Text, err = l.callTool(t, c)
				return err
			})
			if m.Failed = err != nil; m.Failed {
				m.Text = "failed"
			}
			done(i, m)
		}
	}()
}

// waitsForTools reports whether a step waits for its tools also after the turn has ended.
func (l *Loop) waitsForTools() bool {
	return l.has(stepAfterEnd) || l.has(interruptWaitsForCalls) || l.has(shutdownWaitsForCalls)
}

func (l *Loop) plantResults(t *turn, messages []model.Message) []model.Message {
	if l.has(unknownToolSilent) {
		messages = slices.DeleteFunc(messages, func(m model.Message) bool { return t.capture.find(m.ToolName) == nil })
	}
	return messages
}

// plantFinish reports whether the turn is left as it is.
func (l *Loop) plantFinish(t *turn, err error) bool {
	if l.has(outcomeUnlocked) {
		l.planted.lastOutcome = "returned"
	}
	var panicked *panicError
	return l.has(clientPanicWedges) && errors.As(err, &panicked)
}

func (l *Loop) plantFailed(err error) {
	switch {
	case l.has(failedTurnDropsQueue):
		l.drop(nil)
	case l.has(failedTurnFaultsLoop):
		l.fault = err
		l.drop(err)
	}
}

func (l *Loop) plantInterrupt(t *turn) {
	switch {
	case t == nil:
	case l.has(interruptClearsQueue):
		l.queue = nil
	case l.has(captureReusedAfterInterrupt):
		l.planted.reuse = t.capture
	case l.has(interruptedTurnRetried):
		again := &turn{input: t.input, values: t.values, done: make(chan struct{})}
		l.queue = append([]*turn{again}, l.queue...)
	case l.has(interruptRollsBack):
		l.state = t.from
	}
}

func (l *Loop) plantExited() {
	if l.has(stoppedEventAfterExit) {
		l.append(context.Background(), event.LoopStopped{Header: l.header()})
	}
}
