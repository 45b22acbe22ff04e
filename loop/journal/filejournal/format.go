package filejournal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	applicationID = 0x4c434a4c // "LCJL"
	formatVersion = 1
)

const (
	// MaxEvent is the most bytes that an encoded event can take: 8 MiB. The database engine works in a memory of limited
	// size (32 MiB on 32-bit systems), and panics when that runs out.
	MaxEvent = 8 << 20
)

// schema is compared with that of a file literally: a journal has no other tables, indexes, views or triggers.
var schema = []string{
	`CREATE TABLE head(id INTEGER PRIMARY KEY CHECK(id = 0), genesis BLOB NOT NULL, count INTEGER NOT NULL, chain BLOB NOT NULL) STRICT`,
	`CREATE TABLE record(seq INTEGER PRIMARY KEY, payload BLOB NOT NULL, chain BLOB NOT NULL) STRICT`,
}

// link is a chain value: what the whole history up to a record comes to.
type link [sha256.Size]byte

// then returns the chain value of the record that follows. All parts but the last are of fixed size, so that no two
// different records hash the same bytes.
func (l link) then(seq int64, payload []byte) link {
	h := sha256.New()
	h.Write(l[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	h.Write(payload)
	return link(h.Sum(nil))
}

// head is where the chain ends, or where a reader has come to.
type head struct {
	count int64
	chain link
}

func (h head) then(payload []byte) head {
	return head{count: h.count + 1, chain: h.chain.then(h.count+1, payload)}
}

// record is a stored record: its number counts from 1.
type record struct {
	seq     int64
	payload []byte
	chain   []byte
}

// follow checks that the record is the one after h, and returns the head with it.
func (h head) follow(r record) (head, error) {
	next := h.then(r.payload)
	switch {
	case r.seq != next.count:
		return h, damaged("record %d follows record %d", r.seq, h.count)
	case string(r.chain) != string(next.chain[:]):
		return h, damaged("record %d does not have its chain value", r.seq)
	}
	return next, nil
}

const headerSize = 100

// header is the start of a database file: https://sqlite.org/fileformat.html#the_database_header
type header [headerSize]byte

func readHeader(r io.ReaderAt) (header, error) {
	var h header
	n, err := r.ReadAt(h[:], 0)
	switch {
	case n == headerSize:
		return h, nil
	case err != nil && !errors.Is(err, io.EOF):
		return h, &Error{Detail: "reading the header", Cause: err}
	}
	return h, notJournal("%d bytes are too few", n)
}

func (h *header) uint32(off int) uint32 { return binary.BigEndian.Uint32(h[off:]) }

// kind checks that the file is, or was, a journal.
func (h *header) kind() error {
	switch {
	case string(h[:16]) != "SQLite format 3\x00":
		return notJournal("another format, or the first bytes are damaged")
	case h.uint32(68) != applicationID:
		return notJournal("another program's database, or the first bytes are damaged")
	case h.uint32(60) != formatVersion:
		return notJournal("format version %d is not known", h.uint32(60))
	}
	return nil
}

// state checks what SQLite takes the header's word for. A write-ahead log would come into play if the header asked for it, and
// pages beyond the number in the header would be overwritten. The numbers at 24 and 92 being equal is what makes SQLite
// believe the number of pages.
func (h *header) state(size int64) error {
	pageSize := int64(binary.BigEndian.Uint16(h[16:]))
	if pageSize == 1 {
		pageSize = 65536
	}
	switch {
	case h[18] != 1 || h[19] != 1:
		return damaged("the header asks for journal mode %d/%d", h[18], h[19])
	case size != pageSize*int64(h.uint32(28)):
		return damaged("%d bytes, and the header says %d pages of %d", size, h.uint32(28), pageSize)
	case h.uint32(24) != h.uint32(92):
		return damaged("the header's number of pages is not valid")
	case h.uint32(36) != 0:
		return damaged("the header says that %d pages are free, and no page ever is", h.uint32(36))
	}
	return nil
}

func (h head) String() string { return fmt.Sprintf("%d records, chain %x", h.count, h.chain[:4]) }
