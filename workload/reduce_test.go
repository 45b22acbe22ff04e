package workload_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/workload"
)

func parse(t require.TestingT, text string) workload.Workload {
	w, err := workload.Parse(text, poke)
	require.NoError(t, err)
	return w
}

// reduced lists the reductions as "pass: operations", with | between clients.
func reduced(w workload.Workload) (list []string) {
	for r := range w.Reductions() {
		text := strings.ReplaceAll(r.Workload.String(), "\n  ", " | ")
		list = append(list, r.Pass+": "+strings.ReplaceAll(strings.TrimSpace(text), "\n", " ; "))
	}
	return list
}

func TestReductions(t *testing.T) {
	w := parse(t, "client a\na1 submit steps=d1\nclient b\nb1 interrupt cancel\ntail\nz1 read\nz2 shutdown\nz3 interrupt")
	require.Equal(t, []string{
		"drop the tail: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel",
		"drop a client: client b | b1 interrupt cancel ; tail | z1 read | z2 shutdown | z3 interrupt",
		"drop a client: client a | a1 submit steps=d1 ; tail | z1 read | z2 shutdown | z3 interrupt",
		"drop the tail's end: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel ; tail | z1 read",
		"drop an operation: client b | b1 interrupt cancel ; tail | z1 read | z2 shutdown | z3 interrupt",
		"drop an operation: client a | a1 submit steps=d1 ; tail | z1 read | z2 shutdown | z3 interrupt",
		"drop an operation: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel ; tail | z2 shutdown | z3 interrupt",
		"drop an operation: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel ; tail | z1 read | z3 interrupt",
		"drop an operation: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel ; tail | z1 read | z2 shutdown",
		"merge clients: client a | a1 submit steps=d1 | b1 interrupt cancel ; tail | z1 read | z2 shutdown | z3 interrupt",
		"merge clients: client a | b1 interrupt cancel | a1 submit steps=d1 ; tail | z1 read | z2 shutdown | z3 interrupt",
		"replace by a submit: client a | a1 submit steps=d1 ; client b | b1 submit ; tail | z1 read | z2 shutdown | z3 interrupt",
		"replace by a submit: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel ; tail | z1 read | z2 submit | z3 interrupt",
		"replace by a submit: client a | a1 submit steps=d1 ; client b | b1 interrupt cancel ; tail | z1 read | z2 shutdown | z3 submit",
		"never cancelled: client a | a1 submit steps=d1 ; client b | b1 interrupt ; tail | z1 read | z2 shutdown | z3 interrupt",
		"drop an argument: client a | a1 submit ; client b | b1 interrupt cancel ; tail | z1 read | z2 shutdown | z3 interrupt",
	}, reduced(w))
}

func TestWhatDependsGoesToo(t *testing.T) {
	dropped := func(text, id string) []string {
		for r := range parse(t, text).Reductions() {
			if r.Pass == "drop an operation" && r.Dropped[0] == id {
				require.NoError(t, r.Workload.Validate(poke))
				return r.Dropped
			}
		}
		return nil
	}
	const turns = "client a\na1 submit steps=d1\na2 submit inside=a1 steps=d1\na3 read inside=a2\na4 read\nclient b\nb1 wait turn=a2\nb2 read\nclient c\nc1 wait turn=a1"
	require.Equal(t, []string{"a1", "a2", "a3", "b1", "c1", "c"}, dropped(turns, "a1"))
	const tail = "client a\na1 submit\ntail\nz1 shutdown\nz2 restore-without\nz3 restore\nz4 shutdown\nz5 anew\nz6 read"
	require.Equal(t, []string{"z1", "z2", "z3"}, dropped(tail, "z1"), "there is no second loop beside the first")
	require.Equal(t, []string{"z2"}, dropped(tail, "z2"))
	require.Equal(t, []string{"z3"}, dropped(tail, "z3"), "the shutdown of z1 stands for z4's loop too")
	require.Equal(t, []string{"a1", "a"}, dropped("client a\na1 submit\ntail\nz1 restore", "a1"), "a restore that had no shutdown needs none")
	require.Equal(t, []string{"a1", "a", "z1"}, dropped("client a\na1 shutdown\ntail\nz1 restore", "a1"))
}

func TestMergeKeepsWaitsBehindTheirTurns(t *testing.T) {
	var merged []string
	for _, r := range reduced(parse(t, "client a\na1 submit\nclient b\nb1 wait turn=a1\nclient c\nc1 read")) {
		if rest, found := strings.CutPrefix(r, "merge clients: "); found {
			merged = append(merged, rest)
		}
	}
	require.Equal(t, []string{
		"client a | a1 submit | b1 wait turn=a1 ; client c | c1 read",
		"client a | a1 submit | c1 read ; client b | b1 wait turn=a1",
		"client a | a1 submit ; client b | b1 wait turn=a1 | c1 read",
		"client a | c1 read | a1 submit ; client b | b1 wait turn=a1",
		"client a | a1 submit ; client b | c1 read | b1 wait turn=a1",
	}, merged)
}

func TestPlainerArguments(t *testing.T) {
	for line, want := range map[string][]string{
		"submit steps=d1,x/*": {
			"submit", "submit steps=*", "submit steps=d1,x", "submit steps=x/*", "submit steps=d1/*",
			"submit steps=d1,d1/*", "submit steps=d1,x/d1",
		},
		"submit steps=d1": {"submit"},
		"change model=low effort=max": {
			"submit", "change effort=max", "change model=low", "change model=fresh effort=max", "change model=low effort=high",
		},
		"change nil effort=high": {"submit", "change effort=high", "change nil"},
		"set-mode mode=":         {"submit", "set-mode mode=plan"},
		"set-mode mode=plan":     {"submit"},
		"replace source=s2 generation=g tools=x:fail,D1": {
			"submit", "replace source=s2 tools=x:fail,D1", "replace source=s1 generation=g tools=x:fail,D1",
			"replace source=s2 generation=g tools=", "replace source=s2 generation=g tools=D1",
			"replace source=s2 generation=g tools=x:fail", "replace source=s2 generation=g tools=x,D1",
			"replace source=s2 generation=g tools=x:fail,y",
		},
		"replace source=s1 tools=@513":  {"submit", "replace source=s1 tools=x", "replace source=s1 tools=x,y"},
		"replace source=s1 tools=@64+1": {"submit", "replace source=s1 tools=", "replace source=s1 tools=x"},
		"replace source=s1 tools=x,y,z,q": {
			"submit", "replace source=s1 tools=", "replace source=s1 tools=y,z,q", "replace source=s1 tools=x,z,q",
			"replace source=s1 tools=x,y,q", "replace source=s1 tools=x,y,z",
		},
		"read":              nil,
		"poke where=x to=y": {"submit", "poke to=y", "poke where=x"},
		"crash":             {"submit"},
	} {
		var got []string
		w := workload.Workload{Clients: parse(t, "client a\na1 "+line).Clients}
		for r := range w.Reductions() {
			if len(r.Dropped) == 0 {
				got = append(got, strings.TrimPrefix(r.Workload.Clients[0].Operations[0].String(), "a1 "))
			}
		}
		require.Equal(t, want, got, line)
	}
	require.Contains(t, reduced(parse(t, "foreign\nclient a\na1 read")), "foreign to native: client a | a1 read")
	require.Contains(t, reduced(parse(t, "client a\na1 submit\na2 change inside=a1")), "out of the tool: client a | a1 submit | a2 change")
	require.Contains(t, reduced(parse(t, "client a\na1 submit\na2 change inside=a1")), "replace by a submit: client a | a1 submit | a2 submit inside=a1")
}

// TestReductionsKeepTheRules: each is valid and smaller, ids stay or are named as dropped, w is as it was, and it is the same again.
func TestReductionsKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := written().Draw(t, "written")
		before := w.String()
		var first []workload.Reduction
		for r := range w.Reductions() {
			first = append(first, r)
			require.NoError(t, r.Workload.Validate(poke), "%s: %v", r.Pass, r.Workload)
			require.Less(t, r.Workload.Size(), w.Size(), "%s: %v", r.Pass, r.Workload)
			require.ElementsMatch(t, names(w), append(names(r.Workload), r.Dropped...), r.Pass)
			read, err := workload.Parse(r.Workload.String(), poke)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(r.Workload, read))
		}
		require.Equal(t, before, w.String())
		require.Equal(t, first, slices.Collect(w.Reductions()))
		for range w.Reductions() {
			break // at any place
		}
	})
}

func names(w workload.Workload) (list []string) {
	for _, c := range w.Clients {
		list = append(list, c.Name)
	}
	for _, o := range w.Operations() {
		list = append(list, o.ID)
	}
	return list
}

// TestReductionsStopWhereAsked: whoever ranges over them may leave at any one.
func TestReductionsStopWhereAsked(t *testing.T) {
	w := parse(t, strings.TrimPrefix(sample, "foreign\n"))
	total := len(slices.Collect(w.Reductions()))
	for n := range total {
		seen := 0
		for range w.Reductions() {
			if seen++; seen > n {
				break
			}
		}
		require.Equal(t, n+1, seen)
	}
}

// TestReductionsLeadToTheLeast: greedy shrinking comes to what the property needs, and ends.
func TestReductionsLeadToTheLeast(t *testing.T) {
	needs := func(w workload.Workload) bool { // somebody clears a source after a turn that calls x
		called := false
		for _, o := range w.Operations() {
			if steps, _ := o.Value("steps"); strings.Contains(steps, "x") {
				called = true
			}
			if tools, given := o.Value("tools"); given && tools == "" && called {
				return true
			}
		}
		return false
	}
	shrunk := 0
	for n := range uint64(3000) {
		w := workload.Generate(full, workload.Seeded(6, n))
		if !needs(w) {
			continue
		}
		tries := 0
		for smaller := true; smaller; {
			smaller, tries = false, tries+1
			require.Less(t, tries, 1000, "it does not end")
			for r := range w.Reductions() {
				if needs(r.Workload) {
					w, smaller = r.Workload, true
					break
				}
			}
		}
		shrunk++
		require.Equal(t, 2, w.Len(), "%v", w)
		require.LessOrEqual(t, len(w.Clients), 1, "%v", w)
	}
	require.Greater(t, shrunk, 10)
}

func BenchmarkReductions(b *testing.B) {
	w := workload.Generate(full, workload.Seeded(1, 7))
	b.ReportAllocs()
	for b.Loop() {
		for range w.Reductions() {
		}
	}
}
