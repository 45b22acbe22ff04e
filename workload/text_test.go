package workload_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/workload"
)

const sample = `foreign
client a
  a1 submit steps=d1
  a2 change model=fresh effort=high nil cancel

  # the tool asks for it itself
  a3 set-mode mode= cancel inside=a1
client b
  b1 replace source="a\x00b" tools="\u0445:fail,y" generation=g1
  b2 wait turn=a1
  b3 poke where="" where=ribs
tail
  z1 submit steps=*,ghost/d1
  z2 shutdown
`

var sampled = workload.Workload{
	Foreign: true,
	Clients: []workload.Client{
		{Name: "a", Operations: []workload.Operation{
			{ID: "a1", Kind: workload.Submit, Args: []workload.Arg{{Name: "steps", Value: "d1"}}},
			{ID: "a2", Kind: workload.Change, Cancel: true, Args: []workload.Arg{
				{Name: "model", Value: "fresh"}, {Name: "effort", Value: "high"}, {Name: "nil"},
			}},
			{ID: "a3", Kind: workload.SetMode, Cancel: true, Inside: "a1", Args: []workload.Arg{{Name: "mode"}}},
		}},
		{Name: "b", Operations: []workload.Operation{
			{ID: "b1", Kind: workload.Replace, Args: []workload.Arg{
				{Name: "source", Value: "a\x00b"}, {Name: "tools", Value: "х:fail,y"}, {Name: "generation", Value: "g1"},
			}},
			{ID: "b2", Kind: workload.Wait, Args: []workload.Arg{{Name: "turn", Value: "a1"}}},
			{ID: "b3", Kind: poke, Args: []workload.Arg{{Name: "where"}, {Name: "where", Value: "ribs"}}},
		}},
	},
	Tail: []workload.Operation{
		{ID: "z1", Kind: workload.Submit, Args: []workload.Arg{{Name: "steps", Value: "*,ghost/d1"}}},
		{ID: "z2", Kind: workload.Shutdown},
	},
}

func TestTextReads(t *testing.T) {
	w, err := workload.Parse(sample, poke)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(sampled, w))
	require.NoError(t, sampled.Validate(poke))
	printed := strings.Replace(sample, "\n  # the tool asks for it itself\n", "", 1)
	require.Equal(t, strings.Replace(printed, `where=""`, "where=", 1), w.String())
	w, err = workload.Parse(strings.ReplaceAll(strings.ReplaceAll(sample, "\n", "\r\n"), "  ", "\t"), poke)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(sampled, w))
}

// TestMergedIDsRead: the letter of an id need not be the client's.
func TestMergedIDsRead(t *testing.T) {
	_, err := workload.Parse("client a\na1 submit steps=d1\nb1 read inside=a1\nz9 read\ntail\na2 read")
	require.NoError(t, err)
}

func TestWrongTextNamesTheLine(t *testing.T) {
	for _, c := range []struct {
		replace, by string
		line        int
		says        string
	}{
		{"foreign", "foreign now", 1, "stands alone"},
		{"client a", "foreign", 2, "stands alone"},
		{"foreign", "a1 read", 1, "none has begun"},
		{"client a", "client", 2, "one name"},
		{"client a", "client a b", 2, "one name"},
		{"client a", "client z", 2, "a to y"},
		{"client a", "client aa", 2, "a to y"},
		{"client b", "client a", 8, "second client"},
		{"client b", "tail", 12, "second tail"},
		{"tail", "tail z", 12, "no name"},
		{"  z2 shutdown", "client c", 14, "after the tail"},
		{"a1 submit steps=d1", "a1", 3, "not an operation"},
		{"a1 submit", "1a submit", 3, "a letter and a number"},
		{"a1 submit", "a submit", 3, "a letter and a number"},
		{"a1 submit", "a01 submit", 3, "a letter and a number"},
		{"a1 submit", "a99999999 submit", 3, "a letter and a number"},
		{"a1 submit", "A1 submit", 3, "a letter and a number"},
		{"a2 change", "a1 change", 4, "second operation a1"},
		{"z2 shutdown", "b1 shutdown", 14, "second operation b1"},
		{"submit steps=d1", "submot steps=d1", 3, "unknown kind"},
		{"submit steps=d1", "submit stops=d1", 3, "no argument stops"},
		{"submit steps=d1", "submit steps", 3, "not an argument"},
		{"submit steps=d1", "submit steps=d1 steps=d1", 3, "repeated"},
		{"submit steps=d1", "submit steps=d1//d1", 3, "a step without a call"},
		{"submit steps=d1", "submit steps=d1,", 3, "a step without a call"},
		{"submit steps=d1", "submit steps=@x", 3, "@N stands for"},
		{"submit steps=d1", "submit steps=d1\u00a0d1", 3, "to be quoted"},
		{"submit steps=d1", `submit steps="d1`, 3, "does not end"},
		{"submit steps=d1", `submit steps="d1"d1`, 3, "without a space"},
		{"submit steps=d1", `submit steps="\q"`, 3, "badly quoted"},
		{"submit steps=d1", `submit steps="\0641"`, 3, "badly quoted"}, // \x64 in octal
		{"submit steps=d1", `submit "steps"="d1"`, 3, "inside a word"},
		{"submit steps=d1", `submit st"eps=d1`, 3, "to be quoted"},
		{"model=fresh", "model=frosh", 4, `unknown model "frosh"; there are fresh, plain`},
		{"model=fresh", "model=", 4, "unknown model"},
		{"effort=high", "effort=higher", 4, `unknown effort "higher"`},
		{"nil cancel", "nil=1 cancel", 4, "not an argument"},
		{"nil cancel", "nil cancel cancel", 4, "cancel is repeated"},
		{"nil cancel", "nil cancel=1", 4, "not an argument"},
		{"nil cancel", "nil source=s1", 4, "no argument source"},
		{"mode= ", "mode=plam ", 7, `unknown mode "plam"`},
		{"mode= ", "", 7, "lacks its argument mode"},
		{"mode= ", "nil ", 7, "no argument nil"},
		{"inside=a1", "inside=a2", 7, "no earlier submit of the same client"},
		{"inside=a1", "inside=a3", 7, "no earlier submit of the same client"},
		{"inside=a1", "inside=", 7, "names no submit"},
		{"inside=a1", "inside", 7, "not an argument"},
		{"inside=a1", "inside=a1 inside=a1", 7, "repeated"},
		{"b2 wait turn=a1", "b2 read inside=a1", 10, "no earlier submit of the same client"},
		{"b2 wait turn=a1", "b2 wait turn=a1 inside=b1", 10, "from inside a tool"},
		{"b2 wait turn=a1", "b2 read cancel", 10, "no context"},
		{"turn=a1", "turn=z1", 10, "no earlier submit"},
		{"turn=a1", "turn=a2", 10, "no earlier submit"},
		{" turn=a1", "", 10, "lacks its argument turn"},
		{"y\" generation", "y:faill\" generation", 9, `unknown behaviour "faill"`},
		{"y\" generation", "y:\" generation", 9, "unknown behaviour"},
		{"y\" generation", ":fail\" generation", 9, "a tool without a name"},
		{"y\" generation", "y,\" generation", 9, "a tool without a name"},
		{"y\" generation", "@99999\" generation", 9, "@N stands for"},
		{"generation=g1", "generation=@065", 9, "@N stands for"},
		{"generation=g1", "generation=@65537", 9, "@N stands for"},
		{"generation=g1", "generation=@64+", 9, "@N stands for"},
		{"tools", "generation", 9, "repeated"},
		{"generation=g1", `tools=x`, 9, "repeated"},
		{`source="a\x00b" `, "", 9, "lacks its argument source"},
		{"where=ribs", "Where=ribs", 11, "no name for an argument"},
		{"where=ribs", "=ribs", 11, "no name for an argument"},
		{"poke", "prod", 11, "unknown kind"},
	} {
		t.Run(c.by, func(t *testing.T) {
			require.Contains(t, sample, c.replace)
			_, err := workload.ParseAt(strings.Replace(sample, c.replace, c.by, 1), 101, poke)
			var syntax *workload.SyntaxError
			require.True(t, errors.As(err, &syntax), "%v", err)
			require.Equal(t, 100+c.line, syntax.Line, "%v", err)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestValidateRefusesWhatCannotBeWritten(t *testing.T) {
	one := func(o workload.Operation) workload.Workload {
		return workload.Workload{Clients: []workload.Client{{Name: "a", Operations: []workload.Operation{o}}}}
	}
	for says, w := range map[string]workload.Workload{
		"a to y":                          {Clients: []workload.Client{{Name: "client"}}},
		"second client":                   {Clients: []workload.Client{{Name: "a"}, {Name: "a"}}},
		"nil has no value":                one(workload.Operation{ID: "a1", Kind: workload.Change, Args: []workload.Arg{{Name: "nil", Value: "1"}}}),
		"unknown kind":                    one(workload.Operation{ID: "a1", Kind: poke}),
		"no name for":                     one(workload.Operation{ID: "a1", Kind: "odd", Args: []workload.Arg{{Name: "cancel", Value: "1"}}}),
		`unknown kind of operation "a b"`: one(workload.Operation{ID: "a1", Kind: "a b"}),
		"no earlier submit":               one(workload.Operation{ID: "a1", Kind: workload.Submit, Inside: "a1"}),
	} {
		err := w.Validate("odd", "a b")
		var syntax *workload.SyntaxError
		require.True(t, errors.As(err, &syntax), "%s: %v", says, err)
		require.Zero(t, syntax.Line)
		require.ErrorContains(t, err, says)
	}
	err := (&workload.SyntaxError{Reason: "wrong"}).Error()
	require.Equal(t, "workload: wrong", err)
}

func TestExpand(t *testing.T) {
	for value, length := range map[string]int{"@0": 0, "@1": 1, "@64": 64, "@129": 129, "@64+é": 66, "@65536": 65536} {
		require.Len(t, workload.Expand(value), length)
	}
	require.Equal(t, workload.Expand("@64")+"1", workload.Expand("@64+1"))
	require.True(t, strings.HasPrefix(workload.Expand("@200"), workload.Expand("@199")))
	for _, value := range []string{"", "@", "x@3", "@03", "@+3", "@-1", "@1+", "@65537", "@99999999999999999999", "@1x"} {
		require.Equal(t, value, workload.Expand(value))
	}
}

func TestAccessors(t *testing.T) {
	parse := func(line string) workload.Operation {
		w, err := workload.Parse("client a\n" + line)
		require.NoError(t, err)
		require.Equal(t, line, w.Clients[0].Operations[0].String())
		return w.Clients[0].Operations[0]
	}
	require.Equal(t, [][]string{{"d1", "x"}, {"*"}}, parse("a1 submit steps=d1,x/*").Steps())
	require.Equal(t, "abc1", parse("a1 submit steps=@3+1").Steps()[0][0])
	require.Nil(t, parse("a1 submit").Steps())
	require.Nil(t, parse("a1 submit steps=").Steps())
	o := parse("a1 replace source=@3 tools=x,y:fail,@2+z")
	require.Equal(t, "abc", o.Source())
	require.Equal(t, "g-a1", o.Generation())
	require.Equal(t, []workload.Tool{{Name: "x"}, {Name: "y", Behaviour: workload.BuildFails}, {Name: "abz"}}, o.Tools())
	o = parse("a1 replace source=s1 generation= tools=@513")
	require.Equal(t, "", o.Generation())
	require.Len(t, o.Tools(), 513)
	require.Equal(t, "t513", o.Tools()[512].Name)
	require.Nil(t, parse("a1 replace source=s1 tools=").Tools())
	require.Equal(t, 8, sampled.Len())
}

func TestVocabulary(t *testing.T) {
	names := append(append(workload.LookAlikes(), workload.DeclaredTools()...), workload.ExternalTools()...)
	seen := map[string]bool{}
	for _, name := range names {
		require.False(t, seen[name], "%q", name)
		seen[name] = true
		require.True(t, utf8.ValidString(name) && len(name) <= 128, "%q is a name that EXT-4 allows", name)
	}
	require.NotContains(t, names, workload.Ghost)
	for _, b := range workload.Behaviours() {
		_, err := workload.Parse("client a\na1 replace source=s1 tools=x:" + b)
		require.NoError(t, err)
	}
}

// written generates workloads with values of any text, as only users' kinds have them.
func written() *rapid.Generator[workload.Workload] {
	return rapid.Custom(func(t *rapid.T) workload.Workload {
		w := workload.Workloads(poked(full)).Draw(t, "workload")
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\xff", "\"", "\\", "a\nb", "=", "#", "nil", "\u200b", "\u00a0", "cancel"}))
		args := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) workload.Arg {
			return workload.Arg{Name: rapid.StringMatching(`[a-b][a-z0-9-]{0,3}`).Draw(t, "name"), Value: text.Draw(t, "value")}
		}), 1, 3).Draw(t, "args")
		w.Tail = append(w.Tail, workload.Operation{ID: "q1", Kind: poke, Args: args, Cancel: rapid.Bool().Draw(t, "cancel")})
		if rapid.Bool().Draw(t, "no tail") {
			w.Tail = nil
		}
		return w
	})
}

func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := written().Draw(t, "written")
		text := w.String()
		for _, c := range text {
			require.True(t, c == '\n' || c >= ' ' && c <= '~', "text is plain ASCII: %q", text)
		}
		read, err := workload.Parse(text, poke)
		require.NoError(t, err, text)
		require.Empty(t, cmp.Diff(w, read))
	})
}

// TestChangedByte: one changed byte anywhere is an error, or is to be seen in what is printed; but for space that is other space.
func TestChangedByte(t *testing.T) {
	w := sampled
	w.Foreign = false
	text := w.String()
	for i := range len(text) {
		for _, by := range []byte("a01z9B, \n\t\r\"=\\#@:/*-\x00\x80\xff") {
			if by == text[i] || strings.Contains(" \n", text[i:i+1]) && strings.IndexByte(" \n\t\r", by) >= 0 {
				continue
			}
			changed := []byte(text)
			changed[i] = by
			if read, err := workload.Parse(string(changed), poke); err == nil {
				require.NotEqual(t, text, read.String(), "byte %d of %q", i, changed)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add(sampled.String())
	for n := range uint64(20) {
		f.Add(workload.Generate(full, workload.Seeded(1, n)).String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := workload.Parse(text, poke)
		if err != nil {
			var syntax *workload.SyntaxError
			require.True(t, errors.As(err, &syntax))
			require.Positive(t, syntax.Line)
			return
		}
		require.NoError(t, w.Validate(poke))
		again, err := workload.Parse(w.String(), poke)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(w, again))
		tried := 0
		for r := range w.Reductions() {
			require.NoError(t, r.Workload.Validate(poke), "%s", r.Pass)
			require.Less(t, r.Workload.Size(), w.Size(), "%s", r.Pass)
			if tried++; tried == 100 {
				break
			}
		}
	})
}
