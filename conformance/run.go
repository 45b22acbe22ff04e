package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
)

// corpusDir is where a package keeps the schedules that its subjects broke something by, and its baseline.
const (
	corpusDir    = "testdata/loopcheck"
	baselineFile = "baseline.txt"
)

// Run checks a subject in a test: a subtest for each requirement with its directed checks, one for the runs of generated
// workloads, one for the subject's corpus, and one for the verdict, which fails if a MUST that the subject supports was
// never put to the test.
//
// The corpus is testdata/loopcheck of the package under test: new failures are saved there, one file each, and replayed from then
// on. A file baseline.txt there lists known failures.
//
// Flags, and environment variables of the same names (LOOPCHECK_SEED for -loopcheck.seed), say how much is run: schedules, time,
// seed, strategy, replay, report, baseline. On Ctrl-C the report so far is written; a second one ends the process at once.
func Run(t *testing.T, subject Subject) {
	t.Helper()
	s, err := readSettings()
	if err != nil {
		t.Fatal(err)
	}
	s.config.Corpus = filepath.FromSlash(corpusDir)
	if s.config.Baseline == "" {
		if path := filepath.Join(s.config.Corpus, baselineFile); exists(path) {
			s.config.Baseline = path
		}
	}
	s.config.Replay = replayLine(t.Name())
	c, err := newChecker(subject, s.config)
	if err != nil {
		t.Fatal(err)
	}
	if s.replay != "" {
		replay(t, c, s.replay)
		return
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // so that a second Ctrl-C is not caught

	suite := suite{checker: c, known: make(map[string]string)}
	for _, e := range c.baseline {
		suite.known[e.Requirement] = e.Reason
	}
	for _, r := range contract.All() {
		if r.Level != contract.Types {
			suite.part(t, r.ID, func(t *testing.T) { suite.requirement(ctx, t, r) })
		}
	}
	suite.part(t, "simulation", func(*testing.T) { c.simulate(ctx) })
	suite.part(t, "corpus", func(t *testing.T) {
		if err := c.corpus(ctx); err != nil {
			t.Error(err)
		}
	})
	if ctx.Err() != nil {
		c.report.Stopped = "interrupted"
	}
	r := c.finish()
	if c.saveError != nil {
		t.Errorf("failures were found and could not be saved: %v", c.saveError)
	}
	if err := write(r, s.report); err != nil {
		t.Error(err)
	}
	if suite.left > 0 {
		return // -run chose some of the parts: what was not put to the test says nothing
	}
	t.Run("verdict", func(t *testing.T) {
		var text strings.Builder
		if err := r.Text(&text); err != nil {
			t.Fatal(err)
		}
		if testing.Verbose() || !r.Passed() {
			t.Log("\n" + text.String())
		}
		if !r.Passed() {
			t.Fail()
		}
		if r.Stopped == "interrupted" {
			t.Error("interrupted: this is the report so far")
		}
	})
}

// suite runs the parts of a check as subtests.
type suite struct {
	checker *checker
	known   map[string]string // requirements of the baseline, and why
	left    int               // parts that -run left out
}

// part runs one part, and fails its subtest for every failure that it adds to the report, but for known ones.
func (s *suite) part(t *testing.T, name string, f func(*testing.T)) {
	s.left++
	t.Run(name, func(t *testing.T) {
		s.left--
		r := s.checker.report
		failures, problems := len(r.Failures), len(r.Problems)
		f(t)
		for _, failure := range r.Failures[min(failures, len(r.Failures)):] {
			level := contract.Must
			if q, found := contract.Lookup(failure.Requirement); found {
				level = q.Level
			}
			switch why, known := s.known[failure.Requirement]; {
			case known:
				t.Logf("known failure (%s):\n%s", why, failure)
			case level == contract.Should:
				t.Logf("warning:\n%s", failure)
			default:
				t.Errorf("\n%s", failure)
			}
		}
		for _, problem := range r.Problems[problems:] {
			t.Error(problem)
		}
	})
}

// requirement runs the directed checks of one requirement.
func (s *suite) requirement(ctx context.Context, t *testing.T, r contract.Requirement) {
	if lacking := r.Lacking(s.checker.report.Capabilities); len(lacking) > 0 {
		t.Skipf("NOT SUPPORTED: the subject has no %v", lacking)
	}
	if s.checker.hung {
		t.Skip("not checked: a run before did not come to rest")
	}
	for _, check := range DirectedChecks() {
		if check.Requirement == r.ID && ctx.Err() == nil && !s.checker.hung && !s.checker.directed(ctx, check) && s.known[r.ID] == "" {
			t.Logf("%s: %s\n%s", check.Requirement, check.Name, check.Why)
		}
	}
}

// replay replays one schedule, and fails the test if it breaks something.
func replay(t *testing.T, c *checker, schedule string) {
	t.Helper()
	outcome, err := c.replay(schedule)
	switch {
	case err != nil:
		t.Fatal(err)
	case outcome.failure != nil:
		t.Errorf("\n%s\n%s", outcome.failure, outcome.note)
	default:
		t.Logf("the schedule breaks nothing\n%s\n%s", strings.Join(outcome.timeline, "\n"), outcome.note)
	}
}

// replayLine words the line that replays a schedule in a test.
func replayLine(test string) func(string) string {
	return func(schedule string) string {
		return fmt.Sprintf("go test -run '^%s$' -loopcheck.replay=%s", regexp.QuoteMeta(test), filepath.ToSlash(schedule))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// write writes a report to a file, in the form of its extension; nothing if there is no path.
func write(r *report.Report, path string) (err error) {
	if path == "" {
		return nil
	}
	form := func(w io.Writer) error { return r.Text(w) }
	switch filepath.Ext(path) {
	case ".json":
		form = r.JSON
	case ".xml":
		form = r.JUnit
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("conformance: the report cannot be written: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return form(f)
}
