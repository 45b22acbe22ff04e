package conformance

import (
	"context"
	"fmt"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// perform performs one operation, and reports whether its client may go on.
func (p *play) perform(o workload.Operation, thread string) bool {
	i := p.current(o, thread)
	if i == nil {
		return false
	}
	switch o.Kind {
	case workload.Submit:
		input := "input of " + o.ID
		steps := o.Steps()
		if p.load.Foreign {
			steps = nil // the tools of a foreign loop are its own: what they are called is not known
		}
		p.stage.Expect(o.ID, input, steps)
		return p.call(i, o, trace.Submit{Input: input}, func(ctx context.Context, e *trace.Entry) {
			e.Turn, e.Err = i.loop.Submit(ctx, input)
			if e.Err == nil && e.Turn != nil {
				p.mu.Lock()
				if i.ctx.Err() == nil { // else it died with the loop
					p.turns[o.ID] = e.Turn
				}
				p.mu.Unlock()
			}
		})
	case workload.Change:
		return p.change(i, o)
	case workload.SetMode:
		mode, _ := o.Value("mode")
		name := loop.ModeName(workload.Expand(mode))
		return p.call(i, o, trace.SetMode{Mode: name}, func(ctx context.Context, e *trace.Entry) { e.Err = i.loop.SetMode(ctx, name) })
	case workload.Replace:
		return p.replace(i, o)
	case workload.Interrupt:
		return p.call(i, o, trace.Interrupt{}, func(ctx context.Context, e *trace.Entry) { e.Err = i.loop.Interrupt(ctx) })
	case workload.Shutdown:
		return p.call(i, o, trace.Shutdown{}, func(ctx context.Context, e *trace.Entry) {
			e.Err = i.loop.Shutdown(ctx)
			if e.Err == nil {
				p.mu.Lock()
				i.exited = true
				p.mu.Unlock()
			}
		})
	case workload.Read:
		return p.call(i, o, trace.Read{}, func(_ context.Context, e *trace.Entry) {
			seen := &trace.Seen{Mode: i.loop.Mode(), Between: p.stage.Log.Now()}
			m := i.loop.Model()
			seen.Model = m.Clone()
			fakes.Scribble(m, fakes.ByReader)
			e.Seen = seen
		})
	case workload.Wait:
		return p.wait(i, o)
	case workload.Crash, workload.Restore:
		return p.restore(i)
	case workload.RestoreWithout:
		return p.restoreWithout(i)
	case workload.Anew:
		return p.anew()
	}
	operation, known := p.subject.operation(o.Kind)
	if !known {
		p.world.Fail(sim.CheckMisuse, fmt.Sprintf("operation %s is of the unknown kind %q", o.ID, o.Kind))
		return false
	}
	return p.call(i, o, trace.User{Kind: string(o.Kind)}, func(ctx context.Context, e *trace.Entry) { e.Err = operation.Do(ctx, i.loop, o) })
}

// call makes one call: it notes it, hands it a context that the schedule may end, and notes what it returned. It reports false
// when the loop crashed meanwhile: then the client has gone on without its answer.
func (p *play) call(i *incarnation, o workload.Operation, asked any, f func(context.Context, *trace.Entry)) bool {
	ctx, cancel := context.WithCancel(i.ctx)
	if o.Cancel {
		go p.canceller(i, o, ctx, cancel)
	}
	defer func() {
		// The end of the context after the call must do nothing (REF-8). That of a Submit is left to the schedule.
		if o.Kind != workload.Submit {
			cancel()
		}
	}()
	p.stage.Asked(i.life, o.ID, o.Inside, asked)
	e := trace.Entry{Op: o.ID}
	if !p.mortal {
		p.protected(ctx, &e, f)
	} else {
		returned := make(chan trace.Entry, 1)
		go func() {
			e := trace.Entry{Op: o.ID}
			p.protected(ctx, &e, f)
			returned <- e
		}()
		select {
		case e = <-returned:
		case <-i.ctx.Done():
			if p.world.Context().Err() != nil {
				return false
			}
			return true // the client is not part of the process that crashed
		}
	}
	p.stage.Returned(i.life, e)
	return p.world.Context().Err() == nil
}

// protected makes the call; a panic in it is what it returned.
func (p *play) protected(ctx context.Context, e *trace.Entry, f func(context.Context, *trace.Entry)) {
	defer func() {
		if v := recover(); v != nil {
			e.Panic, e.Text = true, fmt.Sprint(v)
		}
	}()
	f(ctx, e)
}

// canceller ends the context of an operation if the schedule says so.
func (p *play) canceller(i *incarnation, o workload.Operation, ctx context.Context, cancel context.CancelFunc) {
	if _, err := p.world.Park(ctx, sim.Gate{Thread: "cancel " + o.ID, Owner: o.ID, Name: "cancel", Optional: true}); err == nil {
		p.stage.Cancelled(i.life, o.ID)
		cancel()
	}
}

func (p *play) change(i *incarnation, o workload.Operation) bool {
	var (
		asked   trace.Change
		changes []loop.Change
		given   []model.Model
	)
	for _, a := range o.Args {
		switch a.Name {
		case "nil":
			changes = append(changes, nil)
		case "model":
			m, refused := fakes.Model(o.ID, a.Value)
			kept := m.Clone()
			asked.Repeated = asked.Repeated || asked.Model != nil
			asked.Model, asked.Refused = &kept, refused
			changes, given = append(changes, loop.ChangeModel(m)), append(given, m)
		case "effort":
			effort := model.Effort(a.Value)
			if a.Value == workload.NoEffort {
				effort = model.EffortNone
			}
			asked.Repeated = asked.Repeated || asked.Effort != nil
			asked.Effort = &effort
			changes = append(changes, loop.ChangeEffort(effort))
		}
	}
	for _, m := range given {
		fakes.Scribble(m, fakes.ByCaller)
	}
	return p.call(i, o, asked, func(ctx context.Context, e *trace.Entry) {
		e.Err = i.loop.Change(ctx, changes...)
		if len(changes) > 0 { // the slice is the caller's (CHG-5)
			m, _ := fakes.Model(o.ID, workload.FreshModel)
			fakes.Scribble(m, fakes.ByCaller)
			for n := range changes {
				changes[n] = loop.ChangeModel(m)
			}
		}
	})
}

func (p *play) replace(i *incarnation, o workload.Operation) bool {
	definitions, asked := i.life.Set(o.ID, o.Source(), o.Generation(), o.Tools())
	handed := append(make([]tool.Definition, 0, len(definitions)+1), definitions...)
	return p.call(i, o, asked, func(ctx context.Context, e *trace.Entry) {
		installer, can := i.loop.(loop.ExternalToolInstaller)
		if !can {
			e.Err = &loop.ChangeError{Kind: loop.ChangeExternalToolsUnsupported}
			return
		}
		e.Err = installer.ReplaceExternalTools(ctx, loop.ExternalToolset{Source: asked.Source, Generation: asked.Generation, Definitions: handed})
		decoy := i.life.Decoy(o.ID)
		for n := range handed { // the slice is the caller's (EXT-12)
			handed[n] = decoy
		}
		_ = append(handed, decoy)
		for _, d := range definitions {
			if d, ours := d.(*fakes.Definition); ours && d != nil {
				d.Spoil()
			}
		}
	})
}

func (p *play) wait(i *incarnation, o workload.Operation) bool {
	id, _ := o.Value("turn")
	p.mu.Lock()
	t := p.turns[id]
	p.mu.Unlock()
	if t == nil {
		return true // refused
	}
	return p.call(i, o, trace.Wait{Turn: id}, func(ctx context.Context, _ *trace.Entry) {
		select {
		case <-t.Done():
		case <-ctx.Done():
		}
	})
}

// current returns the live loop, and waits for one if it has just crashed; nil if there will be none.
func (p *play) current(o workload.Operation, thread string) *incarnation {
	p.mu.Lock()
	begun := p.begun
	p.mu.Unlock()
	if begun != nil && !isClosed(begun) {
		select {
		case <-begun:
		case <-p.world.Context().Done():
			return nil
		}
		// Those who have waited go on one after the other, as the schedule says.
		if _, err := p.world.Park(p.world.Context(), sim.Gate{Thread: thread + " with " + o.ID, Owner: o.ID, Name: "again"}); err != nil {
			return nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.incarn
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// restore begins the next life on the journal of this one. If that has not exited, it crashes: its ports go dead.
func (p *play) restore(i *incarnation) bool {
	if p.subject.Restore == nil || p.load.Foreign {
		return true
	}
	begun := make(chan struct{})
	defer close(begun)
	p.mu.Lock()
	p.begun, p.incarn = begun, nil
	exited := i.exited
	p.mu.Unlock()
	if !exited {
		i.life.Crash()
		i.end()
		// Nobody sees what it does now: it is to let go of its goroutines.
		go p.guarded("the crashed loop", func() { _ = i.loop.Shutdown(context.Background()) })
		p.mu.Lock()
		i.exited = true
		clear(p.turns)
		p.mu.Unlock()
	}
	return p.next(p.subject.Restore, i.life.Store())
}

// next makes the next life the one that operations are for. Its journal may be unreadable for a while.
func (p *play) next(start Start, store *fakes.Store) bool {
	for range 3 {
		if next := p.start(start, store, ""); next != nil {
			p.mu.Lock()
			p.incarn = next
			p.mu.Unlock()
			return true
		}
	}
	return false
}

// restoreWithout restores with a definition that lacks the mode in force, which must fail (MODE-3).
func (p *play) restoreWithout(i *incarnation) bool {
	p.mu.Lock()
	exited := i.exited
	p.mu.Unlock()
	mode := i.life.Mode()
	if p.subject.Restore == nil || p.load.Foreign || !exited || mode == loop.BaseMode {
		return true
	}
	p.start(p.subject.Restore, i.life.Store(), mode)
	return true
}

// anew begins a loop of the same definition on a journal of its own (CHG-6).
func (p *play) anew() bool {
	start := p.subject.Start
	if p.load.Foreign {
		start = p.subject.Foreign
	}
	return p.next(start, nil)
}
