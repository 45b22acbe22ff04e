package workload

import (
	"fmt"
	"slices"
	"strings"
)

// Validate reports what is wrong with a workload that was made in Go, as a [*SyntaxError] without a line number: what [Parse]
// would refuse. kinds are those that the user has added.
func (w Workload) Validate(kinds ...Kind) error {
	c := newChecker(kinds)
	all := func(name string, operations []Operation) error {
		for _, o := range operations {
			if reason := c.operation(name, o); reason != "" {
				return &SyntaxError{Text: shorten(o.String()), Reason: reason}
			}
		}
		return nil
	}
	for _, client := range w.Clients {
		if reason := c.client(client.Name); reason != "" {
			return &SyntaxError{Text: "client " + client.Name, Reason: reason}
		}
		if err := all(client.Name, client.Operations); err != nil {
			return err
		}
	}
	return all(TailName, w.Tail)
}

// checker goes through a workload in the order of its text.
type checker struct {
	kinds   []Kind
	clients map[string]bool
	submits map[string]string // by id: the client; "" for an operation of another kind
}

func newChecker(kinds []Kind) *checker {
	return &checker{kinds: kinds, clients: make(map[string]bool), submits: make(map[string]string)}
}

func (c *checker) client(name string) (reason string) {
	switch {
	case len(name) != 1 || name[0] < 'a' || name[0] >= TailName[0]:
		return "a client's name is a letter from a to y"
	case c.clients[name]:
		return "a second client of that name"
	}
	c.clients[name] = true
	return ""
}

// rule says what an operation of a kind may have.
type rule struct {
	args     []string // in the order in which messages name them
	required int      // how many of these must be there, from the first
	repeated bool     // arguments may come more than once: they are elements of a batch
	cancel   bool     // it is a call with a context
	inside   bool     // a tool can do it
}

var rules = map[Kind]rule{
	Submit:         {args: []string{"steps"}, cancel: true, inside: true},
	Change:         {args: []string{"model", "effort", bare}, repeated: true, cancel: true, inside: true},
	SetMode:        {args: []string{"mode"}, required: 1, cancel: true, inside: true},
	Replace:        {args: []string{"source", "tools", "generation"}, required: 2, cancel: true, inside: true},
	Interrupt:      {cancel: true, inside: true},
	Shutdown:       {cancel: true, inside: true},
	Read:           {inside: true},
	Wait:           {args: []string{"turn"}, required: 1},
	Crash:          {},
	Restore:        {},
	RestoreWithout: {},
	Anew:           {},
}

func (c *checker) operation(client string, o Operation) (reason string) {
	if reason = checkID(o.ID); reason != "" {
		return reason
	}
	if _, taken := c.submits[o.ID]; taken {
		return "a second operation " + o.ID
	}
	if reason = c.arguments(o); reason != "" {
		return reason
	}
	if o.Inside != "" && c.submits[o.Inside] != client {
		return fmt.Sprintf("inside=%s is no earlier submit of the same client", o.Inside)
	}
	if o.Kind == Wait {
		if turn, _ := o.Value("turn"); c.submits[turn] == "" {
			return fmt.Sprintf("turn=%s is no earlier submit", turn)
		}
	}
	c.submits[o.ID] = ""
	if o.Kind == Submit {
		c.submits[o.ID] = client
	}
	return ""
}

func checkID(id string) string {
	if len(id) > 1 && len(id) <= 8 && id[0] >= 'a' && id[0] <= 'z' && id[1] != '0' && strings.Trim(id[1:], "0123456789") == "" {
		return ""
	}
	return "an operation's id is a letter and a number, as a1"
}

func (c *checker) arguments(o Operation) (reason string) {
	r, known := rules[o.Kind]
	if !known {
		if !slices.Contains(c.kinds, o.Kind) || !isWord(string(o.Kind)) {
			return fmt.Sprintf("unknown kind of operation %q", o.Kind)
		}
		r.cancel, r.inside = true, true
	}
	seen := make(map[string]bool, len(o.Args))
	for _, a := range o.Args {
		switch {
		case known && !slices.Contains(r.args, a.Name):
			return fmt.Sprintf("%s has no argument %s", o.Kind, a.Name)
		case !isWord(a.Name) || a.Name == "cancel" || a.Name == "inside":
			return fmt.Sprintf("%q is no name for an argument", a.Name)
		case a.Name == bare && a.Value != "":
			return "nil has no value"
		case known && !r.repeated && seen[a.Name]:
			return fmt.Sprintf("argument %s is repeated", a.Name)
		}
		seen[a.Name] = true
		if known {
			if reason = checkValue(a); reason != "" {
				return reason
			}
		}
	}
	for _, name := range r.args[:r.required] {
		if !seen[name] {
			return fmt.Sprintf("%s lacks its argument %s", o.Kind, name)
		}
	}
	switch {
	case o.Cancel && !r.cancel:
		return fmt.Sprintf("%s has no context to cancel", o.Kind)
	case o.Inside != "" && !r.inside:
		return fmt.Sprintf("%s cannot be done from inside a tool", o.Kind)
	}
	return ""
}

// isWord reports whether a name of a user's is one: it begins with a small letter and goes on with these, digits and hyphens.
func isWord(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z' &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func checkValue(a Arg) (reason string) {
	oneOf := func(what string, values []string) string {
		if slices.Contains(values, a.Value) {
			return ""
		}
		return fmt.Sprintf("unknown %s %q; there are %s", what, a.Value, strings.Join(values, ", "))
	}
	switch a.Name {
	case "model":
		return oneOf("model", Models())
	case "effort":
		return oneOf("effort", Efforts())
	case "mode":
		if a.Value == "" || slices.Contains(Modes(), a.Value) {
			return ""
		}
		return oneOf("mode", append(Modes(), undeclaredModes...))
	case "source", "generation":
		return checkText(a.Value)
	case "steps":
		if a.Value == "" {
			return ""
		}
		for _, step := range strings.Split(a.Value, "/") {
			for _, name := range strings.Split(step, ",") {
				if name == "" {
					return "a step without a call, or a call without a name"
				}
				if reason = checkText(name); reason != "" {
					return reason
				}
			}
		}
	case "tools":
		return checkTools(a.Value)
	}
	return ""
}

func checkTools(value string) (reason string) {
	if _, ok := many(value); ok || value == "" {
		return ""
	}
	for _, element := range strings.Split(value, ",") {
		name, behaviour := splitTool(element)
		switch {
		case name == "":
			return "a tool without a name"
		case name != element && !slices.Contains(behaviours, behaviour):
			return fmt.Sprintf("unknown behaviour %q; there are %s", behaviour, strings.Join(behaviours, ", "))
		}
		if reason = checkText(name); reason != "" {
			return reason
		}
	}
	return ""
}

// checkText reports an @ that stands for nothing: a slip that would otherwise go by as a text of its own.
func checkText(value string) (reason string) {
	if _, _, ok := expansion(value); !ok && strings.HasPrefix(value, "@") {
		return fmt.Sprintf("%q: @N stands for a text of N bytes, at most %d, and @N+REST goes on with REST", value, maxExpand)
	}
	return ""
}
