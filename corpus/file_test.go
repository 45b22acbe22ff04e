package corpus_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/corpus"
	"github.com/loopcheck/loopcheck/sim"
	"github.com/loopcheck/loopcheck/workload"
)

const (
	golden                = "testdata/golden-v1.schedule"
	poke    workload.Kind = "poke"
	comment               = "#   a: submit a1 ──▶ loop captures {base, m1, low}\n"
)

func sample(t require.TestingT) (string, corpus.File) {
	data, err := os.ReadFile(golden)
	require.NoError(t, err)
	f, err := corpus.Parse(golden, data)
	require.NoError(t, err)
	return string(data), f
}

// TestVersion1StaysReadable: the file is never to be changed. A new version gets a new one beside it.
func TestVersion1StaysReadable(t *testing.T) {
	text, f := sample(t)
	require.Equal(t, text, f.String())
	args := func(pairs ...string) (list []workload.Arg) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, workload.Arg{Name: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	require.Empty(t, cmp.Diff(corpus.File{
		Contract: 1, Requirement: "TURN-1", Subject: "faulty:model-per-step", Found: "schedule 412 (seed 7)",
		Log: []string{
			`TURN-1 broken by turn a1, step 2: the model was asked with effort "high", the turn had captured "low"`, "",
			"  a: submit a1 ──▶ loop captures {base, m1, low}",
		},
		Workload: workload.Workload{
			Clients: []workload.Client{
				{Name: "a", Operations: []workload.Operation{
					{ID: "a1", Kind: workload.Submit, Args: args("steps", "d1/d1")},
					{ID: "a2", Kind: workload.SetMode, Args: args("mode", "plan"), Cancel: true, Inside: "a1"},
				}},
				{Name: "b", Operations: []workload.Operation{
					{ID: "b1", Kind: workload.Change, Args: args("model", "fresh", "effort", "high", "nil", "")},
					{ID: "b2", Kind: workload.Replace, Args: args("source", "s1\x00", "generation", "@129", "tools", "x:pair,\u0445")},
				}},
			},
			Tail: []workload.Operation{
				{ID: "z1", Kind: workload.Submit, Args: args("steps", "*")},
				{ID: "z2", Kind: workload.Shutdown},
			},
		},
		Record: sim.Record{
			Check: "TURN-1", Go: "go1.26.8", Seed: 7, Hash: 0xdeadbeef, Steps: []uint16{1, 0xffff},
			Schedule: sim.Schedule{
				{Kind: sim.Switch, Owner: "a1", Gate: "model", Nth: 1, Choice: "b"},
				{Kind: sim.Verdict, Owner: "b1", Gate: "append", Nth: 1, Choice: "failed before the write"},
				{Kind: sim.Switch, Owner: "start", Nth: 1, Choice: "b"},
			},
		},
	}, f))
	require.Equal(t, "TURN-1-e3b3b4.schedule", f.Name(), "the name of a failure is for ever too")
}

func TestEditedFileReads(t *testing.T) {
	text, f := sample(t)
	edited := strings.NewReplacer("\n", "\r\n", "    ", "\t", "workload\n", "\n# mine\nworkload\n\n# a turn\n", "TURN-1\nsubject", "\"TURN-1\"\nsubject").Replace(text)
	read, err := corpus.Parse(golden, []byte(edited))
	require.NoError(t, err)
	f.Log = append(f.Log, "mine")
	require.Empty(t, cmp.Diff(f, read))
}

func TestWrongFileNamesTheLine(t *testing.T) {
	text, _ := sample(t)
	for _, c := range []struct {
		replace, by string
		line        int
		says        string
	}{
		{text, "", 1, "begins with"},
		{text, "\n\n# hm\n", 4, "begins with"},
		{"loopcheck-corpus 1", "loopcheck-schedule 1", 1, "begins with"},
		{"loopcheck-corpus 1", "loopcheck-corpus", 1, "begins with"},
		{"loopcheck-corpus 1", "loopcheck-corpus 2", 1, "unknown version"},
		{"contract 1\n", "", 28, "contract's version is missing"},
		{"contract 1", "contract 2", 2, "a newer contract"},
		{"contract 1", "contract 0", 2, "not a version"},
		{"contract 1", "contract 01", 2, "not a version"},
		{"contract 1", "contract one", 2, "not a version"},
		{"requirement", "contract", 3, "second time"},
		{"subject", "requirement", 4, "second time"},
		{"subject", "object", 4, `unknown field "object"`},
		{"subject faulty:model-per-step", "subject", 4, "without a value"},
		{"subject faulty:model-per-step", "subject\tx", 4, "a value"},
		{"subject faulty:model-per-step", `subject "x`, 4, "badly quoted"},
		{"subject faulty:model-per-step", `subject "x" y`, 4, "badly quoted"},
		{"subject faulty:model-per-step", `subject ""`, 4, "an empty value"},
		{"faulty", "f\x01ulty", 4, "a control character"},
		{"faulty", "f\xffulty", 4, "not UTF-8"},
		{"broken", "bro\u009bken", 6, "a control character"},
		{"workload\n", "workloads\n", 9, `unknown field "workloads"`},
		{"workload\n", "schedule\n", 9, `unknown field "schedule"`},
		{"schedule\n  loopcheck", "workload\n  loopcheck", 19, "not an operation"},
		{"schedule\n  loopcheck", "schedules\n  loopcheck", 19, "not an operation"},
		{text, "loopcheck-corpus 1\ncontract 1\nworkload\n", 4, "the schedule is missing"},
		{text, "loopcheck-corpus 1\ncontract 1\n", 3, "the workload is missing"},
		{"client b", "client a", 13, "second client"},
		{"submit steps=d1/d1", "submit steps=d1//d1", 11, "a step without a call"},
		{"a2 set-mode", "a2 poke", 12, "unknown kind"},
		{"  loopcheck-schedule 1\n", "", 20, "begins with"},
		{"loopcheck-schedule 1", "loopcheck-schedule 2", 20, "unknown version"},
		{"seed 7\n", "seed x\n", 23, "a number"},
		{"at b1 append 1", "at b1 append 0", 27, "from 1"},
		{"after start run b\n", "after start run b\nschedule\n", 29, "not a field"},
	} {
		t.Run(c.says, func(t *testing.T) {
			require.Contains(t, text, c.replace)
			_, err := corpus.Parse("some.schedule", []byte(strings.Replace(text, c.replace, c.by, 1)))
			var wrong *corpus.Error
			require.True(t, errors.As(err, &wrong), "%v", err)
			require.Equal(t, c.line, wrong.Line, "%v", err)
			require.ErrorContains(t, err, c.says)
			require.True(t, strings.HasPrefix(err.Error(), "some.schedule:"), "%v", err)
			var inWorkload *workload.SyntaxError
			if errors.As(err, &inWorkload) {
				require.Equal(t, c.line, inWorkload.Line)
			}
			var inSchedule *sim.SyntaxError
			if errors.As(err, &inSchedule) {
				require.Equal(t, c.line, inSchedule.Line)
			}
		})
	}
}

// files generates files as they are read: with a contract, and a log without what does not show.
func files() *rapid.Generator[corpus.File] {
	profile := workload.Profile{External: true, Restore: true, Foreign: true, Extra: []workload.Extra{{Kind: poke, Weight: 5}}}
	text := rapid.OneOf(rapid.String(), rapid.StringN(0, 10, 20), rapid.SampledFrom([]string{"", `"`, " x", "x ", "\xff", "a\nb", "#", "\ufffd", "\u00a0", "TURN-1", "no progress", "\\"}))
	line := rapid.StringMatching(`[ a-z#"──\\\t]{0,12}`)
	return rapid.Custom(func(t *rapid.T) corpus.File {
		f := corpus.File{
			Contract: 1, Requirement: text.Draw(t, "requirement"), Subject: text.Draw(t, "subject"), Found: text.Draw(t, "found"),
			Log: rapid.SliceOfN(line, 0, 4).Draw(t, "log"), Workload: workload.Workloads(profile).Draw(t, "workload"),
			Record: sim.Record{
				Check: text.Draw(t, "check"), Go: text.Draw(t, "go"), Seed: rapid.Uint64().Draw(t, "seed"), Hash: rapid.Uint64().Draw(t, "hash"),
				Steps: rapid.SliceOfN(rapid.Uint16(), 0, 3).Draw(t, "steps"),
			},
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "deviations") {
			f.Record.Schedule = append(f.Record.Schedule, sim.Deviation{
				Kind: sim.Verdict, Owner: text.Draw(t, "owner"), Gate: "append", Nth: i + 1, Choice: text.Draw(t, "choice"),
			})
		}
		f.Record.Schedule = f.Record.Schedule.Sorted()
		if len(f.Log) == 0 {
			f.Log = nil
		}
		if len(f.Record.Steps) == 0 {
			f.Record.Steps = nil
		}
		if len(f.Record.Schedule) == 0 {
			f.Record.Schedule = nil
		}
		return f
	})
}

func TestFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := files().Draw(t, "file")
		read, err := corpus.Parse("x", []byte(f.String()), poke)
		require.NoError(t, err, f.String())
		require.Empty(t, cmp.Diff(f, read))
		require.Equal(t, f.Name(), read.Name())

		token := f.Token()
		require.False(t, strings.ContainsAny(token, " \n\t"))
		require.True(t, corpus.IsToken(token))
		read, err = corpus.ParseToken(" "+token+"\n", poke)
		require.NoError(t, err)
		f.Log = nil
		require.Empty(t, cmp.Diff(f, read))
	})
}

func TestWhatIsWrittenWhereNothingIsSaid(t *testing.T) {
	f := corpus.File{Log: []string{"two\nlines\r", "\x1b[31mred", "\xff"}}
	read, err := corpus.Parse("x", []byte(f.String()))
	require.NoError(t, err)
	require.Equal(t, corpus.File{Contract: corpus.ContractVersion, Log: []string{"two", "lines", "\ufffd[31mred", "\ufffd"}}, read)
	require.True(t, strings.HasPrefix(f.Name(), "reach-"), f.Name())
}

// TestChangedByte: one changed byte anywhere is an error, or is to be seen in what is printed; but for space that is other space, and
// for leading zeros and small letters of the hashes, which no person edits.
func TestChangedByte(t *testing.T) {
	text, _ := sample(t)
	hashes := func(i int) bool {
		line := strings.TrimSpace(text[strings.LastIndexByte(text[:i], '\n')+1:])
		return strings.HasPrefix(line, "trace ") || strings.HasPrefix(line, "steps ")
	}
	for i := range len(text) {
		for _, by := range []byte("a01z9B, \n\t\r\"=\\#@:/*-\x00\x80\xff") {
			space := strings.Contains(" \n", text[i:i+1]) && strings.IndexByte(" \n\t\r", by) >= 0
			if by == text[i] || space || hashes(i) {
				continue
			}
			changed := []byte(text)
			changed[i] = by
			if read, err := corpus.Parse("x", changed); err == nil {
				require.NotEqual(t, text, read.String(), "byte %d of %q", i, changed)
			}
		}
	}
}

func TestDamagedToken(t *testing.T) {
	_, f := sample(t)
	f.Log = nil
	token := f.Token()
	for i := range token { // each character changed
		for _, c := range "Aa0_-" {
			if changed := token[:i] + string(c) + token[i+1:]; changed != token {
				if read, err := corpus.ParseToken(changed); err == nil {
					require.Equal(t, f, read, "another file: %s", changed)
				}
			}
		}
	}
	bare := f.Record.Token()
	require.False(t, corpus.IsToken(bare))
	for _, damaged := range []string{"", bare, token[:len(token)-4], token[:10] + "!" + token[11:], "lcf1.", token + "AAAA"} {
		_, err := corpus.ParseToken(damaged)
		var wrong *corpus.Error
		require.True(t, errors.As(err, &wrong), "%q", damaged)
	}
	f.Found = strings.Repeat("x", 17<<20)
	_, err := corpus.ParseToken(f.Token())
	require.ErrorContains(t, err, "longer than")
}

func FuzzParse(f *testing.F) {
	text, file := sample(f)
	f.Add([]byte(text))
	f.Add([]byte(corpus.File{Record: file.Record}.String()))
	f.Add([]byte(strings.Replace(text, comment, "# \ufffd\n#\n", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := corpus.Parse("x", data, poke)
		if err != nil {
			var wrong *corpus.Error
			require.True(t, errors.As(err, &wrong))
			require.Positive(t, wrong.Line)
			return
		}
		again, err := corpus.Parse("x", []byte(file.String()), poke)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(file, again))
		require.Equal(t, file.String(), again.String())
	})
}

func FuzzParseToken(f *testing.F) {
	_, file := sample(f)
	f.Add(file.Token())
	f.Fuzz(func(t *testing.T, token string) {
		if file, err := corpus.ParseToken(token, poke); err == nil {
			again, err := corpus.ParseToken(file.Token(), poke)
			require.NoError(t, err)
			file.Log = nil
			require.Empty(t, cmp.Diff(file, again))
		}
	})
}
