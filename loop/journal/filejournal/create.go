package filejournal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
)

// defaultPageSize is the usual block of a file system: smaller pages would be written together anyway.
const defaultPageSize = 4096

// create makes an empty journal at a path, or fails with [fs.ErrExist].
//
// It appears there whole: were it made in place, a crash could leave the path taken by what can never be opened, and of two
// processes that make it one would open what the other has not finished. A hard link, unlike a rename, does not replace
// a journal that another process made meanwhile and may have appended to.
func create(path string, pageSize int) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp.Name())) }()
	if err := temp.Close(); err != nil {
		return err
	}
	if err := build(temp.Name(), pageSize); err != nil {
		return err
	}
	if err := syncFile(temp.Name()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// build writes an empty journal into an empty file that nobody else knows.
func build(path string, pageSize int) (err error) {
	g, err := newGuard(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	c, err := g.connect(live)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(g.explain(err), c.Close()) }()
	return initialize(c, pageSize)
}

func initialize(c *sqlite3.Conn, pageSize int) error {
	for _, sql := range []string{
		`PRAGMA locking_mode = EXCLUSIVE`,
		`PRAGMA journal_mode = MEMORY`,
		`PRAGMA temp_store = MEMORY`,
		fmt.Sprintf(`PRAGMA page_size = %d`, pageSize),
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		fmt.Sprintf(`PRAGMA user_version = %d`, formatVersion),
	} {
		if err := c.Exec(sql); err != nil {
			return err
		}
	}
	if err := c.EnableChecksums("main"); err != nil {
		return err
	}
	for _, sql := range schema {
		if err := c.Exec(sql); err != nil {
			return err
		}
	}
	return insertHead(c)
}

// insertHead begins the chain with a random value, so that a page of another journal does not fit in.
func insertHead(c *sqlite3.Conn) (err error) {
	var genesis link
	if _, err := rand.Read(genesis[:]); err != nil {
		return err
	}
	stmt, _, err := c.Prepare(`INSERT INTO head(id, genesis, count, chain) VALUES(0, ?1, 0, ?1)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if err := stmt.BindBlob(1, genesis[:]); err != nil {
		return err
	}
	return stmt.Exec()
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
