package workload

import (
	"iter"
	"strconv"
	"strings"
)

// Workload is a program for one run. It is not written to once it has been made: reductions share its memory.
type Workload struct {
	Foreign bool        // it is for a foreign loop
	Clients []Client    // run side by side
	Tail    []Operation // the kit's own end, one after the other when everything else has come to rest
}

// Client is one caller: it performs its operations one after the other.
type Client struct {
	Name       string // "a" to "y"; "z" is the tail
	Operations []Operation
}

// TailName is the name of the client that performs the tail.
const TailName = "z"

// Operation is one call, or one other thing that happens.
type Operation struct {
	// ID is a letter and a number, as "a2", and unique in the workload. It names the operation for ever: it stays when other
	// operations are taken away, and also when two clients are merged, so that the letter need not be the client's.
	ID   string
	Kind Kind
	Args []Arg // in order
	// Inside, if set, is the id of an earlier submit of the same client: the operation is performed from inside the first tool
	// call of that turn, instead of by the client. If no tool runs in that turn, it is not performed.
	Inside string
	// Cancel lets the schedule end the context of the call, while it goes on or after it.
	Cancel bool
}

// Kind is what an operation does.
type Kind string

// The kinds. Users may add some of their own: small letters, digits and hyphens.
const (
	Submit         Kind = "submit"
	Change         Kind = "change"
	SetMode        Kind = "set-mode"
	Replace        Kind = "replace"
	Interrupt      Kind = "interrupt"
	Shutdown       Kind = "shutdown"
	Read           Kind = "read"
	Wait           Kind = "wait"
	Crash          Kind = "crash"
	Restore        Kind = "restore"
	RestoreWithout Kind = "restore-without"
	Anew           Kind = "anew"
)

// Kinds returns the kinds that every workload may use.
func Kinds() []Kind {
	return []Kind{
		Submit, Change, SetMode, Replace, Interrupt, Shutdown, Read, Wait, Crash, Restore, RestoreWithout, Anew,
	}
}

// Arg is one argument. It is written NAME=VALUE, but for the one named "nil", which has no value.
type Arg struct{ Name, Value string }

// Value returns the first argument of that name, as it is written, and whether there is one.
func (o Operation) Value(name string) (string, bool) {
	for _, a := range o.Args {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// Steps returns, for each step of a submit, the names of the tools that the model calls, [EveryTool] among them. The answer
// that ends the turn is not counted: a turn without steps is one model request.
func (o Operation) Steps() [][]string {
	value, _ := o.Value("steps")
	if value == "" {
		return nil
	}
	var steps [][]string
	for _, step := range strings.Split(value, "/") {
		var calls []string
		for _, name := range strings.Split(step, ",") {
			calls = append(calls, Expand(name))
		}
		steps = append(steps, calls)
	}
	return steps
}

// Tool is one element of the set that a replacement brings: a definition, by the name of its tool.
type Tool struct{ Name, Behaviour string }

// Tools returns the set of a replacement, in order; none clears the source.
func (o Operation) Tools() []Tool {
	value, _ := o.Value("tools")
	if value == "" {
		return nil
	}
	if n, ok := many(value); ok {
		tools := make([]Tool, n)
		for i := range tools {
			tools[i].Name = "t" + strconv.Itoa(i+1)
		}
		return tools
	}
	var tools []Tool
	for _, element := range strings.Split(value, ",") {
		name, behaviour := splitTool(element)
		tools = append(tools, Tool{Expand(name), behaviour})
	}
	return tools
}

// Source returns the source of a replacement.
func (o Operation) Source() string {
	value, _ := o.Value("source")
	return Expand(value)
}

// Generation returns the generation of a replacement: if none is given, one that belongs to the operation alone.
func (o Operation) Generation() string {
	if value, ok := o.Value("generation"); ok {
		return Expand(value)
	}
	return "g-" + o.ID
}

func splitTool(element string) (name, behaviour string) {
	name, behaviour, _ = strings.Cut(element, ":")
	return name, behaviour
}

// Operations yields every operation by the name of its client, in the order of the text; those of the tail come last, by
// [TailName].
func (w Workload) Operations() iter.Seq2[string, Operation] {
	return func(yield func(string, Operation) bool) {
		for name, operations := range w.all() {
			for _, o := range operations {
				if !yield(name, o) {
					return
				}
			}
		}
	}
}

// Len is the number of operations, those of the tail included.
func (w Workload) Len() int {
	n := len(w.Tail)
	for _, c := range w.Clients {
		n += len(c.Operations)
	}
	return n
}

// maxExpand bounds what a few characters of a value may unfold to.
const maxExpand = 1 << 16

// Expand returns the text that a source, a generation or a tool's name stands for. @N is a text of N bytes, up to 65,536, each
// the beginning of the longer ones, and @N+REST that with REST behind it: two of one N and different RESTs are names that are
// equal in the first N bytes. Everything else stands for itself.
func Expand(value string) string {
	n, rest, ok := expansion(value)
	if !ok {
		return value
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return strings.Repeat(letters, n/len(letters)) + letters[:n%len(letters)] + rest
}

func expansion(value string) (n int, rest string, ok bool) {
	number, found := strings.CutPrefix(value, "@")
	if !found {
		return 0, "", false
	}
	number, rest, plus := strings.Cut(number, "+")
	n, ok = count(number)
	return n, rest, ok && (!plus || rest != "")
}

// many reports whether a set of tools is written as a number.
func many(tools string) (int, bool) {
	number, found := strings.CutPrefix(tools, "@")
	if !found {
		return 0, false
	}
	return count(number)
}

// count reads a number as it is printed: no sign, no leading zero, so that one number has one text.
func count(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= maxExpand && strconv.Itoa(n) == text
}
