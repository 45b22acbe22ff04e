package filejournal

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// The kinds of an [Error], for errors.Is. A closed journal's kind is [journal.ErrClosed].
//
// [journal.ErrClosed]: https://pkg.go.dev/github.com/loopcheck/loopcheck/loop/journal#ErrClosed
var (
	// ErrNotJournal: the path names something else: an empty file, a directory, another program's file, or a journal of a
	// format that this version does not know.
	ErrNotJournal = errors.New("not a journal")
	// ErrDamaged: the file was a journal, but is not what was written to it.
	ErrDamaged = errors.New("damaged")
	// ErrInUse: the journal is open already, here or in another process.
	ErrInUse = errors.New("in use")
	// ErrSideFile: the name of the side file, which the journal needs, is taken by something else.
	ErrSideFile = errors.New("side file is not a rollback journal")
	// ErrMoved: the open file is no longer the one at the path, so that what is written to it would be lost.
	ErrMoved = errors.New("no longer at its path")
	// ErrTooLarge: the encoded event is larger than [MaxEvent].
	ErrTooLarge = errors.New("event too large")
	// ErrUnsettled: an append failed, and so did the attempt to find out what is on the disk. The event may be in the
	// journal or not. Every later use tries again.
	ErrUnsettled = errors.New("unsettled")
)

// Error says what failed, with which file, and why. Every error of this package is one, except that of a context that had
// ended, and an event's own.
type Error struct {
	Op   string // open, append, read or close
	Path string // the file, with symbolic links resolved where it exists
	// Kind is one of the kinds above, [journal.ErrClosed], or nil when the operating system refused: then Cause says why.
	//
	// [journal.ErrClosed]: https://pkg.go.dev/github.com/loopcheck/loopcheck/loop/journal#ErrClosed
	Kind   error
	Detail string // may be empty
	Cause  error  // may be nil
}

func (e *Error) Error() string {
	var parts []string
	if e.Op != "" {
		parts = append(parts, "filejournal: "+e.Op+" "+e.Path)
	}
	if e.Kind != nil {
		parts = append(parts, e.Kind.Error())
	}
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	}
	if e.Cause != nil {
		parts = append(parts, e.Cause.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var wrapped []error
	for _, err := range []error{e.Kind, e.Cause} {
		if err != nil {
			wrapped = append(wrapped, err)
		}
	}
	return wrapped
}

// damaged and notJournal say what is wrong with a file; failure adds which file.
func damaged(format string, args ...any) error {
	return &Error{Kind: ErrDamaged, Detail: fmt.Sprintf(format, args...)}
}

func notJournal(format string, args ...any) error {
	return &Error{Kind: ErrNotJournal, Detail: fmt.Sprintf(format, args...)}
}

// judged says what it means that SQLite failed at something: unless the operating system failed it, the file is to blame.
func judged(detail string, err error) error {
	var known *Error
	var errno syscall.Errno
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &errno):
		return &Error{Detail: detail, Cause: err}
	}
	return &Error{Kind: ErrDamaged, Detail: detail, Cause: err}
}

// failure adds to an error which operation and which file it is about.
func failure(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return &Error{Op: op, Path: path, Kind: known.Kind, Detail: known.Detail, Cause: known.Cause}
	}
	return &Error{Op: op, Path: path, Cause: err}
}
