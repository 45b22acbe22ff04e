package workload_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/workload"
)

const poke workload.Kind = "poke"

var full = workload.Profile{Foreign: true, External: true, Restore: true}

func poked(p workload.Profile) workload.Profile {
	p.Extra = []workload.Extra{{Kind: poke, Weight: 10, Args: func(draw workload.Draw) []workload.Arg {
		return []workload.Arg{{Name: "where", Value: []string{"ribs", "eye", ""}[draw(3)]}}
	}}}
	return p
}

func TestGeneratedWorkloadsAreValid(t *testing.T) {
	for _, p := range []workload.Profile{{}, full, poked(full), {External: true}, {Restore: true, MaxClients: 1}, {Foreign: true, MaxClients: 40, MaxOperations: 30}} {
		for n := range uint64(5000) {
			w := workload.Generate(p, workload.Seeded(7, n))
			require.NoError(t, w.Validate(poke), "%v", w)
			require.NotEmpty(t, w.Clients)
			if n%50 == 0 { // it costs more
				read, err := workload.Parse(w.String(), poke)
				require.NoError(t, err)
				require.Equal(t, w, read)
			}
			for _, o := range w.Operations() {
				require.True(t, p.Restore || o.Kind != workload.Crash && o.Kind != workload.Restore)
				require.True(t, p.External || w.Foreign || o.Kind != workload.Replace)
				require.False(t, w.Foreign && o.Kind == workload.Crash)
			}
		}
	}
}

func TestZerosMakeThePlainest(t *testing.T) {
	w := workload.Generate(full, func(int) int { return 0 })
	require.Equal(t, "client a\n  a1 submit\ntail\n  z1 submit steps=*\n  z2 shutdown\n", w.String())
	require.Equal(t, w, workload.Generate(full, workload.Bytes(nil)))
}

func TestSameChoicesMakeTheSame(t *testing.T) {
	for n := range uint64(200) {
		require.Equal(t, workload.Generate(full, workload.Seeded(3, n)), workload.Generate(full, workload.Seeded(3, n)))
	}
}

// TestSeededDrawsAreForEver: a run is known by its seed and number.
func TestSeededDrawsAreForEver(t *testing.T) {
	draw := workload.Seeded(7, 412)
	require.Equal(t, []int{6, 6, 661, 1, 156418}, []int{draw(10), draw(10), draw(1000), draw(2), draw(1 << 20)})
}

func TestDrawsAreInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := workload.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "data"))
		seeded := workload.Seeded(rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "n"))
		for range 20 {
			n := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, 1<<40)).Draw(t, "n")
			for _, draw := range []workload.Draw{bytes, seeded} {
				v := draw(n)
				require.True(t, 0 <= v && v < n)
			}
		}
	})
	draw := workload.Bytes([]byte{3, 200, 1, 0, 9})
	require.Equal(t, []int{0, 3, 0, 256, 9, 0, 0}, []int{draw(1), draw(100), draw(100), draw(1000), draw(10), draw(10), draw(1000)})
}

// TestShares holds what the generator is tuned for, with room: the kinds' shares, how many are odd, how much is plain.
func TestShares(t *testing.T) {
	const runs = 20_000
	kinds, clients, tail := map[workload.Kind]int{}, map[int]int{}, map[workload.Kind]int{}
	total, inside, cancel, huge, clean, odds := 0, 0, 0, 0, 0, 0
	p := full
	p.Foreign = false
	for n := range uint64(runs) {
		w := workload.Generate(p, workload.Seeded(1, n))
		clients[len(w.Clients)]++
		odd := false
		for _, c := range w.Clients {
			for _, o := range c.Operations {
				total++
				kinds[o.Kind]++
				if o.Inside != "" {
					inside++
				}
				if o.Cancel {
					cancel++
				}
				if tools, _ := o.Value("tools"); strings.HasPrefix(tools, "@5") {
					huge++
				}
				if isOdd(o) {
					odd = true
					odds++
				}
			}
		}
		if !odd {
			clean++
		}
		for _, o := range w.Tail {
			tail[o.Kind]++
		}
	}
	share := func(n, of int, low, high float64, what string) {
		t.Helper()
		percent := 100 * float64(n) / float64(of)
		require.True(t, low <= percent && percent <= high, "%s: %.2f%%, not %.0f to %.0f", what, percent, low, high)
	}
	for kind, percent := range map[workload.Kind]float64{
		workload.Submit: 28, workload.Change: 20, workload.SetMode: 12, workload.Replace: 18, workload.Interrupt: 7,
		workload.Read: 6, workload.Wait: 4, workload.Shutdown: 4, workload.Crash: 3,
	} {
		share(kinds[kind], total, percent*0.7, percent*1.3, string(kind))
	}
	for n, percent := range map[int]float64{1: 15, 2: 45, 3: 25, 4: 15} {
		share(clients[n], runs, percent-2, percent+2, "clients")
	}
	share(inside, total, 6, 10, "inside")
	share(cancel, total, 17, 23, "cancel")
	share(huge, kinds[workload.Replace], 0.5, 2.5, "sets of hundreds")
	share(odds, total, 10, 25, "odd values")
	t.Logf("odd: %.1f %%, clean workloads: %.1f %%", 100*float64(odds)/float64(total), 100*float64(clean)/float64(runs))
	share(clean, runs, 50, 75, "clean workloads")
	share(tail[workload.Submit], runs, 100, 190, "submits in the tail")
	share(tail[workload.Restore], runs, 20, 40, "restores")
	share(tail[workload.RestoreWithout], runs, 2, 6, "restores without the mode")
	share(tail[workload.Anew], runs, 3, 8, "second loops")
}

// isOdd says whether a value is one of those that only some workloads have.
func isOdd(o workload.Operation) bool {
	for _, a := range o.Args {
		switch a.Name {
		case "model":
			if a.Value != workload.FreshModel && a.Value != workload.BaseModel {
				return true
			}
		case "effort":
			if a.Value == workload.BogusEffort {
				return true
			}
		case "mode":
			if a.Value != "" && !slices.Contains(workload.Modes(), a.Value) {
				return true
			}
		case "source":
			if !slices.Contains(workload.Sources(), a.Value) {
				return true
			}
		case "tools":
			for _, tool := range o.Tools() {
				if tool.Behaviour != "" && !slices.Contains([]string{"pair", "changing", "blank", "none"}, tool.Behaviour) || len(tool.Name) > 1 {
					return true
				}
			}
		}
	}
	return o.Kind == workload.Change && len(o.Args) == 0
}

// TestEverythingComesUp: whatever the text form allows comes up, so that the kit can exercise it.
func TestEverythingComesUp(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(100_000) {
		w := workload.Generate(full, workload.Seeded(2, n))
		for _, o := range w.Operations() {
			seen["kind "+string(o.Kind)] = true
			for _, a := range o.Args {
				switch a.Name {
				case "model", "effort", "mode", "source":
					seen[a.Name+" "+a.Value] = true
				case "tools":
					for _, tool := range o.Tools() {
						seen["behaviour "+tool.Behaviour], seen["tool "+tool.Name] = true, true
					}
				}
			}
		}
	}
	require.Subset(t, keys(seen), prefixed("kind ", workload.Kinds()))
	require.Subset(t, keys(seen), prefixed("model ", workload.Models()))
	require.Subset(t, keys(seen), prefixed("effort ", workload.Efforts()))
	require.Subset(t, keys(seen), prefixed("mode ", append(workload.UndeclaredModes(), append(workload.Modes(), "")...)))
	require.Subset(t, keys(seen), prefixed("source ", workload.Sources()))
	require.Subset(t, keys(seen), prefixed("behaviour ", workload.Behaviours()))
	require.Subset(t, keys(seen), prefixed("tool ", workload.LookAlikes()))
	require.Subset(t, keys(seen), prefixed("tool ", workload.ExternalTools()))
	require.Subset(t, keys(seen), []string{"tool d1", "tool d3", "tool t512", "tool t513"})
}

func keys(m map[string]bool) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	return list
}

func prefixed[S ~string](prefix string, list []S) (all []string) {
	for _, s := range list {
		all = append(all, prefix+string(s))
	}
	return all
}

func TestEffectsCanBeToldApart(t *testing.T) {
	again := 0
	for n := range uint64(20_000) {
		w := workload.Generate(full, workload.Seeded(4, n))
		efforts, generations := map[string]int{}, map[string]bool{}
		for _, o := range w.Operations() {
			if o.Kind == workload.Change {
				for _, a := range o.Args {
					if a.Name == "effort" && a.Value != workload.NoEffort && a.Value != workload.BogusEffort {
						efforts[a.Value]++
					}
				}
			}
			if o.Kind == workload.Replace {
				if _, given := o.Value("generation"); !given {
					require.False(t, generations[o.Generation()], "%v", w)
				} else if generations[o.Generation()] {
					again++
				}
				generations[o.Generation()] = true
			}
		}
		if len(efforts) < 6 { // as long as there are some left
			for effort, times := range efforts {
				require.Equal(t, 1, times, "%s: %v", effort, w)
			}
		}
	}
	require.Greater(t, again, 500, "the same generation again (EXT-14)")
}

func TestRareThingsKeepTheirRules(t *testing.T) {
	for n := range uint64(20_000) {
		w := workload.Generate(poked(full), workload.Seeded(5, n))
		crashes, huge := 0, 0
		firstStep := map[string][][]string{}
		for _, o := range w.Operations() {
			if o.Kind == workload.Crash {
				crashes++
			}
			if len(o.Tools()) > 500 && o.ID[0] != 'z' {
				huge++
			}
			if o.Kind == workload.Submit {
				require.False(t, huge > 0 && len(o.Args) > 0 && strings.Contains(o.Args[0].Value, "*"), "that is slow: %v", w)
				firstStep[o.ID] = o.Steps()
			}
			if o.Inside != "" {
				require.NotEmpty(t, firstStep[o.Inside], "%v", w)
			}
		}
		require.LessOrEqual(t, crashes, 1, "%v", w)
		require.LessOrEqual(t, huge, 1, "%v", w)
	}
}

func TestRapidGenerators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workload.Workloads(poked(full)).Draw(t, "workload")
		require.NoError(t, w.Validate(poke))
		o := workload.Operations(poked(full), "q7").Draw(t, "operation")
		require.Equal(t, "q7", o.ID)
		require.NoError(t, workload.Workload{Clients: []workload.Client{{Name: "a", Operations: []workload.Operation{o}}}}.Validate(poke))
	})
}

func FuzzGenerate(f *testing.F) {
	f.Add([]byte("a workload from any bytes"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := workload.Generate(poked(full), workload.Bytes(data))
		read, err := workload.Parse(w.String(), poke)
		require.NoError(t, err)
		require.Equal(t, w, read)
	})
}

func BenchmarkGenerate(b *testing.B) {
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		workload.Generate(full, workload.Seeded(1, n))
	}
}
