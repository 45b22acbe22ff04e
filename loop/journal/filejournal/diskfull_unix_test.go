//go:build linux || darwin

package filejournal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

func init() { children["file size"] = useLimited }

// user uses a journal, and knows what it should hold.
type user struct {
	j                 *filejournal.Journal
	want              []string
	n                 int
	failed, unsettled int
	lastErr           error
}

func (u *user) append(size int) error {
	e := note(u.n, strings.Repeat("x", size))
	u.n++
	err := u.j.Append(context.Background(), e)
	var typed *filejournal.Error
	switch {
	case err == nil:
		encoded, err := event.Encode(e)
		u.want = append(u.want, string(encoded))
		return err
	case !errors.As(err, &typed):
		return fmt.Errorf("not typed: %w", err)
	case errors.Is(err, filejournal.ErrUnsettled):
		u.unsettled++
	}
	u.failed++
	u.lastErr = err
	return nil
}

func (u *user) check() error {
	got, err := collect(u.j.Events(context.Background()))
	if err == nil && !slices.Equal(got, u.want) {
		err = fmt.Errorf("%d events instead of %d", len(got), len(u.want))
	}
	return err
}

// appends appends events of several sizes. Whatever comes of each, the history is what was acknowledged.
func (u *user) appends() error {
	for _, size := range []int{10, 2500, 9000} {
		if err := errors.Join(u.append(size), u.check()); err != nil {
			return err
		}
	}
	return nil
}

// useLimited uses a journal while the system limits the size of the process's files, to each of many sizes in turn: below
// what there is of the side file and of the file, and above. A write beyond the limit fails as one to a full disk does; and
// where the limit is below the end of the file, even undoing a commit fails, which a full disk does not do.
func useLimited(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	j, err := filejournal.Open(path)
	if err != nil {
		return err
	}
	u := &user{j: j}
	for limit := -30_000; limit < 10_000; limit += everyNth(1700, 9000) {
		if err := u.appends(); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		size := int(info.Size())
		if err := u.limited(max(0, size+limit)); err != nil {
			return fmt.Errorf("limit %d of %d: %w", size+limit, size, err)
		}
	}
	if err := u.together(path); err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	if u.j, err = filejournal.Open(path); err != nil {
		return err
	}
	fmt.Println(len(u.want), "appended,", u.failed, "failed,", u.unsettled, "of them unsettled")
	return u.check()
}

// together appends events at once of which one does not fit: it alone may fail.
func (u *user) together(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	restore, err := limitFiles(int(info.Size()) + 60_000)
	if err != nil {
		return err
	}
	sizes := []int{100, 100, 100, 200_000, 100, 100, 100, 100}
	errs := make([]error, len(sizes))
	var all sync.WaitGroup
	for i, size := range sizes {
		all.Go(func() { errs[i] = u.j.Append(context.Background(), note(i, strings.Repeat("x", size))) })
	}
	all.Wait()
	if errs[3] == nil {
		return errors.New("an event that does not fit was appended")
	}
	errs[3] = nil
	before := len(u.want)
	if u.want, err = collect(u.j.Events(context.Background())); err == nil && len(u.want) != before+len(sizes)-1 {
		err = fmt.Errorf("%d events", len(u.want))
	}
	return errors.Join(append(errs, err, restore())...)
}

// limitFiles limits the size that the process's files can grow to, until restore is called.
func limitFiles(size int) (restore func() error, err error) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return nil, err
	}
	limited := before
	limited.Cur = uint64(size)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		return nil, err
	}
	return func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }, nil
}

// limited appends under the limit, and again without it.
func (u *user) limited(limit int) error {
	restore, err := limitFiles(limit)
	if err != nil {
		return err
	}
	if err := errors.Join(u.appends(), restore()); err != nil {
		return err
	}
	failed := u.failed
	if err := u.appends(); err != nil {
		return err
	}
	if u.failed != failed {
		return errors.New("an append failed without the limit")
	}
	return u.check()
}

func TestFileSizeLimit(t *testing.T) {
	_, path := temporary(t)
	require.NoError(t, os.Remove(path))
	c := startChild(t, "file size", path)
	line, ok := c.next(t)
	require.True(t, ok)
	t.Log(line)
	_, ok = c.next(t)
	require.False(t, ok)
	require.NoError(t, c.cmd.Wait())
	require.NotContains(t, line, " 0 failed")
}
