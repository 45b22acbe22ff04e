// Package fakes is the surroundings of an agent loop under control: the journal, the model client, tools and their
// definitions. Each parks at gates of a simulated run (package sim), so that a schedule decides when it goes on and whether it
// succeeds, fails or panics; and each notes what it sees in the run's trace.
//
// # Verdicts
//
// The gates of the fakes answer, the boring one first:
//
//   - append: ok; fail-before and fail-after the write; slow, which writes the event and parks again before it returns; held,
//     before the write; context, which honours the context of the append if that has ended, and is ok otherwise;
//   - read: ok; fail, which yields half of the events and then an error;
//   - request: ok; error; cut, which breaks the stream off in the middle; panic; held;
//   - build: ok; fail; panic; held; held-info, which builds and then parks when the tool is asked for its info;
//   - run: ok; fail; panic; held.
//
// What is held ignores its context and need never return: it parks at an optional gate until the schedule takes the option or
// the run is about to end. A loop that waits for it is found out when everything else has come to rest.
//
// # Secrets
//
// Schemas, descriptions, errors and bindings hold [Canary], which must never come into a journal (DUR-4).
package fakes

import (
	"context"
	"strconv"
	"sync"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/trace"
)

// Canary is in every text that a loop may keep to itself and must not record (DUR-4).
const Canary = "canary-7f3e"

// Stage is where the surroundings of one run meet: its world, its trace, and what operations have handed over. Safe for
// concurrent use.
type Stage struct {
	World *sim.World
	Log   *trace.Log
	// Inside, if set, is called once for each turn from inside its first tool run that is let go on with ok: it performs what
	// the workload wants a tool to do to the controller. Thread is the thread of the run.
	Inside func(turn, thread string)

	held   context.Context // ends when what is held is let go
	letGo  context.CancelFunc
	events int // judged so far, of Rest

	mu      sync.Mutex
	gates   bool // whether gates are in force yet
	lives   int
	life    *Life               // the latest
	calls   int                 // numbers what begins and ends
	threads map[string]bool     // names that somebody parks under, to tell namesakes apart
	inputs  map[string]*submit  // by text
	called  map[string]wish     // tool calls that models made, by their arguments
	asked   []asked             // operations that have not returned
	turns   []*turn             // accepted and not found ended
	insides map[string]struct{} // turns whose Inside was called
}

type asked struct {
	op   string
	what any
}

type submit struct {
	op    string
	steps [][]string
}

type wish struct {
	turn string
	step int
	name string
	id   string
}

type turn struct {
	op   string
	turn loop.Turn
	done <-chan struct{}
	life int
}

// NewStage returns the stage of a run. Gates are open until [Stage.Curtain].
func NewStage(w *sim.World) *Stage {
	held, letGo := context.WithCancel(w.Context())
	s := &Stage{
		World: w, held: held, letGo: letGo, threads: make(map[string]bool), inputs: make(map[string]*submit),
		called: make(map[string]wish), insides: make(map[string]struct{}),
	}
	s.Log = trace.NewLog(s.findEnded)
	return s
}

// Curtain puts the gates in force: from here on the schedule decides.
func (s *Stage) Curtain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates = true
}

// LetGo lets everything go that is held, and holds nothing any more.
func (s *Stage) LetGo() { s.letGo() }

// Asked notes that the operation is about to be called, inside a tool of a turn or, if that is empty, by a client.
func (s *Stage) Asked(life *Life, op, inside string, what any) {
	s.mu.Lock()
	s.asked = append(s.asked, asked{op, what})
	s.mu.Unlock()
	s.Log.Add(trace.Entry{Kind: trace.Called, Life: life.number, Op: op, Inside: inside, Asked: what})
	s.World.Note(op, "called")
}

// Returned notes that the operation has returned. An entry with a turn starts the watch for its end.
func (s *Stage) Returned(life *Life, e trace.Entry) {
	if life.dead() {
		return
	}
	var done <-chan struct{}
	if e.Turn != nil {
		done = e.Turn.Done()
	}
	s.mu.Lock()
	for i, a := range s.asked {
		if a.op == e.Op {
			s.asked = append(s.asked[:i], s.asked[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	e.Kind, e.Life = trace.Returned, life.number
	s.Log.AddAnd(e, func() { // from the next entry on its end is found
		if e.Turn != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.turns = append(s.turns, &turn{op: e.Op, turn: e.Turn, done: done, life: life.number})
		}
	})
	s.World.Note(e.Op, "returned "+Outcome(e.Err))
}

// Cancelled notes that the context of the operation is about to be ended.
func (s *Stage) Cancelled(life *Life, op string) {
	life.add(trace.Entry{Kind: trace.ContextEnded, Op: op})
	s.World.Note(op, "context ended")
}

// findEnded notes the turns that have ended since it last looked: ahead of every entry, so that an entry without a TurnEnded
// before it was made while the turn had not ended.
func (s *Stage) findEnded(add func(trace.Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(s.turns); {
		t := s.turns[i]
		select {
		case <-t.done:
			s.turns = append(s.turns[:i], s.turns[i+1:]...)
			add(trace.Entry{Kind: trace.TurnEnded, Life: t.life, Op: t.op, Turn: t.turn})
		default:
			i++
		}
	}
}

// Rest ends a step: f gets what was seen in it. Only the program calls it, when the run is at rest.
func (s *Stage) Rest(f func([]trace.Entry)) {
	s.events = s.Log.Rest(s.events, func(entries []trace.Entry) {
		for i := range entries {
			if e := &entries[i]; e.Kind == trace.TurnEnded {
				// Asked for here and not where the end was found: Err is the subject's code, and there the log is locked.
				e.Err = e.Turn.Err()
				s.World.Note(e.Op, "ended "+Outcome(e.Err))
			}
		}
		f(entries)
	})
}

// number returns the next number for something that begins and ends.
func (s *Stage) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.calls
}

// thread returns a name that nobody parks under, and what gives it back.
func (s *Stage) thread(name string) (string, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unique := name
	for n := 2; s.threads[unique]; n++ {
		unique = name + "#" + strconv.Itoa(n)
	}
	s.threads[unique] = true
	return unique, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.threads, unique)
	}
}

// Park parks at a gate; before the curtain it does not.
func (s *Stage) Park(ctx context.Context, gate sim.Gate) (string, error) {
	s.mu.Lock()
	gates := s.gates
	s.mu.Unlock()
	if !gates {
		return "ok", ctx.Err()
	}
	return s.World.Park(ctx, gate)
}

// hold parks where only the schedule's whim or the end of the run lets go, and reports whether it was the latter.
func (s *Stage) hold(life *Life, gate sim.Gate) (letGo bool) {
	gate.Name, gate.Verdicts, gate.Optional = "held", nil, true
	_, err := s.Park(s.held, gate)
	return err != nil && !life.dead()
}

// took returns the operation that an event belongs to, as far as what it says tells; "" if to none.
func (s *Stage) took(fits func(what any) bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if fits(a.what) {
			return a.op
		}
	}
	return ""
}
