package faulty

// The faults of interrupt, shutdown and durability.
const (
	interruptClearsQueue   = "interrupt-clears-queue"
	interruptLatched       = "interrupt-latched"
	interruptAtNextStep    = "interrupt-at-next-step"
	interruptRollsBack     = "interrupt-rolls-back"
	interruptWaitsForCalls = "interrupt-waits-for-calls"
	toolContextDetached    = "tool-context-detached"
	requestContextDetached = "request-context-detached"
	shutdownWaitsForCalls  = "shutdown-waits-for-calls"
	shutdownWaitsForBuild  = "shutdown-waits-for-build"
	shutdownUndone         = "shutdown-undone"
	secondShutdownFails    = "second-shutdown-fails"
	shutdownIgnoresContext = "shutdown-ignores-context"
	turnWatcherLeft        = "turn-watcher-left"
	buildAfterExit         = "build-after-exit"
	stoppedEventAfterExit  = "stopped-event-after-exit"
	queueDroppedSilently   = "queue-dropped-silently"
	droppedWithoutError    = "dropped-without-error"
	submitAfterExit        = "submit-after-exit"
	turnSeesPending        = "turn-sees-pending"
	eventWithPriorEffort   = "event-with-prior-effort"
	eventModelKeyOnly      = "event-model-key-only"
	modeEventOldRuntime    = "mode-event-old-runtime"
	restoreDefaultModel    = "restore-default-model"
	restoreForgetsMode     = "restore-forgets-mode"
	restorePrefix          = "restore-prefix"
	inputsReplayed         = "inputs-replayed"
	fallbackSaved          = "fallback-saved"
	schemaJournalled       = "schema-journalled"
	buildErrorJournalled   = "build-error-journalled"
	ambiguousIgnored       = "ambiguous-ignored"
	turnsInDoubt           = "turns-in-doubt"
	readBackPrefix         = "read-back-prefix"
	faultAcceptsInputs     = "fault-accepts-inputs"
	eventIDsFromCounter    = "event-ids-from-counter"
)

var lifeFaults = []Fault{
	{
		Name: interruptClearsQueue, Doc: "an interrupt forgets the queued inputs",
		Requirements: []string{"INT-1", "LIFE-3", "TURN-7"}, Seen: "F12, vellum-ai/vellum-assistant#39830",
	},
	{
		Name: interruptLatched, Doc: "an interrupt of an idle loop interrupts the next turn",
		Requirements: []string{"INT-1"}, Seen: "F10, prime-radiant-inc/evener#608",
	},
	{
		Name: interruptAtNextStep, Doc: "an interrupt is delivered at the next model request, whosever it is",
		Requirements: []string{"INT-1", "INT-2"}, Seen: "F10, pingdotgg/t3code#6531",
	},
	{
		Name: interruptRollsBack, Doc: "an interrupt puts back what was in force when the turn started",
		Requirements: []string{"INT-1", "TURN-4", "DUR-2", "CHG-4", "CHG-2", "EXT-8", "EXT-2", "TURN-2", "VIEW-1", "EXT-5", "REF-1", "DUR-1"},
	},
	{
		Name: interruptWaitsForCalls, Doc: "an interrupted turn ends when its calls have returned",
		Requirements: []string{"INT-2", "INT-1", "REF-7"},
	},
	{
		Name: toolContextDetached, Doc: "tools do not see the end of their turn",
		Requirements: []string{"INT-2", "LIFE-1"},
	},
	{
		Name: requestContextDetached, Doc: "model requests do not see the end of their turn",
		Requirements: []string{"INT-2", "LIFE-1"},
	},
	{
		Name: shutdownWaitsForCalls, Doc: "a shutdown waits for the calls of the turn in flight",
		Requirements: []string{"LIFE-1", "INT-2"}, Seen: "F18, openai/codex#25426",
	},
	{
		Name: shutdownWaitsForBuild, Doc: "a shutdown waits for builds",
		Requirements: []string{"LIFE-1", "EXT-6", "LIFE-2"},
	},
	{
		Name: shutdownUndone, Doc: "a shutdown whose context ends is called off",
		Requirements: []string{"LIFE-1", "REF-2"},
	},
	{
		Name: secondShutdownFails, Doc: "to shut down again is an error",
		Requirements: []string{"LIFE-1"},
	},
	{
		Name: shutdownIgnoresContext, Doc: "a shutdown does not return when its context ends",
		Requirements: []string{"LIFE-1", "REF-7"},
	},
	{
		Name: turnWatcherLeft, Doc: "each turn leaves a goroutine behind",
		Requirements: []string{"LIFE-2"},
	},
	{
		Name: buildAfterExit, Doc: "external tools are built after the exit, and then refused",
		Requirements: []string{"LIFE-2", "EXT-6"},
	},
	{
		Name: stoppedEventAfterExit, Doc: "the end of the loop is recorded after its exit",
		Requirements: []string{"LIFE-2", "LIFE-1"},
	},
	{
		Name: queueDroppedSilently, Doc: "a shutdown leaves the turns of queued inputs open",
		Requirements: []string{"LIFE-3", "LIFE-1", "TURN-7"},
	},
	{
		Name: droppedWithoutError, Doc: "a shutdown reports queued inputs as completed",
		Requirements: []string{"LIFE-3", "TURN-7"},
	},
	{
		Name: submitAfterExit, Doc: "an input after the exit is accepted, and runs",
		Requirements: []string{"LIFE-3", "LIFE-2"},
	},
	{
		Name: turnSeesPending, Doc: "handle and turns show a change while it is being appended",
		Requirements: []string{"DUR-1", "REF-5", "VIEW-2", "TURN-4", "TURN-2"},
	},
	{
		Name: eventWithPriorEffort, Doc: "an event records the effort from before the change",
		Requirements: []string{"DUR-2", "DUR-3", "CHG-2", "MODE-2", "CHG-1"},
	},
	{
		Name: eventModelKeyOnly, Doc: "an event records the model without limits and sampling",
		Requirements: []string{"DUR-2", "DUR-3"},
	},
	{
		Name: modeEventOldRuntime, Doc: "a change of mode records the model and effort from before",
		Requirements: []string{"DUR-2", "DUR-3", "MODE-2"},
	},
	{
		Name: restoreDefaultModel, Doc: "a restore takes model and effort from the mode, not from the journal",
		Requirements: []string{"DUR-3", "DUR-2", "VIEW-1", "DUR-1"}, Seen: "F09, anthropics/claude-code#32471", Restore: true,
	},
	{
		Name: restoreForgetsMode, Doc: "a restore starts in the base mode, with the recorded model",
		Requirements: []string{"DUR-3", "DUR-2", "MODE-3", "DUR-1"}, Seen: "F09, Kohaku-Lab/KohakuTerrarium#105", Restore: true,
	},
	{
		Name: restorePrefix, Doc: "a journal that cannot be read to its end is taken for what was read",
		Requirements: []string{"DUR-3", "DUR-2", "MODE-3"}, Seen: "F13", Restore: true,
	},
	{
		Name: inputsReplayed, Doc: "accepted inputs are recorded, and run again after a restore",
		Requirements: []string{"DUR-3", "TURN-7", "LIFE-1", "REF-7"}, Restore: true,
	},
	{
		Name: fallbackSaved, Doc: "a failed model request changes the loop's model to the definition's, for good",
		Requirements: []string{"DUR-3", "TURN-6", "CHG-2", "MODE-2"}, Seen: "F26, openclaw/openclaw#67858",
	},
	{
		Name: schemaJournalled, Doc: "names, descriptions and schemas of external tools are recorded",
		Requirements: []string{"DUR-4"}, Seen: "F27, ever-works/ever-works#2421, everruns/everruns#3054",
	},
	{
		Name: buildErrorJournalled, Doc: "the text of a build's error is recorded",
		Requirements: []string{"DUR-4", "REF-1", "LIFE-1"}, Seen: "F27, ever-works/ever-works#2421",
	},
	{
		Name: ambiguousIgnored, Doc: "a failed append counts as not written",
		Requirements: []string{"DUR-6", "REF-5"},
	},
	{
		Name: turnsInDoubt, Doc: "turns start while it is not known whether a failed append was written",
		Requirements: []string{"DUR-6", "DUR-1", "REF-5", "REF-1"},
	},
	{
		Name: readBackPrefix, Doc: "after a failed append a journal that cannot be read counts as not having the event",
		Requirements: []string{"DUR-6", "REF-5", "DUR-2"}, Seen: "F13",
	},
	{
		Name: faultAcceptsInputs, Doc: "a faulted loop accepts and runs inputs",
		Requirements: []string{"DUR-6", "LIFE-3", "REF-5"},
	},
	{
		Name: eventIDsFromCounter, Doc: "event ids start over after a restore, so that an old event is taken for the one whose append failed",
		Requirements: []string{"REF-5", "REF-6", "DUR-1"}, Seen: "F16, Gitlawb/zero#251", Restore: true,
	},
}
