package native_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/fixture"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

// step is one call, and what becomes of its append if it gets to one.
type step struct {
	Op     string
	Mode   loop.ModeName
	Model  *model.Model
	Effort *model.Effort
	Source string
	Names  []string
	Append string // "ok", "before" or "after": whether it fails, and whether that is before its event was written
	Lost   bool   // the journal cannot be read back then
}

func steps() *rapid.Generator[[]step] {
	models := []model.Model{
		fixture.Model("m1", model.EffortLow, model.EffortHigh), fixture.Model("m2", model.EffortLow),
		fixture.Model("m3", model.EffortHigh, model.EffortMax), fixture.Model("m4"),
		{Provider: "unknown", APIFormat: "chat", Name: "m5"},
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		s := step{Op: rapid.SampledFrom([]string{"mode", "change", "tools", "tools", "turn", "interrupt"}).Draw(t, "op")}
		switch s.Op {
		case "mode":
			s.Mode = rapid.SampledFrom([]loop.ModeName{loop.BaseMode, "plan", "nowhere"}).Draw(t, "mode")
		case "change":
			s.Model = rapid.Ptr(rapid.SampledFrom(models), true).Draw(t, "model")
			s.Effort = rapid.Ptr(rapid.SampledFrom([]model.Effort{
				model.EffortNone, model.EffortLow, model.EffortHigh, model.EffortMax, "colossal",
			}), true).Draw(t, "effort")
		case "tools":
			s.Source = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "source")
			s.Names = rapid.SliceOfN(rapid.SampledFrom([]string{"u", "v", "w", "x", "y", "z", "outline"}), 0, 3).Draw(t, "names")
		}
		s.Append = rapid.SampledFrom([]string{"ok", "ok", "ok", "before", "after"}).Draw(t, "append")
		s.Lost = rapid.IntRange(0, 9).Draw(t, "lost") == 0
		return s
	}), 1, 30)
}

// ideal is what a loop should be.
type ideal struct {
	definition loop.Definition
	state      journal.State
	durable    journal.State // differs from state only after a fault
	slots      map[string][]string
	events     int
	faulted    bool
}

// next returns the state after the step, or why it is refused without an append.
func (i *ideal) next(s step) (journal.State, map[string][]string, loop.ChangeErrorKind) {
	state, slots := i.state, i.slots
	refuse := func(kind loop.ChangeErrorKind) (journal.State, map[string][]string, loop.ChangeErrorKind) {
		return state, slots, kind
	}
	switch s.Op {
	case "mode":
		c, ok := i.definition.Configuration(s.Mode)
		if !ok {
			return refuse(loop.ChangeInvalidMode)
		}
		state = journal.State{Mode: c.Mode, Model: c.Model, Effort: c.Effort}
	case "change":
		if s.Model == nil && s.Effort == nil {
			return refuse(loop.ChangeNoChanges)
		}
		if s.Model != nil {
			if s.Model.Provider == "unknown" {
				return refuse(loop.ChangeInvalidModel)
			}
			state.Model = *s.Model
		}
		if s.Effort != nil {
			state.Effort = *s.Effort
		}
		if !i.faulted && !state.Model.Supports(state.Effort) {
			return refuse(loop.ChangeInvalidEffort)
		}
		state.Model = state.Model.WithEffort(state.Effort)
	case "tools":
		taken := []string{"declared", "outline"}
		for source, names := range slots {
			if source != s.Source && !i.faulted {
				taken = append(taken, names...)
			}
		}
		for _, name := range s.Names {
			if slices.Contains(taken, name) {
				return refuse(loop.ChangeExternalToolCollision)
			}
			taken = append(taken, name)
		}
		changed := map[string][]string{s.Source: s.Names}
		for source, names := range slots {
			if source != s.Source {
				changed[source] = names
			}
		}
		slots = changed
	}
	if i.faulted {
		return refuse(loop.ChangeLoopFaulted)
	}
	return state, slots, ""
}

// offers returns the tools that the next turn offers.
func (i *ideal) offers() []string {
	c, _ := i.definition.Configuration(i.state.Mode)
	names := []string{c.Tools[0].Name()}
	for _, source := range []string{"a", "b", "c"} {
		names = append(names, i.slots[source]...)
	}
	return names
}

// change makes the call, and compares what it returns with what should come of it.
func (i *ideal) change(b *bench, s step) error {
	state, slots, want := i.next(s)
	if want == "" {
		i.events++
		fails := map[string]fixture.Plan{"ok": {}, "before": {Before: errDisk}, "after": {After: errDisk}}
		b.journal.PlanAppends(fails[s.Append])
		if s.Append != "ok" && s.Lost {
			b.journal.PlanReads(fixture.Plan{Before: errDisk})
			want, i.faulted = loop.ChangeDurableAppendFailed, true
		} else if s.Append == "before" {
			want = loop.ChangeDurableAppendFailed
		}
		if s.Append != "before" {
			i.durable = state
		}
		if want == "" {
			i.state, i.slots = state, slots
		}
	}
	var err error
	switch s.Op {
	case "mode":
		err = b.SetMode(b.t.Context(), s.Mode)
	case "tools":
		err = b.replace(s.Source, "g", fixture.Defines(s.Names...)...)
	case "change":
		var changes []loop.Change
		if s.Model != nil {
			changes = append(changes, loop.ChangeModel(*s.Model))
		}
		if s.Effort != nil {
			changes = append(changes, loop.ChangeEffort(*s.Effort))
		}
		err = b.Change(b.t.Context(), changes...)
	}
	if got := kind(err); got != want || (err == nil) != (want == "") {
		return fmt.Errorf("refused as %q, want %q: %v", got, want, err)
	}
	return nil
}

// turn runs a turn, and compares what it captured.
func (i *ideal) turn(b *bench, input string) error {
	turn, err := b.Submit(b.t.Context(), input)
	if i.faulted {
		if submitKind(err) != loop.SubmitFaulted {
			return fmt.Errorf("input not refused as faulted: %v", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	<-turn.Done()
	r := b.client.RequestsOf(input)[0]
	c, _ := i.definition.Configuration(i.state.Mode)
	got := []any{r.Instructions, r.Model, r.Effort, fixture.ToolNames(r)}
	want := []any{c.Instructions, i.state.Model, i.state.Effort, i.offers()}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("captured %v, want %v", got, want)
	}
	return turn.Err()
}

// check compares handle and journal.
func (i *ideal) check(b *bench) error {
	if got := b.inForce(); !reflect.DeepEqual(got, i.state) {
		return fmt.Errorf("in force is %v, want %v", got, i.state)
	}
	folded, err := journal.Fold(journal.Initial(i.definition), b.journal.Memory.Events(context.Background()))
	if err != nil || !reflect.DeepEqual(folded, i.durable) {
		return fmt.Errorf("the journal stands for %v, want %v (%v)", folded, i.durable, err)
	}
	if n := len(b.journal.Begun()); n != i.events {
		return fmt.Errorf("%d appends, want %d", n, i.events)
	}
	return nil
}

// play runs the steps on a loop, then restores one from its journal.
func play(t *testing.T, steps []step) error {
	config := native.Config{Definition: standard(t), Journal: &fixture.Journal{}, Client: &fixture.Client{}}
	l, err := native.New(t.Context(), config)
	if err != nil {
		return err
	}
	b := &bench{Loop: l, t: t, journal: config.Journal.(*fixture.Journal), client: config.Client.(*fixture.Client), config: config}
	defer func() { _ = l.Shutdown(context.Background()) }()
	start := journal.Initial(config.Definition)
	i := &ideal{definition: config.Definition, state: start, durable: start}
	for n, s := range steps {
		switch s.Op {
		case "turn":
			err = i.turn(b, strconv.Itoa(n))
		case "interrupt":
			err = b.Interrupt(t.Context())
		default:
			err = i.change(b, s)
		}
		if err == nil {
			err = i.check(b)
		}
		if err != nil {
			return fmt.Errorf("step %d, %+v: %w", n, s, err)
		}
	}
	if err := i.turn(b, "last"); err != nil {
		return err
	}
	config.Journal = b.crashed()
	restored, err := native.Restore(t.Context(), config)
	if err != nil {
		return err
	}
	defer func() { _ = restored.Shutdown(context.Background()) }()
	b = &bench{Loop: restored, t: t, journal: config.Journal.(*fixture.Journal), client: b.client, config: config}
	i = &ideal{definition: config.Definition, state: i.durable, durable: i.durable}
	if err := i.check(b); err != nil {
		return fmt.Errorf("restored: %w", err)
	}
	return i.turn(b, "restored")
}

// Sequential calls with any outcome of their appends agree with a model of the contract: what they return (REF-1, REF-5,
// CHG, MODE, EXT), what is in force and what the journal stands for (DUR-1, DUR-2), what turns capture (TURN-2, TURN-4), and
// what is restored (DUR-3, EXT-9).
func TestDUR2_AnyHistoryAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		drawn := steps().Draw(rt, "steps")
		var problem error
		synctest.Test(t, func(t *testing.T) { problem = play(t, drawn) })
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}
