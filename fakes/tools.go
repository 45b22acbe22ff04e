package fakes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

// What definitions and tools fail with.
var (
	ErrBuild = errors.New("fakes: the build failed " + Canary)
	ErrInfo  = errors.New("fakes: the tool does not say what it is " + Canary)
	ErrRun   = errors.New("fakes: the tool failed " + Canary)
)

var (
	buildVerdicts = []string{"ok", "fail", "panic", "held", "held-info"}
	runVerdicts   = []string{"ok", "fail", "panic", "held"}
)

// Definition is a [tool.Definition] that behaves as a workload says, as "x:fail".
type Definition struct {
	stage     *Stage
	life      *Life  // nil for a declared one: see Stage.Define
	op        string // the replace that hands it over; "" for a declared one
	name      string
	behaviour string
	instance  string // of its tools, without their names
	of        string // what its tools say that they belong to
	open      bool   // its build does not park
	// handed are the schemas that tools handed out, for Spoil.
	mu     sync.Mutex
	handed []json.RawMessage
}

// Set returns the definitions that a replace hands over, and what they come to. What the tools say of themselves depends on
// source and generation, which identify the content; only the instances are those of the operation.
func (l *Life) Set(op, source, generation string, set []workload.Tool) ([]tool.Definition, trace.Replace) {
	definitions := make([]tool.Definition, 0, len(set))
	asked := trace.Replace{Source: source, Generation: generation}
	for i, element := range set {
		if element.Behaviour == workload.NilDefinition {
			asked.Broken = append(asked.Broken, "")
			definitions = append(definitions, nil)
			continue
		}
		d := l.define(op, i, element.Name, element.Behaviour, &asked)
		d.open = len(set) > gated
		definitions = append(definitions, d)
	}
	if len(asked.Tools) > tool.MaxSet {
		// The tool or definition that is one too many, or none, can be named: every one of the set is to blame.
		asked.Broken = append(asked.Broken, "")
		for _, t := range asked.Tools {
			asked.Broken = append(asked.Broken, t.Name)
		}
	}
	return definitions, asked
}

// define makes one definition, and adds what it comes to.
func (l *Life) define(op string, n int, name, behaviour string, asked *trace.Replace) *Definition {
	d := &Definition{stage: l.stage, life: l, op: op, name: name, behaviour: behaviour, instance: op + "/" + strconv.Itoa(n) + "/", of: asked.Source + " " + asked.Generation}
	var names []string
	switch behaviour {
	case workload.BuildFails, workload.BuildPanics, workload.NilTool:
		asked.Broken = append(asked.Broken, name)
	case workload.NilInfo, workload.InfoFails, workload.InfoPanics:
		asked.Broken = append(asked.Broken, name)
	case workload.EmptyName, workload.LongName, workload.BadUTF8:
		asked.Broken = append(asked.Broken, name, badName(behaviour))
	case workload.BadSchema:
		asked.Broken = append(asked.Broken, name)
	case workload.NoTool:
	case workload.Pair:
		names = []string{name, name + "2"}
	default:
		names = []string{name}
	}
	asked.Panics = asked.Panics || behaviour == workload.BuildPanics || behaviour == workload.InfoPanics
	for _, name := range names {
		if !tool.ValidName(name) {
			asked.Broken = append(asked.Broken, name, d.name)
		}
		info := d.info(name)
		asked.Tools = append(asked.Tools, trace.Tool{
			Name: name, Description: info.Description, Schema: string(info.Schema), Instance: d.instance + name,
		})
	}
	return d
}

// gated is the size of the largest set whose builds park: in a larger one they would be all that happens in a run.
const gated = 16

// Decoy returns a definition that nobody asks for: it is written over slices that a loop must not keep (EXT-12).
func (l *Life) Decoy(op string) *Definition {
	return &Definition{stage: l.stage, life: l, name: Decoy, instance: op + "/decoy/"}
}

func badName(behaviour string) string {
	switch behaviour {
	case workload.LongName:
		return strings.Repeat("n", tool.MaxName+1)
	case workload.BadUTF8:
		return "n\xff"
	}
	return ""
}

// info is what a tool of the definition says of itself when it is installed.
func (d *Definition) info(name string) *tool.Info {
	of := d.of
	info := &tool.Info{Name: name, Description: name + " of " + of + " " + Canary}
	switch d.behaviour {
	case workload.BlankSchema:
		info.Schema = json.RawMessage(" ")
	case workload.BadSchema:
		info.Schema = json.RawMessage(`{"type": ` + Canary)
	default:
		info.Schema = json.RawMessage(`{ "type": "object", "title": ` + strconv.Quote(of) + `, "default": "` + Canary + `" }`)
	}
	return info
}

// Name returns the definition's name, which is that of its first tool.
func (d *Definition) Name() string { return d.name }

// Build builds the definition's tools, or does not, as the workload and the schedule say.
func (d *Definition) Build(ctx context.Context, _ tool.Bindings) ([]tool.InvokableTool, error) {
	if d.op == "" {
		life := d.life
		if life == nil {
			life = d.stage.latest()
		}
		return []tool.InvokableTool{&Tool{definition: d, life: life, name: d.name}}, nil
	}
	l, s := d.life, d.life.stage
	if l.dead() {
		return nil, ErrDead
	}
	call := s.number()
	l.add(trace.Entry{Kind: trace.BuildBegan, Op: d.op, Call: call, Text: d.name, Cancelled: ended(ctx)})
	end := trace.Entry{Kind: trace.BuildEnded, Op: d.op, Call: call, Text: d.name}
	defer func() { l.add(end) }()
	var tools []tool.InvokableTool
	tools, end.Err = d.build(ctx, &end)
	return tools, end.Err
}

func (d *Definition) build(ctx context.Context, end *trace.Entry) ([]tool.InvokableTool, error) {
	l, s := d.life, d.life.stage
	thread, free := s.thread("build " + d.op)
	defer free()
	gate := sim.Gate{Thread: thread, Owner: d.op, Name: "build", Verdicts: buildVerdicts}
	verdict, err := "ok", ctx.Err()
	if !d.open {
		verdict, err = s.Park(ctx, gate)
	}
	if verdict == "held" {
		end.Held = s.hold(l, gate)
	}
	switch {
	case l.dead():
		return nil, ErrDead
	case err != nil:
		return nil, err
	case verdict == "fail", d.behaviour == workload.BuildFails:
		return nil, ErrBuild
	case verdict == "panic", d.behaviour == workload.BuildPanics:
		end.Panic, end.Err = true, ErrBuild
		panic(Panic{"the definition " + d.name})
	}
	build := func(name string) tool.InvokableTool {
		return &Tool{definition: d, life: l, name: name, slow: verdict == "held-info"}
	}
	switch d.behaviour {
	case workload.NoTool:
		return nil, nil
	case workload.NilTool:
		return []tool.InvokableTool{nil}, nil
	case workload.Pair:
		return []tool.InvokableTool{build(d.name), build(d.name + "2")}, nil
	case workload.EmptyName, workload.LongName, workload.BadUTF8:
		return []tool.InvokableTool{build(badName(d.behaviour))}, nil
	}
	return []tool.InvokableTool{build(d.name)}, nil
}

// Spoil overwrites the schemas that the definition's tools handed out, if it is a changing one: what a loop installed must not
// be that memory (EXT-13).
func (d *Definition) Spoil() {
	if d.behaviour != workload.Changing {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, schema := range d.handed {
		for i := range schema {
			schema[i] = '9' // a number is valid JSON: who keeps this memory is not told by an error
		}
	}
	d.handed = nil
}

const changed = "-changed"

// Changed reports whether an info is what a changing tool says after it was installed, or holds the memory that it wrote over.
func Changed(info tool.Info) bool {
	return strings.HasSuffix(info.Name, changed) || info.Description == changed || strings.HasPrefix(string(info.Schema), "99")
}

// Tool is a [tool.InvokableTool] that behaves as a workload and the schedule say.
type Tool struct {
	definition *Definition
	life       *Life
	name       string
	slow       bool

	mu    sync.Mutex
	asked int
}

// Info says what the tool is; a changing one says something else each time.
func (t *Tool) Info(ctx context.Context) (*tool.Info, error) {
	d := t.definition
	l, s := t.life, t.life.stage
	if l.dead() {
		return nil, ErrDead
	}
	t.mu.Lock()
	t.asked++
	first := t.asked == 1
	t.mu.Unlock()
	if d.op != "" && first {
		call := s.number()
		l.add(trace.Entry{Kind: trace.DescribeBegan, Op: d.op, Call: call, Text: t.name, Cancelled: ended(ctx)})
		defer func() { l.add(trace.Entry{Kind: trace.DescribeEnded, Op: d.op, Call: call, Text: t.name}) }()
		if t.slow {
			thread, free := s.thread("describe " + d.op)
			defer free()
			s.hold(l, sim.Gate{Thread: thread, Owner: d.op})
		}
	}
	switch d.behaviour {
	case workload.NilInfo:
		return nil, nil
	case workload.InfoFails:
		return nil, ErrInfo
	case workload.InfoPanics:
		panic(Panic{"the info of tool " + t.name})
	}
	info := d.info(t.name)
	if d.behaviour == workload.Changing {
		if !first {
			info.Name, info.Description, info.Schema = t.name+changed, changed, json.RawMessage(`{"changed":true}`)
		}
		d.mu.Lock()
		d.handed = append(d.handed, info.Schema)
		d.mu.Unlock()
	}
	return info, nil
}

// InvokableRun runs the tool.
func (t *Tool) InvokableRun(ctx context.Context, arguments string) (string, error) {
	d := t.definition
	l, s := t.life, t.life.stage
	if l.dead() {
		return "", ErrDead
	}
	run := &trace.Run{Instance: d.instance + t.name}
	s.mu.Lock()
	s.calls++
	call := s.calls
	if wish, known := s.called[arguments]; known {
		run.Turn, run.Step, run.Called, run.ID = wish.turn, wish.step, wish.name, wish.id
	}
	s.mu.Unlock()
	l.add(trace.Entry{Kind: trace.ToolBegan, Op: run.Turn, Call: call, Run: run, Cancelled: ended(ctx), Context: ctx})
	s.World.Note("tool "+run.ID, "runs "+run.Instance)
	end := trace.Entry{Kind: trace.ToolEnded, Op: run.Turn, Call: call, Run: run}
	defer func() {
		end.Cancelled = ended(ctx)
		l.add(end)
	}()
	var text string
	text, end.Err = t.run(ctx, run, &end)
	return text, end.Err
}

func (t *Tool) run(ctx context.Context, run *trace.Run, end *trace.Entry) (string, error) {
	l, s := t.life, t.life.stage
	owner := run.Turn
	if owner == "" {
		owner = "loop"
	}
	thread, free := s.thread("tool " + owner)
	defer free()
	gate := sim.Gate{Thread: thread, Owner: owner, Name: "run", Verdicts: runVerdicts}
	verdict, err := s.Park(ctx, gate)
	if verdict == "held" {
		end.Held = s.hold(l, gate)
	}
	switch {
	case l.dead():
		return "", ErrDead
	case err != nil:
		return "", err
	case verdict == "fail":
		return "", ErrRun
	case verdict == "panic":
		end.Panic, end.Err = true, ErrRun
		panic(Panic{fmt.Sprintf("tool %s in turn %s", t.name, owner)})
	case verdict == "ok" && s.Inside != nil && s.first(run.Turn):
		s.Inside(run.Turn, thread)
	}
	return "result of " + run.Instance, nil
}

// first reports whether it is asked for the first time for the turn.
func (s *Stage) first(turn string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, before := s.insides[turn]
	s.insides[turn] = struct{}{}
	return turn != "" && !before
}
