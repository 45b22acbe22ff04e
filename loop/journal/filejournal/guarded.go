package filejournal

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// guardedMain is a connection's handle on the guard's file. It does not offer to map the file into memory: reading beyond
// the end of a mapped file that was cut short ends the process.
type guardedMain struct{ g *guard }

var _ vfs.File = (*guardedMain)(nil)

func (f *guardedMain) ReadAt(p []byte, off int64) (int, error) { return f.g.view().ReadAt(p, off) }
func (f *guardedMain) Size() (int64, error)                    { return f.g.view().Size() }

func (f *guardedMain) WriteAt(p []byte, off int64) (int, error) {
	if f.g.phase == inspecting {
		return 0, sqlite3.READONLY
	}
	n, err := f.g.view().WriteAt(p, off)
	return n, f.g.note(err)
}

func (f *guardedMain) Truncate(size int64) error {
	if f.g.phase == inspecting {
		return sqlite3.READONLY
	}
	return f.g.note(f.g.view().Truncate(size))
}

func (f *guardedMain) Sync(flags vfs.SyncFlag) error {
	if f.g.phase == inspecting {
		return nil
	}
	return f.g.note(f.g.view().Sync(flags))
}

// Close leaves the file open, and locked: they are the guard's.
func (f *guardedMain) Close() error { return nil }

// Lock takes the guard's lock, which is above any that SQLite asks for, and is kept.
func (f *guardedMain) Lock(vfs.LockLevel) error { return f.g.lock() }

// Unlock does nothing: the lock is the guard's.
func (f *guardedMain) Unlock(vfs.LockLevel) error { return nil }

// CheckReservedLock reports that nobody is writing, or SQLite would take the side file for one in use.
func (f *guardedMain) CheckReservedLock() (bool, error) { return false, nil }

func (f *guardedMain) SectorSize() int { return f.g.main.SectorSize() }

// DeviceCharacteristics leaves out atomic batches, with which SQLite would do without a rollback journal, and reads of
// parts of pages, which cannot be checked.
func (f *guardedMain) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.g.main.DeviceCharacteristics() &^ (vfs.IOCAP_BATCH_ATOMIC | vfs.IOCAP_SUBPAGE_READ)
}

// guardedSide is the live side file.
type guardedSide struct {
	vfs.File
	g *guard
}

func (f *guardedSide) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, f.g.note(err)
}

func (f *guardedSide) Truncate(size int64) error     { return f.g.note(f.File.Truncate(size)) }
func (f *guardedSide) Sync(flags vfs.SyncFlag) error { return f.g.note(f.File.Sync(flags)) }
