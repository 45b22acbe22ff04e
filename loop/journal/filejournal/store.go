package filejournal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/loopcheck/loopcheck/loop/journal"
)

const (
	batchBytes = 4 << 20  // of a commit with several records
	readBytes  = 64 << 10 // of a read; the file is not locked between reads
)

// store keeps byte records. Callers that append at once share a commit: each puts its record into the queue, and whoever
// gets mu first commits what is there for all of them.
type store struct {
	guard *guard

	mu      sync.Mutex // one use of the session at a time
	session *session   // nil after a failure that left open what is in the file
	start   head       // of the chain
	head    head
	doubt   head // what the last failed commit would have made the head
	closed  bool

	queueMu sync.Mutex
	queue   []*pending
}

// pending is a record to be committed. All but payload belongs to the holder of mu.
type pending struct {
	payload []byte
	done    bool
	err     error
}

// openStore opens the journal at a path without symbolic links, which must exist.
func openStore(path string) (*store, error) {
	g, err := newGuard(path)
	if err != nil {
		return nil, err
	}
	s := &store{guard: g}
	if s.session, s.head, err = g.recover(false); err != nil {
		return nil, errors.Join(err, g.close())
	}
	s.start = s.session.start
	return s, nil
}

// append returns nil when the payload is on the disk. Once its commit has begun the context does not count.
func (s *store) append(ctx context.Context, payload []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(payload) > MaxEvent {
		return &Error{Kind: ErrTooLarge, Detail: fmt.Sprintf("%d bytes, and at most %d are possible", len(payload), MaxEvent)}
	}
	p := &pending{payload: payload}
	s.queueMu.Lock()
	s.queue = append(s.queue, p)
	s.queueMu.Unlock()

	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.done {
		// Asked by the caller that the context is of: it may be anybody's code.
		if err := ctx.Err(); err != nil && s.withdraw(p) {
			return err
		}
	}
	for !p.done {
		s.commit(s.take())
	}
	return p.err
}

// withdraw takes out of the queue what no commit has begun for.
func (s *store) withdraw(p *pending) bool {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	i := slices.Index(s.queue, p)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return true
}

// take removes from the queue what the next commit is for.
func (s *store) take() []*pending {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	var batch []*pending
	n := 0
	for size := 0; n < len(s.queue); n++ {
		p := s.queue[n]
		size += len(p.payload)
		if len(batch) > 0 && size > batchBytes {
			break
		}
		batch = append(batch, p)
	}
	s.queue = s.queue[n:]
	return batch
}

// commit ends each append of the batch. If all together fail, each is tried alone: of two records that do not fit on the disk
// together, one may.
func (s *store) commit(batch []*pending) {
	if len(batch) == 0 {
		return
	}
	defer func() {
		// The database engine panics when it runs out of memory. Who shares the commit must be told, and the session not be used.
		if v := recover(); v != nil {
			s.session = nil
			for _, p := range batch {
				if !p.done {
					p.err, p.done = &Error{Kind: ErrUnsettled, Detail: fmt.Sprintf("the database engine panicked: %v", v)}, true
				}
			}
		}
	}()
	payloads := make([][]byte, len(batch))
	for i, p := range batch {
		payloads[i] = p.payload
	}
	err := s.write(payloads)
	if err != nil && len(batch) > 1 && !errors.Is(err, ErrUnsettled) {
		for _, p := range batch {
			p.err, p.done = s.write([][]byte{p.payload}), true
		}
		return
	}
	for _, p := range batch {
		p.err, p.done = err, true
	}
}

// write commits the payloads. An error other than ErrUnsettled means that none of them is in the file.
func (s *store) write(payloads [][]byte) error {
	if err := s.ready(); err != nil {
		return err
	}
	if moved, err := s.guard.moved(); moved || err != nil {
		return &Error{Kind: ErrMoved, Detail: "the file was moved, replaced or deleted", Cause: err}
	}
	s.guard.failed = nil
	next, err := s.session.append(s.head, payloads)
	if err == nil {
		s.head = next
		return nil
	}
	return s.settle(next, err)
}

// settle finds out what a failed commit has left. SQLite can fail after the point at which the transaction counts; and it
// can fail to undo one, on a disk that fails every write.
func (s *store) settle(next head, cause error) error {
	s.doubt, cause = next, s.guard.explain(cause)
	now, err := s.session.settle()
	if err != nil || now != next && now != s.head {
		_ = s.session.close() // what matters is what the next session finds
		s.session = nil
		now, err = s.reopen()
	}
	switch {
	case err != nil:
		return &Error{Kind: ErrUnsettled, Detail: "writing failed, and so did reading back", Cause: errors.Join(cause, err)}
	case now == next:
		s.head = next
		return nil
	}
	return judged("writing", cause)
}

// ready makes sure that there is a session to write with.
func (s *store) ready() error {
	switch {
	case s.closed:
		return &Error{Kind: journal.ErrClosed}
	case s.session != nil && s.session.phase == live:
		return nil
	case s.session != nil:
		_ = s.session.close() // it was in memory
		s.session = nil
	}
	now, err := s.reopen()
	if err == nil {
		s.head = now
	}
	return err
}

// readable makes sure that there is a session to read with. A file that cannot be repaired for want of space can be read
// nevertheless: a file system that never overwrites needs space to undo a commit too.
func (s *store) readable() error {
	if s.session != nil {
		return nil
	}
	failed := s.ready()
	if failed == nil || s.closed {
		return failed
	}
	session, now, err := s.guard.rehearse()
	if err != nil {
		return failed
	}
	if err := s.adopt(session, now); err != nil {
		return err
	}
	s.head = now
	return nil
}

// reopen opens a session after a failure, and returns the head that it finds.
func (s *store) reopen() (head, error) {
	session, now, err := s.guard.recover(true)
	if err != nil {
		return head{}, err
	}
	return now, s.adopt(session, now)
}

// adopt uses a new session, if it has everything that was acknowledged.
func (s *store) adopt(session *session, now head) error {
	if now != s.head && now != s.doubt {
		return errors.Join(damaged("the file has %v, and %v were acknowledged", now, s.head), session.close())
	}
	s.session = session
	return nil
}

// records yields the records there are when the iteration begins.
func (s *store) records(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		at, end, err := s.span()
		if err == nil {
			err = ctx.Err()
		}
		for err == nil && at.count < end.count {
			var payloads [][]byte
			if payloads, at, err = s.read(at, end.count); err != nil {
				break
			}
			for _, payload := range payloads {
				if err = ctx.Err(); err != nil {
					break
				}
				if !yield(payload, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// span returns where the history begins and where it ends now.
func (s *store) span() (start, end head, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readable(); err != nil {
		return head{}, head{}, err
	}
	return s.start, s.head, nil
}

func (s *store) read(at head, last int64) ([][]byte, head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readable(); err != nil {
		return nil, at, err
	}
	payloads, at, err := s.session.read(at, last, readBytes)
	return payloads, at, judged("reading", err)
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.session != nil {
		err = s.session.close()
		s.session = nil
	}
	return errors.Join(err, s.guard.close())
}
