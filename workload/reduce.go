package workload

import (
	"iter"
	"slices"
)

// Reduction is one way to make a workload smaller.
type Reduction struct {
	Pass     string // names the kind of reduction, as "drop a client"
	Workload Workload
	Dropped  []string // the ids of the operations, and the names of the clients, that are gone
}

// Reductions yields what could be left of a valid workload, the boldest first: what has one thing less, or one thing that is
// plainer. The order is the same each time, all are valid, ids stay, and each is smaller in Size. What depends on what is gone
// goes too: operations inside a turn, waits for it, a restore after a shutdown. The reductions share memory with w.
func (w Workload) Reductions() iter.Seq[Reduction] {
	return func(yield func(Reduction) bool) {
		for _, pass := range []func(Workload, func(Reduction) bool) bool{
			dropTail, dropClients, dropTailsEnd, dropOperations, mergeClients, replaceBySubmits, simplify, dropForeign,
		} {
			if !pass(w, yield) {
				return
			}
		}
	}
}

func dropTail(w Workload, yield func(Reduction) bool) bool {
	return len(w.Tail) == 0 || yield(w.without("drop the tail", func(client string, _ int) bool { return client == TailName }))
}

func dropClients(w Workload, yield func(Reduction) bool) bool {
	for _, c := range w.Clients {
		r := w.without("drop a client", func(client string, _ int) bool { return client == c.Name })
		if !yield(r) {
			return false
		}
	}
	return true
}

// dropTailsEnd drops the tail from an operation on; without the first there is none, and the last is one operation.
func dropTailsEnd(w Workload, yield func(Reduction) bool) bool {
	for from := 1; from < len(w.Tail)-1; from++ {
		r := w.without("drop the tail's end", func(client string, i int) bool { return client == TailName && i >= from })
		if !yield(r) {
			return false
		}
	}
	return true
}

func dropOperations(w Workload, yield func(Reduction) bool) bool {
	for name, operations := range w.all() {
		for i := range operations {
			r := w.without("drop an operation", func(client string, n int) bool { return client == name && n == i })
			if !yield(r) {
				return false
			}
		}
	}
	return true
}

// without takes operations away, by client and place, and what depends on them. A client that has none left is gone.
func (w Workload) without(pass string, drop func(client string, i int) bool) Reduction {
	r := Reduction{Pass: pass, Workload: Workload{Foreign: w.Foreign}}
	// What depends on an operation comes behind it in the text: once through is enough.
	gone := func(o Operation) bool {
		turn := ""
		if o.Kind == Wait {
			turn, _ = o.Value("turn")
		}
		return o.Inside != "" && slices.Contains(r.Dropped, o.Inside) || turn != "" && slices.Contains(r.Dropped, turn)
	}
	// What makes a loop in the tail does so because the one before it has exited: was says so of w, is of what is left.
	was, is := false, false
	exits := func(exited *bool, client string, kind Kind) {
		switch kind {
		case Shutdown:
			*exited = true
		case Restore, Anew:
			*exited = *exited && client != TailName
		}
	}
	keep := func(client string, operations []Operation) []Operation {
		var kept []Operation
		for i, o := range operations {
			orphan := client == TailName && was && !is && (o.Kind == Restore || o.Kind == RestoreWithout || o.Kind == Anew)
			exits(&was, client, o.Kind)
			if drop(client, i) || gone(o) || orphan {
				r.Dropped = append(r.Dropped, o.ID)
				continue
			}
			exits(&is, client, o.Kind)
			kept = append(kept, o)
		}
		return kept
	}
	for _, c := range w.Clients {
		if kept := keep(c.Name, c.Operations); len(kept) > 0 {
			r.Workload.Clients = append(r.Workload.Clients, Client{c.Name, kept})
		} else {
			r.Dropped = append(r.Dropped, c.Name)
		}
	}
	r.Workload.Tail = keep(TailName, w.Tail)
	return r
}

// mergeClients lets one client do what two did, one's before the other's.
func mergeClients(w Workload, yield func(Reduction) bool) bool {
	for i := range w.Clients {
		for j := range w.Clients {
			if i == j {
				continue
			}
			clients := slices.Clone(w.Clients)
			clients[min(i, j)] = Client{
				clients[min(i, j)].Name, slices.Concat(clients[i].Operations, clients[j].Operations),
			}
			merged := Workload{w.Foreign, slices.Delete(clients, max(i, j), max(i, j)+1), w.Tail}
			if !merged.ordered() { // a wait would come before its turn
				continue
			}
			gone := []string{w.Clients[max(i, j)].Name}
			if !yield(Reduction{Pass: "merge clients", Workload: merged, Dropped: gone}) {
				return false
			}
		}
	}
	return true
}

// ordered reports whether what waits for a turn comes behind its submit.
func (w Workload) ordered() bool {
	var seen []string
	for _, operations := range w.all() {
		for _, o := range operations {
			if turn, _ := o.Value("turn"); o.Kind == Wait && !slices.Contains(seen, turn) {
				return false
			}
			seen = append(seen, o.ID)
		}
	}
	return true
}

// all yields the clients' operations and then the tail's, by the client's name.
func (w Workload) all() iter.Seq2[string, []Operation] {
	return func(yield func(string, []Operation) bool) {
		for _, c := range w.Clients {
			if !yield(c.Name, c.Operations) {
				return
			}
		}
		if len(w.Tail) > 0 {
			yield(TailName, w.Tail)
		}
	}
}

// with returns the workload with another operation at that place.
func (w Workload) with(client string, i int, o Operation) Workload {
	change := func(operations []Operation) []Operation {
		operations = slices.Clone(operations)
		operations[i] = o
		return operations
	}
	if client == TailName {
		w.Tail = change(w.Tail)
		return w
	}
	w.Clients = slices.Clone(w.Clients)
	for n, c := range w.Clients {
		if c.Name == client {
			w.Clients[n].Operations = change(c.Operations)
		}
	}
	return w
}

func dropForeign(w Workload, yield func(Reduction) bool) bool {
	if !w.Foreign {
		return true
	}
	w.Foreign = false
	return yield(Reduction{Pass: "foreign to native", Workload: w})
}
