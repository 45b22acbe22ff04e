// Package report has the report of a conformance check: a verdict on every requirement of the loop contract, the failures
// that were found, and its forms for people (text), programs (JSON) and CI servers (JUnit).
//
// A report is made with [New], filled with [Report.Count], [Report.Add] and [Report.Problem], held against a [Baseline] with
// [Report.Apply], and written. Its verdicts are not set, they follow from what was counted and found; whoever fills in the
// fields calls [Report.Settle] afterwards. A report is not safe for concurrent use.
package report

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/loopcheck/loopcheck/contract"
)

// Format is the version of the report's JSON form that this package writes and reads.
const Format = 1

// Verdict is what a report says of one requirement.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"          // exercised, and never broken
	Fail         Verdict = "fail"          // a MUST that was broken
	Warning      Verdict = "warning"       // a SHOULD that was broken
	Known        Verdict = "known failure" // broken, as the baseline expects
	NotExercised Verdict = "NOT EXERCISED" // never put to the test: nothing is known, and a MUST does not pass
	NotSupported Verdict = "NOT SUPPORTED" // speaks of what the subject does not have; not a failure and not a pass
)

// Report is the outcome of a conformance check of one subject.
type Report struct {
	Contract int    // the version of the contract
	Format   int    // the version of the JSON form
	Subject  string // its name
	Go       string // as runtime.Version says
	Runtime  string // "stock" or "controlled"
	Seed     uint64
	// Seeds lists, in a merged report whose parts had different seeds, all of them in ascending order; Seed is the least.
	Seeds     []uint64
	Strategy  string
	Schedules uint64 // how many runs there were
	Elapsed   time.Duration
	Stopped   string // why it ended before its time, as "interrupted"; else empty
	// Capabilities are those of the subject.
	Capabilities []contract.Capability
	// Requirements has a line for each MUST and SHOULD of the contract in its order, then those of [Report.Declare] by their
	// identifiers.
	Requirements []Line
	// Failures are all that were found, of SHOULD requirements and known ones too, one for each requirement and cause.
	Failures []Failure
	// Problems is what makes the run not pass although no requirement says so: a run that hung, a schedule that could not be
	// replayed.
	Problems []string
	// Baseline is what [Report.Apply] was given last, and BaselineProblems what is wrong with it, as an entry whose
	// requirement passes now. They count as problems, and belong to [Report.Settle].
	Baseline         Baseline
	BaselineProblems []string
}

// Line is what a report says of one requirement.
type Line struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	Level     contract.Level `json:"level"`
	Verdict   Verdict        `json:"verdict"`
	Exercised uint64         `json:"exercised"`          // how often it was put to the test
	Failures  []int          `json:"failures,omitempty"` // positions in Report.Failures
	Note      string         `json:"note,omitempty"`     // whatever else is worth saying
	// Baseline is why the failure is known, or why the baseline's entry does not matter here. It belongs to [Report.Settle].
	Baseline string `json:"baseline,omitempty"`
}

// New returns the report of a check in which nothing was exercised yet. Requirements that need a capability that the
// subject does not have are NOT SUPPORTED, all others NOT EXERCISED.
func New(subject string, capabilities ...contract.Capability) *Report {
	r := &Report{Contract: contract.Version, Format: Format, Subject: subject, Go: runtime.Version()}
	r.Capabilities = sortedCapabilities(capabilities)
	for _, q := range contract.All() {
		if q.Level != contract.Types {
			r.Requirements = append(r.Requirements, Line{ID: q.ID, Title: q.Title, Level: q.Level})
		}
	}
	r.Settle()
	return r
}

// Declare adds a requirement of the user's own: an invariant of hers, at the level MUST or SHOULD. The identifier is one
// word of at most 32 characters that the contract does not use; the title is one short line. Declaring one again is an
// error.
func (r *Report) Declare(id, title string, level contract.Level) error {
	if err := checkOwn(id, level); err != nil {
		return err
	}
	if r.line(id) != nil {
		return fmt.Errorf("report: requirement %q is declared already", id)
	}
	r.Requirements = append(r.Requirements, Line{ID: id, Title: title, Level: level})
	r.Settle()
	return nil
}

func checkOwn(id string, level contract.Level) error {
	word := id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= 32 && id[0] != '#' &&
		!strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	switch {
	case !word:
		return fmt.Errorf("report: requirement %q: an identifier is one word of at most 32 characters", id)
	case contract.Index(id) >= 0:
		return fmt.Errorf("report: requirement %q: the contract has one of this name", id)
	case level != contract.Must && level != contract.Should:
		return fmt.Errorf("report: requirement %q: level %q is neither MUST nor SHOULD", id, level)
	}
	return nil
}

// Count says that a requirement was put to the test n times more. A requirement that the report has no line for (TYPES)
// is passed over.
func (r *Report) Count(id string, n uint64) {
	if l := r.line(id); l != nil {
		first := l.Exercised == 0
		l.Exercised = add(l.Exercised, n)
		if first { // the number itself changes no verdict
			r.Settle()
		}
	}
}

// Unsupported says that the subject turned out not to have what the requirement speaks of, and why, where its capabilities
// do not tell (a foreign loop that cannot change its model). It has no effect on a requirement that was exercised or broken.
func (r *Report) Unsupported(id, why string) {
	if l := r.line(id); l != nil && l.Verdict == NotExercised {
		l.Verdict, l.Note = NotSupported, why
		r.Settle()
	}
}

// Add adds a failure and returns its position in Failures. Of two with the same requirement and cause (the message, where
// no cause is given) the one with fewer steps is kept. A failure of a requirement that the report has no line for
// becomes a problem, so that it is not lost, and -1 is returned.
func (r *Report) Add(f Failure) int {
	if r.line(f.Requirement) == nil {
		r.Problem(fmt.Sprintf("a failure of %q, which is no requirement of this report:\n%s", f.Requirement, f))
		return -1
	}
	f.Timeline = slices.Clone(f.Timeline)
	i := slices.IndexFunc(r.Failures, f.same)
	switch {
	case i < 0:
		i = len(r.Failures)
		r.Failures = append(r.Failures, f)
	case f.compare(r.Failures[i]) < 0:
		r.Failures[i] = f
	}
	r.Settle()
	return i
}

// Problem adds a problem, once.
func (r *Report) Problem(text string) {
	if !slices.Contains(r.Problems, text) {
		r.Problems = append(r.Problems, text)
	}
}

// Line returns what the report says of a requirement.
func (r *Report) Line(id string) (Line, bool) {
	if l := r.line(id); l != nil {
		return *l, true
	}
	return Line{}, false
}

func (r *Report) line(id string) *Line {
	for i := range r.Requirements {
		if r.Requirements[i].ID == id {
			return &r.Requirements[i]
		}
	}
	return nil
}

// order is the order of the lines: the contract's, then the user's own by identifier.
func order(a, b string) int {
	rank := func(id string) int {
		if i := contract.Index(id); i >= 0 {
			return i
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

func sortedCapabilities(capabilities []contract.Capability) []contract.Capability {
	known := contract.Capabilities()
	sorted := slices.Clone(capabilities)
	slices.SortFunc(sorted, func(a, b contract.Capability) int {
		i, j := slices.Index(known, a), slices.Index(known, b)
		return cmp.Or(cmp.Compare(uint(i), uint(j)), cmp.Compare(a, b)) // an unknown one, -1, comes last
	})
	return slices.Compact(sorted)
}

// add adds, and stays at the greatest number instead of beginning anew.
func add(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
