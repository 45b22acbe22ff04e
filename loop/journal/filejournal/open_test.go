package filejournal_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

func TestNotAJournal(t *testing.T) {
	noise := make([]byte, 20000)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	tests := []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"empty", func(t *testing.T, path string) { write(t, path, nil) }},
		{"directory", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }},
		{"text", func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("not a journal\n"), 500)) }},
		{"short text", func(t *testing.T, path string) { write(t, path, []byte("x")) }},
		{"random bytes", func(t *testing.T, path string) { write(t, path, noise) }},
		{"zeros", func(t *testing.T, path string) { write(t, path, make([]byte, 16384)) }},
		{"bbolt", func(t *testing.T, path string) { write(t, path, boltDatabase()) }},
		{"SQLite", func(t *testing.T, path string) { otherDatabase(t, path, "DELETE") }},
		{"SQLite with a log", func(t *testing.T, path string) { otherDatabase(t, path, "WAL") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			path := filepath.Join(dir, "journal")
			test.make(t, path)
			before := dirState(t, dir)
			_, err = filejournal.Open(path)
			requireTyped(t, err, path, filejournal.ErrNotJournal)
			require.Equal(t, before, dirState(t, dir))
		})
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

// boltDatabase is the beginning of a bbolt database: the meta pages, with bbolt's magic number, and an empty leaf.
func boltDatabase() []byte {
	content := make([]byte, 4*4096)
	for page := range 2 {
		copy(content[page*4096+8:], []byte{4, 0, 0, 0, 0, 0, 0, 0, 0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0, 0, 16, 0, 0})
	}
	return content
}

func otherDatabase(t *testing.T, path, mode string) {
	c, err := sqlite3.Open(path)
	require.NoError(t, err)
	require.NoError(t, c.Exec(`PRAGMA journal_mode = `+mode+`; CREATE TABLE record(seq INTEGER PRIMARY KEY, payload BLOB)`))
	require.NoError(t, c.Close())
}

func TestOpenMakesAJournal(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"journal", "with space", "what?vfs=os&x=1#%41", "file:x", "-journal", "ünï"} {
		path := filepath.Join(dir, name)
		j := openAt(t, path)
		require.Empty(t, history(t, j))
		require.NoError(t, j.Append(context.Background(), note(1, name)))
		require.NoError(t, j.Close())

		j = openAt(t, path)
		require.Equal(t, []string{raw(t, note(1, name))}, history(t, j))
		require.NoError(t, j.Close())
		require.NoError(t, os.Remove(path))
		require.Empty(t, dirState(t, dir), "litter")
	}
}

func TestOpenWhereNothingCanBe(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), []byte("x"))
	for _, path := range []string{filepath.Join(dir, "missing", "journal"), filepath.Join(dir, "file", "journal"), ""} {
		_, err := filejournal.Open(path)
		var typed *filejournal.Error
		require.ErrorAs(t, err, &typed, path)
	}
}

func TestSymbolicLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "journal"), filepath.Join(dir, "link")
	want := sample(t, path, 3)
	if err := os.Symlink("journal", link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	j := openAt(t, link)
	require.Equal(t, want, history(t, j))
	_, err := filejournal.Open(path)
	require.ErrorIs(t, err, filejournal.ErrInUse)
	require.NoError(t, j.Close())

	require.NoError(t, os.Remove(path))
	_, err = filejournal.Open(link)
	requireTyped(t, err, link)
}

func TestOneOpener(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(dir, "journal")
	j := openAt(t, path)
	require.NoError(t, j.Append(context.Background(), note(1, "x")))
	_, err = filejournal.Open(path)
	requireTyped(t, err, path, filejournal.ErrInUse)
	require.NoError(t, j.Append(context.Background(), note(2, "x")), "the refused opener took the lock away")
	require.NoError(t, j.Close())
	require.Len(t, history(t, openAt(t, path)), 2)
}

// Many open at once: one gets the journal, and whoever gets it has it alone.
func TestOpenRace(t *testing.T) {
	for range 10 {
		path := filepath.Join(t.TempDir(), "journal")
		opened := make(chan *filejournal.Journal, 8)
		var all sync.WaitGroup
		for range cap(opened) {
			all.Go(func() {
				j, err := filejournal.Open(path)
				if err == nil {
					opened <- j
				} else if !isInUse(err) {
					t.Errorf("open: %v", err)
				}
			})
		}
		all.Wait()
		require.Len(t, opened, 1)
		require.NoError(t, (<-opened).Close())
	}
}
