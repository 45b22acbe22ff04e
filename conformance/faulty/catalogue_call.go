package faulty

// The faults of refusals, calls and the handle.
const (
	untypedRefusal              = "untyped-refusal"
	appendCauseDropped          = "append-cause-dropped"
	buildCauseDropped           = "build-cause-dropped"
	refusedSetClears            = "refused-set-clears"
	modeAfterExit               = "mode-after-exit"
	exitAsShuttingDown          = "exit-as-shutting-down"
	replaceAfterExit            = "replace-after-exit"
	cancelledButCommits         = "cancelled-but-commits"
	withdrawnChangeCommits      = "withdrawn-change-commits"
	contextErrorUnwrapped       = "context-error-unwrapped"
	replyToNextCaller           = "reply-to-next-caller"
	exitDuringAppend            = "exit-during-append"
	shutdownFlushesWaiting      = "shutdown-flushes-waiting"
	appendErrorIgnored          = "append-error-ignored"
	failedChangeStays           = "failed-change-stays"
	successBeforeAppend         = "success-before-append"
	persistenceDisabled         = "persistence-disabled"
	retryDeduped                = "retry-deduped"
	persistedAtTurn             = "persisted-at-turn"
	changeWaitsForTurn          = "change-waits-for-turn"
	cancelledWaiterStays        = "cancelled-waiter-stays"
	buildIgnoresContext         = "build-ignores-context"
	submitWaitsForTurn          = "submit-waits-for-turn"
	turnBoundToSubmit           = "turn-bound-to-submit"
	loopBoundToStart            = "loop-bound-to-start"
	toolsBoundToInstall         = "tools-bound-to-install"
	shutdownGrace               = "shutdown-grace"
	turnDebounced               = "turn-debounced"
	generationCheckedAfterBuild = "generation-checked-after-build"
	validatedAgainstPending     = "validated-against-pending"
	namesReservedWhilePending   = "names-reserved-while-pending"
	failedNamesStayTaken        = "failed-names-stay-taken"
	viewAtTurn                  = "view-at-turn"
	viewWithoutEffort           = "view-without-effort"
	modelViewIgnoresMode        = "model-view-ignores-mode"
	modelAheadOfMode            = "model-ahead-of-mode"
	modelSharedWithReader       = "model-shared-with-reader"
	modelShallowCopy            = "model-shallow-copy"
)

var callFaults = []Fault{
	{
		Name: untypedRefusal, Doc: "a collision is refused with an error of no type",
		Requirements: []string{"REF-1", "EXT-5"},
	},
	{
		Name: appendCauseDropped, Doc: "a failed append is refused without the journal's error",
		Requirements: []string{"REF-1", "REF-5"},
	},
	{
		Name: buildCauseDropped, Doc: "a failed build is refused without its error",
		Requirements: []string{"REF-1", "EXT-4"},
	},
	{
		Name: refusedSetClears, Doc: "a set that cannot be built empties the slot",
		Requirements: []string{"REF-1", "EXT-2", "EXT-4", "EXT-8"},
	},
	{
		Name: modeAfterExit, Doc: "SetMode goes on committing after the shutdown",
		Requirements: []string{"REF-2", "LIFE-2", "LIFE-1"},
	},
	{
		Name: exitAsShuttingDown, Doc: "changes after the exit are refused as shutting down",
		Requirements: []string{"REF-2"},
	},
	{
		Name: replaceAfterExit, Doc: "external tools are built and committed after the shutdown",
		Requirements: []string{"REF-2", "LIFE-2"},
	},
	{
		Name: cancelledButCommits, Doc: "a call whose context ends during its append is refused as context_done, and commits",
		Requirements: []string{"REF-3", "REF-7"}, Seen: "F30, ohdearquant/khive#2091",
	},
	{
		Name: withdrawnChangeCommits, Doc: "a change that waits is refused as context_done, and commits later",
		Requirements: []string{"REF-3", "DUR-3"}, Seen: "F30, ohdearquant/khive#2091",
	},
	{
		Name: contextErrorUnwrapped, Doc: "context_done does not wrap the context's error",
		Requirements: []string{"REF-3", "REF-1"},
	},
	{
		Name: replyToNextCaller, Doc: "the reply to a caller that has gone is given to the next one",
		Requirements: []string{"REF-3", "REF-6", "REF-11", "REF-8"}, Seen: "F31, blinklabs-io/gouroboros#1948, erlang/otp#2884",
	},
	{
		Name: exitDuringAppend, Doc: "the loop exits during an append, whose call is refused as exited",
		Requirements: []string{"REF-4", "LIFE-1", "LIFE-2"}, Seen: "F30, eclipse-dirigible/dirigible#6816",
	},
	{
		Name: shutdownFlushesWaiting, Doc: "changes that wait at a shutdown are refused, and committed",
		Requirements: []string{"REF-4", "LIFE-2", "LIFE-1"},
	},
	{
		Name: appendErrorIgnored, Doc: "the error of an append is ignored",
		Requirements: []string{"REF-5", "REF-6", "DUR-1"}, Seen: "F07, openai/codex#35385",
	},
	{
		Name: failedChangeStays, Doc: "a change whose append failed is refused, and in force",
		Requirements: []string{"REF-5", "DUR-1", "TURN-1"}, Seen: "F07, openai/codex#35385",
	},
	{
		Name: successBeforeAppend, Doc: "a change succeeds before its append has returned",
		Requirements: []string{"REF-6", "DUR-1", "CHG-2", "MODE-2", "EXT-3", "EXT-14"},
	},
	{
		Name: persistenceDisabled, Doc: "after one failed append nothing is appended any more, and all changes succeed",
		Requirements: []string{"REF-6", "DUR-1", "DUR-2", "REF-5"}, Seen: "F15, MoonshotAI/kimi-code#2902",
	},
	{
		Name: retryDeduped, Doc: "a change that failed once succeeds the next time without being appended",
		Requirements: []string{"REF-6", "DUR-1"}, Seen: "F15, lvlup-sw/exarchos#1228",
	},
	{
		Name: persistedAtTurn, Doc: "mode, model and effort are recorded when the next turn starts",
		Requirements: []string{"REF-6", "DUR-3", "DUR-1", "DUR-2", "CHG-2", "MODE-2", "EXT-3", "EXT-14"}, Seen: "F08, LionSR/TeXRA#5316",
	},
	{
		Name: changeWaitsForTurn, Doc: "a change waits for the turn in flight, also inside a tool of it",
		Requirements: []string{"REF-7"}, Seen: "F17, microsoft/agent-framework#4898",
	},
	{
		Name: cancelledWaiterStays, Doc: "a change that waits for another's append does not see its context end",
		Requirements: []string{"REF-7", "REF-3"},
	},
	{
		Name: buildIgnoresContext, Doc: "a call waits for its build past its context",
		Requirements: []string{"REF-7", "EXT-6", "LIFE-1", "LIFE-2"},
	},
	{
		Name: submitWaitsForTurn, Doc: "an input is accepted only when no turn is in flight",
		Requirements: []string{"REF-7", "TURN-7"},
	},
	{
		Name: turnBoundToSubmit, Doc: "the end of the submitter's context cancels the turn",
		Requirements: []string{"REF-8"},
	},
	{
		Name: loopBoundToStart, Doc: "the end of the context that the loop was started with shuts it down",
		Requirements: []string{"REF-8", "REF-2", "REF-11"},
	},
	{
		Name: toolsBoundToInstall, Doc: "the end of the context that tools were installed with cancels their runs",
		Requirements: []string{"REF-8"},
	},
	{
		Name: shutdownGrace, Doc: "a shutdown waits five seconds, whatever there is to wait for",
		Requirements: []string{"REF-9", "LIFE-1"},
	},
	{
		Name: turnDebounced, Doc: "a turn waits a moment before it asks",
		Requirements: []string{"REF-9"},
	},
	{
		Name: generationCheckedAfterBuild, Doc: "the generation is checked when everything has been built",
		Requirements: []string{"REF-10", "EXT-1"},
	},
	{
		Name: validatedAgainstPending, Doc: "a change is checked against one that is being appended",
		Requirements: []string{"REF-11", "CHG-4"},
	},
	{
		Name: namesReservedWhilePending, Doc: "names are taken from before their append",
		Requirements: []string{"REF-11", "EXT-5"},
	},
	{
		Name: failedNamesStayTaken, Doc: "names stay taken whose append failed",
		Requirements: []string{"REF-11", "EXT-5"}, Seen: "F15, lvlup-sw/exarchos#1228",
	},
	{
		Name: viewAtTurn, Doc: "the handle shows what the last turn captured",
		Requirements: []string{"VIEW-1", "VIEW-2"},
	},
	{
		Name: viewWithoutEffort, Doc: "Model does not report the effort in force",
		Requirements: []string{"VIEW-1", "DUR-3", "CHG-6"},
	},
	{
		Name: modelViewIgnoresMode, Doc: "Model does not see changes of mode",
		Requirements: []string{"VIEW-2", "VIEW-1"},
	},
	{
		Name: modelAheadOfMode, Doc: "Model shows a change while it is being appended",
		Requirements: []string{"VIEW-2", "DUR-1", "VIEW-1"},
	},
	{
		Name: modelSharedWithReader, Doc: "what Model returns is the loop's own memory, also when it is handed back in a change",
		Requirements: []string{"VIEW-3", "CHG-5", "DUR-2", "CHG-4", "REF-11"},
	},
	{
		Name: modelShallowCopy, Doc: "what Model returns shares the sampling's pointers with the loop",
		Requirements: []string{"VIEW-3", "CHG-5", "DUR-2", "CHG-4", "REF-11"},
	},
}
