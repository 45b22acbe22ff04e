package conformance

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Flags of a test binary that imports this package. Each has an environment variable too, for where flags do not get through:
// -loopcheck.seed is LOOPCHECK_SEED. A flag that is given wins.
var (
	_ = flag.Int("loopcheck.schedules", 0, "how many runs are made of each subject; 0 is the default, -1 none")
	_ = flag.Duration("loopcheck.time", 0, "for how long runs are made of each subject, instead of a number of them")
	_ = flag.Uint64("loopcheck.seed", 0, "the seed of the runs")
	_ = flag.String("loopcheck.strategy", "", "the strategy of the runs: "+strings.Join(Strategies(), ", ")+"; empty is all in turn")
	_ = flag.String("loopcheck.replay", "", "a schedule, as a file or a token, to replay instead of everything else")
	_ = flag.String("loopcheck.report", "", "a file for the report: .json, .xml (JUnit) or text, by its extension")
	_ = flag.String("loopcheck.baseline", "", "a file of known failures; without it, testdata/loopcheck/baseline.txt if it is there")
)

// settings are what flags and environment say.
type settings struct {
	config Config
	replay string
	report string
}

// setting returns the value of a flag that was given, else that of its environment variable, else the flag's default.
func setting(name string) string {
	f := flag.Lookup("loopcheck." + name)
	given := false
	flag.Visit(func(g *flag.Flag) { given = given || g == f })
	if value := os.Getenv("LOOPCHECK_" + strings.ToUpper(name)); value != "" && !given {
		return value
	}
	return f.Value.String()
}

// readSettings reads flags and environment. An error names what is wrong and where it comes from.
func readSettings() (settings, error) {
	s := settings{replay: setting("replay"), report: setting("report")}
	s.config.Strategy, s.config.Baseline = setting("strategy"), setting("baseline")
	var err error
	wrong := func(name string, cause error) error {
		return &ConfigError{"-loopcheck." + name + " or LOOPCHECK_" + strings.ToUpper(name), fmt.Sprintf("%q: %v", setting(name), cause)}
	}
	if s.config.Schedules, err = strconv.Atoi(setting("schedules")); err != nil {
		return s, wrong("schedules", err)
	}
	if s.config.Time, err = time.ParseDuration(setting("time")); err != nil {
		return s, wrong("time", err)
	}
	if s.config.Seed, err = strconv.ParseUint(setting("seed"), 10, 64); err != nil {
		return s, wrong("seed", err)
	}
	return s, nil
}
