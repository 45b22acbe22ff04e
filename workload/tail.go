package workload

// tail draws the end: a last turn shows what is in force, a shutdown ends it, and after that comes, sometimes, what must be
// refused, or another loop from the same journal or definition.
func (g *generator) tail() {
	if !g.chance(6) {
		g.turn(100)
	}
	if g.chance(60) {
		g.add(Read)
	}
	if g.chance(15) { // what did not change is offered in the same order (TURN-9)
		g.turn(40)
	}
	if g.replaced > 1 && !g.huge && g.chance(25) { // nor is it if a source brings again what it had
		o := g.add(Replace)
		*o = g.again(*o)
		g.turn(100)
	}
	then := g.draw(100)
	without := then >= 90 && then < 94 && g.p.Restore && !g.foreign
	if without && !g.chance(35) { // in which there is a mode that can be taken away
		g.add(SetMode, Arg{"mode", declaredModes[g.draw(2)]})
	}
	if g.chance(7) {
		return // the kit shuts it down
	}
	g.add(Shutdown).Cancel = g.chance(20)
	switch {
	case then < 40:
	case then < 60 || !g.p.Restore || g.foreign:
		g.afterExit()
	case then < 90:
		g.restored()
	case without:
		g.add(RestoreWithout)
		if g.chance(30) {
			g.restored()
		}
	default:
		g.add(Anew)
		g.add(Read)
		g.turn(100)
		if g.chance(50) {
			g.add(Shutdown)
		}
	}
}

func (g *generator) add(kind Kind, args ...Arg) *Operation {
	g.ended++
	g.operations = append(g.operations, Operation{ID: id(TailName[0], g.ended), Kind: kind})
	o := &g.operations[len(g.operations)-1]
	if len(args) > 0 {
		o.Args = g.args(args...)
	}
	return o
}

// turn adds an input; so many in a hundred call every tool.
func (g *generator) turn(all int) {
	o := g.add(Submit)
	switch {
	case g.draw(100) >= all:
	case g.huge:
		o.Args = g.args(Arg{"steps", "d1"})
	default:
		o.Args = g.args(Arg{"steps", EveryTool})
	}
}

func (g *generator) afterExit() {
	for range 1 + g.draw(2) {
		switch g.draw(6) {
		case 0:
			g.add(Submit)
		case 1:
			g.change(g.add(Change))
		case 2:
			g.setMode(g.add(SetMode))
		case 3:
			g.add(Interrupt)
		case 4:
			g.add(Shutdown)
		default:
			if g.p.External || g.foreign {
				g.replace(g.add(Replace))
			} else {
				g.add(Read)
			}
		}
	}
}

// restored goes on with a loop from the journal, in which every slot is empty and the same sets can be installed (EXT-9).
func (g *generator) restored() {
	g.add(Restore)
	if !g.chance(30) {
		g.add(Read)
	}
	if !g.chance(20) {
		g.turn(100)
	}
	if g.replaced > 0 && g.chance(45) {
		again := g.earlier()
		o := g.add(Replace)
		o.Args = again.Args
		if g.chance(50) { // another generation of its own, else the same
			if _, ok := again.Value("generation"); !ok {
				o.Args = g.args(again.Args[0], Arg{"generation", again.Generation()}, again.Args[1])
			}
		}
		g.turn(100)
	}
	if !g.chance(20) {
		g.add(Shutdown)
	}
}
