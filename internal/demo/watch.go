package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/loopcheck/loopcheck/loop/model"
)

// shown is how many operations are told of one by one.
const shown = 40

// watch collects what was done and seen.
type watch struct {
	mu         sync.Mutex
	turns      map[string]configuration // by input: what the turn's first request said
	mixed      []string                 // inputs of turns whose later requests said something else
	operations map[[2]string]int
	total      int
}

func (w *watch) request(r model.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	input, now := r.Messages[0].Text, configurationOf(r)
	first, known := w.turns[input]
	switch {
	case !known:
		w.turns[input] = now
		if w.total < shown {
			w.tell("     %s captured: %s, %s, effort %s, tools [%s]", input, now.instructions, now.model, now.effort, now.tools)
		}
	case first != now:
		w.mixed = append(w.mixed, input)
	}
}

func (w *watch) operation(client string, o operation, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.operations == nil {
		w.operations = make(map[[2]string]int)
	}
	w.operations[[2]string{o.kind, outcome(err)}]++
	if w.total++; w.total < shown {
		w.tell("%s: %-9s %-24s %s", client, o.kind, o.detail, outcome(err))
	} else if w.total == shown {
		w.tell("... and so on")
	}
}

func (w *watch) tell(format string, arguments ...any) {
	fmt.Printf("%7.1f ms  %s\n", float64(time.Since(started).Microseconds())/1000, fmt.Sprintf(format, arguments...))
}

func (w *watch) report(out io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(out, "\n%d operations, %d turns\n", w.total, len(w.turns))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, key := range slices.SortedFunc(maps.Keys(w.operations), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(table, "  %s\t%s\t%d\n", key[0], key[1], w.operations[key])
	}
	table.Flush()
}
