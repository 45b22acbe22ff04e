package fakes_test

import (
	"github.com/loopcheck/loopcheck/workload"
)

// tools is a set of good tools.
func tools(names ...string) (set []workload.Tool) {
	for _, name := range names {
		set = append(set, workload.Tool{Name: name})
	}
	return set
}
