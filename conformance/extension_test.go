package conformance_test

import (
	"context"
	"fmt"

	"github.com/loopcheck/loopcheck/conformance"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

const kindExport workload.Kind = "export"

// exporting adds to a subject an operation and an invariant of the user's own: no run may export the loop's mode more than
// limit times in the form "full".
func exporting(s conformance.Subject, limit int) conformance.Subject {
	s.Name = "exporting"
	s.Operations = []conformance.Operation{{
		Kind: kindExport, Weight: 40,
		Args: func(draw workload.Draw) []workload.Arg {
			return []workload.Arg{{Name: "form", Value: []string{"short", "full"}[draw(2)]}}
		},
		Do: func(_ context.Context, l loop.Loop, o workload.Operation) error {
			form, _ := o.Value("form")
			if form == "full" {
				return fullExport{l.Mode()}
			}
			return nil
		},
	}}
	s.Invariants = []conformance.Invariant{{
		Name: "EXPORT-1",
		Begin: func() func([]trace.Entry) error {
			full := 0
			return func(entries []trace.Entry) error {
				for _, e := range entries {
					if _, is := e.Err.(fullExport); is {
						full++
					}
				}
				if full > limit {
					return fmt.Errorf("%d full exports, of at most %d", full, limit)
				}
				return nil
			}
		},
	}}
	return s
}

// fullExport is what a full export returns, so that the invariant finds it in the trace.
type fullExport struct{ mode loop.ModeName }

func (e fullExport) Error() string { return "exported in mode " + string(e.mode) }
