package filejournal

import (
	"io"

	"github.com/ncruces/go-sqlite3/vfs"
)

// blockSize is how much an overlay copies at a time: SQLite's smallest page.
const blockSize = 512

// overlay is a file whose writes stay in memory, over one that is only read.
type overlay struct {
	base   vfs.File
	size   int64
	below  int64 // how much of base still counts: what was cut off does not come back when the file grows again
	blocks map[int64][]byte
}

func newOverlay(base vfs.File) (*overlay, error) {
	size, err := base.Size()
	if err != nil {
		return nil, err
	}
	return &overlay{base: base, size: size, below: size, blocks: map[int64][]byte{}}, nil
}

func (o *overlay) ReadAt(p []byte, off int64) (int, error) {
	want := int64(len(p))
	n := max(0, min(want, o.size-off))
	for done := int64(0); done < n; {
		block, err := o.block(off + done)
		if err != nil {
			return int(done), err
		}
		done += int64(copy(p[done:n], block[(off+done)%blockSize:]))
	}
	if n < want {
		return int(n), io.EOF
	}
	return int(n), nil
}

func (o *overlay) WriteAt(p []byte, off int64) (int, error) {
	for done := 0; done < len(p); {
		at := off + int64(done)
		block, err := o.block(at)
		if err != nil {
			return done, err
		}
		o.blocks[at/blockSize] = block
		done += copy(block[at%blockSize:], p[done:])
	}
	o.size = max(o.size, off+int64(len(p)))
	return len(p), nil
}

// block returns the block that holds the offset: the one written, or a copy of what is below.
func (o *overlay) block(off int64) ([]byte, error) {
	index := off / blockSize
	if written, ok := o.blocks[index]; ok {
		return written, nil
	}
	block := make([]byte, blockSize)
	start := index * blockSize
	below := max(0, min(blockSize, o.below-start))
	if below == 0 {
		return block, nil
	}
	if n, err := o.base.ReadAt(block[:below], start); int64(n) < below {
		return nil, err
	}
	return block, nil
}

func (o *overlay) Truncate(size int64) error {
	if tail := size % blockSize; tail != 0 && size < o.size {
		block, err := o.block(size)
		if err != nil {
			return err
		}
		clear(block[tail:])
		o.blocks[size/blockSize] = block
	}
	for index := range o.blocks {
		if index*blockSize >= size {
			delete(o.blocks, index)
		}
	}
	o.size, o.below = size, min(o.below, size)
	return nil
}

func (o *overlay) Size() (int64, error)                            { return o.size, nil }
func (o *overlay) Close() error                                    { return nil }
func (o *overlay) Sync(vfs.SyncFlag) error                         { return nil }
func (o *overlay) Lock(vfs.LockLevel) error                        { return nil }
func (o *overlay) Unlock(vfs.LockLevel) error                      { return nil }
func (o *overlay) CheckReservedLock() (bool, error)                { return false, nil }
func (o *overlay) SectorSize() int                                 { return o.base.SectorSize() }
func (o *overlay) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }
