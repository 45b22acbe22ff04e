package filejournal_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

// A real file system without space. Only root can make one; TestFileSizeLimit is for everybody.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a file system cannot be mounted: %v", err)
	}
	// A failing test leaves files open, which must not leave the mount behind.
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	path, ballast := filepath.Join(dir, "journal"), filepath.Join(dir, "ballast")

	j, err := filejournal.Open(path)
	require.NoError(t, err)
	u := &user{j: j}
	require.NoError(t, u.appends())
	for free := 0; free < 80<<10; free += 4 << 10 {
		write(t, ballast, nil)
		fill(t, ballast)
		require.NoError(t, os.Truncate(ballast, max(0, size(t, ballast)-int64(free))))
		require.NoError(t, u.appends())
	}
	require.NoError(t, os.Remove(ballast))
	require.ErrorIs(t, u.lastErr, syscall.ENOSPC)
	failed := u.failed
	require.Positive(t, failed)
	require.Zero(t, u.unsettled, "undoing a commit needs no space")
	require.NoError(t, u.append(100))
	require.Equal(t, failed, u.failed, "there is space again")
	require.NoError(t, u.check())
	require.NoError(t, j.Close())

	fill(t, ballast)
	u.j, err = filejournal.Open(path)
	require.NoError(t, err, "opening needs no space")
	require.NoError(t, u.check())
	require.NoError(t, u.j.Close())

	before := names(t, dir)
	_, err = filejournal.Open(filepath.Join(dir, "new"))
	requireTyped(t, err, filepath.Join(dir, "new"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ElementsMatch(t, before, names(t, dir))
}

// fill writes to a file until the disk is full.
func fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 1<<10))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}
