package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/loopcheck/loopcheck/contract"
)

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   junitSuite
}

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitOutcome `xml:"failure"`
	Skipped *junitOutcome `xml:"skipped"`
	Output  *junitText    `xml:"system-out"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}

// JUnit writes the report as JUnit XML: one test suite with a test case for each requirement, and one, "the run", for the
// problems. A case fails exactly if the report does not pass because of it. What is NOT SUPPORTED, a known failure, or a
// SHOULD that is NOT EXERCISED is skipped; a warning is a case that passes, with the failure in its output. Texts that XML
// cannot hold are escaped.
func (r *Report) JUnit(w io.Writer) error {
	s := junitSuite{
		Name: "loopcheck: " + line(r.Subject), Time: strconv.FormatFloat(r.Elapsed.Seconds(), 'f', 3, 64),
		Properties: r.junitProperties(),
	}
	for _, l := range r.Requirements {
		s.add(r.junitCase(l))
	}
	s.add(r.junitRun())
	text, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(bytes.Join([][]byte{[]byte(xml.Header), text, []byte("\n")}, nil))
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func (r *Report) junitProperties() []junitProperty {
	properties := []junitProperty{
		{"contract", strconv.Itoa(r.Contract)},
		{"format", strconv.Itoa(r.Format)},
		{"go", line(r.Go)},
		{"runtime", line(r.Runtime)},
		{"seed", strings.Join(r.seeds(), ", ")},
		{"strategy", line(r.Strategy)},
		{"schedules", strconv.FormatUint(r.Schedules, 10)},
		{"elapsed", r.Elapsed.Round(time.Millisecond).String()},
		{"capabilities", capabilityNames(r.Capabilities)},
	}
	if r.Stopped != "" {
		properties = append(properties, junitProperty{"stopped", line(r.Stopped)})
	}
	return properties
}

func (r *Report) junitCase(l Line) junitCase {
	c := junitCase{Class: line(r.Subject), Name: line(l.ID + " " + l.Title), Time: "0"}
	text := r.renderings(l)
	exercised := line(fmt.Sprintf("%s, exercised %s", l.Verdict, times(l.Exercised)))
	notes := l.notes()
	switch {
	case r.fails(l):
		c.Failure = &junitOutcome{Message: l.failureMessage(r), Type: line(l.ID), Text: joined(text, notes)}
	case l.Verdict == Known, l.Verdict == NotSupported, l.Verdict == NotExercised:
		c.Skipped = &junitOutcome{Message: strings.ReplaceAll(joined(string(l.Verdict), r.lacking(l), notes), "\n", "; ")}
		if text != "" {
			c.Output = &junitText{text}
		}
	default:
		c.Output = &junitText{joined(exercised, text, notes)}
	}
	return c
}

func (l Line) failureMessage(r *Report) string {
	for _, f := range r.Failures {
		if f.Requirement == l.ID && !f.Known {
			return line(f.Message)
		}
	}
	return line(fmt.Sprintf("%s: %s, exercised %s", l.ID, l.Verdict, times(l.Exercised)))
}

// junitRun is the case that fails if something other than a requirement makes the run not pass.
func (r *Report) junitRun() junitCase {
	c := junitCase{Class: line(r.Subject), Name: "the run", Time: "0"}
	if problems := r.AllProblems(); len(problems) > 0 {
		head, _, _ := strings.Cut(problems[0], "\n")
		c.Failure = &junitOutcome{Message: line(head), Type: "problem", Text: block(strings.Join(problems, "\n"))}
	}
	return c
}

// renderings are the failures of a line, for people.
func (r *Report) renderings(l Line) string {
	var all []string
	for _, i := range r.failuresOf(l.ID) {
		all = append(all, r.Failures[i].String())
	}
	return strings.Join(all, "\n\n")
}

// lacking says which capabilities a requirement is not supported for.
func (r *Report) lacking(l Line) string {
	q, _ := contract.Lookup(l.ID)
	if lacking := q.Lacking(r.Capabilities); l.Verdict == NotSupported && len(lacking) > 0 {
		return "it needs: " + capabilityNames(lacking)
	}
	return ""
}

func (l Line) notes() string { return joined(line(l.Note), line(l.Baseline)) }

func (r *Report) seeds() []string {
	if len(r.Seeds) == 0 {
		return []string{strconv.FormatUint(r.Seed, 10)}
	}
	var all []string
	for _, s := range r.Seeds {
		all = append(all, strconv.FormatUint(s, 10))
	}
	return all
}

func capabilityNames(capabilities []contract.Capability) string {
	var names []string
	for _, c := range capabilities {
		names = append(names, line(string(c)))
	}
	return strings.Join(names, ", ")
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}

// joined puts the parts that are not empty one below the other.
func joined(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n")
}
