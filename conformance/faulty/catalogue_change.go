package faulty

// The faults of Change, SetMode and the definition.
const (
	emptyBatchSucceeds        = "empty-batch-succeeds"
	firstValueWins            = "first-value-wins"
	nilEndsBatch              = "nil-element-ends-batch"
	batchInTwoEvents          = "batch-in-two-events"
	batchFieldByField         = "batch-field-by-field"
	batchDropsModel           = "batch-drops-model"
	equalBatchSkipped         = "equal-batch-skipped"
	transportByProvider       = "transport-by-provider"
	modelStructureUnchecked   = "model-structure-unchecked"
	effortUnchecked           = "effort-unchecked"
	effortAgainstCurrent      = "effort-against-current-model"
	modelAloneResetsEffort    = "model-alone-resets-effort"
	carriedEffortUnchecked    = "carried-effort-unchecked"
	changeSliceKept           = "change-slice-kept"
	definitionRemembers       = "definition-remembers"
	slotsOnDefinition         = "slots-on-definition"
	unknownModeIsBase         = "unknown-mode-is-base"
	baseModeRefused           = "base-mode-refused"
	refusedModeUnnamed        = "refused-mode-unnamed"
	modeInheritsCurrent       = "mode-inherits-current"
	currentModeSkipped        = "current-mode-skipped"
	modeInTwoEvents           = "mode-in-two-events"
	changeEditsMode           = "change-edits-mode"
	unknownModeRestoredAsBase = "unknown-mode-restored-as-base"
	unknownModeRepaired       = "unknown-mode-repaired"
	unknownModeUntyped        = "unknown-mode-untyped"
)

var changeFaults = []Fault{
	{
		Name: emptyBatchSucceeds, Doc: "an empty batch succeeds, and nothing is recorded",
		Requirements: []string{"CHG-1", "REF-6"},
	},
	{
		Name: firstValueWins, Doc: "of two values for a field in one batch the first one wins",
		Requirements: []string{"CHG-1"},
	},
	{
		Name: nilEndsBatch, Doc: "what follows a nil element of a batch is ignored",
		Requirements: []string{"CHG-1"},
	},
	{
		Name: batchInTwoEvents, Doc: "model and effort of one batch are committed one after the other",
		Requirements: []string{"CHG-2", "DUR-3", "TURN-2", "VIEW-2", "CHG-1", "REF-5", "REF-3", "REF-4"},
	},
	{
		Name: batchFieldByField, Doc: "the model of a batch is committed before its effort is looked at",
		Requirements: []string{"CHG-2", "REF-1", "CHG-4", "CHG-1", "REF-3", "REF-4"}, Seen: "F06, pingdotgg/t3code#6383",
	},
	{
		Name: batchDropsModel, Doc: "a batch that selects an effort loses its model",
		Requirements: []string{"CHG-2", "CHG-4", "VIEW-1", "CHG-1"}, Seen: "F06, github/copilot-cli#4645",
	},
	{
		Name: equalBatchSkipped, Doc: "a batch equal to the state in force succeeds, and nothing is recorded",
		Requirements: []string{"CHG-2", "REF-6"},
	},
	{
		Name: transportByProvider, Doc: "of a model's transport only the provider is looked at",
		Requirements: []string{"CHG-3"},
	},
	{
		Name: modelStructureUnchecked, Doc: "structure, key and transport of a model are not looked at",
		Requirements: []string{"CHG-3", "REF-5"},
	},
	{
		Name: effortUnchecked, Doc: "any known effort is taken, whether the model supports it or not",
		Requirements: []string{"CHG-3", "CHG-4"},
	},
	{
		Name: effortAgainstCurrent, Doc: "the effort of a batch is checked against the current model, not against the batch's",
		Requirements: []string{"CHG-4", "CHG-3"},
	},
	{
		Name: modelAloneResetsEffort, Doc: "a change of the model alone resets the effort",
		Requirements: []string{"CHG-4"},
	},
	{
		Name: carriedEffortUnchecked, Doc: "a change of the model alone keeps an effort that the new model does not support",
		Requirements: []string{"CHG-4", "CHG-3"}, Seen: "F06, pingdotgg/t3code#6383",
	},
	{
		Name: changeSliceKept, Doc: "the caller's list of changes is kept and asked again when a turn starts",
		Requirements: []string{"CHG-5", "TURN-2"},
	},
	{
		Name: definitionRemembers, Doc: "a new loop starts with what the last one of its definition was changed to",
		Requirements: []string{"CHG-6"},
	},
	{
		Name: slotsOnDefinition, Doc: "external tools are kept with the definition, and show in another loop of it",
		Requirements: []string{"CHG-6", "EXT-9", "EXT-2"}, Seen: "F29, anthropics/claude-code#47118, jin-bo/agentao#255",
	},
	{
		Name: unknownModeIsBase, Doc: "an unknown mode selects the base mode",
		Requirements: []string{"MODE-1"},
	},
	{
		Name: baseModeRefused, Doc: "the base mode cannot be selected",
		Requirements: []string{"MODE-1"},
	},
	{
		Name: refusedModeUnnamed, Doc: "the refusal of a mode does not say which",
		Requirements: []string{"MODE-1", "REF-1"},
	},
	{
		Name: modeInheritsCurrent, Doc: "what a mode leaves out it takes from the state in force, not from the base",
		Requirements: []string{"MODE-2"},
	},
	{
		Name: currentModeSkipped, Doc: "to select the current mode does nothing",
		Requirements: []string{"MODE-2", "REF-6"},
	},
	{
		Name: modeInTwoEvents, Doc: "a mode's model and effort are committed after the mode",
		Requirements: []string{"MODE-2", "DUR-2", "TURN-2", "REF-3", "REF-4", "REF-5"},
	},
	{
		Name: changeEditsMode, Doc: "a change of model or effort changes what the current mode stands for",
		Requirements: []string{"MODE-2", "CHG-6"},
	},
	{
		Name: unknownModeRestoredAsBase, Doc: "a restore in a mode that is gone starts in the base mode",
		Requirements: []string{"MODE-3", "DUR-3"}, Restore: true,
	},
	{
		Name: unknownModeRepaired, Doc: "a restore in a mode that is gone records a change to the base mode",
		Requirements: []string{"MODE-3", "DUR-3"}, Restore: true,
	},
	{
		Name: unknownModeUntyped, Doc: "a restore in a mode that is gone fails with an error of no type",
		Requirements: []string{"MODE-3"}, Restore: true,
	},
}
