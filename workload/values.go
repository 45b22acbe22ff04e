package workload

// The values that operations get. What comes first in a table is what is plainest.

// plainSteps call tools of the definition, and sourceSteps such as come from sources, if they are there. Few are long: each
// call is several decisions of a run.
var (
	plainSteps  = [...]string{"", "d1", "*", "", "d1/d1", "d1,d2", "*", "d2/*", "d1/*", "*/d1"}
	sourceSteps = [...]string{"x", "*/x", "d1,x", "x/x", "y", "d1/z", "*/*", "*"}
	oddSteps    = [...]string{"ghost", "d1,ghost", "ghost/d1", "d1/ghost", "X", "d1,d1", "D1", "d3,ghost"}
	hugeSteps   = [...]string{"", "d1", "d1/d1", "d1,d2"}
)

func (g *generator) submit(o *Operation) {
	var steps string
	switch {
	case g.huge:
		steps = hugeSteps[g.draw(len(hugeSteps))]
	case g.odd&oddCall != 0 && g.chance(50):
		steps = oddSteps[g.draw(len(oddSteps))]
	case g.p.External && !g.foreign && g.chance(35):
		steps = sourceSteps[g.draw(len(sourceSteps))]
	default:
		steps = plainSteps[g.draw(len(plainSteps))]
	}
	if steps != "" {
		o.Args = g.args(Arg{"steps", steps})
	}
}

var (
	oddModels = [...]string{PlainModel, LowModel, KeylessModel, MalformedModel, UndeclaredModel}
	efforts   = [...]string{"high", "low", "medium", "max", "minimal", "xhigh"}
)

// effort returns one that the workload has not used yet, as long as there are such.
func (g *generator) effort() string {
	g.efforts++
	return efforts[(g.efforts-1)%len(efforts)]
}

func (g *generator) change(o *Operation) {
	model := func(variant string) Arg { return Arg{"model", variant} }
	effort := func() Arg { return Arg{"effort", g.effort()} }
	switch {
	case g.odd&oddModel != 0 && g.chance(60):
		m := model(oddModels[g.draw(len(oddModels))])
		switch g.draw(4) {
		case 0, 1:
			o.Args = g.args(m)
		case 2:
			o.Args = g.args(m, effort())
		default:
			o.Args = g.args(effort(), m)
		}
	case g.odd&oddEffort != 0 && g.chance(60):
		switch bogus := (Arg{"effort", BogusEffort}); g.draw(4) {
		case 0:
			o.Args = g.args(bogus)
		case 1:
			o.Args = g.args(model(FreshModel), bogus)
		case 2:
			o.Args = g.args(bogus, effort()) // the last one counts
		default:
			o.Args = g.args(model(LowModel), effort())
		}
	case g.odd&oddBatch != 0 && g.chance(65):
		switch g.draw(6) {
		case 0:
		case 1:
			o.Args = g.args(Arg{Name: bare})
		case 2:
			o.Args = g.args(Arg{Name: bare}, effort())
		case 3:
			o.Args = g.args(effort(), effort())
		case 4:
			o.Args = g.args(model(FreshModel), effort(), model(BaseModel))
		default:
			o.Args = g.args(model(MalformedModel), effort(), model(FreshModel), Arg{Name: bare})
		}
	default:
		switch g.draw(10) {
		case 0, 1, 2, 3:
			o.Args = g.args(effort())
		case 4, 5:
			o.Args = g.args(model(FreshModel))
		case 6, 7:
			o.Args = g.args(model(FreshModel), effort())
		case 8:
			o.Args = g.args(effort(), model(FreshModel))
		default:
			if g.draw(2) == 0 {
				o.Args = g.args(model(BaseModel))
			} else {
				o.Args = g.args(Arg{"effort", NoEffort})
			}
		}
	}
}

var declaredModes = [...]string{ModePlan, ModeQuick, "", ModeBare, ModePlan, ModeQuick}

func (g *generator) setMode(o *Operation) {
	mode := declaredModes[g.draw(len(declaredModes))]
	if g.odd&oddMode != 0 && g.chance(60) {
		mode = undeclaredModes[g.draw(len(undeclaredModes))]
	}
	o.Args = g.args(Arg{"mode", mode})
}

var (
	// Each source has names of its own, and two of them one in common: sets that collide are mostly a matter of oddCollision.
	sets = [3][8]string{
		{"x", "x,y", "", "x", "y", "y,x", "x:pair", "x:changing"},
		{"z", "z,y", "", "z", "y", "z:blank", "z", "z,y:changing"},
		{"v", "v,w", "", "v", "v", "w", "v:none", "w,v:blank"},
	}
	sharedSets     = [...]string{"x", "x", "", "y", "x,y", "x", "", "y,x"}
	sources        = [...]string{"s1", "s2", "s1", "s3", "s2", "s1"}
	oddSources     = [...]string{"@64", "@65", "", "s1\x00", "\xff", "S1", "s1 ", "s\u00851", "@1", "s1\n", "\u043c1"}
	oddGenerations = [...]string{"@128", "@129", "", "g\x00", "\xff\xfe", "@1", "g\n", "g\u0085", " "}
	collisions     = [...]string{"d1", "d2,x", "x,x", "x", "y", "z", "x,d3", "x,x2:pair", "x:pair,x2", "x,y,z", "d3", "y,d3"}
	oddNames       = [...]string{
		"D1", "x,X", "x,x\u200b", "d1 ", "x,\u0445", "x,\uff38", "\u00e9,e\u0301", "@64+1,@64+2", "d1\u200b", "x,x ", "@127+n",
		"\uff44\uff11", "@128+n", "x y",
	}
	faulty = [...]string{
		BuildFails, NilDefinition, NilTool, BuildPanics, NilInfo, InfoFails, InfoPanics, EmptyName, LongName, BadUTF8, BadSchema,
	}
)

func (g *generator) replace(o *Operation) {
	n := g.draw(len(sources))
	source, generation := sources[n], ""
	own := int(source[1] - '1')
	tools := sets[own][g.draw(len(sets[own]))]
	if g.shared {
		tools = sharedSets[g.draw(len(sharedSets))]
	}
	switch {
	case g.huge && g.replaced == 0:
		tools = [...]string{"@513", "@513", "@512"}[g.draw(3)]
	case g.odd&oddBuild != 0 && g.chance(60):
		tools = faultySets[g.draw(len(faultySets))] + ":" + g.behaviour[g.draw(2)]
	case g.odd&oddCollision != 0 && g.chance(60):
		tools = collisions[g.draw(len(collisions))]
	case g.odd&oddName != 0 && g.chance(60):
		tools = oddNames[g.draw(len(oddNames))]
	}
	if g.odd&oddSource != 0 && g.chance(50) {
		source = oddSources[g.draw(len(oddSources))]
	}
	given := false
	if g.replaced > 0 && !g.huge && g.chance(12) { // the very same content once more (TURN-9)
		*o = g.again(*o)
		return
	}
	switch {
	case g.odd&oddGeneration != 0 && g.chance(35):
		generation, given = oddGenerations[g.draw(len(oddGenerations))], true
	case g.replaced > 0 && g.chance(15): // an earlier one again (EXT-14)
		generation, given = g.earlier().Generation(), true
	}
	if given {
		o.Args = g.args(Arg{"source", source}, Arg{"generation", generation}, Arg{"tools", tools})
	} else {
		o.Args = g.args(Arg{"source", source}, Arg{"tools", tools})
	}
	g.replaces[g.replaced%len(g.replaces)] = *o
	g.replaced++
}

// again makes the operation one that installs what an earlier replacement did.
func (g *generator) again(o Operation) Operation {
	before := g.earlier()
	source, _ := before.Value("source")
	tools, _ := before.Value("tools")
	o.Args = g.args(Arg{"source", source}, Arg{"generation", before.Generation()}, Arg{"tools", tools})
	return o
}

// faultySets are what a fault comes behind: alone, the last of some, with tools that another source has.
var faultySets = [...]string{"x", "x,y", "y", "v,x", "z"}
