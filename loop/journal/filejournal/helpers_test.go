package filejournal_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

// smallPage is SQLite's smallest.
const smallPage = 512

// note is an event with a number and some text.
func note(n int, text string) event.Event {
	return event.Other{Tag: "note", Raw: fmt.Appendf(nil, `{"type":"note","n":%d,"text":%q}`, n, text)}
}

// raw is what note returns, as text.
func raw(t testing.TB, e event.Event) string {
	t.Helper()
	encoded, err := event.Encode(e)
	require.NoError(t, err)
	return string(encoded)
}

// collect returns the encoded events, or the error they end with.
func collect(events iter.Seq2[event.Event, error]) ([]string, error) {
	var all []string
	for e, err := range events {
		if err != nil {
			return all, err
		}
		encoded, err := event.Encode(e)
		if err != nil {
			return all, err
		}
		all = append(all, string(encoded))
	}
	return all, nil
}

func history(t testing.TB, j *filejournal.Journal) []string {
	t.Helper()
	all, err := collect(j.Events(context.Background()))
	require.NoError(t, err)
	return all
}

func openAt(t testing.TB, path string) *filejournal.Journal {
	t.Helper()
	j, err := filejournal.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// sample makes a journal of small pages, with records that fill several pages and one that takes several, and returns what
// it holds.
func sample(t testing.TB, path string, records int) []string {
	t.Helper()
	j, err := filejournal.OpenPaged(path, smallPage)
	require.NoError(t, err)
	for n := range records {
		text := "x"
		if n == 3 {
			text = strings.Repeat("long ", 200)
		}
		require.NoError(t, j.Append(context.Background(), note(n, text)))
	}
	all := history(t, j)
	require.Len(t, all, records)
	require.NoError(t, j.Close())
	return all
}

// dirState returns the content of every file in a directory.
func dirState(t testing.TB, dir string) map[string]string {
	t.Helper()
	state := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			content = []byte(err.Error())
		}
		state[entry.Name()] = string(content)
	}
	return state
}

// requireTyped checks that the error is this package's, of one of the kinds if there are any, and names the path.
func requireTyped(t testing.TB, err error, path string, kinds ...error) {
	t.Helper()
	var typed *filejournal.Error
	require.ErrorAs(t, err, &typed)
	require.Equal(t, path, typed.Path)
	require.Contains(t, err.Error(), path)
	is := func(kind error) bool { return errors.Is(err, kind) }
	require.True(t, len(kinds) == 0 || slices.ContainsFunc(kinds, is), "%v is none of %v", err, kinds)
}
