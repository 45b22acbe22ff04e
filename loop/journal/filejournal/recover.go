package filejournal

import (
	"errors"
	"fmt"
)

var errDiffers = errors.New("what was verified is not what was opened")

// recover verifies the journal, lets SQLite repair it if that is needed, and opens it for use.
//
// ownSide says that the side file, if there is one, is of a commit of this process that failed: it is then undone, as its
// caller was told. Otherwise a file that is whole as it is stays so.
func (g *guard) recover(ownSide bool) (*session, head, error) {
	verified, err := g.verify(ownSide)
	if err != nil {
		return nil, head{}, err
	}
	return g.open(live, verified)
}

// rehearse verifies the journal with its repair made in memory, and opens it for reading.
func (g *guard) rehearse() (*session, head, error) {
	verified, err := g.examine(rehearsing)
	if err != nil {
		return nil, head{}, err
	}
	return g.open(rehearsing, verified)
}

func (g *guard) open(p phase, verified head) (*session, head, error) {
	s, err := newSession(g, p)
	if err != nil {
		return nil, head{}, &Error{Detail: "opening what was verified", Cause: g.explain(err)}
	}
	if s.opened != verified {
		return nil, head{}, errors.Join(&Error{Kind: ErrDamaged, Detail: fmt.Sprint(s.opened), Cause: errDiffers}, s.close())
	}
	return s, verified, nil
}

// verify finds out which state is the journal's, and makes sure that opening it comes to that.
func (g *guard) verify(ownSide bool) (head, error) {
	whole, wrong := g.examine(inspecting)
	if errors.Is(wrong, ErrInUse) {
		return head{}, wrong // and the side file is in use too
	}
	hot, err := hotSide(g.sidePath())
	switch {
	case wrong == nil && err != nil:
		return head{}, err
	case !hot:
		return whole, wrong
	case wrong == nil && !ownSide:
		return whole, g.discardSide()
	}
	repaired, err := g.examine(rehearsing)
	if err != nil && wrong == nil {
		return whole, g.discardSide()
	}
	return repaired, err
}
