package sim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/sim"
)

func names() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b1", "append", "turn a1/tool 2", "start", "run", "#x", "", `"`, `\`, "\xff", "\u00a0", "a\nb", "verdict"}),
		rapid.String())
}

func deviations() *rapid.Generator[sim.Deviation] {
	return rapid.Custom(func(t *rapid.T) sim.Deviation {
		d := sim.Deviation{
			Owner: names().Draw(t, "owner"), Gate: names().Draw(t, "gate"), Nth: rapid.IntRange(1, 1000).Draw(t, "nth"),
			Choice: names().Draw(t, "choice"), Kind: rapid.SampledFrom([]sim.PointKind{sim.Switch, sim.Verdict}).Draw(t, "kind"),
		}
		if d.Owner == "start" && d.Gate == "" { // the place before the first gate: there is one switch there
			d.Kind, d.Nth = sim.Switch, 1
		}
		return d
	})
}

func records() *rapid.Generator[sim.Record] {
	return rapid.Custom(func(t *rapid.T) sim.Record {
		r := sim.Record{
			Check: names().Draw(t, "check"), Go: rapid.SampledFrom([]string{"", "go1.26.8"}).Draw(t, "go"),
			Seed: rapid.Uint64().Draw(t, "seed"), Hash: rapid.Uint64().Draw(t, "hash"),
			Steps: rapid.SliceOfN(rapid.Uint16(), 0, 20).Draw(t, "steps"),
		}
		type place struct {
			kind        sim.PointKind
			owner, gate string
			nth         int
		}
		r.Schedule = rapid.SliceOfDistinct(deviations(), func(d sim.Deviation) place {
			return place{d.Kind, d.Owner, d.Gate, d.Nth}
		}).Draw(t, "schedule")
		r.Schedule = sim.Schedule(r.Schedule).Sorted()
		if len(r.Steps) == 0 {
			r.Steps = nil
		}
		if len(r.Schedule) == 0 {
			r.Schedule = nil
		}
		return r
	})
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := records().Draw(t, "record")
		read, err := sim.ParseRecord(record.String())
		require.NoError(t, err)
		require.Equal(t, record, read)
		token := record.Token()
		require.NotContains(t, token, " ")
		require.NotContains(t, token, "\n")
		read, err = sim.ParseToken(token)
		require.NoError(t, err)
		require.Equal(t, record, read)
		for _, d := range record.Schedule {
			again, err := sim.ParseDeviation(d.String())
			require.NoError(t, err)
			require.Equal(t, d, again)
		}
	})
}

const sample = `loopcheck-schedule 1
# found on a Tuesday
check TURN-1
go go1.26.8
seed 7
trace 00000000deadbeef
steps 0001 ffff

at a2 append 1 verdict "failed before the write"
after start run b
after b1 build 2 run "turn a1/tool 2"
`

func TestRecordReads(t *testing.T) {
	r, err := sim.ParseRecord(sample)
	require.NoError(t, err)
	require.Equal(t, sim.Record{
		Check: "TURN-1", Go: "go1.26.8", Seed: 7, Hash: 0xdeadbeef, Steps: []uint16{1, 0xffff},
		Schedule: sim.Schedule{
			{Kind: sim.Verdict, Owner: "a2", Gate: "append", Nth: 1, Choice: "failed before the write"},
			{Kind: sim.Switch, Owner: "b1", Gate: "build", Nth: 2, Choice: "turn a1/tool 2"},
			{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "b"},
		},
	}, r)
}

func TestDamagedRecordNamesTheLine(t *testing.T) {
	for _, c := range []struct {
		replace, by string
		line        int
		says        string
	}{
		{sample, "", 1, "begins with"},
		{"loopcheck-schedule 1", "something", 1, "begins with"},
		{"loopcheck-schedule 1", "loopcheck-schedule 2", 1, "unknown version"},
		{"check TURN-1", "check", 3, "one value"},
		{"check TURN-1", "cheque TURN-1", 3, "unknown field"},
		{"go go1.26.8", "check TURN-2", 4, "second time"},
		{"seed 7", "seed -7", 5, "number"},
		{"trace 00000000deadbeef", "trace xyz", 6, "number"},
		{"steps 0001", "steps 10001", 7, "number"},
		{"append 1 verdict", "append 0 verdict", 9, "from 1"},
		{"append 1 verdict", "append one verdict", 9, "from 1"},
		{"append 1 verdict", "append 1 says", 9, "not a deviation"},
		{`the write"`, "the write", 9, "does not end"},
		{`the write"`, `the write"x`, 9, "without a space"},
		{"after start run b", "after start run", 10, "not a deviation"},
		{"after start run b", "after b1 build 2 run c", 11, "second deviation"},
		{"b1 build", `b1 bu"ild`, 11, "quote inside"},
		{"b1 build", `start ""`, 11, "needs a name"},
	} {
		t.Run(c.by, func(t *testing.T) {
			_, err := sim.ParseRecord(strings.Replace(sample, c.replace, c.by, 1))
			var syntax *sim.SyntaxError
			require.True(t, errors.As(err, &syntax), "%v", err)
			require.Equal(t, c.line, syntax.Line, "%v", err)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestDamagedToken(t *testing.T) {
	record := sim.Record{Check: "TURN-1", Schedule: sim.Schedule{{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "b"}}}
	token := record.Token()
	for i := len("lc1."); i < len(token); i++ { // each character changed
		for _, c := range "Aa0_-" {
			if changed := token[:i] + string(c) + token[i+1:]; changed != token {
				if r, err := sim.ParseToken(changed); err == nil {
					require.Equal(t, record, r, "another record: %s", changed)
				}
			}
		}
	}
	_, err := sim.ParseToken(token + "AAAA")
	require.Error(t, err)
	for _, damaged := range []string{"", "lc2." + token[4:], token[:len(token)-4], token[:10] + "!" + token[11:], "lc1."} {
		_, err := sim.ParseToken(damaged)
		require.Error(t, err, "%q", damaged)
	}
	read, err := sim.ParseToken("  " + token + "\n")
	require.NoError(t, err, "as pasted from a terminal")
	require.Equal(t, record, read)
}

func TestTokenThatUnfoldsToTooMuch(t *testing.T) {
	record := sim.Record{Check: strings.Repeat("x", 17<<20)}
	_, err := sim.ParseToken(record.Token())
	require.ErrorContains(t, err, "longer than")
}

func FuzzParseRecord(f *testing.F) {
	f.Add(sample)
	f.Add("loopcheck-schedule 1\nat \"\" \"\\xff\" 1 verdict \"\"")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := sim.ParseRecord(text)
		if err != nil {
			var syntax *sim.SyntaxError
			require.True(t, errors.As(err, &syntax))
			return
		}
		again, err := sim.ParseRecord(r.String())
		require.NoError(t, err)
		require.Equal(t, r.String(), again.String())
	})
}

func FuzzParseToken(f *testing.F) {
	f.Add(sim.Record{Check: "TURN-1"}.Token())
	f.Fuzz(func(t *testing.T, token string) {
		if r, err := sim.ParseToken(token); err == nil {
			again, err := sim.ParseToken(r.Token())
			require.NoError(t, err)
			require.Equal(t, r.String(), again.String())
		}
	})
}
