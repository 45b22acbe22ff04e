package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/loopcheck/loopcheck/contract"
)

// wire is the JSON form. Its names are stable: a change of their meaning is a new Format. Seeds are strings because most
// programs read a JSON number as a float64, and a seed that lost its last digits replays nothing.
type wire struct {
	Format       int                   `json:"format"`
	Contract     int                   `json:"contract"`
	Subject      string                `json:"subject"`
	Passed       bool                  `json:"passed"` // for whoever reads it without this package
	Go           string                `json:"go"`
	Runtime      string                `json:"runtime"`
	Seed         uint64                `json:"seed,string"`
	Seeds        []string              `json:"seeds,omitempty"`
	Strategy     string                `json:"strategy"`
	Schedules    uint64                `json:"schedules"`
	Elapsed      float64               `json:"elapsed_seconds"`
	Stopped      string                `json:"stopped"`
	Capabilities []contract.Capability `json:"capabilities"`
	Requirements []Line                `json:"requirements"`
	Failures     []Failure             `json:"failures"`
	Problems     []string              `json:"problems"`
	Baseline     Baseline              `json:"baseline,omitempty"`
	Stale        []string              `json:"baseline_problems,omitempty"`
}

// JSON writes the report as indented JSON with a newline at its end, for [Read]. Invalid UTF-8 in a text becomes U+FFFD. A
// report that is not whole or not settled is an error, and nothing is written.
func (r *Report) JSON(w io.Writer) error {
	if err := r.check(); err != nil {
		return err
	}
	form := wire{
		Format: r.Format, Contract: r.Contract, Subject: r.Subject, Passed: r.Passed(), Go: r.Go, Runtime: r.Runtime,
		Seed: r.Seed, Strategy: r.Strategy, Schedules: r.Schedules, Elapsed: r.Elapsed.Seconds(), Stopped: r.Stopped,
		Capabilities: list(r.Capabilities), Requirements: r.Requirements, Failures: list(r.Failures), Problems: list(r.Problems),
		Baseline: r.Baseline, Stale: r.BaselineProblems,
	}
	for _, s := range r.Seeds {
		form.Seeds = append(form.Seeds, strconv.FormatUint(s, 10))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(form); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// list is the slice as JSON should have it: [] where there is nothing, and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Read reads a report that [Report.JSON] wrote. Damaged text, a version of the format or of the contract that this program
// does not know, unknown fields, and verdicts that do not follow from what the report says are errors that say where.
func Read(from io.Reader) (*Report, error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	// The versions first: a report of a later format is not damaged because it has a field that is new.
	var version struct {
		Format   *int `json:"format"`
		Contract *int `json:"contract"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, damaged(data, err)
	}
	switch {
	case version.Format == nil || version.Contract == nil:
		return nil, errors.New("report: not a report of loopcheck: it names no version of a format and a contract")
	case *version.Format != Format:
		return nil, fmt.Errorf("report: format version %d; this program reads version %d", *version.Format, Format)
	case *version.Contract != contract.Version:
		return nil, fmt.Errorf("report: contract version %d; this program knows version %d", *version.Contract, contract.Version)
	}
	var form wire
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&form); err != nil {
		return nil, damaged(data, err)
	}
	return form.report()
}

func (form wire) report() (*Report, error) {
	r := &Report{
		Format: form.Format, Contract: form.Contract, Subject: form.Subject, Go: form.Go, Runtime: form.Runtime,
		Seed: form.Seed, Strategy: form.Strategy, Schedules: form.Schedules, Stopped: form.Stopped,
		Capabilities: form.Capabilities, Requirements: form.Requirements, Failures: form.Failures, Problems: form.Problems,
		Baseline: form.Baseline, BaselineProblems: form.Stale,
	}
	for _, s := range form.Seeds {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("report: seed %q is not a number that can be here", s)
		}
		r.Seeds = append(r.Seeds, seed)
	}
	nanoseconds := math.Round(form.Elapsed * float64(time.Second))
	if nanoseconds < 0 || nanoseconds >= math.MaxInt64 {
		return nil, fmt.Errorf("report: elapsed_seconds %v is out of range", form.Elapsed)
	}
	r.Elapsed = time.Duration(nanoseconds)
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.Passed() != form.Passed {
		return nil, fmt.Errorf("report: passed is %t, which does not follow from its verdicts and problems", form.Passed)
	}
	return r, nil
}

func damaged(data []byte, err error) error {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mistyped):
		offset = mistyped.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return fmt.Errorf("report: damaged: %w", err)
	}
	return fmt.Errorf("report: damaged, line %d: %w", 1+bytes.Count(data[:offset], []byte("\n")), err)
}

// check reports what is not as a settled report of New is.
func (r *Report) check() error {
	if r.Format != Format || r.Contract != contract.Version {
		return fmt.Errorf("report: format %d of contract %d; this program has format %d of contract %d",
			r.Format, r.Contract, Format, contract.Version)
	}
	if r.Elapsed < 0 {
		return fmt.Errorf("report: elapsed time %v", r.Elapsed)
	}
	for i, l := range r.Requirements {
		if q, ok := contract.Lookup(l.ID); !ok {
			if err := checkOwn(l.ID, l.Level); err != nil {
				return err
			}
		} else if q.Level != l.Level || l.Level == contract.Types {
			return fmt.Errorf("report: %s is at the level %s, and not %q", l.ID, q.Level, l.Level)
		}
		if i > 0 && order(r.Requirements[i-1].ID, l.ID) >= 0 {
			return fmt.Errorf("report: the line of %s is out of order, or there twice", l.ID)
		}
		if want := r.failuresOf(l.ID); !slices.Equal(want, l.Failures) {
			return fmt.Errorf("report: %s has failures %v, its line says %v", l.ID, want, l.Failures)
		}
		if want := r.verdict(l); want != l.Verdict {
			return fmt.Errorf("report: %s: the verdict that follows is %q, its line says %q", l.ID, want, l.Verdict)
		}
	}
	for _, q := range contract.All() {
		if q.Level != contract.Types && r.line(q.ID) == nil {
			return fmt.Errorf("report: there is no line for %s", q.ID)
		}
	}
	for i, f := range r.Failures {
		if r.line(f.Requirement) == nil {
			return fmt.Errorf("report: failure %d is of %q, which has no line", i, f.Requirement)
		}
		if _, known := r.Baseline.find(f.Requirement); known != f.Known {
			return fmt.Errorf("report: failure %d: known is %t, the baseline says %t", i, f.Known, known)
		}
	}
	settled := *r
	settled.Requirements, settled.Failures = slices.Clone(r.Requirements), slices.Clone(r.Failures)
	settled.Settle()
	if !slices.Equal(settled.BaselineProblems, r.BaselineProblems) {
		return fmt.Errorf("report: the problems with the baseline that follow are %q, the report says %q",
			settled.BaselineProblems, r.BaselineProblems)
	}
	for i, l := range settled.Requirements {
		if l.Baseline != r.Requirements[i].Baseline {
			return fmt.Errorf("report: %s: what follows from the baseline is %q, its line says %q",
				l.ID, l.Baseline, r.Requirements[i].Baseline)
		}
	}
	return nil
}
