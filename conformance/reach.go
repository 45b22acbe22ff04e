package conformance

import (
	"github.com/loopcheck/loopcheck/conformance/grid"
	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
)

// Reach runs the schedules of a corpus on a subject and returns, for each, the cells of the grid that it reached; nil for one that
// the subject lacks something for. It is what corpus.Minimize asks for.
func Reach(subject Subject, entries []corpus.Entry) (map[string][]grid.Cell, error) {
	c, err := newChecker(subject, Config{})
	if err != nil {
		return nil, err
	}
	reached := make(map[string][]grid.Cell, len(entries))
	for _, e := range entries {
		if c.can(e.File.Workload) {
			r := c.once(e.File.Workload, sim.Replay{Schedule: e.File.Record.Schedule}.Follow(), c.config.Run)
			reached[e.Path] = grid.Cells(r.entries())
		}
	}
	return reached, nil
}
