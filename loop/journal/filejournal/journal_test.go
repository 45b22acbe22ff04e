package filejournal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

func isInUse(err error) bool { return errors.Is(err, filejournal.ErrInUse) }

func temporary(t testing.TB) (*filejournal.Journal, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	return openAt(t, path), path
}

func TestEventsComeBack(t *testing.T) {
	j, path := temporary(t)
	header := event.Header{EventID: uuid.New(), LoopID: uuid.New(), Time: time.Unix(1, 2).UTC()}
	want := []event.Event{
		event.LoopStopped{Header: header},
		event.TurnEnded{Header: header, TurnID: uuid.New(), Outcome: event.TurnFailed},
		note(1, "ü\t"),
	}
	for _, e := range want {
		require.NoError(t, j.Append(context.Background(), e))
	}
	require.NoError(t, j.Close())
	var got []event.Event
	for e, err := range openAt(t, path).Events(context.Background()) {
		require.NoError(t, err)
		got = append(got, e)
	}
	require.Equal(t, want, got)
}

func TestSizes(t *testing.T) {
	j, path := temporary(t)
	ctx := context.Background()
	empty := len(raw(t, note(1, "")))
	var want []string
	most := filejournal.MaxEvent - empty
	for _, size := range []int{0, 1, 3900, 4096, 5000, 100_000, everyNth(most, 200_000)} {
		e := note(1, strings.Repeat("x", size))
		require.NoError(t, j.Append(ctx, e), size)
		want = append(want, raw(t, e))
	}
	requireTyped(t, j.Append(ctx, note(1, strings.Repeat("x", most+1))), path, filejournal.ErrTooLarge)
	require.True(t, slices.Equal(want, history(t, j)))
	require.NoError(t, j.Close())
	require.True(t, slices.Equal(want, history(t, openAt(t, path))))
}

func TestEventThatDoesNotEncode(t *testing.T) {
	j, _ := temporary(t)
	var invalid *event.InvalidError
	require.ErrorAs(t, j.Append(context.Background(), event.Other{Tag: "note", Raw: []byte(`{"type":"else"}`)}), &invalid)
	require.Empty(t, history(t, j))
}

func TestContextEnded(t *testing.T) {
	j, _ := temporary(t)
	require.NoError(t, j.Append(context.Background(), note(1, "x")))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, j.Append(ended, note(2, "x")), context.Canceled)
	require.Len(t, history(t, j), 1)

	got, err := collect(j.Events(ended))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, got)
}

// Contexts end while appends wait for each other: what reports that is not in the journal.
func TestContextEndsDuringAppend(t *testing.T) {
	j, _ := temporary(t)
	const appends = 200
	errs := make([]error, appends)
	var all sync.WaitGroup
	for n := range appends {
		ctx, cancel := context.WithCancel(context.Background())
		all.Go(func() { errs[n] = j.Append(ctx, note(n, "x")) })
		all.Go(cancel)
	}
	all.Wait()
	found := map[string]bool{}
	for _, e := range history(t, j) {
		found[e] = true
	}
	for n, err := range errs {
		require.Equal(t, err == nil, found[raw(t, note(n, "x"))], "event %d: %v", n, err)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
}

func TestContextEndsDuringEvents(t *testing.T) {
	j, _ := temporary(t)
	for n := range 5 {
		require.NoError(t, j.Append(context.Background(), note(n, "x")))
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range j.Events(ctx) {
		if n++; n == 4 {
			require.ErrorIs(t, err, context.Canceled)
			continue
		}
		require.NoError(t, err)
		if n == 3 {
			cancel()
		}
	}
	require.Equal(t, 4, n, "the error is the last pair")
}

func TestClose(t *testing.T) {
	j, path := temporary(t)
	require.NoError(t, j.Append(context.Background(), note(1, "x")))
	require.NoError(t, j.Append(context.Background(), note(2, "x")))
	n := 0
	for _, err := range j.Events(context.Background()) {
		n++
		require.NoError(t, err)
		break
	}
	require.Equal(t, 1, n, "the loop can be left")
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	requireTyped(t, j.Append(context.Background(), note(3, "x")), path, journal.ErrClosed)
	_, err := collect(j.Events(context.Background()))
	requireTyped(t, err, path, journal.ErrClosed)
	require.Equal(t, []string{"journal"}, names(t, filepath.Dir(path)))
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	for name := range dirState(t, dir) {
		all = append(all, name)
	}
	return all
}

func TestAppendAndCloseInTheLoop(t *testing.T) {
	j, path := temporary(t)
	const events = 2000 // several reads
	var all sync.WaitGroup
	for n := range events {
		all.Go(func() { _ = j.Append(context.Background(), note(n, strings.Repeat("x", 100))) })
	}
	all.Wait()
	n := 0
	for _, err := range j.Events(context.Background()) {
		require.NoError(t, err)
		if n++; n%500 == 0 {
			require.NoError(t, j.Append(context.Background(), note(n, "more")))
		}
	}
	require.Equal(t, events, n, "the events there were at first")
	require.Len(t, history(t, j), events+4)

	_, err := collect(func(yield func(event.Event, error) bool) {
		for e, err := range j.Events(context.Background()) {
			require.NoError(t, j.Close())
			if !yield(e, err) {
				return
			}
		}
	})
	requireTyped(t, err, path, journal.ErrClosed)
}

// Several goroutines append, each reading back all the time: every history is a beginning of every later one, and has what
// was acknowledged before it was read.
func TestConcurrentUse(t *testing.T) {
	j, path := temporary(t)
	const writers, each = 8, 25
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				if err := j.Append(context.Background(), note(w*1000+n, "x")); err != nil {
					t.Errorf("append: %v", err)
				}
				if n%10 == 0 {
					checkOwn(t, j, w, n)
				}
			}
		})
	}
	all.Wait()
	before := history(t, j)
	require.Len(t, before, writers*each)
	require.NoError(t, j.Close())
	require.Equal(t, before, history(t, openAt(t, path)))
}

func checkOwn(t *testing.T, j *filejournal.Journal, writer, last int) {
	got, err := collect(j.Events(context.Background()))
	if err != nil {
		t.Errorf("events: %v", err)
		return
	}
	next := 0
	for _, e := range got {
		if strings.Contains(e, fmt.Sprintf(`"n":%d,`, writer*1000+next)) {
			next++
		}
	}
	if next != last+1 {
		t.Errorf("writer %d found %d of its %d events in order", writer, next, last+1)
	}
}

// What was written to a file that is not at its path any more would be lost.
func TestMovedFile(t *testing.T) {
	j, path := temporary(t)
	ctx := context.Background()
	require.NoError(t, j.Append(ctx, note(1, "x")))
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Skipf("an open file cannot be moved here: %v", err)
	}
	requireTyped(t, j.Append(ctx, note(2, "x")), path, filejournal.ErrMoved)
	require.NoError(t, os.Rename(path+".moved", path))
	require.NoError(t, j.Append(ctx, note(3, "x")))
	require.Equal(t, []string{raw(t, note(1, "x")), raw(t, note(3, "x"))}, history(t, j))
}

// Damage to the file while it is open is found by reading it.
func TestDamagedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	want := sample(t, path, 300)
	j := openAt(t, path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[len(content)-3*smallPage] ^= 1
	write(t, path, content)
	got, err := collect(j.Events(context.Background()))
	requireTyped(t, err, path, filejournal.ErrDamaged)
	require.True(t, slices.Equal(want[:len(got)], got))
}

// brittle is a context that panics when it is asked a second time.
type brittle struct {
	context.Context
	asked *int
}

func (c brittle) Err() error {
	if *c.asked++; *c.asked > 1 {
		panic("asked again")
	}
	return nil
}

// What one caller's context does happens to that caller.
func TestPanickingContext(t *testing.T) {
	j := openAt(t, filepath.Join(t.TempDir(), "j"))
	require.Panics(t, func() { _ = j.Append(brittle{context.Background(), new(int)}, note(1, "x")) })
	require.NoError(t, j.Append(context.Background(), note(2, "x")))
	events := history(t, j)
	require.Equal(t, raw(t, note(2, "x")), events[len(events)-1])
}

func TestNoPath(t *testing.T) {
	_, err := filejournal.Open("")
	require.ErrorContains(t, err, "the path is empty")
}
