package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// play is one run of a workload on a subject.
type play struct {
	subject    *Subject
	load       workload.Workload
	mortal     bool // a client's operation crashes the loop: calls must be abandoned
	judge      *oracle.Judge
	invariants []func([]trace.Entry) error
	world      *sim.World
	stage      *fakes.Stage
	length     int // of the trace when the run failed, or came to its end: what follows is the clearing up

	mu     sync.Mutex
	incarn *incarnation
	made   []*incarnation
	turns  map[string]loop.Turn
	// Of the run: every life has the same.
	definition loop.Definition
	facts      *trace.Definition
	begun      chan struct{} // closed when there is a loop; a crash makes a new one
}

// incarnation is a live loop with its surroundings.
type incarnation struct {
	loop   loop.Loop
	life   *fakes.Life
	ctx    context.Context // ends with the life
	end    context.CancelFunc
	exited bool
}

// patience is the virtual time that is let pass before a call that does not return is taken for one that never will.
const patience = time.Hour

// program makes the program of one run. Judge is called for each run, as a schedule may be run again and again.
func program(subject *Subject, load workload.Workload, judge func() *oracle.Judge, done func(*play)) sim.Program {
	return func(w *sim.World) {
		p := &play{subject: subject, load: load, judge: judge(), world: w, stage: fakes.NewStage(w), turns: make(map[string]loop.Turn)}
		for _, invariant := range subject.Invariants {
			p.invariants = append(p.invariants, invariant.Begin())
		}
		for _, c := range load.Clients {
			p.mortal = p.mortal || slices.ContainsFunc(c.Operations, func(o workload.Operation) bool { return o.Kind == workload.Crash || o.Kind == workload.Restore })
		}
		if done != nil {
			defer done(p)
		}
		defer p.end()
		p.play()
	}
}

func (p *play) play() {
	start := p.subject.Start
	if p.load.Foreign {
		start = p.subject.Foreign
	}
	p.stage.Inside = p.inside
	p.world.AtRest(p.rest)
	p.incarn = p.start(start, nil, "")
	p.stage.Curtain()
	p.rest()
	for _, c := range p.load.Clients {
		go p.client(c.Name, c.Operations)
	}
	if !p.settle() {
		return
	}
	for _, o := range p.load.Tail {
		if o.Inside != "" {
			continue
		}
		go p.guarded(workload.TailName, func() { p.perform(o, workload.TailName) })
		if !p.settle() {
			return
		}
	}
	p.stage.LetGo()
	p.settle()
}

// rest has what was seen in a step judged.
func (p *play) rest() {
	var (
		broken    error
		invariant string
	)
	if p.judge == nil { // a run to measure others against
		return
	}
	p.stage.Rest(func(entries []trace.Entry) {
		p.judge.Observe(entries)
		for i, follow := range p.invariants {
			if err := follow(entries); err != nil && broken == nil {
				broken, invariant = err, p.subject.Invariants[i].Name
			}
		}
	})
	if broken != nil {
		p.fail(invariant, broken.Error())
	}
	if b := p.judge.Breach(); b != nil {
		p.fail(b.Requirement, b.Message)
	}
}

// fail fails the run, and remembers how long the trace was by then.
func (p *play) fail(check, message string) {
	if p.length == 0 {
		p.length = len(p.stage.Log.Entries())
	}
	p.world.Fail(check, message)
}

// settle lets the run go on until nothing can happen any more, however much time passes; then what is still open is judged.
func (p *play) settle() bool {
	for {
		if !p.world.Settle() {
			return false
		}
		if p.judge == nil || !p.judge.Open() {
			return true
		}
		// While something is open, what need not happen may: a context ends, or what is held goes on.
		go p.idle()
		if !p.world.Settle() {
			return false
		}
		if !p.judge.Open() {
			return true
		}
		before := p.stage.Log.Happened() // a subject may go on logging that it is alive
		p.judge.Passes()
		time.Sleep(patience)
		if !p.world.Settle() {
			return false
		}
		if p.stage.Log.Happened() == before {
			break
		}
		p.judge.Timed()
	}
	p.judge.Quiet()
	p.rest()
	return p.judge.Breach() == nil
}

// idle gives the schedule some occasions to take an option when nothing else is left to happen.
func (p *play) idle() {
	for range 3 {
		if _, err := p.world.Park(p.world.Context(), sim.Gate{Thread: "kit", Owner: "kit", Name: "idle"}); err != nil {
			return
		}
	}
}

// end frees what the run leaves, so that its goroutines can finish. What the loops do now is not judged.
func (p *play) end() {
	if p.length == 0 {
		p.length = len(p.stage.Log.Entries())
	}
	p.mu.Lock()
	made := slices.Clone(p.made)
	p.mu.Unlock()
	for _, i := range made {
		i.end()
		p.mu.Lock()
		exited := i.exited
		p.mu.Unlock()
		if !exited {
			go p.guarded("the end", func() { _ = i.loop.Shutdown(context.Background()) })
		}
	}
}

// guarded runs what calls the subject on a goroutine of the kit's. A panic that no call accounts for is the kit's.
func (p *play) guarded(who string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			p.world.Fail(sim.CheckPanic, fmt.Sprintf("%s panicked: %v\n%s", who, v, debug.Stack()))
		}
	}()
	f()
}

// client performs the operations of a client, one after the other.
func (p *play) client(name string, operations []workload.Operation) {
	p.guarded(name, func() {
		for _, o := range operations {
			if o.Inside != "" {
				continue
			}
			if _, err := p.world.Park(p.world.Context(), sim.Gate{Thread: name, Owner: o.ID, Name: "call"}); err != nil {
				return
			}
			if !p.perform(o, name) {
				return
			}
		}
	})
}

// inside performs what the workload wants to be done from inside the first tool call of a turn.
func (p *play) inside(turn, thread string) {
	for _, c := range append([]workload.Client{{Operations: p.load.Tail}}, p.load.Clients...) {
		for _, o := range c.Operations {
			if o.Inside != turn {
				continue
			}
			if _, err := p.world.Park(p.world.Context(), sim.Gate{Thread: thread, Owner: o.ID, Name: "call"}); err != nil {
				return
			}
			if !p.perform(o, thread) {
				return
			}
		}
	}
}

// start makes the next life of the loop and notes whether it began. On a store, it is a restore. Without is the mode that
// the definition is to lack.
func (p *play) start(start Start, store *fakes.Store, without loop.ModeName) *incarnation {
	life := p.stage.Begin(store)
	definition, facts := p.definition, p.facts
	if facts == nil || without != "" {
		var err error
		if definition, facts, err = p.stage.Define(p.load.Foreign, without); err != nil {
			p.world.Fail(sim.CheckMisuse, err.Error())
			return nil
		}
	}
	if without == "" {
		p.definition, p.facts = definition, facts
	}
	ctx, end := context.WithCancel(p.world.Context())
	i := &incarnation{life: life, ctx: ctx, end: end}
	var err error
	i.loop, err = p.tryStart(start, Env{
		Definition: definition, Journal: life.Journal(), Client: life.Client(), Bindings: life.Bindings(), Log: life.Logf,
	})
	fakes.SpoilDeclared(definition)
	life.Started(facts, err)
	if err != nil {
		end()
		return nil
	}
	p.mu.Lock()
	p.made = append(p.made, i)
	p.mu.Unlock()
	return i
}

func (p *play) tryStart(start Start, env Env) (l loop.Loop, err error) {
	defer func() {
		if v := recover(); v != nil {
			l, err = nil, fmt.Errorf("it panicked: %v", v)
		}
	}()
	if start == nil {
		return nil, errors.New("the subject has no function for it")
	}
	// The end of the context after the start must do nothing (REF-8).
	ctx, cancel := context.WithCancel(p.world.Context())
	defer cancel()
	l, err = start(ctx, env)
	if err == nil && l == nil {
		err = errNilLoop
	}
	return l, err
}

// discover starts a loop and asks it for its optional interfaces.
func (p *play) discover() (external bool, err error) {
	p.stage = fakes.NewStage(p.world)
	life := p.stage.Begin(nil)
	definition, _, err := p.stage.Define(false, "")
	if err != nil {
		return false, err
	}
	l, err := p.tryStart(p.subject.Start, Env{
		Definition: definition, Journal: life.Journal(), Client: life.Client(), Bindings: life.Bindings(), Log: life.Logf,
	})
	if err != nil {
		return false, err
	}
	_, external = l.(loop.ExternalToolInstaller)
	go p.guarded("the end", func() { _ = l.Shutdown(context.Background()) })
	return external, nil
}
