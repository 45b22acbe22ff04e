package conformance

// directedChanges are the scenarios of the groups "Change" and "SetMode".
var directedChanges = []Directed{
	{
		Requirement: "CHG-1",
		Name:        "batches that select nothing",
		Why: "A batch without an element, and one whose only element is nil, must be refused as no_changes. A loop that lets them " +
			"succeed has said that something was committed.",
		Workload: `
			client a
			  a1 change
			  a2 change nil
			  a3 read`,
	},
	{
		Requirement: "CHG-1",
		Name:        "the last value wins",
		Why: "Of two efforts in one batch the last one counts, and an element that is nil is as if it were not there. The turn must ask " +
			"with effort high.",
		Workload: `
			client a
			  a1 change nil
			  a2 change nil effort=medium nil effort=high
			  a3 submit`,
	},
	{
		Requirement: "CHG-2",
		Name:        "a model and an effort in one batch",
		Why: "Model and effort of one batch go into the journal in one event and come into force together. A loop that writes two " +
			"events, or loses one of the two, fails here.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 read
			  a3 submit`,
	},
	{
		Requirement: "CHG-2",
		Name:        "half of a batch is valid",
		Why: "The model of the batch is valid, but does not support the effort of the batch. Nothing of it must be in force afterwards. A " +
			"loop that applies a batch field by field keeps the model. The same effort with another model succeeds.",
		Workload: `
			client a
			  a1 change model=low effort=high
			  a2 read
			  a3 submit
			  a4 change model=fresh effort=high`,
	},
	{
		Requirement: "CHG-2",
		Name:        "a batch equal to what is in force",
		Why:         "Model and effort of the batch are those in force already. The batch commits all the same: its event must be in the journal.",
		Workload: `
			client a
			  a1 change model=base effort=low`,
	},
	{
		Requirement: "CHG-3",
		Name:        "a model whose transport is not declared",
		Why: "The definition lists where models may be reached: provider, API format and base URL. A model that lives elsewhere must be " +
			"refused as invalid_model, or an application could be made to send its conversations anywhere.",
		Workload: `
			client a
			  a1 change model=undeclared effort=low
			  a2 submit`,
	},
	{
		Requirement: "CHG-3",
		Name:        "a model without a name, and a malformed one",
		Why:         "A model without a name, or with a negative limit, is no model: the change must be refused as invalid_model.",
		Workload: `
			client a
			  a1 change model=keyless
			  a2 change effort=high model=malformed
			  a3 submit`,
	},
	{
		Requirement: "CHG-4",
		Name:        "an effort for the model that comes with it",
		Why: "The current model does not support effort max, the one in the same batch does. The batch is valid in either order of the " +
			"two. A loop that holds the effort against the current model refuses it.",
		Workload: `
			client a
			  a1 change effort=max model=fresh
			  a2 submit`,
	},
	{
		Requirement: "CHG-4",
		Name:        "an effort that the model lacks",
		Why: "The current model does not support effort max, and the model of the second batch supports low only. Both must be refused " +
			"as invalid_effort, and change nothing.",
		Workload: `
			client a
			  a1 change effort=max
			  a2 change model=low effort=high
			  a3 submit`,
	},
	{
		Requirement: "CHG-4",
		Name:        "a model alone keeps the effort",
		Why: "The effort is high. A model that supports low only cannot be selected alone: that would keep an effort that it lacks. One " +
			"that supports high can, and the effort stays high.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 change model=low
			  a3 change model=fresh
			  a4 submit`,
	},
	{
		Requirement: "CHG-5",
		Name:        "a model that its owner writes to",
		Why: "The caller hands a model over and then writes to the memory that it refers to, and to the list of changes. The turns " +
			"must still ask with the model as it was.",
		Workload: `
			client a
			  a1 change model=fresh effort=high
			  a2 read
			  a3 submit`,
	},
	{
		Requirement: "CHG-6",
		Name:        "a second loop of the same definition",
		Why: "A loop is changed and shut down, and another one is made of the same definition. It must start as the first one did: " +
			"changes are the loop's, not the definition's.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			  a2 change model=fresh effort=max
			tail
			  z1 shutdown
			  z2 anew
			  z3 read
			  z4 submit steps=*`,
	},
	{
		Requirement: "CHG-6",
		Name:        "the external tools of the loop before",
		Why:         "External tools belong to the loop that they were installed in. A second loop of the same definition has none.",
		Workload: `
			client a
			  a1 replace source=s1 tools=x
			tail
			  z1 shutdown
			  z2 anew
			  z3 submit steps=*`,
	},
	{
		Requirement: "MODE-1",
		Name:        "modes that are not declared",
		Why: "\"nowhere\" is no mode of the definition, and \"Plan\" is another name than \"plan\". Both must be refused as invalid_mode, and " +
			"the refusal must say which mode it was. The turn shows that the loop is still in the base mode.",
		Workload: `
			client a
			  a1 set-mode mode=nowhere
			  a2 set-mode mode=Plan
			  a3 submit`,
	},
	{
		Requirement: "MODE-1",
		Name:        "the base mode",
		Why:         "The empty name is the base mode, and can be selected like any other. A name that is not declared cannot.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			  a2 set-mode mode=
			  a3 set-mode mode="plan "
			  a4 submit`,
	},
	{
		Requirement: "MODE-2",
		Name:        "a mode brings all of its values",
		Why: "Mode plan has its own instructions, model, effort and tools. After SetMode the handle shows them, and the next turn has all " +
			"of them together. One event records them.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			  a2 read
			  a3 submit steps=*`,
	},
	{
		Requirement: "MODE-2",
		Name:        "the mode that is selected already",
		Why: "In mode plan the effort is changed. Selecting plan again puts it back to plan's own. A loop that takes the current mode for " +
			"nothing to do leaves the change in place.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			  a2 change model=fresh effort=max
			  a3 set-mode mode=plan
			  a4 submit`,
	},
	{
		Requirement: "MODE-2",
		Name:        "what a mode leaves out comes from the base",
		Why: "Mode quick says nothing of model and effort. It takes them from the base mode's definition, not from what was in force, " +
			"which somebody had changed.",
		Workload: `
			client a
			  a1 change effort=high
			  a2 set-mode mode=quick
			  a3 submit steps=*`,
	},
	{
		Requirement: "MODE-2",
		Name:        "a mode without tools and effort",
		Why:         "Mode bare says that it has no tools and no effort. To say none is not to leave it out: nothing is taken from the base.",
		Workload: `
			client a
			  a1 set-mode mode=bare
			  a2 submit steps=*`,
	},
	{
		Requirement: "MODE-3",
		Name:        "a restore without the mode in force",
		Why: "The journal ends in mode plan, and the new version of the definition has no such mode. The restore must fail with an error " +
			"of the contract's types, and must not write to the journal: not start in another mode, as if nothing were wrong.",
		Workload: `
			client a
			  a1 set-mode mode=plan
			tail
			  z1 shutdown
			  z2 restore-without`,
	},
}
