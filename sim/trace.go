package sim

import (
	"slices"
	"strings"
)

// Event is one line of a trace: a decision taken, or something that the program noted.
type Event struct {
	Step   int // the decision it followed; 0 before the first
	Thread string
	Text   string
}

// trace collects the events of a run and hashes them as they come, so that two runs can be compared without keeping
// either.
//
// Within a step goroutines run side by side, and in which order two threads note something there is Go's choice, not the
// schedule's. So the hash takes what each thread noted in a step in order, and the threads in none: two goroutines that wake up
// of one cancelled context make one trace, whichever comes first.
type trace struct {
	keep   bool
	step   int
	hash   uint64
	noted  []noted
	steps  []uint16 // the hash at each decision, folded
	events []Event  // as they came
}

// noted is the hash of what a thread noted in the present step.
type noted struct {
	thread string
	hash   uint64
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func (t *trace) note(thread, text string) {
	i := slices.IndexFunc(t.noted, func(n noted) bool { return n.thread == thread })
	if i < 0 {
		i = len(t.noted)
		t.noted = append(t.noted, noted{thread, mix(fnvOffset, thread)})
	}
	t.noted[i].hash = mix(t.noted[i].hash, text)
	if t.keep {
		t.events = append(t.events, Event{Step: t.step, Thread: thread, Text: text})
	}
}

// rest takes what was noted since the last decision into the hash.
func (t *trace) rest() {
	var sum uint64
	for _, n := range t.noted {
		sum += n.hash
	}
	t.noted = t.noted[:0]
	t.hash = mixHash(t.hash, sum)
}

// decided notes that a gate was passed. Its text is made only when it is kept.
func (t *trace) decided(p *parked, verdict string) {
	t.hash = mix(mixHash(t.hash, p.hash), verdict)
	if t.keep {
		t.events = append(t.events, Event{Step: t.step, Thread: p.Thread, Text: p.place.String() + ": " + verdict})
	}
}

// ticked notes that time was let pass.
func (t *trace) ticked() {
	t.hash = mix(t.hash, clock)
	if t.keep {
		t.events = append(t.events, Event{Step: t.step, Thread: clock, Text: "tick"})
	}
}

// enter begins the next step with what could happen in it.
func (t *trace) enter(enabled []*parked, tick bool) {
	t.rest()
	for _, p := range enabled {
		t.hash = mixHash(t.hash, p.hash)
	}
	if tick {
		t.hash = mix(t.hash, clock)
	}
	t.step++
	t.steps = append(t.steps, uint16(t.hash^t.hash>>16^t.hash>>32^t.hash>>48))
}

// mix adds a string to a hash (FNV-1a). It ends with a byte that no UTF-8 text has, so that "a", "bc" and "ab", "c" differ.
func mix(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return (h ^ 0xff) * fnvPrime
}

// mixHash adds a hash to a hash. FNV takes bytes; on whole words it would carry nothing from the upper bits to the lower,
// so these are folded down first.
func mixHash(h, other uint64) uint64 {
	h = (h ^ other) * fnvPrime
	return h ^ h>>29
}

// Transcript renders events as lines, for comparing and for people.
func Transcript(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.Thread)
		b.WriteString(": ")
		b.WriteString(e.Text)
		b.WriteByte('\n')
	}
	return b.String()
}
