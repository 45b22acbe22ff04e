package oracle

import (
	"slices"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/trace"
)

// buildFailed reports whether something of the set failed to build, and judges what the refusal says of it.
func (j *Judge) buildFailed(l *life, o *op, asked trace.Replace, refusal *loop.ChangeError) bool {
	names := append(slices.Clone(o.broken), asked.Broken...)
	// A build that was cut short by a context or by the shutdown failed too, of whatever tool was at hand.
	if o.ctxEnded >= 0 || o.buildCtx || l.shutdown >= 0 {
		return true
	}
	if len(names) == 0 {
		return false
	}
	if !slices.Contains(names, refusal.Tool) {
		j.blame("EXT-4", o.id, "%s: the refusal names the wrong tool", o.id).differ("one of "+quoted(names), quote(refusal.Tool))
		return true
	}
	if len(asked.Broken) == 0 && len(o.buildErrs) > 0 && !o.panicked &&
		!slices.ContainsFunc(o.buildErrs, func(err error) bool { return wraps(o.err, err) }) {
		j.blame("REF-1", o.id, "%s: the refusal does not wrap its cause", o.id).differ(fakes.ErrBuild.Error(), o.err.Error())
	}
	return true
}

// collided reports whether a name of the set was taken, and judges whether the refusal names one.
func (j *Judge) collided(l *life, o *op, asked trace.Replace, refusal *loop.ChangeError) bool {
	var names []string
	for _, s := range l.states[o.slots:] {
		names = append(names, l.collisions(asked, s)...)
	}
	if len(names) > 0 && !slices.Contains(names, refusal.Tool) {
		j.blame("EXT-5", o.id, "%s: the refusal names the wrong tool", o.id).differ("one of "+quoted(names), quote(refusal.Tool))
	}
	return len(names) > 0
}

func (j *Judge) buildBegan(l *life, e *trace.Entry) {
	o := l.ops[e.Op]
	if o == nil {
		return
	}
	asked, _ := o.asked.(trace.Replace)
	switch {
	case l.definition.Foreign:
		j.blame("EXT-10", o.id, "%s: a definition was built for a foreign loop", o.id)
	case !identifiers(asked):
		j.blame("EXT-1", o.id, "%s: definition %s was built although source %s or generation %s is not valid", o.id, quote(e.Text), quote(asked.Source), quote(asked.Generation))
	default:
		j.begun(l, e, "the build of "+quote(e.Text))
	}
	if e.Kind == trace.DescribeBegan {
		o.describes++
		o.describing++
		return
	}
	o.building++
	o.builds++
}

func (j *Judge) buildEnded(l *life, e *trace.Entry) {
	o := l.ops[e.Op]
	if o == nil {
		return
	}
	o.building--
	if e.Err != nil {
		if isContext(e.Err) {
			o.buildCtx = true
			return
		}
		o.broken = append(o.broken, e.Text)
		if !e.Panic {
			o.buildErrs = append(o.buildErrs, e.Err)
		}
		o.panicked = o.panicked || e.Panic
		if e.Panic {
			l.buildPanicked = e.Seq
		}
	}
}
