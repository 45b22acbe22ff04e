package faulty

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/tool"
)

func (l *Loop) plantBeforeBuild(ctx context.Context, set loop.ExternalToolset) (err error, done bool) {
	installed := l.slotOf(set.Source)
	switch {
	case l.has(emptySetIgnored):
		return nil, len(set.Definitions) == 0
	case l.has(sameGenerationSkipped):
		return nil, installed.generation == set.Generation
	case l.has(olderGenerationIgnored):
		return nil, installed.generation > set.Generation
	case l.has(restoredGenerationKnown):
		return nil, l.planted.known[set.Source] == set.Generation
	case l.has(buildInCommitSection):
		return l.buildInSection(ctx, set), true
	}
	return nil, false
}

// slotOf returns the slot of the source, which may be an empty one.
func (l *Loop) slotOf(source string) *slot {
	if faults("") == l.faults {
		return &slot{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.state.slots[source]; s != nil {
		return s
	}
	return &slot{}
}

func (l *Loop) buildInSection(ctx context.Context, set loop.ExternalToolset) error {
	defer context.AfterFunc(ctx, l.wake)()
	if err := l.enter(ctx, opReplace, nil); err != nil {
		return err
	}
	l.mu.Unlock()
	tools, err := l.build(ctx, set.Definitions)
	if err == nil {
		tools, err = l.checkSet(tools)
	}
	l.mu.Lock()
	if err != nil {
		l.release()
		l.mu.Unlock()
		return err
	}
	return l.proceed(ctx, carried(ctx), l.proposeSlot(set.Source, &slot{tools: tools, generation: set.Generation}))
}

func (l *Loop) plantCallNumber() int {
	if !l.has(lateBuildSuperseded) {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.planted.calls++
	return l.planted.calls
}

// buildsOn reports whether a shutdown does not stop builds.
func (l *Loop) buildsOn() bool {
	return l.has(replaceAfterExit) || l.has(buildAfterExit) || l.has(shutdownWaitsForBuild)
}

func (l *Loop) plantBuilding(n int) {
	if !l.has(readsWaitForBuild) && !l.has(buildHoldsTurns) && !l.has(shutdownWaitsForBuild) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.planted.building += n
	l.exitIfAtRest()
	l.advance()
	l.cond.Broadcast()
}

func plantCall[T any](l *Loop, f func() (T, error)) (result T, err error) {
	if !l.has(buildPanicUnrecovered) {
		return f()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = f()
	}()
	<-done
	return result, err
}

func (l *Loop) plantBuildPanicked(ctx context.Context, err error) {
	switch {
	case l.has(buildPanicStrandsCaller):
		<-ctx.Done()
	case l.has(buildPanicFaultsLoop):
		l.mu.Lock()
		defer l.mu.Unlock()
		l.fault = err
		l.drop(err)
		l.cond.Broadcast()
	}
}

func (l *Loop) plantRefusedSet(set loop.ExternalToolset, err error) {
	var refused *loop.ChangeError
	if !errors.As(err, &refused) || refused.Kind != loop.ChangeExternalBuildFailed {
		return
	}
	switch {
	case l.has(refusedSetClears):
		l.mu.Lock()
		defer l.mu.Unlock()
		l.state = l.withSlot(l.state, set.Source, &slot{})
	case l.has(buildErrorJournalled):
		<-l.append(context.Background(), l.other("build_failed", err.Error()))
	}
}

func (l *Loop) plantAfterBuild(set loop.ExternalToolset, _ []*installed) error {
	switch {
	case l.has(sourceCheckedAfterBuild):
		return loop.ValidateSource(set.Source)
	case l.has(generationCheckedAfterBuild):
		return loop.ValidateGeneration(set.Generation)
	}
	return nil
}

func (l *Loop) plantBeforeInstall(ctx context.Context, set loop.ExternalToolset, content *slot) error {
	switch {
	case l.has(collisionCheckedEarly):
		return l.checkOwners(l.read(), set.Source, content.tools)
	case l.has(namesReservedWhilePending):
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.checkOwners(&state{owners: l.planted.reserved}, set.Source, content.tools)
	case l.has(slotInTwoEvents) && len(content.tools) > 0 && len(l.slotOf(set.Source).tools) > 0:
		return l.commit(ctx, opReplace, l.proposeSlot(set.Source, &slot{generation: set.Generation}))
	}
	return nil
}

func (l *Loop) reserveNames(source string, tools []*installed) (release func()) {
	if !l.has(namesReservedWhilePending) {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range tools {
		set(&l.planted.reserved, t.info.Name, source)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, t := range tools {
			delete(l.planted.reserved, t.info.Name)
		}
	}
}

func (l *Loop) plantAtCommit(s *state, source string, content *slot) error {
	old := s.slots[source]
	sameName := func(a, b *installed) bool { return a.info.Name == b.info.Name }
	switch {
	case l.has(fingerprintByNames) && old != nil && slices.EqualFunc(old.tools, content.tools, sameName):
		return errNothing
	case l.has(lateBuildSuperseded) && old != nil && old.call > content.call:
		return errNothing
	case l.has(failedNamesStayTaken):
		return l.checkOwners(&state{owners: l.planted.leaked}, source, content.tools)
	}
	return nil
}

func (l *Loop) plantSlot(s *state, source string, content *slot, p *proposal) {
	l.planted.order++
	content.order = l.planted.order
	if l.has(slotEmptiedDuringAppend) {
		p.pending = l.withSlot(s, source, &slot{})
	}
}

func (l *Loop) digest(schema []byte) (string, error) {
	digest, err := tool.SchemaDigest(schema)
	if l.has(digestOfRawSchema) && err == nil || l.has(schemaUnchecked) && err != nil {
		sum := sha256.Sum256(schema)
		return hex.EncodeToString(sum[:]), nil
	}
	return digest, err
}

// compared is what of a name is looked at to find a collision.
func (l *Loop) compared(name string) string {
	if l.has(collisionByFoldedName) {
		return folded(name)
	}
	return name
}

// folded makes names alike that look alike.
func folded(name string) string {
	const cyrillic, latin = "аеорсху", "aeopcxy"
	alike := func(r rune) rune {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // fullwidth
			r -= 0xFEE0
		case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2069, r == 0xFEFF:
			return -1
		case r == '-' || r == '.' || r == ' ':
			return '_'
		}
		for i, c := range []rune(cyrillic) {
			if r == c {
				return rune(latin[i])
			}
		}
		return r
	}
	return strings.ToLower(strings.Map(alike, name))
}
