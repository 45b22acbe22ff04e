package workload

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Size is how much a person has to take in: most for a client and for an operation, less for each thing that is said of it. A
// call, a tool, an element of a batch are one each, and so is what is odd about them.
func (w Workload) Size() int {
	const client, operation = 8, 8
	size := client * len(w.Clients)
	if w.Foreign {
		size++
	}
	for _, operations := range w.all() {
		for _, o := range operations {
			size += operation + o.size()
		}
	}
	return size
}

func (o Operation) size() int {
	size := 0
	switch o.Kind {
	case Submit, Read:
	case Crash, Restore, RestoreWithout, Anew:
		size += 2
	default:
		size++
	}
	if o.Cancel {
		size++
	}
	if o.Inside != "" {
		size += 2
	}
	for _, a := range o.Args {
		switch size++; a.Name {
		case "steps":
			if o.Kind == Submit {
				size += callsSize(a.Value)
			}
		case "tools":
			if o.Kind == Replace {
				size += toolsSize(a.Value)
			}
		case "source", "mode", "model", "effort":
			size += oddSize(a.Name, a.Value)
		case "generation":
			size++
		}
	}
	return size
}

// callsSize counts the calls, and what is odd about them.
func callsSize(steps string) int {
	size := strings.Count(steps, "/")
	for _, name := range strings.FieldsFunc(steps, func(r rune) bool { return r == '/' || r == ',' }) {
		if size++; name != "d1" {
			size++
		}
	}
	return size
}

func toolsSize(tools string) int {
	if n, ok := many(tools); ok {
		return 3 + len(strconv.Itoa(n))
	}
	size := 0
	for element := range strings.SplitSeq(tools, ",") {
		if element == "" {
			continue
		}
		name, behaviour := splitTool(element)
		size++
		if !slices.Contains(ExternalTools(), name) {
			size++
		}
		if behaviour != "" {
			size++
		}
	}
	return size
}

// oddSize is 1 for a value that is not one of the plainest of its kind.
func oddSize(name, value string) int {
	if v, ok := plainest[name]; ok && value != v {
		return 1
	}
	return 0
}

var plainest = map[string]string{"source": "s1", "mode": ModePlan, "model": FreshModel, "effort": "high"}

// replaceBySubmits replaces operations by the plainest there is: it may be that anything at all has to be done there.
func replaceBySubmits(w Workload, yield func(Reduction) bool) bool {
	return w.rewrite("replace by a submit", yield, func(o Operation, yield func(Operation) bool) {
		if o.Kind == Submit && !o.Cancel {
			return // only its steps would go: there is a pass for that
		}
		yield(Operation{ID: o.ID, Kind: Submit, Inside: o.Inside})
	})
}

// simplify makes operations plainer, one thing at a time.
func simplify(w Workload, yield func(Reduction) bool) bool {
	for _, pass := range []struct {
		name   string
		change func(Operation, func(Operation) bool)
	}{
		{"out of the tool", func(o Operation, yield func(Operation) bool) {
			o.Inside = ""
			yield(o)
		}},
		{"never cancelled", func(o Operation, yield func(Operation) bool) {
			o.Cancel = false
			yield(o)
		}},
		{"drop an argument", dropArgs},
		{"plainer value", plainerArgs},
	} {
		if !w.rewrite(pass.name, yield, pass.change) {
			return false
		}
	}
	return true
}

// rewrite yields the workload with each operation changed in each way that makes it plainer and leaves the workload valid.
func (w Workload) rewrite(pass string, yield func(Reduction) bool, change func(Operation, func(Operation) bool)) bool {
	goesOn := true
	for client, operations := range w.all() {
		for i, o := range operations {
			change(o, func(changed Operation) bool {
				if changed.size() >= o.size() {
					return true
				}
				goesOn = yield(Reduction{Pass: pass, Workload: w.with(client, i, changed)})
				return goesOn
			})
			if !goesOn {
				return false
			}
		}
	}
	return goesOn
}

// dropArgs drops what an operation can do without: all of a kind of a user's, who has to say if that is too little.
func dropArgs(o Operation, yield func(Operation) bool) {
	r, known := rules[o.Kind]
	for i, a := range o.Args {
		if known && slices.Contains(r.args[:r.required], a.Name) {
			continue
		}
		changed := o
		changed.Args = slices.Concat(o.Args[:i], o.Args[i+1:]) // nil if none is left
		if !yield(changed) {
			return
		}
	}
}

func plainerArgs(o Operation, yield func(Operation) bool) {
	for i, a := range o.Args {
		for value := range plainer(o.Kind, a) {
			changed := o
			changed.Args = slices.Clone(o.Args)
			changed.Args[i].Value = value
			if !yield(changed) {
				return
			}
		}
	}
}

// plainer yields the plainer values of an argument.
func plainer(kind Kind, a Arg) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch {
		case kind == Submit && a.Name == "steps":
			plainerSteps(a.Value, yield)
		case kind == Replace && a.Name == "tools":
			plainerTools(a.Value, yield)
		case rules[kind].args != nil:
			if value, ok := plainest[a.Name]; ok && value != a.Value {
				yield(value)
			}
		}
	}
}

func plainerSteps(value string, yield func(string) bool) {
	steps := strings.Split(value, "/")
	_ = fewer(value, "/", yield) &&
		eachOf(steps, "/", yield, func(step string, yield func(string) bool) bool { return fewer(step, ",", yield) }) &&
		eachOf(steps, "/", yield, func(step string, yield func(string) bool) bool {
			return eachOf(strings.Split(step, ","), ",", yield, func(name string, yield func(string) bool) bool {
				return name == "d1" || yield("d1")
			})
		})
}

func plainerTools(value string, yield func(string) bool) {
	if n, ok := many(value); ok {
		_ = yield("x") && n > 1 && yield("x,y")
		return
	}
	_ = (value == "" || yield("")) && fewer(value, ",", yield) &&
		eachOf(strings.Split(value, ","), ",", yield, func(element string, yield func(string) bool) bool {
			name, behaviour := splitTool(element)
			if behaviour != "" && !yield(name) {
				return false
			}
			// Another element may have the plain name already: then two names that differ would become one.
			if slices.Contains(ExternalTools(), name) {
				return true
			}
			for _, plain := range ExternalTools() {
				if !contains(value, plain) {
					return yield(plain + element[len(name):])
				}
			}
			return true
		})
}

func contains(tools, name string) bool {
	for element := range strings.SplitSeq(tools, ",") {
		if n, _ := splitTool(element); n == name {
			return true
		}
	}
	return false
}

// fewer yields a list with one element less, but never an empty one.
func fewer(list, separator string, yield func(string) bool) bool {
	elements := strings.Split(list, separator)
	for i := range elements {
		if len(elements) == 1 {
			return true
		}
		if !yield(strings.Join(slices.Delete(slices.Clone(elements), i, i+1), separator)) {
			return false
		}
	}
	return true
}

// eachOf yields a list with one element changed, in each way that change yields.
func eachOf(elements []string, separator string, yield func(string) bool, change func(string, func(string) bool) bool) bool {
	for i, element := range elements {
		if !change(element, func(changed string) bool {
			list := slices.Clone(elements)
			list[i] = changed
			return yield(strings.Join(list, separator))
		}) {
			return false
		}
	}
	return true
}
