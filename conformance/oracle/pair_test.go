package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/conformance/oracle"
	"github.com/loopcheck/loopcheck/contract"
	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
)

// pair is a trace that breaks a requirement, and its twin that no more than a little tells from it, and that a conforming loop
// may leave. A pair without the one is a trap: a twin of what only seems to be a breach.
type pair struct {
	want, says string // the requirement, and a part of the message
	breach     *script
	but        string // what is different in the twin
	twin       *script
}

// check plays both of each pair.
func check(t *testing.T, pairs []pair, options ...oracle.Options) {
	t.Helper()
	var o oracle.Options
	for _, o = range options {
	}
	for _, p := range pairs {
		t.Run(strings.TrimSpace(p.want+" "+p.says+", but "+p.but), func(t *testing.T) {
			if p.breach != nil {
				p.accuses(t, o)
			}
			judge := p.twin.play(newJudge(o))
			if b := judge.Breach(); b != nil {
				require.Fail(t, "a conforming loop is accused", "%v", b)
			}
			assert.Empty(t, judge.Warnings())
		})
	}
}

func newJudge(o oracle.Options) *oracle.Judge {
	return oracle.New(o, make([]uint64, oracle.Requirements()))
}

func (p pair) accuses(t *testing.T, o oracle.Options) {
	t.Helper()
	judge := p.breach.play(newJudge(o))
	b := judge.Breach()
	requirement, known := contract.Lookup(p.want)
	require.True(t, known)
	if requirement.Level == contract.Should {
		require.Nil(t, b, "what should be is no must")
		require.Len(t, judge.Warnings(), 1)
		b = &judge.Warnings()[0]
	}
	require.NotNil(t, b, "nobody is accused")
	require.Equal(t, p.want, b.Requirement, b.Message)
	require.Contains(t, b.Message, p.says)
	isReadable(t, b)

	again := p.breach.play(newJudge(o))
	if requirement.Level == contract.Must {
		require.Equal(t, b, again.Breach(), "the same trace, another verdict")
		// Blamed once: what comes after the first breach may follow from it.
		after := *p.breach
		after.does("late", mode("never declared")).quiet()
		after.play(judge)
		require.Equal(t, b, judge.Breach())
	}
}

// isReadable checks what a person gets to see of every breach.
func isReadable(t *testing.T, b *oracle.Breach) {
	t.Helper()
	assert.NotContains(t, b.Message, "\n")
	assert.NotContains(t, b.Message, "%!")
	for _, text := range []string{b.Message, b.Expected, b.Seen, b.Diff} {
		assert.NotContains(t, text, header.EventID.String(), "what differs from run to run")
		assert.NotContains(t, text, "0x", "what differs from run to run")
	}
	if b.Diff != "" || b.Expected != "" {
		assert.NotEqual(t, b.Expected, b.Seen)
	}
	assert.NotEmpty(t, b.Message)
	assert.True(t, strings.HasPrefix(b.Error(), b.Requirement+" broken by "))
}

var (
	errAppend = fakes.ErrAppend
	errOther  = errors.New("something else")
)

func refusal(kind loop.ChangeErrorKind, cause ...error) error {
	return &loop.ChangeError{Kind: kind, Cause: errors.Join(cause...)}
}

func refusalOf(kind loop.ChangeErrorKind, tool string, cause ...error) error {
	return &loop.ChangeError{Kind: kind, Tool: tool, Cause: errors.Join(cause...)}
}

func noMode(name loop.ModeName) error {
	return &loop.ChangeError{Kind: loop.ChangeInvalidMode, Mode: name}
}

func noInput(kind loop.SubmitErrorKind, cause ...error) error {
	return &loop.SubmitError{Kind: kind, Cause: errors.Join(cause...)}
}

func outcome(kind loop.TurnErrorKind) error { return &loop.TurnError{Kind: kind} }

var (
	interrupted = outcome(loop.TurnInterrupted)
	failed      = outcome(loop.TurnFailed)
	dropped     = outcome(loop.TurnDropped)
	errLate     = fmt.Errorf("late: %w", context.Canceled)
)

func options() oracle.Options { return oracle.Options{} }
