package filejournal

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
)

// settings make a commit durable before it returns. With this locking mode the side file is kept from commit to commit, and
// a commit counts when its beginning is overwritten with zeros and flushed; it is deleted by closing.
const settings = `
	PRAGMA locking_mode = EXCLUSIVE;
	PRAGMA synchronous = EXTRA;
	PRAGMA fullfsync = ON;
	PRAGMA temp_store = MEMORY;
	PRAGMA cell_size_check = ON;`

// session is a connection to a verified file. It is not safe for concurrent use.
type session struct {
	conn   *sqlite3.Conn
	phase  phase // live, or rehearsing: then it can only read
	start  head  // of the chain
	opened head

	begin, commit, rollback, insert, advance, after *sqlite3.Stmt
}

func newSession(g *guard, p phase) (*session, error) {
	c, err := g.connect(p)
	if err != nil {
		return nil, err
	}
	s := &session{conn: c, phase: p}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *session) prepare() error {
	if err := s.conn.Exec(settings); err != nil {
		return err
	}
	if err := expect(s.conn, `PRAGMA journal_mode = DELETE`, "delete"); err != nil {
		return err
	}
	if err := expect(s.conn, `PRAGMA checksum_verification`, "1"); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt **sqlite3.Stmt
		sql  string
	}{
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		{&s.rollback, `ROLLBACK`},
		{&s.insert, `INSERT INTO record(seq, payload, chain) VALUES(?, ?, ?)`},
		{&s.advance, `UPDATE head SET count = ?, chain = ?`},
		{&s.after, `SELECT seq, payload, chain FROM record WHERE seq > ? AND seq <= ? ORDER BY seq`},
	} {
		var err error
		if *p.stmt, _, err = s.conn.PrepareFlags(p.sql, sqlite3.PREPARE_PERSISTENT); err != nil {
			return err
		}
	}
	var err error
	s.start, s.opened, err = readHead(s.conn)
	return err
}

// append writes the payloads after at, all or none, and returns the head with them, which is what the file comes to also if
// an error leaves open whether it does.
func (s *session) append(at head, payloads [][]byte) (head, error) {
	if err := s.begin.Exec(); err != nil {
		return head{}, err
	}
	for _, payload := range payloads {
		at = at.then(payload)
		if err := s.put(at, payload); err != nil {
			return at, err
		}
	}
	err := errors.Join(s.advance.BindInt64(1, at.count), s.advance.BindBlob(2, at.chain[:]))
	if err != nil {
		return at, err
	}
	if err := s.advance.Exec(); err != nil {
		return at, err
	}
	return at, s.commit.Exec()
}

func (s *session) put(at head, payload []byte) error {
	err := errors.Join(s.insert.BindInt64(1, at.count), s.insert.BindBlob(2, payload), s.insert.BindBlob(3, at.chain[:]))
	if err != nil {
		return err
	}
	return errors.Join(s.insert.Exec(), s.insert.ClearBindings())
}

// settle ends a failed transaction, and returns the head that the file has then.
func (s *session) settle() (head, error) {
	if !s.conn.GetAutocommit() {
		if err := s.rollback.Exec(); err != nil {
			return head{}, err
		}
	}
	_, now, err := readHead(s.conn)
	return now, err
}

// read returns copies of the records after at, up to the one numbered last or to about limit bytes, checked.
func (s *session) read(at head, last int64, limit int) (payloads [][]byte, _ head, err error) {
	if err := errors.Join(s.after.BindInt64(1, at.count), s.after.BindInt64(2, last)); err != nil {
		return nil, at, err
	}
	defer func() { err = errors.Join(err, s.after.Reset()) }()
	for size := 0; size < limit && s.after.Step(); {
		r := columns(s.after)
		if at, err = at.follow(r); err != nil {
			return nil, at, err
		}
		payload := append([]byte{}, r.payload...)
		payloads = append(payloads, payload)
		size += len(payload) + recordOverhead
	}
	if err := s.after.Err(); err != nil {
		return nil, at, err
	}
	if len(payloads) == 0 {
		return nil, at, damaged("record %d is missing", at.count+1)
	}
	return payloads, at, nil
}

// recordOverhead makes the limit of a read hold for many small records too.
const recordOverhead = 64

// close closes the connection, and with it the side file, unless a transaction is still to be repaired.
func (s *session) close() error {
	var errs []error
	for _, stmt := range []*sqlite3.Stmt{s.begin, s.commit, s.rollback, s.insert, s.advance, s.after} {
		errs = append(errs, ignoreEarlier(stmt))
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

// ignoreEarlier finalizes a statement; the error of that is the one that its last run reported already.
func ignoreEarlier(stmt *sqlite3.Stmt) error {
	_ = stmt.Close()
	return nil
}
