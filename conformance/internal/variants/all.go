package variants

import "time"

// All returns constructions that are as different as the contract allows.
func All() []Policy {
	return []Policy{
		{Name: "plain"},
		{Name: "apart, faults", Where: Apart, Failed: Faults, AckFirst: true, ExitedEarly: true, SortedTools: true},
		{Name: "faults late", Where: OnWorker, Failed: Faults, LateDrop: true, LifeFirst: true, Sequential: true},
		{Name: "caller's context", CallerContext: true, Validation: Early, Compact: true, TwoInfos: true},
		{Name: "retries", Where: Apart, CallerContext: true, Failed: Retries, RetryModel: true, Trouble: Cancels},
		{Name: "lazily", Failed: Lazily, Validation: Early, Trouble: Ends, Sequential: true, Eager: true},
		{Name: "two lines", Where: OnWorker, TwoLines: true, Validation: Early, Parallel: true},
		{Name: "two lines, faults", Where: Apart, TwoLines: true, Failed: Faults, Drains: true, Records: Alongside, SortedTools: true},
		{Name: "two lines, retries", TwoLines: true, Failed: Retries, CallerContext: true, LateDrop: true},
		{Name: "grace", Grace: 5 * time.Second, Records: Waits, History: true},
		{Name: "grace, drains", Grace: time.Minute, Drains: true, Unknown: Fails, Where: Apart},
		{Name: "monolith", Monolith: true, Where: OnWorker, Records: Waits, Unknown: Rejects, ExitedEarly: true},
		{Name: "monolith, lazily", Monolith: true, Failed: Lazily, LateDrop: true, History: true, Drains: true},
		{Name: "records alongside", Records: Alongside, BuildsOn: true, Parallel: true, RetryModel: true, AckFirst: true},
		{Name: "records, waits", Records: Waits, StartFails: true, AckFirst: true, Unknown: Fails, Trouble: Ends},
		{Name: "submit appends", SubmitAppend: true, Notes: true, InRange: true, Failed: Faults},
		{Name: "submit appends, history", SubmitAppend: true, History: true, Trouble: Ends, Eager: true, BuildsOn: true},
		{Name: "fails midway", Unknown: FailsMid, InRange: true, Notes: true, LifeFirst: true, CallerContext: true},
		{Name: "fails midway, records", Unknown: FailsMid, Records: Waits, Trouble: Cancels, Where: Apart},
		{Name: "call limit", CallLimit: time.Minute, Trouble: Ends, Heartbeat: true},
		{Name: "call limit, tells", CallLimit: time.Second, Trouble: Cancels, Unknown: Rejects, Failed: Retries},
		{Name: "joins", Joins: true, AckFirst: true},
		{Name: "joins, grace", Joins: true, Grace: time.Second, Records: Alongside, Failed: Faults, History: true},
		{Name: "streams", Streams: true, Where: Apart, Failed: Lazily, BuildsOn: true, LifeFirst: true},
		{Name: "streams, two lines", Streams: true, TwoLines: true, Records: Alongside, Drains: true, CallerContext: true, Trouble: Ends},
		{Name: "in range", InRange: true, Trouble: Cancels, Sequential: true, TwoInfos: true, Compact: true, SortedTools: true},
	}
}
