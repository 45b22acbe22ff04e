package corpus_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

// numbered makes a file for each number.
func numbered(n int) corpus.File {
	return corpus.File{
		Contract: 1, Requirement: fmt.Sprintf("TURN-%d", n%3),
		Workload: workload.Generate(workload.Profile{External: true}, workload.Seeded(1, uint64(n))),
		Record:   sim.Record{Schedule: sim.Schedule{{Kind: sim.Switch, Owner: "a1", Gate: "call", Nth: n + 1, Choice: "b"}}},
	}
}

func names(t *testing.T, dir string) (list []string) {
	items, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, item := range items {
		list = append(list, item.Name())
	}
	return list
}

func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "testdata", "loopcheck")
	entries, err := corpus.Load(dir)
	require.NoError(t, err, "a directory that is not there is empty")
	require.Empty(t, entries)

	_, f := sample(t)
	path, err := corpus.Save(dir, f)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, f.Name()), path)
	second := f
	second.Requirement = "no progress/../x"
	other, err := corpus.Save(dir, second)
	require.NoError(t, err)
	require.Regexp(t, `^no-progress----x-[0-9a-f]{6}\.schedule$`, filepath.Base(other))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "old.schedule"), 0o700))
	entries, err = corpus.Load(dir)
	require.NoError(t, err)
	require.Equal(t, []corpus.Entry{{Path: path, File: f}, {Path: other, File: second}}, entries)
	require.Len(t, names(t, dir), 4, "nothing else is left")
}

func TestSameFailureIsSavedOnce(t *testing.T) {
	dir := t.TempDir()
	_, f := sample(t)
	f.Workload.Tail = append(f.Workload.Tail, workload.Operation{ID: "q1", Kind: poke})
	path, err := corpus.Save(dir, f)
	require.NoError(t, err)
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	again := f
	again.Found, again.Subject, again.Log = "schedule 9 (seed 9)", "", nil
	again.Record.Hash, again.Record.Go, again.Record.Steps = 1, "go1.25.0", nil
	where, err := corpus.Save(dir, again)
	require.NoError(t, err)
	require.Equal(t, path, where)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Len(t, names(t, dir), 1)
}

// TestAnotherContentIsNeverOverwritten: the name is taken, by what has the same hash, say, or by a damaged file.
func TestAnotherContentIsNeverOverwritten(t *testing.T) {
	_, f := sample(t)
	for what, content := range map[string]string{"another failure": numbered(1).String(), "damaged": "loopcheck-corpus 1\nhm"} {
		dir := t.TempDir()
		taken := filepath.Join(dir, f.Name())
		require.NoError(t, os.WriteFile(taken, []byte(content), 0o600))
		for range 2 {
			path, err := corpus.Save(dir, f)
			require.NoError(t, err, what)
			require.NotEqual(t, taken, path)
			require.True(t, strings.HasPrefix(path, strings.TrimSuffix(taken, corpus.Extension)), "the same hash, with more digits: %s", path)
		}
		data, err := os.ReadFile(taken)
		require.NoError(t, err)
		require.Equal(t, content, string(data))
		require.Len(t, names(t, dir), 2)
	}
}

func TestConcurrentSavers(t *testing.T) {
	dir := t.TempDir()
	const files, savers = 12, 6
	var wg sync.WaitGroup
	paths := make([][]string, savers)
	for s := range savers {
		wg.Go(func() {
			for n := range files {
				f := numbered((n + s) % files)
				f.Found = fmt.Sprint("by saver ", s)
				path, err := corpus.Save(dir, f)
				if err != nil {
					t.Errorf("%v", err)
				}
				paths[s] = append(paths[s], path)
			}
		})
		wg.Go(func() { // what can be seen is whole
			if _, err := corpus.Load(dir); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	for s := range savers {
		slices.Sort(paths[s])
		require.Equal(t, paths[0], paths[s])
	}
	require.Len(t, names(t, dir), files)
	entries, err := corpus.Load(dir)
	require.NoError(t, err)
	require.Len(t, entries, files)
}

func TestSaveWhereNothingCanBe(t *testing.T) {
	_, f := sample(t)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := corpus.Save(file, f)
	require.ErrorContains(t, err, file)
	_, err = corpus.Load(file)
	require.ErrorContains(t, err, file)

	readOnly := t.TempDir()
	require.NoError(t, os.Chmod(readOnly, 0o500))
	if probe, err := os.Create(filepath.Join(readOnly, "probe")); err == nil {
		probe.Close()
		t.Skip("who runs this may write anywhere")
	}
	_, err = corpus.Save(readOnly, f)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, readOnly)
}

func TestDamagedFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	_, f := sample(t)
	path, err := corpus.Save(dir, f)
	require.NoError(t, err)
	for _, name := range []string{"a.schedule", "b.schedule"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("loopcheck-corpus 1\n\nhm"), 0o600))
	}
	entries, err := corpus.Load(dir)
	require.ErrorContains(t, err, filepath.Join(dir, "a.schedule")+":3: ")
	require.ErrorContains(t, err, filepath.Join(dir, "b.schedule")+":3: ")
	var wrong *corpus.Error
	require.True(t, errors.As(err, &wrong))
	require.Equal(t, []corpus.Entry{{Path: path, File: f}}, entries)
	_, err = corpus.LoadFile(filepath.Join(dir, "none.schedule"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
