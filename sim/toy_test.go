package sim_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/loopcheck/loopcheck/sim"
)

// toy is a small actor with a journal and turns, of about the weight of a real one: what the benchmarks measure against,
// and where bugs are planted.
type toy struct {
	w *sim.World
	// partial plants a bug: a batch of two fields is appended one by one.
	partial bool
	// deaf plants a bug: the error of an append is dropped.
	deaf bool

	inbox   chan request
	exited  chan struct{}
	durable []string
	kinds   map[string]string // what each operation is
}

type request struct {
	op   string
	kind string
	ack  chan error
}

var errAppend = errors.New("append failed")

var appendVerdicts = []string{"ok", "failed before the write", "failed after the write"}

func newToy(w *sim.World) *toy {
	t := &toy{w: w, inbox: make(chan request, 8), exited: make(chan struct{}), kinds: make(map[string]string)}
	return t
}

func (t *toy) append(op, what string) error {
	verdict, err := t.w.Park(t.w.Context(), sim.Gate{Thread: "loop", Owner: op, Name: "append " + what, Verdicts: appendVerdicts})
	if err != nil || verdict == appendVerdicts[1] {
		return errAppend
	}
	t.durable = append(t.durable, op+" "+what)
	if verdict == appendVerdicts[2] {
		return errAppend
	}
	return nil
}

func (t *toy) call(ctx context.Context, op, kind string) error {
	r := request{op, kind, make(chan error, 1)}
	select {
	case t.inbox <- r:
	case <-t.exited:
		return errors.New("exited")
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.ack:
		return err
	case <-t.exited:
		return errors.New("exited")
	}
}

func (t *toy) run() {
	defer close(t.exited)
	var turn chan struct{}
	queue := []string{}
	next := func() {
		if turn == nil && len(queue) > 0 {
			turn = make(chan struct{})
			go t.turn(queue[0], turn)
			queue = queue[1:]
		}
	}
	for {
		select {
		case <-turn:
			turn = nil
			next()
		case r := <-t.inbox:
			switch r.kind {
			case "submit":
				queue = append(queue, r.op)
				r.ack <- nil
				next()
			case "change":
				r.ack <- t.change(r.op)
			case "stop":
				if turn != nil {
					<-turn
				}
				r.ack <- nil
				return
			}
		}
	}
}

func (t *toy) change(op string) error {
	if t.partial {
		for _, field := range []string{"A", "B"} {
			if err := t.append(op, field); err != nil {
				return err
			}
		}
		return nil
	}
	if err := t.append(op, "AB"); err != nil && !t.deaf {
		return err
	}
	return nil
}

func (t *toy) turn(op string, done chan struct{}) {
	defer close(done)
	for i := range 3 {
		if _, err := t.w.Park(t.w.Context(), sim.Gate{Thread: "turn " + op, Owner: op, Name: "chunk " + strconv.Itoa(i)}); err != nil {
			return
		}
	}
}

// workload is what each client does, by kind. It is a sim.Case.
type workload struct {
	clients [][]string // names of operations: "a1 submit"
	check   func(w *sim.World, t *toy, results map[string]error)
	plant   func(*toy)
}

func (l workload) Program() sim.Program {
	return func(w *sim.World) {
		t := newToy(w)
		if l.plant != nil {
			l.plant(t)
		}
		go t.run()
		var mu sync.Mutex
		results := make(map[string]error)
		for i, ops := range l.clients {
			for _, op := range ops {
				t.kinds[op[:2]] = op[3:]
			}
			client := string(rune('a' + i))
			w.Go(client, func() {
				for _, op := range ops {
					name, kind := op[:2], op[3:]
					if _, err := w.Park(w.Context(), sim.Gate{Thread: client, Owner: name, Name: "call"}); err != nil {
						return
					}
					err := t.call(w.Context(), name, kind)
					w.Note(client, fmt.Sprintf("%s returns %v", name, err))
					mu.Lock()
					results[name] = err
					mu.Unlock()
				}
			})
		}
		if w.Settle() {
			w.Go("end", func() { _ = t.call(w.Context(), "z1", "stop") })
			if w.Settle() && l.check != nil {
				l.check(w, t, results)
			}
			return
		}
		w.Go("end", func() { _ = t.call(context.Background(), "z1", "stop") })
	}
}

func (l workload) Size() int {
	n := 0
	for _, ops := range l.clients {
		n += 1 + len(ops)
	}
	return n
}

func (l workload) Reductions() iter.Seq[sim.Reduction] {
	with := func(clients [][]string) workload {
		l := l
		l.clients = clients
		return l
	}
	return func(yield func(sim.Reduction) bool) {
		for i, ops := range l.clients {
			var names []string
			for _, op := range ops {
				names = append(names, op[:2])
			}
			if !yield(sim.Reduction{Pass: "drop a client", Case: with(slices.Delete(slices.Clone(l.clients), i, i+1)), Dropped: names}) {
				return
			}
		}
		for i, ops := range l.clients {
			for j, op := range ops {
				clients := slices.Clone(l.clients)
				clients[i] = slices.Delete(slices.Clone(ops), j, j+1)
				if !yield(sim.Reduction{Pass: "drop an operation", Case: with(clients), Dropped: []string{op[:2]}}) {
					return
				}
			}
		}
		for i := 1; i < len(l.clients); i++ {
			clients := slices.Delete(slices.Clone(l.clients), i, i+1)
			clients[i-1] = slices.Concat(clients[i-1], l.clients[i])
			if !yield(sim.Reduction{Pass: "merge clients", Case: with(clients)}) {
				return
			}
		}
	}
}

func deaf(t *toy)    { t.deaf = true }
func partial(t *toy) { t.partial = true }

// durableSuccess checks that what was reported as done is in the journal.
func durableSuccess(w *sim.World, t *toy, results map[string]error) {
	for op, err := range results {
		if err == nil && !slices.Contains(t.durable, op+" AB") && t.kinds[op] == "change" {
			w.Fail("DURABLE", op+" returned nil and is not in the journal")
		}
	}
}

// wholeBatches checks that nobody left half of a batch in the journal.
func wholeBatches(w *sim.World, t *toy, _ map[string]error) {
	for _, entry := range t.durable {
		op := entry[:2]
		if slices.Contains(t.durable, op+" A") && !slices.Contains(t.durable, op+" B") {
			w.Fail("BATCH", "half of "+op+" is in the journal")
			return
		}
	}
}
