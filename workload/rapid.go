package workload

import "pgregory.net/rapid"

// Workloads generates workloads for properties of the user's own. They shrink to plainer ones.
func Workloads(p Profile) *rapid.Generator[Workload] {
	return rapid.Custom(func(t *rapid.T) Workload { return Generate(p, drawFrom(t)) })
}

// Operations generates single operations of that id, to compose workloads from. None is a wait, or performed inside a turn: these
// depend on what comes before.
func Operations(p Profile, id string) *rapid.Generator[Operation] {
	return rapid.Custom(func(t *rapid.T) Operation {
		g := generator{p: p, draw: drawFrom(t)}
		g.swarm()
		var o Operation
		g.operation(&o, &client{name: 'a'})
		o.ID = id
		return o
	})
}

func drawFrom(t *rapid.T) Draw {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}
