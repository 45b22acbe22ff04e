package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/contract"
)

// Merge makes one report of those of the parts of a campaign, which must agree in subject, contract, capabilities, the
// user's own requirements' levels and, where they have one, the baseline. Schedules and counts add up; the time is the
// longest, as parts run side by side; of failures with the same requirement and cause the shortest is kept; problems are
// those of all; verdicts follow, so that one part's failure is the campaign's, and what one part exercised is exercised.
// The order of the parts does not matter, and the parts are left as they are.
func Merge(reports ...*Report) (*Report, error) {
	if len(reports) == 0 {
		return nil, errors.New("report: there is nothing to merge")
	}
	first := reports[0]
	m := &Report{Contract: first.Contract, Format: first.Format, Subject: first.Subject}
	m.Capabilities = sortedCapabilities(first.Capabilities)
	for i, r := range reports {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("report: part %d: %w", i+1, err)
		}
		if err := m.agrees(r); err != nil {
			return nil, fmt.Errorf("report: part %d is not of the campaign of the first: %w", i+1, err)
		}
		if err := m.take(r); err != nil {
			return nil, fmt.Errorf("report: part %d: %w", i+1, err)
		}
	}
	m.Seed = m.Seeds[0]
	if len(m.Seeds) == 1 {
		m.Seeds = nil
	}
	slices.Sort(m.Problems)
	slices.SortFunc(m.Failures, func(a, b Failure) int {
		return cmp.Or(order(a.Requirement, b.Requirement), cmp.Compare(a.cause(), b.cause()))
	})
	m.Settle()
	return m, nil
}

func (m *Report) agrees(r *Report) error {
	switch {
	case r.Subject != m.Subject:
		return fmt.Errorf("subject %q, and not %q", r.Subject, m.Subject)
	case r.Contract != m.Contract:
		return fmt.Errorf("contract version %d, and not %d", r.Contract, m.Contract)
	case !slices.Equal(sortedCapabilities(r.Capabilities), m.Capabilities):
		return fmt.Errorf("capabilities %q, and not %q", r.Capabilities, m.Capabilities)
	case len(m.Baseline) > 0 && len(r.Baseline) > 0 && !slices.Equal(m.Baseline, r.Baseline):
		return errors.New("another baseline")
	}
	return nil
}

// take adds a part. What it does must not depend on the order of the parts, but for the order of slices that Merge sorts.
func (m *Report) take(r *Report) error {
	m.Go, m.Runtime, m.Strategy = union(m.Go, r.Go, ", "), union(m.Runtime, r.Runtime, ", "), union(m.Strategy, r.Strategy, ", ")
	m.Stopped = union(m.Stopped, r.Stopped, ", ")
	m.Seeds = slices.Concat(m.Seeds, r.Seeds, []uint64{r.Seed})
	slices.Sort(m.Seeds)
	m.Seeds = slices.Compact(m.Seeds)
	m.Schedules = add(m.Schedules, r.Schedules)
	m.Elapsed = max(m.Elapsed, r.Elapsed)
	if len(r.Baseline) > 0 {
		m.Baseline = slices.Clone(r.Baseline)
	}
	for _, l := range r.Requirements {
		if err := m.takeLine(l); err != nil {
			return err
		}
	}
	for _, f := range r.Failures {
		m.Add(f)
	}
	for _, p := range r.Problems {
		m.Problem(p)
	}
	return nil
}

func (m *Report) takeLine(l Line) error {
	have := m.line(l.ID)
	if have == nil {
		m.Requirements = append(m.Requirements, l)
		return nil
	}
	if have.Level != l.Level {
		return fmt.Errorf("%s is at the level %s, and at %s in an earlier part", l.ID, l.Level, have.Level)
	}
	have.Exercised = add(have.Exercised, l.Exercised)
	have.Note = union(have.Note, l.Note, "; ")
	have.Title = titleOf(have, l)
	if l.Verdict != NotSupported { // it stays only where every part says so
		have.Verdict = ""
	}
	return nil
}

func titleOf(have *Line, l Line) string {
	if q, ok := contract.Lookup(l.ID); ok {
		return q.Title
	}
	return min(have.Title, l.Title)
}

// union joins the distinct items of two lists that are written as texts, in alphabetical order.
func union(a, b, separator string) string {
	items := append(strings.Split(a, separator), strings.Split(b, separator)...)
	items = slices.DeleteFunc(items, func(s string) bool { return s == "" })
	slices.Sort(items)
	return strings.Join(slices.Compact(items), separator)
}
