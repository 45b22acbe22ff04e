package filejournal_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

// typical is about the size of a change of inference.
var typical = note(1, strings.Repeat("x", 400))

func BenchmarkAppend(b *testing.B) {
	j, _ := temporary(b)
	for b.Loop() {
		require.NoError(b, j.Append(context.Background(), typical))
	}
}

// BenchmarkAppend8 has 8 callers at once, which share flushes. The time is that of one append.
func BenchmarkAppend8(b *testing.B) {
	j, _ := temporary(b)
	work := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range work {
				if err := j.Append(context.Background(), typical); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
}

func BenchmarkOpen(b *testing.B) {
	for _, records := range []int{0, 1000, 20_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "journal")
			j := openAt(b, path)
			appendMany(b, j, records)
			require.NoError(b, j.Close())
			for b.Loop() {
				j, err := filejournal.Open(path)
				require.NoError(b, err)
				require.NoError(b, j.Close())
			}
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	j, _ := temporary(b)
	appendMany(b, j, 20_000)
	for b.Loop() {
		n := 0
		for _, err := range j.Events(context.Background()) {
			require.NoError(b, err)
			n++
		}
		require.Equal(b, 20_000, n)
	}
}

func appendMany(b *testing.B, j *filejournal.Journal, n int) {
	b.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if err := j.Append(context.Background(), typical); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}
