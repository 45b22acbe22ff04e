package corpus

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// ContractVersion is the newest version of the loop contract that this program can judge by.
const ContractVersion = 1

const (
	title   = "loopcheck-corpus"
	version = "1"
)

// File is one file of a corpus.
type File struct {
	// Contract is the version of the contract that Requirement is of; 0 stands for ContractVersion where a file is written, and
	// is never read.
	Contract int
	// Requirement is what the run breaks, by its identifier, or what the scheduler itself found wrong, as "leak"; empty for a
	// run that is there to reach something.
	Requirement string
	Subject     string   // who it was found on, as "faulty:model-per-step"; optional
	Found       string   // by which run, as "schedule 412 (seed 7)"; optional
	Log         []string // for people: the failure's text, in lines; written as comments
	Workload    workload.Workload
	Record      sim.Record
}

// String returns the file's text, which [Parse] reads back. In the log, characters that do not show are replaced, and a line that
// holds a line break becomes two.
func (f File) String() string {
	var b strings.Builder
	contract := f.Contract
	if contract == 0 {
		contract = ContractVersion
	}
	fmt.Fprintf(&b, "%s %s\ncontract %d\n", title, version, contract)
	for _, field := range []struct{ name, value string }{
		{"requirement", f.Requirement}, {"subject", f.Subject}, {"found", f.Found},
	} {
		if field.value != "" {
			b.WriteString(field.name + " " + quote(field.value) + "\n")
		}
	}
	for _, line := range f.Log {
		for line := range strings.SplitSeq(line, "\n") {
			if line = showable(line); line != "" {
				line = " " + line
			}
			b.WriteString("#" + line + "\n")
		}
	}
	section := func(name, text string) {
		b.WriteString(name + "\n")
		for line := range strings.Lines(text) {
			b.WriteString("  " + line)
		}
	}
	section("workload", f.Workload.String())
	section("schedule", f.Record.String())
	return b.String()
}

// quote writes a value that goes to the end of its line: as it is, or quoted as in Go.
func quote(value string) string {
	for _, r := range value {
		if !strconv.IsPrint(r) || r == unicode.ReplacementChar {
			return strconv.Quote(value)
		}
	}
	if value == "" || value[0] == '"' || strings.Trim(value, " ") != value {
		return strconv.Quote(value)
	}
	return value
}

// showable replaces what must not be in a file of text.
func showable(line string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.TrimRight(line, "\r"))
}

func hidden(r rune) bool { return unicode.IsControl(r) && r != '\t' }
