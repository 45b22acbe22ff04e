package filejournal_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

// numbered is the writer's nth event. Now and then one takes several pages.
func numbered(writer, n int) event.Event {
	text := "x"
	if n%7 == 3 {
		text = strings.Repeat("much text ", 1500)
	}
	return note(writer*1_000_000+n, text)
}

// runAndKill lets a child append until so many are acknowledged, and a little longer, and kills it. It returns how many
// of each writer's were acknowledged, counted from first.
func runAndKill(t testing.TB, what, path string, acknowledge int, longer time.Duration, first int) map[int]int {
	t.Helper()
	c := startChild(t, what, path)
	counts := map[int]int{}
	count := func(line string) {
		var writer, n int
		_, err := fmt.Sscan(line, &writer, &n)
		require.NoError(t, err, line)
		require.Equal(t, first+counts[writer], n)
		counts[writer]++
	}
	for range acknowledge {
		line, ok := c.next(t)
		require.True(t, ok, "the child ended by itself")
		count(line)
	}
	time.Sleep(longer) // to hit any point of a commit; nothing is expected to have happened after it
	for _, line := range c.kill(t) {
		count(line)
	}
	return counts
}

// One file goes on from kill to kill: after each it has what was acknowledged, and at most the event in flight.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	random := rand.New(rand.NewPCG(1, 2))
	total, inFlight := 0, 0
	kills := everyNth(40, 31)
	for kill := range kills {
		longer := time.Duration(random.IntN(4000)) * time.Microsecond
		acknowledged := runAndKill(t, "append", path, random.IntN(6), longer, total)[0]
		j := openAt(t, path)
		got := history(t, j)
		require.NoError(t, j.Close())
		require.GreaterOrEqual(t, len(got), total+acknowledged, "kill %d", kill)
		require.LessOrEqual(t, len(got), total+acknowledged+1, "kill %d", kill)
		for n, e := range got {
			require.Equal(t, raw(t, numbered(0, n)), e, "kill %d", kill)
		}
		inFlight += len(got) - total - acknowledged
		total = len(got)
	}
	t.Logf("%d kills, %d events, %d of them in flight", kills, total, inFlight)
}

// A process is killed while it makes the journal, or shortly after.
func TestKillAtStart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	kills, made := everyNth(30, 10), 0
	for range kills {
		path := filepath.Join(t.TempDir(), "journal")
		longer := time.Duration(random.IntN(everyNth(60, 500))) * time.Millisecond
		acknowledged := runAndKill(t, "append", path, 0, longer, 0)[0]
		if _, ok := dirState(t, filepath.Dir(path))["journal"]; ok {
			made++
		}
		j := openAt(t, path)
		got := history(t, j)
		require.NoError(t, j.Append(context.Background(), note(1, "x")))
		require.NoError(t, j.Close())
		require.GreaterOrEqual(t, len(got), acknowledged)
		require.LessOrEqual(t, len(got), acknowledged+1)
	}
	t.Logf("%d kills, %d with the journal made", kills, made)
}

// Several goroutines append at once, and share commits: of each, the event in flight may be there or not.
func TestKillConcurrent(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range everyNth(12, 4) {
		path := filepath.Join(t.TempDir(), "journal")
		longer := time.Duration(random.IntN(4000)) * time.Microsecond
		acknowledged := runAndKill(t, "append8", path, random.IntN(60), longer, 0)
		found := map[int]int{}
		for _, e := range history(t, openAt(t, path)) {
			var number int
			_, err := fmt.Sscanf(e, `{"type":"note","n":%d,`, &number)
			require.NoError(t, err)
			writer, n := number/1_000_000, number%1_000_000
			require.Equal(t, found[writer], n, "writer %d", writer)
			require.Equal(t, raw(t, numbered(writer, n)), e)
			found[writer]++
		}
		for writer := range 8 {
			require.GreaterOrEqual(t, found[writer], acknowledged[writer])
			require.LessOrEqual(t, found[writer], acknowledged[writer]+1)
		}
	}
}

// The journal is another process's until that dies.
func TestOneOpenerAmongProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	c := startChild(t, "hold", path)
	line, ok := c.next(t)
	require.True(t, ok)
	require.Equal(t, "open", line)
	_, err := filejournal.Open(path)
	require.ErrorIs(t, err, filejournal.ErrInUse)
	c.kill(t)
	require.Len(t, history(t, openAt(t, path)), 1)
}
