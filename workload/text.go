package workload

import (
	"strconv"
	"strings"
)

// String returns the workload's text, which [Parse] reads back.
func (w Workload) String() string {
	var b strings.Builder
	if w.Foreign {
		b.WriteString("foreign\n")
	}
	for _, c := range w.Clients {
		b.WriteString("client " + c.Name + "\n")
		for _, o := range c.Operations {
			b.WriteString("  ")
			o.write(&b)
			b.WriteByte('\n')
		}
	}
	if len(w.Tail) > 0 {
		b.WriteString("tail\n")
	}
	for _, o := range w.Tail {
		b.WriteString("  ")
		o.write(&b)
		b.WriteByte('\n')
	}
	return b.String()
}

// String returns the operation as a line of a workload's text.
func (o Operation) String() string {
	var b strings.Builder
	o.write(&b)
	return b.String()
}

func (o Operation) write(b *strings.Builder) {
	b.WriteString(o.ID)
	b.WriteByte(' ')
	b.WriteString(string(o.Kind))
	for _, a := range o.Args {
		b.WriteByte(' ')
		b.WriteString(a.String())
	}
	if o.Cancel {
		b.WriteString(" cancel")
	}
	if o.Inside != "" {
		b.WriteString(" inside=")
		b.WriteString(o.Inside)
	}
}

// String returns the argument as it is written in an operation's line.
func (a Arg) String() string {
	if a.Name == bare {
		return bare
	}
	if plain(a.Value) {
		return a.Name + "=" + a.Value
	}
	// In ASCII: a reviewer must see that a look-alike is one.
	return a.Name + "=" + strconv.QuoteToASCII(a.Value)
}

// bare is the one argument that has no value.
const bare = "nil"

func plain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
