package filejournal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

// interrupted is a commit that can be stopped at any point.
type interrupted struct {
	before, after []byte // the file
	side          []byte // the side file, as it is while the commit is under way
	history       []string
}

// interrupt appends an event to a journal of so many, and reconstructs what was in the side file. A commit ends with zeros over
// the header of the side file; what follows the header stays there.
func interrupt(t testing.TB, records int) interrupted {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	sample(t, path, records)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	j := openAt(t, path)
	require.NoError(t, j.Append(context.Background(), note(records, "last")))
	side, err := os.ReadFile(path + "-journal")
	require.NoError(t, err)
	all := history(t, j)
	require.NoError(t, j.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoFileExists(t, path+"-journal", "closing leaves one file")
	return interrupted{before: before, after: after, side: reheaded(t, side, len(before)/smallPage), history: all}
}

// reheaded puts the header back: https://sqlite.org/fileformat.html#the_rollback_journal
func reheaded(t testing.TB, side []byte, pages int) []byte {
	t.Helper()
	const sector = 512
	entries := side[sector:]
	const entry = 4 + smallPage + 4
	require.Zero(t, len(entries)%entry)
	require.NotEmpty(t, entries)
	page := entries[4 : 4+smallPage]
	nonce := binary.BigEndian.Uint32(entries[4+smallPage:])
	for i := smallPage - 200; i > 0; i -= 200 {
		nonce -= uint32(page[i])
	}
	header := append([]byte{}, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"...)
	for _, field := range []int{len(entries) / entry, int(nonce), pages, sector, smallPage} {
		header = binary.BigEndian.AppendUint32(header, uint32(field))
	}
	return append(header, side[len(header):]...)
}

// states returns the file with each set of the pages that the commit writes written.
func (c interrupted) states() [][]byte {
	var written []int
	for off := 0; off < len(c.after); off += smallPage {
		if off >= len(c.before) || !bytes.Equal(c.before[off:off+smallPage], c.after[off:off+smallPage]) {
			written = append(written, off)
		}
	}
	var states [][]byte
	for set := range 1 << len(written) {
		state := bytes.Clone(c.before)
		for i, off := range written {
			if set>>i&1 == 0 {
				continue
			}
			if need := off + smallPage - len(state); need > 0 {
				state = append(state, make([]byte, need)...)
			}
			copy(state[off:], c.after[off:off+smallPage])
		}
		states = append(states, state)
	}
	return states
}

// requireEither opens what a commit left: the history is with or without its event. With refusable, the journal may also be
// refused, which then must change nothing.
func (c interrupted) requireEither(t testing.TB, path, what string, refusable bool) (refused bool) {
	t.Helper()
	before := dirState(t, filepath.Dir(path))
	j, err := filejournal.Open(path)
	if err != nil {
		if !refusable {
			t.Fatalf("%s: refused: %v", what, err)
		}
		requireTyped(t, err, path, filejournal.ErrDamaged, filejournal.ErrNotJournal, filejournal.ErrSideFile)
		if !maps.Equal(before, dirState(t, filepath.Dir(path))) {
			t.Fatalf("%s: refusing changed the directory", what)
		}
		return true
	}
	got := history(t, j)
	short := c.history[:len(c.history)-1]
	if !slices.Equal(got, c.history) && !slices.Equal(got, short) {
		t.Fatalf("%s: %d events, which are not the first ones", what, len(got))
	}
	extra := note(-1, what)
	require.NoError(t, j.Append(context.Background(), extra), what)
	require.NoError(t, j.Close(), what)
	again, err := filejournal.Open(path)
	require.NoError(t, err, what)
	requireHistory(t, again, what, append(got[:len(got):len(got)], raw(t, extra)))
	require.NoError(t, again.Close())
	return false
}

// interruptions are commits that write into the pages there are, and ones that add pages.
func interruptions(t testing.TB) []interrupted {
	var commits []interrupted
	step := everyNth(1, 2) // the even ones add a page
	for records := step; records <= 8; records += step {
		commits = append(commits, interrupt(t, records))
	}
	return commits
}

func putBoth(t testing.TB, dir string, file, side []byte) string {
	t.Helper()
	path := put(t, dir, file)
	require.NoError(t, os.WriteFile(path+"-journal", side, 0o600))
	return path
}

// A commit is stopped between any two writes, in whatever order the pages reach the disk.
func TestInterruptedCommit(t *testing.T) {
	dir := t.TempDir()
	states, grown := 0, false
	for i, c := range interruptions(t) {
		grown = grown || len(c.after) > len(c.before)
		for s, state := range c.states() {
			c.requireEither(t, putBoth(t, dir, state, c.side), fmt.Sprintf("commit %d, state %d", i, s), false)
			states++
		}
	}
	require.True(t, grown, "no commit added a page")
	t.Logf("%d states", states)
}

// The side file of an interrupted commit is damaged, or cut short.
func TestDamagedSideFile(t *testing.T) {
	commits := interruptions(t)
	total := 0
	for _, c := range commits {
		total += len(c.side)
	}
	inParallel(t, total, everyNth(37, 251), func(t *testing.T, dir string, off int) {
		c := commits[0]
		for i := 1; off >= len(c.side); i++ {
			off -= len(c.side)
			c = commits[i]
		}
		if off > 32 && off < 500 { // padding of the header, never read
			return
		}
		states := c.states()
		state := states[off%len(states)]
		changed := bytes.Clone(c.side)
		changed[off] ^= []byte{0x01, 0x80, 0xff}[off%3]
		c.requireEither(t, putBoth(t, dir, state, changed), fmt.Sprintf("side file's byte %d", off), true)
		c.requireEither(t, putBoth(t, dir, state, c.side[:off]), fmt.Sprintf("side file cut at %d", off), true)
	})
}

// Each byte of the side file's header, with each state of the file.
func TestDamagedSideFileHeader(t *testing.T) {
	c := interrupt(t, 4)
	states := c.states()
	inParallel(t, len(states)*28*3, everyNth(1, 23), func(t *testing.T, dir string, i int) {
		state, off, mask := states[i/3/28], i/3%28, []byte{0x01, 0x80, 0xff}[i%3]
		changed := bytes.Clone(c.side)
		changed[off] ^= mask
		c.requireEither(t, putBoth(t, dir, state, changed), fmt.Sprintf("byte %d ^ %#x", off, mask), true)
	})
}

// The file of an interrupted commit is damaged: what the side file does not repair is refused, with both untouched.
func TestDamagedFileWithSideFile(t *testing.T) {
	c := interrupt(t, 5)
	states := c.states()
	refused := 0
	dir := t.TempDir()
	for s, state := range states {
		for off := s; off < len(state); off += everyNth(101, 499) {
			changed := bytes.Clone(state)
			changed[off] ^= 0x40
			if c.requireEither(t, putBoth(t, dir, changed, c.side), fmt.Sprintf("state %d, byte %d", s, off), true) {
				refused++
			}
		}
		for _, size := range []int{1, smallPage, len(state) - smallPage, len(state) - 1} {
			c.requireEither(t, putBoth(t, dir, state[:size], c.side), fmt.Sprintf("state %d cut at %d", s, size), true)
		}
	}
	require.Positive(t, refused)
}

// A side file of an earlier day, valid in itself, is put next to a journal that has gone on. SQLite would play it back.
func TestStaleSideFile(t *testing.T) {
	c := interrupt(t, 5)
	dir := t.TempDir()
	path := put(t, dir, c.after)
	j := openAt(t, path)
	require.NoError(t, j.Append(context.Background(), note(6, "later")))
	want := history(t, j)
	require.NoError(t, j.Close())

	require.NoError(t, os.WriteFile(path+"-journal", c.side, 0o600))
	require.False(t, verdict(t, path, "stale side file", want))
}

func TestOtherSideFiles(t *testing.T) {
	content, want := sampleContent(t, 5)
	tests := []struct {
		name    string
		make    func(side string) error
		refused bool
	}{
		{"text", func(side string) error { return os.WriteFile(side, []byte("my notes"), 0o600) }, true},
		{"directory", func(side string) error { return os.Mkdir(side, 0o700) }, true},
		{"symbolic link", func(side string) error { return os.Symlink("elsewhere", side) }, true},
		{"empty", func(side string) error { return os.WriteFile(side, nil, 0o600) }, false},
		{"ended", func(side string) error { return os.WriteFile(side, make([]byte, 5000), 0o600) }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, t.TempDir(), content)
			require.NoError(t, test.make(path+"-journal"))
			require.Equal(t, test.refused, verdict(t, path, test.name, want))
		})
	}
}

// SQLite would play back a write-ahead log with the right name.
func TestWriteAheadLogIsIgnored(t *testing.T) {
	content, want := sampleContent(t, 5)
	path := put(t, t.TempDir(), content)
	log := append([]byte("\x37\x7f\x06\x82\x00\x2d\xe2\x18"), make([]byte, 2000)...)
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	require.False(t, verdict(t, path, "log", want))
	left, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.Equal(t, log, left)
}

func TestSideFileWithoutFile(t *testing.T) {
	c := interrupt(t, 3)
	path := put(t, t.TempDir(), nil)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path+"-journal", c.side, 0o600))
	_, err := filejournal.Open(path)
	requireTyped(t, err, path, filejournal.ErrSideFile)
	require.NoFileExists(t, path)
}
