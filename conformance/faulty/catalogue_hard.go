package faulty

// The faults that schedules over gates do not find: their classes say what does.
const (
	turnStartedTwice      = "turn-started-twice"
	lostUpdate            = "lost-update"
	interruptInTwoSteps   = "interrupt-in-two-steps"
	shutdownInTwoSteps    = "shutdown-in-two-steps"
	exitCheckedLate       = "exit-checked-late"
	viewUnlocked          = "view-unlocked"
	toolCountUnlocked     = "tool-count-unlocked"
	outcomeUnlocked       = "outcome-unlocked"
	refusalsUnlocked      = "refusals-unlocked"
	toolPanicUnrecovered  = "tool-panic-unrecovered"
	buildPanicUnrecovered = "build-panic-unrecovered"
	fatalOnAppendError    = "fatal-on-append-error"
	lockHeldOverAppend    = "lock-held-over-append"
	exitClosedTwice       = "exit-closed-twice"
	shutdownSpins         = "shutdown-spins"
)

var hardFaults = []Fault{
	{
		Name: turnStartedTwice, Doc: "inputs that waited for the end of a doubt each start their turn",
		Requirements: []string{"TURN-7"}, Class: Controlled,
	},
	{
		Name: lostUpdate, Doc: "a commit takes force after it has let the next one in, which builds on what was before",
		Requirements: []string{"DUR-2", "TURN-2", "MODE-2", "VIEW-1", "VIEW-2", "DUR-3"}, Seen: "F24, remoteclaw/remoteclaw#2858, valon-technologies/gestalt#68", Class: Controlled,
	},
	{
		Name: interruptInTwoSteps, Doc: "an interrupt cancels the turn and then ends the turn that it finds, which may be the next",
		Requirements: []string{"INT-1"}, Class: Controlled,
	},
	{
		Name: shutdownInTwoSteps, Doc: "a shutdown lets the next turn start between cancelling the one in flight and dropping the queue",
		Requirements: []string{"LIFE-1", "LIFE-2"}, Class: Controlled,
	},
	{
		Name: exitCheckedLate, Doc: "a change that waited may begin its append between the look at the section and the exit",
		Requirements: []string{"LIFE-2", "REF-2", "LIFE-1"}, Class: Controlled,
	},
	{
		Name: viewUnlocked, Doc: "the handle reads without the lock",
		Requirements: []string{"VIEW-2", "VIEW-1"}, Seen: "F34, spf13/viper#174", Class: Race,
	},
	{
		Name: toolCountUnlocked, Doc: "tools that run side by side count themselves without a lock",
		Requirements: []string{"TURN-6", "TURN-1"}, Class: Race,
	},
	{
		Name: outcomeUnlocked, Doc: "an interrupt and the turn's goroutine both note the outcome without a lock",
		Requirements: []string{"INT-1", "INT-2"}, Class: Race,
	},
	{
		Name: refusalsUnlocked, Doc: "refused callers count themselves without a lock",
		Requirements: []string{"REF-1", "REF-4"}, Class: Race,
	},
	{
		Name: toolPanicUnrecovered, Doc: "a panic of a tool is not recovered",
		Requirements: []string{"TURN-6"}, Seen: "F25, charmbracelet/fantasy#325", Class: Process,
	},
	{
		Name: buildPanicUnrecovered, Doc: "a panic of a build is not recovered",
		Requirements: []string{"EXT-11", "EXT-4"}, Seen: "F25, open-octo/octo-agent#2111", Class: Process,
	},
	{
		Name: fatalOnAppendError, Doc: "a failed append ends the process",
		Requirements: []string{"REF-5"}, Class: Process,
	},
	{
		Name: lockHeldOverAppend, Doc: "the mutex is held over an append",
		Requirements: []string{"REF-7", "EXT-6", "VIEW-2"}, Seen: "F33, pingcap/tiproxy#1198", Class: Process,
	},
	{
		Name: exitClosedTwice, Doc: "to shut down again closes a channel again",
		Requirements: []string{"LIFE-1"}, Seen: "F19, mark3labs/mcp-go#173, mark3labs/mcp-go#318", Class: Process,
	},
	{
		Name: shutdownSpins, Doc: "a shutdown looks for the exit without ever resting",
		Requirements: []string{"LIFE-1"}, Class: Process,
	},
}
