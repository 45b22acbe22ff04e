package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/contract"
)

// Settle makes everything that follows from counts, failures, capabilities and baseline follow from them: the order of the
// lines, their Verdict, Failures and Baseline, Known of the failures, and BaselineProblems. It is idempotent. The
// methods of Report call it; whoever writes to the fields must. A NOT SUPPORTED of [Report.Unsupported] stays until the
// requirement is exercised or broken.
func (r *Report) Settle() {
	slices.SortStableFunc(r.Requirements, func(a, b Line) int { return order(a.ID, b.ID) })
	r.BaselineProblems = nil
	for i := range r.Failures {
		_, r.Failures[i].Known = r.Baseline.find(r.Failures[i].Requirement)
	}
	for i := range r.Requirements {
		l := &r.Requirements[i]
		l.Failures = r.failuresOf(l.ID)
		l.Verdict = r.verdict(*l)
		l.Baseline = ""
		if e, ok := r.Baseline.find(l.ID); ok {
			r.hold(l, e)
		}
	}
	for _, e := range r.Baseline {
		if r.line(e.Requirement) == nil {
			r.doubt("%s is no requirement of this report: remove the entry at %s", e.Requirement, e.where())
		}
	}
}

// hold says what becomes of the baseline's entry for a requirement.
func (r *Report) hold(l *Line, e Entry) {
	switch {
	case l.Verdict == Known:
		l.Baseline = e.Reason
	case l.Verdict == Pass:
		r.doubt("%s passes now: remove the entry at %s", l.ID, e.where())
	case l.Verdict == NotSupported:
		l.Baseline = "the entry at " + e.where() + " has no effect: not supported"
	case l.Level == contract.Should:
		l.Baseline = "the entry at " + e.where() + " was not checked: not exercised"
	default:
		r.doubt("%s was not exercised: the entry at %s was not checked", l.ID, e.where())
	}
}

func (r *Report) doubt(format string, arguments ...any) {
	r.BaselineProblems = append(r.BaselineProblems, "baseline: "+fmt.Sprintf(format, arguments...))
}

func (r *Report) failuresOf(id string) (positions []int) {
	for i, f := range r.Failures {
		if f.Requirement == id {
			positions = append(positions, i)
		}
	}
	return positions
}

func (r *Report) verdict(l Line) Verdict {
	if len(l.Failures) > 0 {
		_, known := r.Baseline.find(l.ID)
		switch {
		case known:
			return Known
		case l.Level == contract.Should:
			return Warning
		default:
			return Fail
		}
	}
	q, ok := contract.Lookup(l.ID)
	switch {
	case ok && !q.AppliesTo(r.Capabilities):
		return NotSupported
	case l.Exercised > 0:
		return Pass
	case l.Verdict == NotSupported:
		return NotSupported
	default:
		return NotExercised
	}
}

// Passed reports whether the run passed: each MUST was exercised and not broken, but for what is not supported or a known
// failure; and there is no problem. A SHOULD never makes it fail. A MUST of the contract that has no line does.
func (r *Report) Passed() bool {
	return len(r.AllProblems()) == 0 && !slices.ContainsFunc(r.Requirements, r.fails)
}

// fails is strict with a report that somebody filled in by hand and did not settle.
func (r *Report) fails(l Line) bool {
	if l.Level == contract.Should {
		return false
	}
	for _, f := range r.Failures {
		if f.Requirement == l.ID && !f.Known {
			return true
		}
	}
	switch l.Verdict {
	case Known, NotSupported:
		return false
	case Pass:
		return l.Exercised == 0
	default:
		return true
	}
}

// AllProblems returns the problems, the baseline's, and those that nobody wrote down because the report itself is not whole:
// a MUST of the contract without a line, a failure of no requirement.
func (r *Report) AllProblems() []string {
	all := slices.Concat(r.Problems, r.BaselineProblems)
	var missing []string
	for _, q := range contract.All() {
		if q.Level == contract.Must && r.line(q.ID) == nil {
			missing = append(missing, q.ID)
		}
	}
	if len(missing) > 0 {
		all = append(all, "the report says nothing of "+strings.Join(missing, ", "))
	}
	for _, f := range r.Failures {
		if r.line(f.Requirement) == nil {
			all = append(all, fmt.Sprintf("a failure of %q, which is no requirement of this report:\n%s", f.Requirement, f))
		}
	}
	return all
}
