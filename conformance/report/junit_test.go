package report_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

type suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Cases    []struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *outcome `xml:"failure"`
		Skipped *outcome `xml:"skipped"`
		Output  string   `xml:"system-out"`
	} `xml:"testcase"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func junit(t require.TestingT, r *report.Report) suite {
	var b bytes.Buffer
	require.NoError(t, r.JUnit(&b))
	d := xml.NewDecoder(&b)
	d.Strict = true
	var suites struct {
		Suites []suite `xml:"testsuite"`
	}
	require.NoError(t, d.Decode(&suites))
	require.Len(t, suites.Suites, 1)
	return suites.Suites[0]
}

// A CI server sees failures exactly if the report does not pass, whatever a subject says and in whatever state it is.
func TestJUnitFailsIfTheReportDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reports(texts()).Draw(t, "report")
		r.Subject = texts().Draw(t, "subject")
		if rapid.Bool().Draw(t, "not whole") {
			r.Requirements = r.Requirements[rapid.IntRange(0, len(r.Requirements)).Draw(t, "from"):]
		}
		s := junit(t, r)
		require.Len(t, s.Cases, len(r.Requirements)+1)
		require.Equal(t, len(s.Cases), s.Tests)
		failures, skipped := 0, 0
		for i, c := range s.Cases {
			if i < len(r.Requirements) {
				require.True(t, strings.HasPrefix(c.Name, r.Requirements[i].ID), c.Name)
			}
			if c.Failure != nil {
				failures++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		require.Equal(t, failures, s.Failures)
		require.Equal(t, skipped, s.Skipped)
		require.Equal(t, r.Passed(), failures == 0)
	})
}

func TestJUnitCases(t *testing.T) {
	r := sample(t)
	cases := make(map[string]string)
	for _, c := range junit(t, r).Cases {
		assert.Equal(t, "myloop", c.Class)
		id, _, _ := strings.Cut(c.Name, " ")
		switch {
		case c.Failure != nil:
			cases[id] = "failure: " + c.Failure.Message + "\n" + c.Failure.Text
		case c.Skipped != nil:
			cases[id] = "skipped: " + c.Skipped.Message + "\n" + c.Output
		default:
			cases[id] = "ok: " + c.Output
		}
	}
	turn1, ext11, int2 := captureFailure(), panicWarning(), interruptFailure()
	assert.Equal(t, "failure: "+turn1.Message+"\n"+turn1.String(), cases["TURN-1"])
	assert.Equal(t, "ok: warning, exercised 10,086 times\n"+ext11.String(), cases["EXT-11"])
	assert.Equal(t, "skipped: known failure; the client of v0.3 has no cancellation, issue 41\n"+int2.String(), cases["INT-2"])
	assert.Equal(t, "skipped: NOT SUPPORTED; it needs: restore\n", cases["DUR-3"])
	assert.Equal(t, "failure: LIFE-3: NOT EXERCISED, exercised 0 times\n", cases["LIFE-3"])
	assert.Contains(t, cases["REF-9"], "skipped: NOT SUPPORTED; the subject has its own clock")
	assert.Contains(t, cases["the"], "failure: schedule 1177 hung")
	assert.Contains(t, cases["the"], "\nbaseline: TURN-2 passes now: remove the entry at known.txt:4\n")
	assert.NotContains(t, cases, "CMD-1")
}

func TestJUnitOfAConformingSubjectHasNoFailure(t *testing.T) {
	s := junit(t, conforming(contract.Capabilities()...))
	assert.Zero(t, s.Failures)
	assert.Zero(t, s.Skipped)
	assert.Equal(t, "the run", s.Cases[len(s.Cases)-1].Name)
}

func TestJUnitHoldsWhatXMLCannot(t *testing.T) {
	r := conforming()
	r.Add(report.Failure{
		Requirement: "TURN-1", Message: "a\x00b\x1b[1m\xff\ufffe]]>&<\"", Diff: "x ]]> y\r\nz\x07", Timeline: []string{"\x01"},
	})
	for _, c := range junit(t, r).Cases {
		if c.Failure != nil {
			assert.Equal(t, `a\x00b\x1b[1m\xff\ufffe]]>&<"`, c.Failure.Message)
			assert.Equal(t, "loopcheck: "+c.Failure.Message+"\n    \\x01\n  diff:\n    x ]]> y\n    z\\a", c.Failure.Text)
		}
	}
}
