package faulty_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

// live is a tool.
type live struct {
	name   string
	schema json.RawMessage
	info   func() (*tool.Info, error)
	run    func(ctx context.Context) (string, error)

	mu   sync.Mutex
	ran  int
	seen []context.Context
}

func (t *live) Info(context.Context) (*tool.Info, error) {
	if t.info != nil {
		return t.info()
	}
	return &tool.Info{Name: t.name, Schema: t.schema}, nil
}

func (t *live) InvokableRun(ctx context.Context, _ string) (string, error) {
	t.mu.Lock()
	t.ran++
	t.seen = append(t.seen, ctx)
	t.mu.Unlock()
	if t.run != nil {
		return t.run(ctx)
	}
	return "ok", nil
}

func (t *live) runs() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ran
}

func (t *live) context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[0]
}

// recipe is a definition.
type recipe struct {
	name  string
	build func(ctx context.Context) ([]tool.InvokableTool, error)

	mu    sync.Mutex
	built int
}

func (d *recipe) Name() string { return d.name }

func (d *recipe) Build(ctx context.Context, _ tool.Bindings) ([]tool.InvokableTool, error) {
	d.mu.Lock()
	d.built++
	d.mu.Unlock()
	return d.build(ctx)
}

func (d *recipe) builds() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.built
}

func def(tools ...*live) *recipe {
	return &recipe{name: "def " + tools[0].name, build: func(context.Context) ([]tool.InvokableTool, error) {
		var built []tool.InvokableTool
		for _, t := range tools {
			built = append(built, t)
		}
		return built, nil
	}}
}

func defs(tools ...*live) []tool.Definition {
	var all []tool.Definition
	for _, t := range tools {
		all = append(all, def(t))
	}
	return all
}

func named(names ...string) []tool.Definition {
	var all []tool.Definition
	for _, n := range names {
		all = append(all, def(&live{name: n}))
	}
	return all
}

// broken is a definition whose build is f.
func broken(f func(ctx context.Context) ([]tool.InvokableTool, error)) *recipe {
	return &recipe{name: "broken", build: f}
}

// script is a model client that answers by the turn's input.
type script struct {
	mu       sync.Mutex
	answers  map[string]func(ctx context.Context, step int) ([]string, error)
	requests []model.Request
	contexts []context.Context
}

func (c *script) on(input string, answer func(ctx context.Context, step int) ([]string, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = make(map[string]func(context.Context, int) ([]string, error))
	}
	c.answers[input] = answer
}

// calls has a turn call one tool in each step.
func (c *script) calls(input string, tools ...string) {
	c.on(input, func(_ context.Context, step int) ([]string, error) {
		if step > len(tools) {
			return nil, nil
		}
		return tools[step-1 : step], nil
	})
}

func (c *script) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
	c.mu.Lock()
	c.requests = append(c.requests, r.Clone())
	c.contexts = append(c.contexts, ctx)
	answer := c.answers[r.Messages[0].Text]
	c.mu.Unlock()
	step := 1
	for _, m := range r.Messages {
		if m.Role == model.RoleAssistant {
			step++
		}
	}
	return func(yield func(model.Chunk, error) bool) {
		if answer == nil {
			yield(model.Chunk{Text: "done"}, nil)
			return
		}
		calls, err := answer(ctx, step)
		for i, name := range calls {
			if !yield(model.Chunk{ToolCall: &model.ToolCall{ID: fmt.Sprint(i), Name: name}}, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Chunk{}, err)
		}
	}
}

func (c *script) all() []model.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

func (c *script) of(input string) []model.Request {
	return slices.DeleteFunc(c.all(), func(r model.Request) bool { return r.Messages[0].Text != input })
}

func (c *script) context(i int) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.contexts[i]
}

// plan says what becomes of one append or one reading.
type plan struct {
	hold          chan struct{}
	before, after error
	slow          chan struct{} // waited for after the write
	panics        bool
}

// diary is a journal that does as it is told.
type diary struct {
	journal.Memory

	mu      sync.Mutex
	appends []plan
	reads   []plan
	begun   []event.Event
}

func (j *diary) plan(plans ...plan) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appends = append(j.appends, plans...)
}

func (j *diary) planReads(plans ...plan) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads = append(j.reads, plans...)
}

func (j *diary) next(plans *[]plan) plan {
	if len(*plans) == 0 {
		return plan{}
	}
	p := (*plans)[0]
	*plans = (*plans)[1:]
	return p
}

func (j *diary) Append(ctx context.Context, e event.Event) error {
	j.mu.Lock()
	j.begun = append(j.begun, e)
	p := j.next(&j.appends)
	j.mu.Unlock()
	if p.hold != nil {
		<-p.hold
	}
	if p.panics {
		panic("journal")
	}
	if p.before != nil {
		return p.before
	}
	if err := j.Memory.Append(ctx, e); err != nil {
		return err
	}
	if p.slow != nil {
		<-p.slow
	}
	return p.after
}

func (j *diary) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		j.mu.Lock()
		p := j.next(&j.reads)
		j.mu.Unlock()
		if p.hold != nil {
			<-p.hold
		}
		if p.before != nil {
			yield(nil, p.before)
			return
		}
		for e, err := range j.Memory.Events(ctx) {
			if !yield(e, err) {
				return
			}
		}
		if p.after != nil {
			yield(nil, p.after)
		}
	}
}

// events are those whose append has begun.
func (j *diary) events() []event.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.begun)
}

func (j *diary) durable() []event.Event {
	var all []event.Event
	for e := range j.Memory.Events(context.Background()) {
		all = append(all, e)
	}
	return all
}

// waiting is a journal that tells when an append has begun and waits for leave to go on.
type waiting struct {
	diary
	begun, held chan struct{}
}

func (j *waiting) Append(ctx context.Context, e event.Event) error {
	close(j.begun)
	<-j.held
	return j.diary.Append(ctx, e)
}
