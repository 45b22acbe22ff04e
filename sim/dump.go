package sim

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// goroutine is one goroutine of a bubble, from a dump.
type goroutine struct {
	id     string
	state  string
	frames []frame // innermost first
}

type frame struct{ function, place string }

var bubbleName = regexp.MustCompile(`synctest bubble \d+`)

var header = regexp.MustCompile(`^goroutine (\d+)(?: gp=\S+ m=\S+)? \[([^\]]*)\]:`)

// bubbled returns the goroutines that live in bubbles.
func bubbled() []goroutine {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	var all []goroutine
	for text := range strings.SplitSeq(string(buf), "\n\n") {
		m := header.FindStringSubmatch(text)
		if m == nil || !strings.Contains(m[2], "synctest bubble") {
			continue
		}
		g := goroutine{id: m[1], state: m[2]}
		lines := strings.Split(text, "\n")
		for i := 1; i+1 < len(lines); i += 2 {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
			g.frames = append(g.frames, frame{lines[i], place})
		}
		all = append(all, g)
	}
	return all
}

// own reports whether a frame is of the machinery rather than of the code under test.
func (f frame) own() bool {
	function := strings.TrimPrefix(f.function, "created by ")
	for _, prefix := range []string{"runtime.", "internal/", "sync.", "testing.", "testing/synctest.", "context."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return strings.Contains(function, "/sim.(*World).") || strings.Contains(function, "/sim.Run")
}

// user returns the frames of the code under test.
func (g goroutine) user() []frame {
	var user []frame
	for _, f := range g.frames {
		if !f.own() {
			user = append(user, f)
		}
	}
	return user
}

func (g goroutine) in(function string) bool {
	for _, f := range g.frames {
		if strings.Contains(f.function, function) {
			return true
		}
	}
	return false
}

// What a goroutine can be at.
const (
	lockWait = "waits for a lock"
	atGate   = "parked at a gate"
	blocked  = "blocked until another goroutine of the run acts"
	running  = "running"
	outside  = "blocked on something outside of the run"
)

func (g goroutine) doing() string {
	switch {
	case strings.Contains(g.state, "sync.Mutex.Lock"), strings.Contains(g.state, "sync.RWMutex"):
		return lockWait
	case g.in("/sim.(*World).Park"):
		return atGate
	case strings.Contains(g.state, "durable"):
		return blocked
	case strings.HasPrefix(g.state, "runn"): // running, runnable
		return running
	}
	return outside
}

func (g goroutine) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "goroutine %s: %s [%s]\n", g.id, g.doing(), g.state)
	frames := g.user()
	if len(frames) == 0 {
		frames = g.frames
	}
	for i, f := range frames {
		if i == 6 {
			fmt.Fprintf(&b, "    … %d more\n", len(frames)-i)
			break
		}
		fmt.Fprintf(&b, "    %s\n        %s\n", f.function, f.place)
	}
	return b.String()
}

// byBubble groups the goroutines that live in bubbles.
func byBubble() map[string][]goroutine {
	bubbles := make(map[string][]goroutine)
	for _, g := range bubbled() {
		name := bubbleName.FindString(g.state)
		bubbles[name] = append(bubbles[name], g)
	}
	return bubbles
}

// bubbleOf returns the goroutines of a run that goes on. Which they are is looked for only now, in the arguments that a
// dump shows: asking at the start of each run for the name of its bubble would cost more than an empty run.
func bubbleOf(w *World) []goroutine {
	live := fmt.Sprintf("/sim.(*World).live(%p", w)
	var all []goroutine
	for _, goroutines := range byBubble() {
		for _, g := range goroutines {
			if g.in(live) {
				return goroutines
			}
		}
		all = append(all, goroutines...)
	}
	return all
}

// bubbleIn returns the name of the bubble that a deadlock panic of package testing/synctest is about. The panic's value
// keeps it to itself; where it no longer has the fields that it has in Go 1.25 to 1.27, the name is "".
func bubbleIn(reason any) string {
	v := reflect.ValueOf(reason)
	for _, field := range []string{"bubble", "id"} {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return ""
		}
		v = v.FieldByName(field)
	}
	if !v.CanUint() {
		return ""
	}
	return fmt.Sprintf("synctest bubble %d", v.Uint())
}

// machinery reports whether the goroutine is the world's own, and waits as it should.
func (g goroutine) machinery() bool {
	return g.in("testing/synctest.Test(") || g.in("synctest.Wait") || len(g.user()) == 0 && g.in("testing/synctest.")
}

// suspicion orders what a goroutine is doing by how likely it tells why the run does not come to rest.
var suspicion = []string{lockWait, running, outside, atGate, blocked}

// diagnose explains a run that does not come to rest: who waits for what, and who probably holds it.
func diagnose(w *World) (message, stack string) {
	doing := make(map[string][]goroutine)
	for _, g := range bubbleOf(w) {
		if !g.machinery() {
			doing[g.doing()] = append(doing[g.doing()], g)
		}
	}
	var b strings.Builder
	for _, what := range suspicion {
		for _, g := range doing[what] {
			b.WriteString(g.String())
		}
	}
	switch {
	case len(doing[lockWait]) > 0 && len(doing[atGate]) > 0:
		message = "a lock is held across a gate: one goroutine waits for a lock, and one that is parked at a gate holds it"
	case len(doing[lockWait]) > 0:
		message = "goroutines wait for locks that nobody gives back"
	case len(doing[running]) > 0:
		message = "a goroutine runs without end"
	case len(doing[outside]) > 0:
		message = "a goroutine waits for something outside of the run"
	default:
		message = "every goroutine is blocked, as far as the dump tells"
	}
	return message, b.String()
}

// maxDumped bounds what a dump is made of: with each leak there is more, and ten thousand runs may leak.
const maxDumped = 500

// leaked explains a bubble that ended with goroutines left.
func leaked(reason any) (message, stack string) {
	if n := runtime.NumGoroutine(); n > maxDumped {
		return fmt.Sprintf("goroutines are left after the run was drained (%v); which they are is not told any more, there are %d in all", reason, n), ""
	}
	name, left := bubbleIn(reason), 0
	var b strings.Builder
	for bubble, goroutines := range byBubble() {
		if bubble == name || name == "" && !slices.ContainsFunc(goroutines, func(g goroutine) bool { return g.in("internal/synctest.Run(") }) {
			for _, g := range goroutines {
				b.WriteString(g.String())
				left++
			}
		}
	}
	return fmt.Sprintf("%d goroutines are left after the run was drained (%v)", left, reason), b.String()
}
