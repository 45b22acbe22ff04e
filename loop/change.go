package loop

import "github.com/loopcheck/loopcheck/loop/model"

// Change is one element of a batch for Controller.Change. [ChangeModel] and [ChangeEffort] are the complete set: the
// interface is sealed, so that a loop can inspect every change it is given. Change values are immutable and share no
// memory with what they were made of (CHG-5).
type Change interface {
	// InferenceModel returns the model that the change selects, in memory of its own.
	InferenceModel() (model.Model, bool)
	// InferenceEffort returns the effort that the change selects.
	InferenceEffort() (model.Effort, bool)
	// mergeInto seals the interface. A type that embeds a Change has this method too, but only as the embedded change's
	// own, so what MergeChanges takes is always one of the two changes, whatever the outer type answers above.
	mergeInto(*Batch)
}

// ChangeModel selects a model. The effort in its sampling is ignored: the model keeps the current effort, or takes the one
// that the same batch selects (CHG-4).
func ChangeModel(m model.Model) Change { return modelChange{m.Clone()} }

// ChangeEffort selects an effort.
func ChangeEffort(effort model.Effort) Change { return effortChange{effort} }

type modelChange struct{ model model.Model }

func (c modelChange) InferenceModel() (model.Model, bool)   { return c.model.Clone(), true }
func (c modelChange) InferenceEffort() (model.Effort, bool) { return model.EffortNone, false }

func (c modelChange) mergeInto(batch *Batch) {
	m := c.model.Clone()
	batch.Model = &m
}

type effortChange struct{ effort model.Effort }

func (c effortChange) InferenceModel() (model.Model, bool)   { return model.Model{}, false }
func (c effortChange) InferenceEffort() (model.Effort, bool) { return c.effort, true }
func (c effortChange) mergeInto(batch *Batch)                { batch.Effort = &c.effort }

// Batch is what a list of changes comes to. It shares no memory with them.
type Batch struct {
	Model  *model.Model  // nil: the batch selects none
	Effort *model.Effort // nil: the batch selects none
}

// MergeChanges returns what the changes come to: the last value for a field wins, a nil element is ignored (CHG-1).
func MergeChanges(changes ...Change) Batch {
	var batch Batch
	for _, change := range changes {
		if change != nil {
			merge(change, &batch)
		}
	}
	return batch
}

// merge passes over a type that embeds a nil Change: it is a nil element all the same (CHG-1).
func merge(change Change, batch *Batch) {
	defer func() { _ = recover() }()
	change.mergeInto(batch)
}

// Empty reports whether the batch selects neither a model nor an effort: such a batch is refused with [ChangeNoChanges].
func (b Batch) Empty() bool { return b.Model == nil && b.Effort == nil }
