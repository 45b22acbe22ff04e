package oracle_test

import (
	"testing"

	"github.com/loopcheck/loopcheck/fakes"
	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
)

func TestAReadShowsADurableStateThatIsNotTooOld(t *testing.T) {
	m1 := descriptor("m1", "low", "high")
	done := refusal(loop.ChangeContextDone, errLate)
	unacknowledged := func() *script { return run().writes("c1", mode("plan")) }
	refused := func() *script { return run().call("c1", high).contextEnds("c1").fails("c1", done) }
	whole := run().reads("r", base())
	check(t, []pair{
		{
			"VIEW-1", "Mode() shows an older state than one acknowledged before the read",
			run().does("m1", mode("plan")).reads("r", base()), "it was not acknowledged before", run().writes("m1", mode("plan")).call("r", read).ok("m1").saw("r", base()),
		},
		{
			"VIEW-1", "Model() shows an older state than one acknowledged before the read",
			run().does("c1", high).reads("r", base()), "a durable state that nobody has acknowledged explains it", run().writes("c1", high).reads("r", base().after(high)),
		},
		{
			"VIEW-2", "Mode() shows an older state than the read r1 before it",
			unacknowledged().reads("r1", plan()).reads("r2", base()), "they overlap", unacknowledged().call("r2", read).reads("r1", plan()).saw("r2", base()),
		},
		{
			"VIEW-2", "Model() shows an older state than the read r1 before it",
			run().writes("c1", high).reads("r1", base().after(high)).reads("r2", base()), "the first shows the older one", run().writes("c1", high).reads("r1", base()).reads("r2", base().after(high)),
		},
		{
			"VIEW-2", "Model() shows an older state than the read r before it",
			unacknowledged().reads("r", base().saying("").modeOf("plan")), "Mode() does, and Model() a later one", unacknowledged().reads("r", plan().modeOf("")),
		},
		{
			"DUR-1", "Model() shows what c1 asked for, and no event of that is in the journal",
			run().call("c1", high).begins("c1").reads("r", base().after(high)), "it is", run().call("c1", high).begins("c1").written("c1").reads("r", base().after(high)),
		},
		{
			"DUR-1", "Mode() shows what c1 asked for, and no event of that is in the journal",
			run().call("c1", mode("plan")).reads("r", plan()), "it does not", run().call("c1", mode("plan")).reads("r", base()),
		},
		{"REF-1", "Model() shows what c1 asked for, and no event of that is in the journal", refused().reads("r", base().after(high)), "it does not", refused().reads("r", base())},
		{"VIEW-3", "shows what was written over a model that it had returned", run().reads("r", base().on(overwritten(m0(), fakes.ByReader))), "it does not", whole},
		{"VIEW-3", "shows what was written over a model that it had returned, or that a request held", run().reads("r", base().on(overwritten(m0(), fakes.ByClient))), "it does not", whole},
		{"CHG-5", "shows what a caller wrote over a model after handing it over", run().reads("r", base().on(overwritten(m0(), fakes.ByCaller))), "it does not", whole},
		{"VIEW-1", "does not show the effort in force in its sampling", run().reads("r", base().thinking("")), "it does", whole},
		{"DUR-3", "does not show what was in force before the restore", run().does("m1", mode("plan")).crash().restored().reads("r", base()), "it does", run().does("m1", mode("plan")).crash().restored().reads("r", plan())},
		{"CHG-6", "does not show what the definition says", run().does("m1", mode("plan")).crash().another().started(nil).reads("r", plan()), "it does", run().does("m1", mode("plan")).crash().another().started(nil).reads("r", base())},
		{"VIEW-2", "does not show what the definition says, and the journal holds no change", run().reads("r", base().on(mp())), "it does", whole},
		{"VIEW-2", "shows no committed state", run().does("c1", change(m1)).reads("r", base().on(mp())), "it does", run().does("c1", change(m1)).reads("r", base().on(m1))},
		{but: "after an ambiguous append either state may be shown", twin: run().doubts("c1", high).reads("r1", base()).reads("r2", base().after(high))},
		{but: "nothing was read", twin: run().call("r", read).ok("r")},
	})
}

// modeOf is the configuration under another mode's name.
func (c config) modeOf(name string) config { c.mode = name; return c }

func TestADescriptorIsComparedWholly(t *testing.T) {
	other := func(change func(*model.Model)) config {
		m := m0()
		change(&m)
		return base().on(m)
	}
	half := 0.25
	for _, c := range []config{
		other(func(m *model.Model) { m.BaseURL = "https://example.org" }), other(func(m *model.Model) { m.APIFormat = "other" }),
		other(func(m *model.Model) { m.Limits.Output = 1 }), other(func(m *model.Model) { m.Sampling.Stop = nil }),
		other(func(m *model.Model) { m.Sampling.TopP = &half }), other(func(m *model.Model) { m.Sampling.Temperature = &half }),
	} {
		check(t, []pair{{"VIEW-2", "does not show what the definition says", run().reads("r", c), "it does", run().reads("r", base())}})
	}
}
