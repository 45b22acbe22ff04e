package filejournal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// phase is how much of the two files SQLite may see and change.
type phase int

const (
	inspecting phase = iota // the file as it is, read only; there is no side file
	rehearsing              // both files; what is written stays in memory
	live                    // both files
)

// guard stands between SQLite and the files of one journal.
//
// The file is opened and locked once, by the first connection, and kept until the guard is closed. Were the lock given up
// between the connection that verifies and the one that writes, another process could change in between what was verified;
// and a second descriptor would not get past the first one's lock.
//
// Anything other than the file and its rollback journal does not exist: SQLite would replay a "-wal" file that it finds next
// to a database, whatever the database's header says.
type guard struct {
	path    string
	vfsName string
	base    vfs.VFSFilename
	main    vfs.File // nil before the first connection
	refusal error    // why main could not be opened: SQLite reports a code only
	failed  error    // the last failure of a write: undoing the commit makes SQLite forget it
	locked  bool
	phase   phase

	rehearsal   *overlay // of main
	sideRemoved bool     // in the rehearsal
}

var guards atomic.Int64

// newGuard makes a guard for the file at a path without symbolic links. It must be closed.
func newGuard(path string) (*guard, error) {
	base, ok := vfs.Find("os").(vfs.VFSFilename)
	if !ok {
		return nil, errors.New("no access to files")
	}
	g := &guard{path: path, vfsName: fmt.Sprintf("filejournal-%d", guards.Add(1)), base: base}
	vfs.Register(g.vfsName, g)
	return g, nil
}

// close gives up the file and its lock. Connections must be closed first.
func (g *guard) close() error {
	vfs.Unregister(g.vfsName)
	if g.main == nil {
		return nil
	}
	err := g.main.Close()
	g.main = nil
	return err
}

func (g *guard) sidePath() string { return g.path + "-journal" }

// connect opens a connection that sees the files as the phase has it.
func (g *guard) connect(p phase) (*sqlite3.Conn, error) {
	g.phase, g.rehearsal, g.sideRemoved, g.failed = p, nil, false, nil
	// FullPathname supplies the path, which thus needs no escaping.
	c, err := sqlite3.OpenFlags("file:journal?vfs="+g.vfsName, sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if g.refusal != nil {
		err = g.refusal
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// view is the file as the phase has it.
func (g *guard) view() vfs.File {
	if g.rehearsal != nil {
		return g.rehearsal
	}
	return g.main
}

// moved reports whether the open file is no longer the one at the path.
func (g *guard) moved() (bool, error) {
	if f, ok := g.main.(vfs.FileHasMoved); ok {
		return f.HasMoved()
	}
	return false, nil
}

// FullPathname returns the guard's path, whatever the name.
func (g *guard) FullPathname(string) (string, error) { return g.path, nil }

// Open refuses: SQLite calls OpenFilename instead.
func (g *guard) Open(_ string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return nil, flags, sqlite3.CANTOPEN
}

// OpenFilename opens the file or its rollback journal.
func (g *guard) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	switch {
	case flags&vfs.OPEN_MAIN_DB != 0:
		return g.openMain(name, flags)
	case flags&vfs.OPEN_MAIN_JOURNAL == 0 || g.phase == inspecting:
		return nil, flags, sqlite3.CANTOPEN
	case g.phase == rehearsing:
		return g.openSideOverlay(name, flags)
	}
	side, flags, err := g.base.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, g.note(err)
	}
	return &guardedSide{File: side, g: g}, flags, nil
}

// note keeps an error for explain.
func (g *guard) note(err error) error {
	if err != nil {
		g.failed = err
	}
	return err
}

// explain adds to an error of SQLite what the operating system said, if the error does not have it.
func (g *guard) explain(err error) error {
	var errno syscall.Errno
	if err == nil || g.failed == nil || errors.As(err, &errno) {
		return err
	}
	return fmt.Errorf("%w: %w", err, g.failed)
}

func (g *guard) openMain(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if g.main == nil {
		main, _, err := g.base.OpenFilename(name, flags&^vfs.OPEN_CREATE)
		if err != nil {
			g.refusal = err
			return nil, flags, err
		}
		g.main = main
	}
	if g.phase == rehearsing {
		var err error
		if g.rehearsal, err = newOverlay(g.main); err != nil {
			return nil, flags, err
		}
	}
	return &guardedMain{g}, flags, nil
}

func (g *guard) openSideOverlay(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if g.sideRemoved || flags&vfs.OPEN_CREATE != 0 {
		return nil, flags, sqlite3.CANTOPEN
	}
	side, _, err := g.base.OpenFilename(name, flags&^vfs.OPEN_READWRITE|vfs.OPEN_READONLY)
	if err != nil {
		return nil, flags, err
	}
	o, err := newOverlay(side)
	if err != nil {
		return nil, flags, errors.Join(err, side.Close())
	}
	return &sideOverlay{o}, flags, nil
}

// sideOverlay closes what it is over, which the overlay of the guard's own file must not.
type sideOverlay struct{ *overlay }

func (s *sideOverlay) Close() error { return s.base.Close() }

// Access reports whether the side file is there; nothing else ever is.
func (g *guard) Access(name string, flags vfs.AccessFlag) (bool, error) {
	if name != g.sidePath() || g.phase == inspecting || g.sideRemoved {
		return false, nil
	}
	return g.base.Access(name, flags)
}

// Delete deletes the side file.
func (g *guard) Delete(name string, syncDir bool) error {
	switch {
	case name != g.sidePath() || g.phase == inspecting:
		return sqlite3.IOERR_DELETE
	case g.phase == rehearsing:
		g.sideRemoved = true
		return nil
	}
	return g.base.Delete(name, syncDir)
}

// discardSide deletes the side file of a file that is whole without it. The file is flushed first: it may be whole in the
// operating system's cache only, and the side file is what repairs it until it is whole on the disk.
func (g *guard) discardSide() error {
	if err := g.main.Sync(vfs.SYNC_FULL); err != nil {
		return err
	}
	if err := os.Remove(g.sidePath()); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(g.path))
}

// lock takes, once, the lock that keeps every other opener out.
func (g *guard) lock() error {
	if g.locked {
		return nil
	}
	err := lockAlone(g.main)
	if err != nil {
		_ = g.main.Unlock(vfs.LOCK_NONE) // the first error says it; closing the file unlocks it in any case
	}
	g.locked = err == nil
	return err // as it is: SQLite wants its code
}

func lockAlone(f vfs.File) error {
	for _, level := range []vfs.LockLevel{vfs.LOCK_SHARED, vfs.LOCK_RESERVED} {
		if err := f.Lock(level); err != nil {
			return err
		}
	}
	// With the reservation held no other journal is open. But one that lost the race for the reservation gives up its
	// shared lock only an instant later, and both openers would fail if this one did not wait for that.
	var err error
	for range 50 {
		if err = f.Lock(vfs.LOCK_EXCLUSIVE); err == nil {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return err
}

// syncDirectory makes the names in a directory durable. Windows has no such thing, and needs none.
func syncDirectory(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
