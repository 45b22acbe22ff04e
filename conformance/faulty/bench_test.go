package faulty_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/faulty"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var errDisk = errors.New("disk on fire")

// breach is how a scenario reports, by a panic, that the contract was broken.
type breach struct{ text string }

// bench is a loop of the fault that is tested, with surroundings under control, in a bubble. A scenario must not wait for
// anything but by now and ended: with a fault it may never come.
type bench struct {
	loop.Loop
	t          *testing.T
	ctx        context.Context // ends with the scenario: no call of it is left
	fault      string
	definition loop.Definition
	journal    *diary
	client     *script
	bindings   tool.Bindings
	d1, d2     *live // declared in the base mode
	p1, p3     *live // declared in plan, as d1 and d3
	others     []loop.Loop
	foreign    bool
	holds      []chan struct{}
}

// scenario plays a few calls and panics with a breach where the contract was broken.
type scenario func(b *bench)

// play returns the breach that the scenario finds in a loop with the fault, or "".
func play(t *testing.T, fault string, s scenario) (found string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { found = playHere(t, fault, s) })
	return found
}

// playHere is play in the bubble that the caller is in, or in none.
func playHere(t *testing.T, fault string, s scenario) (found string) {
	t.Helper()
	f, _ := faulty.Lookup(fault)
	return playAs(t, fault, f.Foreign, s)
}

func playAs(t *testing.T, fault string, foreign bool, s scenario) (found string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b := &bench{
		t: t, ctx: ctx, fault: fault, foreign: foreign, journal: &diary{}, client: &script{},
		bindings: tool.Bindings{"token": "s3cret"},
		d1:       &live{name: "d1"}, d2: &live{name: "d2"}, p1: &live{name: "d1"}, p3: &live{name: "d3"},
	}
	b.definition = b.define()
	b.Loop = b.start(b.definition, b.journal)
	found = b.findings(s)
	cancel()
	for _, held := range b.holds {
		release(held)
	}
	for _, l := range append(b.others, b.Loop) {
		// Bounded, in the bubble's time: a loop with a fault may not come to an end.
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		_ = l.Shutdown(ctx)
		cancel()
	}
	return found
}

func (b *bench) findings(s scenario) (found string) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case breach:
			found = v.text
		default:
			panic(v)
		}
	}()
	s(b)
	return ""
}

func (b *bench) define(more ...loop.Option) loop.Definition {
	if b.foreign {
		d, err := loop.Define(loop.WithName("bench"), loop.WithEngine(loop.EngineForeign),
			loop.WithModel(modelOf("m1", model.EffortLow, model.EffortHigh)), loop.WithEffort(model.EffortLow),
			loop.WithMode("quick", loop.WithInstructions("be quick")))
		require.NoError(b.t, err)
		return d
	}
	d, err := loop.Define(append([]loop.Option{
		loop.WithName("bench"),
		loop.WithInstructions("be brief"),
		loop.WithModel(modelOf("m1", model.EffortLow, model.EffortHigh)),
		loop.WithEffort(model.EffortLow),
		loop.WithTools(defs(b.d1, b.d2)...),
		loop.WithMode("plan", loop.WithInstructions("only plan"), loop.WithModel(modelOf("planner", model.EffortMax)),
			loop.WithEffort(model.EffortMax), loop.WithTools(defs(b.p1, b.p3)...)),
		loop.WithMode("quick", loop.WithInstructions("be quick")),
		loop.WithMode("bare", loop.WithEffort(model.EffortNone), loop.WithTools()),
	}, more...)...)
	require.NoError(b.t, err)
	return d
}

func (b *bench) config(d loop.Definition, j journal.Journal) faulty.Config {
	return faulty.Config{Definition: d, Journal: j, Client: b.client, Bindings: b.bindings, Fault: b.fault}
}

func (b *bench) start(d loop.Definition, j journal.Journal) loop.Loop {
	if b.foreign {
		l, err := faulty.NewForeign(context.Background(), b.config(d, j))
		require.NoError(b.t, err)
		return l
	}
	l, err := faulty.New(context.Background(), b.config(d, j))
	require.NoError(b.t, err)
	return l
}

// restore puts a loop in the place of the present one that is restored from what a crash leaves now.
func (b *bench) restore(d loop.Definition) error {
	left := &diary{}
	for e := range b.journal.Memory.Events(context.Background()) {
		require.NoError(b.t, left.Memory.Append(context.Background(), e))
	}
	left.reads = b.journal.reads
	l, err := faulty.Restore(context.Background(), b.config(d, left))
	b.journal = left
	if err != nil {
		return err
	}
	b.others = append(b.others, b.Loop)
	b.Loop = l
	return nil
}

func (b *bench) check(ok bool, format string, args ...any) {
	if !ok {
		panic(breach{fmt.Sprintf(format, args...)})
	}
}

func (b *bench) equal(want, got any, what string) {
	b.check(reflect.DeepEqual(want, got), "%s: want %v, got %v", what, want, got)
}

// hold returns what a plan or a tool waits for until it is released, at the latest at the end.
func (b *bench) hold() chan struct{} {
	held := make(chan struct{})
	b.holds = append(b.holds, held)
	return held
}

func release(held chan struct{}) {
	select {
	case <-held:
	default:
		close(held)
	}
}

// pending is a call that may not have returned.
type pending struct{ result chan error }

// begin makes a call on a goroutine of its own and lets it come to rest.
func (b *bench) begin(f func() error) *pending {
	p := &pending{make(chan error, 1)}
	go func() { p.result <- f() }()
	synctest.Wait()
	return p
}

func (p *pending) returned() bool { return len(p.result) > 0 }

// result is the call's, which must have returned by now.
func (b *bench) result(p *pending) error {
	synctest.Wait()
	b.check(p.returned(), "the call has not returned")
	return <-p.result
}

// now makes a call that must return at once.
func (b *bench) now(f func() error) error { return b.result(b.begin(f)) }

// ok makes a call that must succeed at once.
func (b *bench) ok(f func() error) {
	err := b.now(f)
	b.check(err == nil, "refused: %v", err)
}

// refuses makes a call that must be refused at once with one of the kinds, with no event and no change (REF-1).
func (b *bench) refuses(f func() error, kinds ...loop.ChangeErrorKind) *loop.ChangeError {
	before, begun := b.inForce(), len(b.journal.events())
	err := b.now(f)
	var refused *loop.ChangeError
	b.check(errors.As(err, &refused), "want a refusal of kind %v, got %v", kinds, err)
	b.check(slices.Contains(kinds, refused.Kind), "want a refusal of kind %v, got %v", kinds, err)
	b.equal(before, b.inForce(), "in force after a refusal")
	b.equal(begun, len(b.journal.events()), "events after a refusal")
	return refused
}

func (b *bench) setMode(mode loop.ModeName) func() error {
	return func() error { return b.SetMode(b.ctx, mode) }
}

func (b *bench) change(changes ...loop.Change) func() error {
	return func() error { return b.Change(b.ctx, changes...) }
}

func (b *bench) replace(source, generation string, definitions ...tool.Definition) func() error {
	return b.replaceWith(b.ctx, source, generation, definitions...)
}

func (b *bench) replaceWith(ctx context.Context, source, generation string, definitions ...tool.Definition) func() error {
	return func() error {
		return b.Loop.(loop.ExternalToolInstaller).ReplaceExternalTools(ctx, loop.ExternalToolset{
			Source: source, Generation: generation, Definitions: definitions,
		})
	}
}

func (b *bench) interrupt() error { return b.Interrupt(b.ctx) }

func (b *bench) shutdown() error { return b.Shutdown(b.ctx) }

// submit hands in an input that must be accepted at once.
func (b *bench) submit(input string) loop.Turn {
	var turn loop.Turn
	b.ok(func() (err error) {
		turn, err = b.Submit(b.ctx, input)
		return err
	})
	synctest.Wait()
	return turn
}

// submitHeld starts a turn that rests in its first model request; the request ends with its context if it is a polite one.
func (b *bench) submitHeld(input string, polite bool) (loop.Turn, chan struct{}) {
	held := b.hold()
	b.client.on(input, func(ctx context.Context, step int) ([]string, error) {
		if step > 1 {
			return nil, nil
		}
		if polite {
			select {
			case <-held:
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		<-held
		return nil, nil
	})
	turn := b.submit(input)
	b.check(len(b.client.of(input)) == 1, "the turn has not asked")
	return turn, held
}

func ended(turn loop.Turn) bool {
	synctest.Wait()
	select {
	case <-turn.Done():
		return true
	default:
		return false
	}
}

// outcome is how a turn ended, which it must have.
func (b *bench) outcome(turn loop.Turn) loop.TurnErrorKind {
	b.check(ended(turn), "the turn has not ended")
	var failed *loop.TurnError
	if errors.As(turn.Err(), &failed) {
		return failed.Kind
	}
	b.check(turn.Err() == nil, "an outcome of no type: %v", turn.Err())
	return ""
}

// capture runs a turn that must complete at once, and returns its first request.
func (b *bench) capture(input string) model.Request {
	turn := b.submit(input)
	b.equal(loop.TurnErrorKind(""), b.outcome(turn), "outcome of "+input)
	requests := b.client.of(input)
	b.check(len(requests) > 0, "no model request of %s", input)
	return requests[0]
}

func (b *bench) offers(want ...string) {
	b.equal(want, names(b.capture(fmt.Sprint("offers ", len(b.client.all())))), "tools offered")
}

func names(r model.Request) []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// runs is a turn that calls the tools one after the other.
func (b *bench) runs(input string, tools ...string) loop.Turn {
	b.client.calls(input, tools...)
	return b.submit(input)
}

// inForce is what the handle says; calls of it must return at once.
func (b *bench) inForce() journal.State {
	var s journal.State
	b.ok(func() error {
		m := b.Model().Clone() // a loop with a fault may share it
		s = journal.State{Mode: b.Mode(), Model: m, Effort: m.Sampling.Effort}
		return nil
	})
	return s
}

func (b *bench) isIn(mode loop.ModeName, m string, effort model.Effort) {
	s := b.inForce()
	b.equal(fmt.Sprint(mode, " ", m, " ", effort), fmt.Sprint(s.Mode, " ", s.Model.Name, " ", s.Effort), "in force")
}

// settled checks that journal and handle agree (DUR-2).
func (b *bench) settled() {
	folded, err := journal.Fold(journal.Initial(b.definition), b.journal.Memory.Events(context.Background()))
	b.check(err == nil, "the journal cannot be folded: %v", err)
	b.equal(folded, b.inForce(), "in force, against the journal")
}

// recorded is the number of events in the journal.
func (b *bench) recorded() int { return len(b.journal.durable()) }

func modelOf(name string, efforts ...model.Effort) model.Model {
	warm := 0.5
	return model.Model{
		Provider: "acme", APIFormat: "chat", Name: name, Efforts: efforts, Limits: model.Limits{Context: 1000},
		Sampling: model.Sampling{Temperature: &warm, Stop: []string{"stop"}},
	}
}

func toModel(name string, efforts ...model.Effort) loop.Change {
	return loop.ChangeModel(modelOf(name, efforts...))
}
