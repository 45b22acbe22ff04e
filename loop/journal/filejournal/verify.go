package filejournal

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
)

// examine verifies the whole file as a phase has it, and changes nothing.
func (g *guard) examine(p phase) (verified head, err error) {
	c, err := g.connect(p)
	if err != nil {
		return head{}, &Error{Detail: "the file cannot be opened", Cause: err}
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if p == inspecting { // what is not a journal is none of SQLite's business; in the other phase SQLite repairs first
		if err := g.checkKind(); err != nil {
			return head{}, err
		}
	}
	if err := firstRead(c); err != nil {
		return head{}, err
	}
	if err := g.checkHeader(); err != nil {
		return head{}, err
	}
	if err := checkStructure(c); err != nil {
		return head{}, judged("the database's structure", err)
	}
	verified, err = checkHistory(c)
	return verified, judged("the history", err)
}

// firstRead makes SQLite lock the file, and play the side file back if there is one.
func firstRead(c *sqlite3.Conn) error {
	err := c.Exec(`PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA schema_version`)
	switch {
	case errors.Is(err, sqlite3.BUSY):
		return &Error{Kind: ErrInUse, Detail: "another opener holds the lock"}
	case errors.Is(err, sqlite3.NOTADB):
		return notJournal("%v", err)
	}
	return judged("the first page", err)
}

func (g *guard) checkKind() error {
	h, err := readHeader(g.view())
	if err != nil {
		return err
	}
	return h.kind()
}

func (g *guard) checkHeader() error {
	h, err := readHeader(g.view())
	if err != nil {
		return err
	}
	size, err := g.view().Size()
	if err != nil {
		return &Error{Detail: "the size", Cause: err}
	}
	if err := h.kind(); err != nil {
		return err
	}
	return h.state(size)
}

// checkStructure checks that the file holds a journal's tables, each page of it where it belongs and with its checksum. That
// checksums are looked at hangs on one byte of the header; and playing a damaged side file back gives a page a new one, so that
// neither they nor the chain, which does not know of the space between records, make the last check superfluous.
func checkStructure(c *sqlite3.Conn) error {
	if err := expect(c, `PRAGMA checksum_verification`, "1"); err != nil {
		return err
	}
	if err := expect(c, `SELECT sql FROM sqlite_schema ORDER BY rowid`, schema...); err != nil {
		return err
	}
	return expect(c, `PRAGMA integrity_check(1)`, "ok")
}

// expect checks that a query returns these rows of one column.
func expect(c *sqlite3.Conn, query string, want ...string) (err error) {
	stmt, _, err := c.Prepare(query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	rows := 0
	for ; stmt.Step(); rows++ {
		if got := stmt.ColumnText(0); rows >= len(want) || got != want[rows] {
			return damaged("%s: %q", query, got)
		}
	}
	if err := stmt.Err(); err != nil {
		return err
	}
	if rows != len(want) {
		return damaged("%s: %d rows", query, rows)
	}
	return nil
}

// checkHistory follows the chain from its beginning to the head.
func checkHistory(c *sqlite3.Conn) (end head, err error) {
	start, end, err := readHead(c)
	if err != nil {
		return head{}, err
	}
	stmt, _, err := c.Prepare(`SELECT seq, payload, chain FROM record ORDER BY seq`)
	if err != nil {
		return head{}, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	at := start
	for stmt.Step() {
		if at, err = at.follow(columns(stmt)); err != nil {
			return head{}, err
		}
	}
	if err := stmt.Err(); err != nil {
		return head{}, err
	}
	if at != end {
		return head{}, damaged("the records are %v, the head says %v", at, end)
	}
	return end, nil
}

// columns returns the record that a statement is at. Its memory is the statement's.
func columns(stmt *sqlite3.Stmt) record {
	return record{seq: stmt.ColumnInt64(0), payload: stmt.ColumnRawBlob(1), chain: stmt.ColumnRawBlob(2)}
}

// readHead returns where the chain begins and where it ends.
func readHead(c *sqlite3.Conn) (start, end head, err error) {
	stmt, _, err := c.Prepare(`SELECT genesis, count, chain FROM head`)
	if err != nil {
		return head{}, head{}, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if !stmt.Step() {
		return head{}, head{}, errors.Join(stmt.Err(), damaged("there is no head"))
	}
	genesis, chain := stmt.ColumnRawBlob(0), stmt.ColumnRawBlob(2)
	if len(genesis) != len(link{}) || len(chain) != len(link{}) {
		return head{}, head{}, damaged("the head has chain values of %d and %d bytes", len(genesis), len(chain))
	}
	start.chain = link(genesis)
	end = head{count: stmt.ColumnInt64(1), chain: link(chain)}
	if stmt.Step() || stmt.Err() != nil {
		return head{}, head{}, errors.Join(stmt.Err(), damaged("there are several heads"))
	}
	return start, end, nil
}
