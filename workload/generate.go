package workload

import "strconv"

// Profile says what the subject can do, and bounds what is generated.
type Profile struct {
	Foreign  bool // it has a foreign loop too: one workload in eight is for that
	External bool // it takes external tools
	Restore  bool // it restores: there are crashes, and tails that go on after the exit
	Extra    []Extra
	// MaxClients and MaxOperations bound the clients, and the operations of each; 0 is 4. Of three and four clients each has
	// one and two operations fewer, so that a run stays small.
	MaxClients, MaxOperations int
}

// Extra is a kind of operation that the user has added.
type Extra struct {
	Kind   Kind
	Weight int // how often it comes; the built-in kinds add up to about 100
	// Args, if set, draws the arguments. It is called by the goroutine that calls Generate.
	Args func(Draw) []Arg
}

// Generate draws a workload. It is valid, with the kinds of p.Extra; the same choices make the same workload. Every workload
// leaves some kinds of operations or of odd values out, so that plain ones are common, and what is odd does not always come
// together. Effects can be told apart: generations and new models belong to one operation each, unless the same generation
// comes twice on purpose, and changes of effort take turns.
func Generate(p Profile, draw Draw) Workload {
	g := generator{p: p, draw: draw}
	return g.workload()
}

// weights of the kinds, in the order of drawn. Some come to less than their weight: a wait needs a turn, and there is one crash.
var weights = [...]int{20, 20, 12, 15, 7, 6, 12, 4, 4}

const replaces = 3 // the place of Replace

var drawn = [...]Kind{Submit, Change, SetMode, Replace, Interrupt, Read, Wait, Shutdown, Crash}

var drawnRules = func() (of [len(drawn)]rule) {
	for i, kind := range drawn {
		of[i] = rules[kind]
	}
	return of
}()

// odd is a set of kinds of values that a workload may hold besides plain ones.
type odd uint

const (
	oddModel odd = 1 << iota
	oddEffort
	oddBatch
	oddMode
	oddSource
	oddGeneration
	oddBuild
	oddCollision
	oddName
	oddCall
	allOdd = 1<<iota - 1
)

type generator struct {
	p         Profile
	draw      Draw
	foreign   bool
	huge      bool // its first replacement is of some hundred tools, and nobody calls all that are offered
	odd       odd
	shared    bool      // sources have the same names
	behaviour [2]string // the faulty ones that this workload may hold
	weights   [len(drawn)]int
	total     int          // of the weights, and those of the user's kinds
	efforts   int          // how many have been used
	replaces  [4]Operation // the last ones
	replaced  int          // how many there have been
	ended     int          // the operations of the tail
	// The operations, one client's after the other's, and their arguments: one piece of memory each.
	operations []Operation
	arena      []Arg
}

func (g *generator) chance(percent int) bool { return g.draw(100) >= 100-percent }

func (g *generator) workload() Workload {
	g.foreign = g.p.Foreign && g.draw(8) == 7
	g.swarm()
	clients, each := g.counts()
	total := 0
	var counts [26]int
	for i := range clients {
		counts[i] = 1 + g.draw(each)
		total += counts[i]
	}
	const tail = 6 // mostly
	g.operations = make([]Operation, 0, total+tail)
	g.arena = make([]Arg, 0, total+total/2+tail)
	w := Workload{Foreign: g.foreign, Clients: make([]Client, clients)}
	for i := range clients {
		first := len(g.operations)
		c := client{name: byte('a' + i)}
		for range counts[i] {
			g.operations = append(g.operations, Operation{})
			g.operation(&g.operations[len(g.operations)-1], &c)
		}
		w.Clients[i] = Client{Name: names[i : i+1], Operations: g.operations[first:len(g.operations):len(g.operations)]}
	}
	first := len(g.operations)
	g.tail()
	if len(g.operations) > first {
		w.Tail = g.operations[first:]
	}
	return w
}

const names = "abcdefghijklmnopqrstuvwxyz"

// counts draws how many clients there are, and how many operations each has at the most.
func (g *generator) counts() (clients, each int) {
	most, each := g.p.MaxClients, g.p.MaxOperations
	if most <= 0 {
		most = 4
	}
	if each <= 0 {
		each = 4
	}
	switch n := g.draw(100); {
	case n < 15:
		clients = 1
	case n < 60:
		clients = 2
	case n < 85:
		clients = 3
	default:
		clients = 4
		if more := min(most, 25) - 4; more > 0 {
			clients += g.draw(more + 1)
		}
	}
	clients = min(clients, most)
	return clients, max(1, each-max(0, clients-2))
}

// swarm draws what the workload is made of at all.
func (g *generator) swarm() {
	mix := g.draw(4)
	kinds, odds := mix >= 2, mix%2 == 1
	on := ^0
	if kinds {
		on = g.draw(1 << len(drawn))
	}
	for i, weight := range weights {
		switch {
		case i > 0 && on&(1<<i) == 0, drawn[i] == Crash && (!g.p.Restore || g.foreign), drawn[i] == Replace && !g.p.External && !g.foreign:
			weight = 0
		case i == 0 && kinds: // always on: as many as there would be if it were on half the time
			weight /= 2
		}
		g.weights[i] = weight
		g.total += weight
	}
	for _, e := range g.p.Extra {
		g.total += max(0, e.Weight)
	}
	g.shared = g.draw(2) == 1
	if g.draw(6) == 5 && g.weights[replaces] > 0 { // what sources do to each other takes several sets
		g.total += 2 * g.weights[replaces]
		g.weights[replaces] *= 3
	}
	if odds {
		g.odd = odd(g.draw(allOdd + 1))
		if g.odd&oddBuild != 0 {
			g.behaviour = [2]string{faulty[g.draw(len(faulty))], faulty[g.draw(len(faulty))]}
		}
		g.huge = g.p.External && !g.foreign && g.draw(25) == 24
	}
}

// client is what has been generated of one.
type client struct {
	name   byte
	count  int
	calls  string // the last submit in whose first step a tool runs
	submit string // the last submit of the client's own
}

func (g *generator) operation(o *Operation, c *client) {
	c.count++
	o.ID = id(c.name, c.count)
	n := g.draw(g.total)
	i := 0
	for ; i < len(drawn) && n >= g.weights[i]; i++ {
		n -= g.weights[i]
	}
	canBeInside, canBeCancelled := true, true
	if i == len(drawn) {
		g.extra(o, n)
		if r, builtIn := rules[o.Kind]; builtIn {
			canBeInside, canBeCancelled = r.inside, r.cancel
		}
	} else {
		g.fill(o, drawn[i], c)
		canBeInside, canBeCancelled = drawnRules[i].inside, drawnRules[i].cancel
	}
	if canBeInside && c.calls != "" && g.chance(50) {
		o.Inside = c.calls
	}
	if o.Kind == Submit && o.Inside == "" {
		c.submit = o.ID
		if steps, _ := o.Value("steps"); steps != "" && (steps[0] == '*' || steps[0] == 'd') {
			c.calls = o.ID
		}
	}
	if canBeCancelled && g.chance(23) || o.Kind == Shutdown && g.chance(40) {
		o.Cancel = true
	}
}

func (g *generator) fill(o *Operation, kind Kind, c *client) {
	o.Kind = kind
	switch kind {
	case Submit:
		g.submit(o)
	case Change:
		g.change(o)
	case SetMode:
		g.setMode(o)
	case Replace:
		g.replace(o)
	case Wait:
		if c.submit == "" {
			o.Kind = Submit
			g.submit(o)
			return
		}
		o.Args = g.args(Arg{"turn", c.submit})
	case Crash:
		for i, k := range drawn { // there is one
			if k == Crash {
				g.total -= g.weights[i]
				g.weights[i] = 0
			}
		}
	}
}

func (g *generator) extra(o *Operation, n int) {
	for _, e := range g.p.Extra {
		if n -= max(0, e.Weight); n < 0 {
			o.Kind = e.Kind
			if e.Args != nil {
				o.Args = e.Args(g.draw)
			}
			return
		}
	}
}

// earlier draws one of the replacements that have been generated.
func (g *generator) earlier() Operation { return g.replaces[g.draw(min(g.replaced, len(g.replaces)))] }

// args keeps arguments in the arena.
func (g *generator) args(args ...Arg) []Arg {
	if len(g.arena)+len(args) > cap(g.arena) {
		g.arena = make([]Arg, 0, 16)
	}
	first := len(g.arena)
	g.arena = append(g.arena, args...)
	return g.arena[first:len(g.arena):len(g.arena)]
}

// ids of the operations that there mostly are.
var ids = func() (table [26][16]string) {
	for i := range table {
		for n := range table[i] {
			table[i][n] = names[i:i+1] + strconv.Itoa(n)
		}
	}
	return table
}()

func id(name byte, n int) string {
	if n < len(ids[0]) {
		return ids[name-'a'][n]
	}
	return string(name) + strconv.Itoa(n)
}
