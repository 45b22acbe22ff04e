package filejournal_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

// verdict opens what was damaged. The journal must be refused, with the directory as it was, or be whole: then it must also
// take another event and have everything when it is opened again. It returns whether it was refused.
func verdict(t testing.TB, path, what string, want []string) (refused bool) {
	t.Helper()
	before := dirState(t, filepath.Dir(path))
	j, err := filejournal.Open(path)
	if err != nil {
		requireTyped(t, err, path, filejournal.ErrDamaged, filejournal.ErrNotJournal, filejournal.ErrSideFile)
		if after := dirState(t, filepath.Dir(path)); !maps.Equal(before, after) {
			t.Fatalf("%s: refusing the journal changed the directory", what)
		}
		return true
	}
	defer func() { _ = j.Close() }()
	requireHistory(t, j, what, want)
	extra := note(-1, what)
	require.NoError(t, j.Append(context.Background(), extra), what)
	require.NoError(t, j.Close(), what)

	again, err := filejournal.Open(path)
	require.NoError(t, err, what)
	requireHistory(t, again, what, append(want[:len(want):len(want)], raw(t, extra)))
	require.NoError(t, again.Close(), what)
	return false
}

func requireHistory(t testing.TB, j *filejournal.Journal, what string, want []string) {
	t.Helper()
	got, err := collect(j.Events(context.Background()))
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%s: accepted, with %d events instead of %d, and error %v", what, len(got), len(want), err)
	}
}

// everyNth thins out what takes long, more so with the race detector, which makes the database engine an order of magnitude
// slower.
func everyNth(plain, raced int) int {
	if *exhaustive {
		return 1
	}
	if raceEnabled {
		return raced
	}
	return plain
}

// inParallel runs do for every number below n, on all processors, with a directory of its own for each worker.
func inParallel(t *testing.T, n, step int, do func(t *testing.T, dir string, i int)) {
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		t.Run(fmt.Sprintf("worker%d", w), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i := w * step; i < n; i += workers * step {
				do(t, dir, i)
			}
		})
	}
}

func put(t testing.TB, dir string, content []byte) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	path := filepath.Join(resolved, "journal")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func sampleContent(t testing.TB, records int) ([]byte, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	want := sample(t, path, records)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content, want
}

// Every byte of the file is changed in turn: one bit of each, and others of every third.
func TestChangedByte(t *testing.T) {
	content, want := sampleContent(t, 12)
	t.Logf("%d pages", len(content)/smallPage)
	for mask, step := range map[byte]int{0x01: 1, 0x80: 3, 0xff: 3} {
		t.Run(fmt.Sprintf("mask%02x", mask), func(t *testing.T) {
			inParallel(t, len(content), everyNth(step, 41), func(t *testing.T, dir string, off int) {
				changed := bytes.Clone(content)
				changed[off] ^= mask
				if !verdict(t, put(t, dir, changed), fmt.Sprintf("byte %d ^ %#x", off, mask), want) {
					t.Logf("harmless: byte %d ^ %#x", off, mask)
				}
			})
		})
	}
}

// Every value of every byte of the database header.
func TestChangedHeader(t *testing.T) {
	content, want := sampleContent(t, 6)
	inParallel(t, 100*255, everyNth(7, 701), func(t *testing.T, dir string, i int) {
		changed := bytes.Clone(content)
		off, mask := i/255, byte(i%255+1)
		changed[off] ^= mask
		verdict(t, put(t, dir, changed), fmt.Sprintf("byte %d ^ %#x", off, mask), want)
	})
}

// The file is cut at every length, page boundaries included.
func TestCutShort(t *testing.T) {
	content, want := sampleContent(t, 12)
	inParallel(t, len(content), everyNth(1, 128), func(t *testing.T, dir string, size int) {
		if !verdict(t, put(t, dir, content[:size]), fmt.Sprintf("cut at %d", size), want) {
			t.Errorf("cut at %d of %d: accepted", size, len(content))
		}
	})
}

func TestExtended(t *testing.T) {
	content, want := sampleContent(t, 6)
	dir := t.TempDir()
	for _, extra := range []int{1, smallPage - 1, smallPage, 10 * smallPage} {
		extended := append(bytes.Clone(content), make([]byte, extra)...)
		require.True(t, verdict(t, put(t, dir, extended), fmt.Sprintf("%d bytes more", extra), want))
	}
}

// Whole pages of an older state of the same journal, or of another journal: each has the right checksum.
func TestForeignPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	sample(t, path, 12)
	older, err := os.ReadFile(path)
	require.NoError(t, err)
	j := openAt(t, path)
	require.NoError(t, j.Append(context.Background(), note(12, "y")))
	want := history(t, j)
	require.NoError(t, j.Close())
	newer, err := os.ReadFile(path)
	require.NoError(t, err)
	other, _ := sampleContent(t, 12)

	dir := t.TempDir()
	for name, donor := range map[string][]byte{"older": older, "other": other} {
		for page := 0; page < min(len(donor), len(newer)); page += smallPage {
			mixed := bytes.Clone(newer)
			copy(mixed[page:], donor[page:page+smallPage])
			if bytes.Equal(mixed, newer) {
				continue
			}
			verdict(t, put(t, dir, mixed), fmt.Sprintf("%s page at %d", name, page), want)
		}
	}
}

// Damage of any shape: overwritten ranges, pages swapped, parts removed.
func TestRandomDamage(t *testing.T) {
	content, want := sampleContent(t, 12)
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		changed := bytes.Clone(content)
		for range rapid.IntRange(1, 3).Draw(r, "times") {
			damageOnce(r, &changed)
		}
		if bytes.Equal(changed, content) || len(changed) == 0 {
			return
		}
		verdict(t, put(t, dir, changed), "random damage", want)
	})
}

func damageOnce(r *rapid.T, content *[]byte) {
	c := *content
	if len(c) < 2*smallPage {
		return
	}
	from := rapid.IntRange(0, len(c)-1).Draw(r, "from")
	size := rapid.IntRange(1, min(700, len(c)-from)).Draw(r, "size")
	switch rapid.SampledFrom([]string{"zero", "noise", "copy", "swap", "remove"}).Draw(r, "how") {
	case "zero":
		clear(c[from : from+size])
	case "noise":
		copy(c[from:], rapid.SliceOfN(rapid.Byte(), size, size).Draw(r, "noise"))
	case "copy":
		copy(c[from:from+size], c[rapid.IntRange(0, len(c)-1).Draw(r, "source"):])
	case "swap":
		pages := len(c) / smallPage
		a := c[min(from/smallPage, pages-1)*smallPage:][:smallPage]
		b := c[rapid.IntRange(0, pages-1).Draw(r, "page")*smallPage:][:smallPage]
		page := bytes.Clone(a)
		copy(a, b)
		copy(b, page)
	case "remove":
		*content = append(c[:from:from], c[from+size:]...)
	}
}
