package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/conformance/report"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// Config says how much is checked, and how. The zero value stands for the defaults.
type Config struct {
	// Schedules is how many runs are made after the directed checks; 0 is [DefaultSchedules], or as many as Time allows if that
	// is set. A negative number makes none.
	Schedules int
	// Time bounds the runs, in real time; 0 is no bound. A failure that is being shrunk when it is over is finished.
	Time time.Duration
	// Seed is that of the campaign: run n of a seed is the same for ever, as long as the subject's capabilities are.
	Seed uint64
	// From is the number of the first run.
	From uint64
	// Strategy is "random", "swarm" or "pct"; empty is all of them in turn.
	Strategy string
	// Corpus is a directory of schedules, which are replayed after the runs, and to which new failures are saved; empty is
	// none.
	Corpus string
	// Baseline is a file of known failures; empty is none.
	Baseline string
	// Failures is after how many different ones the runs are stopped; 0 is 5.
	Failures int
	// Shrink bounds, in real time, how long one failure is shrunk; 0 is 10 seconds.
	Shrink time.Duration
	// Replay words the line that replays a schedule of a file or, where none was saved, of a token. Nil leaves the line out.
	Replay func(schedule string) string
	// Progress, if set, is called after each run.
	Progress func(Progress)
	// Run bounds each run.
	Run sim.Options
}

// DefaultSchedules is how many runs a check makes if it is not told otherwise.
const DefaultSchedules = 2000

// schedulesEach is how many schedules are tried of each workload: one schedule seldom shows what a workload has in it, and making
// the same workload again costs nothing.
const schedulesEach = 4

// Progress is how far a check is.
type Progress struct {
	Schedules uint64 // runs made
	Failures  int    // found so far
}

// ConfigError says which setting of a check is wrong.
type ConfigError struct{ Setting, Reason string }

// Error names the setting and the reason.
func (e *ConfigError) Error() string { return "conformance: " + e.Setting + ": " + e.Reason }

// Strategies are the names of the strategies that a check can be told to use.
func Strategies() []string { return []string{"random", "swarm", "pct"} }

// Check checks a subject: the directed checks of each requirement first, then runs of generated workloads, then the corpus.
// When the context ends, the report so far is returned, and says so. The error is a [*SubjectError], a [*ConfigError], or that
// of a corpus or a baseline that cannot be read or written; a breach is none. With the error of a corpus there is a report too.
func Check(ctx context.Context, subject Subject, config Config) (*report.Report, error) {
	c, err := newChecker(subject, config)
	if err != nil {
		return nil, err
	}
	for _, check := range DirectedChecks() {
		if ctx.Err() == nil && !c.hung {
			c.directed(ctx, check)
		}
	}
	c.simulate(ctx)
	err = c.corpus(ctx)
	if ctx.Err() != nil && c.report.Stopped == "" {
		c.report.Stopped = "interrupted"
	}
	return c.finish(), errors.Join(err, c.saveError)
}

// checker makes the runs of a check and collects what they show. Not safe for concurrent use.
type checker struct {
	subject   Subject
	config    Config
	profile   workload.Profile
	baseline  report.Baseline
	report    *report.Report
	exercised []uint64
	runs      uint64 // that count, those of directed checks included
	began     time.Time
	known     map[string]bool // failures by requirement and cause
	hung      bool
	strict    bool // a broken SHOULD fails the run
	saveError error
}

func newChecker(subject Subject, config Config) (*checker, error) {
	if err := subject.validate(); err != nil {
		return nil, err
	}
	if config.Strategy != "" && !slices.Contains(Strategies(), config.Strategy) {
		return nil, &ConfigError{"strategy", fmt.Sprintf("there is no %q, only %s", config.Strategy, strings.Join(Strategies(), ", "))}
	}
	if config.Time < 0 {
		return nil, &ConfigError{"time", fmt.Sprintf("%v is negative", config.Time)}
	}
	if config.Run.Tick != 0 || config.Run.Open {
		return nil, &ConfigError{"run", "the passing of time and open gates are not for judged runs"}
	}
	c := &checker{
		subject: subject, config: config, began: time.Now(), known: make(map[string]bool),
		exercised: make([]uint64, oracle.Requirements()),
	}
	capabilities, err := c.discover()
	if err != nil {
		return nil, err
	}
	c.report = report.New(subject.Name, capabilities...)
	c.report.Runtime, c.report.Seed, c.report.Strategy = "stock", config.Seed, config.Strategy
	if config.Strategy == "" {
		c.report.Strategy = strings.Join(Strategies(), ", ")
	}
	own := make([]string, len(subject.Invariants))
	for i, invariant := range subject.Invariants {
		own[i] = invariant.Name
		if slices.Contains(schedulersOwn, invariant.Name) {
			return nil, &SubjectError{fmt.Sprintf("%q has an invariant of the scheduler's name %q", c.subject.Name, invariant.Name)}
		}
		if err := c.report.Declare(invariant.Name, invariant.Name, contract.Must); err != nil {
			return nil, &SubjectError{err.Error()}
		}
	}
	if config.Baseline != "" {
		if c.baseline, err = report.ReadBaseline(config.Baseline, own...); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// schedulersOwn are what a run can fail in besides requirements.
var schedulersOwn = []string{sim.CheckPanic, sim.CheckStuck, sim.CheckLeak, sim.CheckNoProgress, sim.CheckHang, sim.CheckMisuse}

// discover finds out what the subject can do: external tools by the interface of a loop that it makes, the rest by its fields.
func (c *checker) discover() ([]contract.Capability, error) {
	var (
		capabilities []contract.Capability
		external     bool
		started      bool
		failed       error
	)
	r := sim.Run(func(w *sim.World) {
		p := &play{subject: &c.subject, judge: oracle.New(oracle.Options{}, c.exercised), world: w}
		external, failed = p.discover()
		started = true
	}, sim.Boring{}.Begin(0), c.config.Run)
	switch {
	case r.Hang != nil: // its goroutines may go on: what they write to is not to be looked at
		return nil, &SubjectError{fmt.Sprintf("%q hangs when it is started: %v\n%s", c.subject.Name, r.Hang.Message, r.Hang.Stack)}
	case failed != nil:
		return nil, &SubjectError{fmt.Sprintf("%q cannot be started: %v", c.subject.Name, failed)}
	case !started:
		return nil, &SubjectError{fmt.Sprintf("%q cannot be started: its Start does not return: %v", c.subject.Name, r.Failure)}
	}
	if external {
		capabilities = append(capabilities, contract.ExternalTools)
	}
	if c.subject.Restore != nil {
		capabilities = append(capabilities, contract.Restore)
	}
	if c.subject.Foreign != nil {
		capabilities = append(capabilities, contract.Foreign)
	}
	c.profile = workload.Profile{External: external, Restore: c.subject.Restore != nil, Foreign: c.subject.Foreign != nil}
	for _, o := range c.subject.Operations {
		c.profile.Extra = append(c.profile.Extra, workload.Extra{Kind: o.Kind, Weight: o.Weight, Args: o.Args})
	}
	return capabilities, nil
}

// run is what became of one run.
type run struct {
	load   workload.Workload
	result *sim.Result
	play   *play
	check  string // the requirement that it broke, or a check of the scheduler's; empty if it was as it should be
}

// once makes one run.
func (c *checker) once(load workload.Workload, chooser sim.Chooser, options sim.Options) run {
	r := run{load: load}
	p := program(&c.subject, load, c.judge, func(p *play) { r.play = p })
	r.result = sim.Run(p, chooser, options)
	if r.result.Failure != nil {
		r.check = r.result.Failure.Check
	}
	if r.check == sim.CheckLeak && (r.play == nil || !r.play.judge.Exited()) {
		r.check = "" // nobody asked the loop to exit, so what it left is no leak
	}
	return r
}

func (c *checker) judge() *oracle.Judge {
	return oracle.New(c.options(), c.exercised)
}

func (c *checker) options() oracle.Options {
	return oracle.Options{Joins: c.subject.InputsJoin, Strict: c.strict}
}

// choice returns the workload and the strategy of run n.
func (c *checker) choice(n uint64) (workload.Workload, sim.Strategy) {
	load := workload.Generate(c.profile, workload.Seeded(c.config.Seed, n/schedulesEach))
	strategies := []sim.Strategy{
		sim.Random{Seed: c.config.Seed, Rare: 5}, sim.Swarm{Seed: c.config.Seed}, sim.PCT{Seed: c.config.Seed, Steps: 32}, sim.Random{Seed: c.config.Seed, Rare: 24},
	}
	if i := slices.Index(Strategies(), c.config.Strategy); i >= 0 {
		return load, strategies[i]
	}
	return load, strategies[n%uint64(len(strategies))]
}

// simulate makes runs of generated workloads.
func (c *checker) simulate(ctx context.Context) {
	schedules := c.config.Schedules
	if schedules == 0 && c.config.Time == 0 {
		schedules = DefaultSchedules
	}
	most := c.config.Failures
	if most <= 0 {
		most = 5
	}
	found := 0
	for n := c.config.From; ; n++ {
		switch {
		case ctx.Err() != nil:
			c.report.Stopped = "interrupted"
			return
		case c.hung:
			c.report.Stopped = "a run that does not come to rest"
			return
		case c.config.Schedules < 0, schedules > 0 && n-c.config.From >= uint64(schedules):
			return
		case c.config.Time > 0 && time.Since(c.began) > c.config.Time:
			return
		case found >= most:
			c.report.Stopped = fmt.Sprintf("%d failures", found)
			return
		}
		load, strategy := c.choice(n)
		r := c.once(load, strategy.Begin(n), c.config.Run)
		c.report.Schedules++
		c.runs++
		c.warn(ctx, r, fmt.Sprintf("schedule %d (seed %d)", n, c.config.Seed))
		if r.check != "" && c.fresh(r) {
			c.fail(ctx, r, fmt.Sprintf("schedule %d (seed %d)", n, c.config.Seed))
			found++
		}
		if c.config.Progress != nil {
			c.config.Progress(Progress{Schedules: c.report.Schedules, Failures: len(c.report.Failures)})
		}
	}
}

// directed makes the run of a directed check, and reports whether the subject passed it.
func (c *checker) directed(ctx context.Context, check Directed) bool {
	load, schedule, err := check.parse()
	if err != nil {
		c.report.Problem(err.Error())
		return false
	}
	if !c.can(load) {
		return true
	}
	r := c.once(load, sim.Replay{Schedule: schedule}.Follow(), c.config.Run)
	c.runs++
	found := fmt.Sprintf("the directed check %q of %s", check.Name, check.Requirement)
	c.warn(ctx, r, found)
	if r.check != "" && c.fresh(r) {
		c.fail(ctx, r, found)
	}
	return r.check == ""
}

// can reports whether the subject has what a workload needs.
func (c *checker) can(load workload.Workload) bool {
	if load.Foreign {
		return c.subject.Foreign != nil
	}
	clients := append([]workload.Client{{Operations: load.Tail}}, load.Clients...)
	for _, client := range clients {
		for _, o := range client.Operations {
			switch o.Kind {
			case workload.Replace:
				if !c.profile.External {
					return false
				}
			case workload.Crash, workload.Restore, workload.RestoreWithout:
				if c.subject.Restore == nil {
					return false
				}
			}
		}
	}
	return true
}

// corpus replays the schedules of the subject's corpus. What one broke once it must not break again.
func (c *checker) corpus(ctx context.Context) error {
	if c.config.Corpus == "" {
		return nil
	}
	entries, err := corpus.Load(c.config.Corpus, c.subject.kinds()...) // the others, if some are damaged
	for _, e := range entries {
		if ctx.Err() != nil || c.hung {
			break
		}
		if !c.can(e.File.Workload) {
			continue
		}
		r := c.once(e.File.Workload, sim.Replay{Schedule: e.File.Record.Schedule}.Follow(), c.config.Run)
		c.warn(ctx, r, "the corpus")
		switch {
		case r.check == "" || !c.fresh(r):
		case r.result.Hang != nil:
			c.hang(r, e.Path)
		default:
			c.add(c.failure(r, "the corpus", 0), e.Path)
		}
	}
	return err
}

// finish makes the report's verdicts.
func (c *checker) finish() *report.Report {
	for i, n := range c.exercised {
		if r := contract.All()[i]; r.Level != contract.Types && n > 0 {
			c.report.Count(r.ID, n)
		}
	}
	for _, invariant := range c.subject.Invariants {
		c.report.Count(invariant.Name, c.runs)
	}
	c.report.Elapsed, c.report.Go = time.Since(c.began), runtime.Version()
	c.exercised = make([]uint64, oracle.Requirements())
	c.report.Apply(c.baseline)
	return c.report
}
