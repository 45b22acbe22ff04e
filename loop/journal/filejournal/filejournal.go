package filejournal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/journal"
)

// Journal is an open journal file. Its methods are safe for concurrent use.
type Journal struct {
	path  string
	store *store
}

var _ journal.Journal = (*Journal)(nil)

// Open opens the journal at the path, or makes an empty one where there is nothing. The whole history is verified first,
// which takes time in proportion to its length.
//
// One opener has the journal at a time: while it is open, here or in another process, Open fails with [ErrInUse] at once.
// A file that is not a journal, or is damaged, is refused with [ErrNotJournal] or [ErrDamaged] and not changed, nor is
// anything next to it; [ErrSideFile] says that something else has the name of the side file. All are an [*Error].
func Open(path string) (*Journal, error) {
	return open(path, defaultPageSize)
}

func open(path string, pageSize int) (*Journal, error) {
	resolved, err := resolve(path)
	if err != nil {
		return nil, failure("open", path, err)
	}
	s, err := openOrCreate(resolved, pageSize)
	if err != nil {
		return nil, failure("open", resolved, err)
	}
	return &Journal{path: resolved, store: s}, nil
}

// resolve returns the absolute path without symbolic links: the side file's name is made of it, and an opener by another
// name must find the same side file.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(absolute); !errors.Is(err, fs.ErrNotExist) {
		return filepath.EvalSymlinks(absolute)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	return filepath.Join(dir, filepath.Base(absolute)), err
}

func openOrCreate(path string, pageSize int) (*store, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := createAlone(path, pageSize); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, notJournal("it is not a regular file (%v)", info.Mode().Type())
	case info.Size() == 0:
		return nil, notJournal("it is empty")
	}
	return openStore(path)
}

// createAlone makes the journal, unless another process is faster. The repair of a journal that is gone is not for a new one.
func createAlone(path string, pageSize int) error {
	hot, err := hotSide(path + "-journal")
	if err != nil {
		return err
	}
	if hot {
		return &Error{Kind: ErrSideFile, Detail: path + "-journal is there without the file it is to repair"}
	}
	if err := create(path, pageSize); err != nil && !errors.Is(err, fs.ErrExist) {
		return &Error{Detail: "making it", Cause: err}
	}
	return nil
}

// Append returns nil when the event is on the disk. Appends from several goroutines share a flush.
//
// An error means that the event is not in the journal, and is the event's own if it does not encode, the context's if the
// context ended before the write began, or an [*Error]; but with [ErrUnsettled] the event may be in the journal. A full disk
// fails the append and nothing else. The context does not interrupt a write.
func (j *Journal) Append(ctx context.Context, e event.Event) error {
	payload, err := event.Encode(e)
	if err != nil {
		return fmt.Errorf("filejournal: append %s: %w", j.path, err)
	}
	err = j.store.append(ctx, payload)
	if err != nil && err == ctx.Err() {
		return err
	}
	return failure("append", j.path, err)
}

// Events yields the events that were there when the iteration began, each checked again as it is read. The loop's body may
// append, and close the journal. A pair with an error is the last one: an [*Error], or the context's error if it ends before
// the last event.
func (j *Journal) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		n := 0
		for payload, err := range j.store.records(ctx) {
			if err != nil {
				yield(nil, j.readFailure(ctx, err))
				return
			}
			n++
			e, err := event.Decode(payload)
			if err != nil {
				yield(nil, j.readFailure(ctx, &Error{Kind: ErrDamaged, Detail: fmt.Sprintf("event %d", n), Cause: err}))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (j *Journal) readFailure(ctx context.Context, err error) error {
	if err == ctx.Err() {
		return err
	}
	return failure("read", j.path, err)
}

// Close waits for what is under way, and gives up the file; what is used later fails with [journal.ErrClosed]. Closing again
// does nothing.
func (j *Journal) Close() error {
	return failure("close", j.path, j.store.close())
}
