package loop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
)

var errSample = errors.New("sample")

// other is a transport that no sample model has.
var other = model.Transport{Provider: "acme", APIFormat: "chat", BaseURL: "https://other.example"}

// sample defines a loop with two modes, of which "plan" leaves all to the base; more options come last.
func sample(t *testing.T, more ...loop.Option) loop.Definition {
	t.Helper()
	definition, err := loop.Define(append([]loop.Option{
		loop.WithName("sample"),
		loop.WithModel(looptest.Model("m1")), loop.WithEffort(model.EffortLow), loop.WithInstructions("be brief"),
		loop.WithTools(looptest.Define("d1", looptest.NewTool("t1", "")), looptest.Define("d2", looptest.NewTool("t2", "{}"))),
		loop.WithMode("plan"),
		loop.WithMode("code", loop.WithModel(looptest.Model("m2")), loop.WithEffort(model.EffortHigh), loop.WithInstructions(""),
			loop.WithTools(looptest.Define("d1", looptest.NewTool("t3", "")))),
		loop.WithTransports(other),
	}, more...)...)
	require.NoError(t, err)
	return definition
}

func configuration(t require.TestingT, d loop.Definition, mode loop.ModeName) loop.Configuration {
	c, ok := d.Configuration(mode)
	require.True(t, ok, "mode %q", mode)
	return c
}

func names(definitions []tool.Definition) []string {
	var names []string
	for _, d := range definitions {
		names = append(names, d.Name())
	}
	return names
}

func TestMODE1_OnlyDeclaredModesAndTheBaseModeAreThere(t *testing.T) {
	d := sample(t)
	assert.Equal(t, []loop.ModeName{"plan", "code"}, d.Modes())
	for _, mode := range []loop.ModeName{"", "plan", "code"} {
		assert.Equal(t, mode, configuration(t, d, mode).Mode)
	}
	for _, mode := range []loop.ModeName{"Plan", "plan ", "pla", "\xff"} {
		_, ok := d.Configuration(mode)
		assert.False(t, ok, "mode %q", mode)
	}
}

func TestMODE2_AModeTakesFromTheBaseWhatItLeavesOut(t *testing.T) {
	d := sample(t)
	base := configuration(t, d, "")
	assert.Equal(t, looptest.Model("m1").WithEffort(model.EffortLow), base.Model)
	assert.Equal(t, model.EffortLow, base.Effort)
	assert.Equal(t, "be brief", base.Instructions)
	assert.Equal(t, []string{"d1", "d2"}, names(base.Tools))

	plan := configuration(t, d, "plan")
	plan.Mode = ""
	assert.Equal(t, base, plan)

	code := configuration(t, d, "code")
	assert.Equal(t, looptest.Model("m2").WithEffort(model.EffortHigh), code.Model)
	assert.Equal(t, model.EffortHigh, code.Effort)
	assert.Empty(t, code.Instructions, "instructions that are set to nothing are not left out")
	assert.Equal(t, []string{"d1"}, names(code.Tools))
}

func TestMODE2_NothingSetIsNotLeftOut(t *testing.T) {
	d := sample(t, loop.WithMode("bare", loop.WithTools(), loop.WithEffort(model.EffortNone), nil), nil)
	bare := configuration(t, d, "bare")
	assert.Empty(t, bare.Tools)
	assert.Equal(t, model.EffortNone, bare.Effort)
	assert.Equal(t, looptest.Model("m1"), bare.Model)
	assert.Equal(t, "be brief", bare.Instructions)
}

func TestMODE2_TheOrderOfOptionsDoesNotMatterAndTheLastSettingCounts(t *testing.T) {
	d, err := loop.Define(
		loop.WithMode("plan", loop.WithEffort(model.EffortLow), loop.WithEffort(model.EffortHigh)),
		loop.WithInstructions("first"), loop.WithInstructions("last"), loop.WithModel(looptest.Model("m1")), loop.WithModel(looptest.Model("m2")),
		loop.WithEngine(loop.EngineForeign), loop.WithName("first"), loop.WithName("last"),
	)
	require.NoError(t, err)
	assert.Equal(t, "last", d.Name())
	assert.Equal(t, loop.EngineForeign, d.Engine())
	plan := configuration(t, d, "plan")
	assert.Equal(t, "last", plan.Instructions)
	assert.Equal(t, "m2", plan.Model.Name)
	assert.Equal(t, model.EffortHigh, plan.Effort)
}

func TestCHG3_DeclaredTransportsAreThoseOfTheModelsAndTheOnesNamed(t *testing.T) {
	mine := looptest.Model("m1").Transport()
	assert.ElementsMatch(t, []model.Transport{mine, other}, sample(t).Transports())
	assert.ElementsMatch(t, []model.Transport{mine, other}, sample(t, loop.WithTransports(other, mine, other)).Transports(), "each once")

	m3 := looptest.Model("m3")
	m3.APIFormat = "third"
	assert.Contains(t, sample(t, loop.WithMode("third", loop.WithModel(m3))).Transports(), m3.Transport())
}

func TestCHG4_TheEffortInASamplingSelectsNothing(t *testing.T) {
	d, err := loop.Define(loop.WithName("n"), loop.WithModel(looptest.Model("m").WithEffort(model.EffortHigh)))
	require.NoError(t, err)
	base := configuration(t, d, "")
	assert.Equal(t, model.EffortNone, base.Effort)
	assert.Equal(t, model.EffortNone, base.Model.Sampling.Effort)
}

func TestDefine_RefusesWithATypedErrorThatSaysWhere(t *testing.T) {
	define := func(name string, tools ...tool.InvokableTool) tool.Definition { return looptest.Define(name, tools...) }
	panicking := &looptest.Definition{OnName: func() string { panic(errSample) }}
	var none *looptest.Definition
	broken := looptest.Model("m")
	broken.Name = ""
	m2 := looptest.Model("m2")
	m2.Efforts = nil
	var many []tool.Definition
	for i := range tool.MaxSet + 1 {
		many = append(many, define(fmt.Sprint("d", i)))
	}
	type failure struct {
		kind loop.DefinitionErrorKind
		mode loop.ModeName
		tool string
	}
	for name, c := range map[string]struct {
		options []loop.Option
		want    failure
	}{
		"no name":                {[]loop.Option{loop.WithName("")}, failure{kind: loop.DefinitionInvalidName}},
		"long name":              {[]loop.Option{loop.WithName(strings.Repeat("n", loop.MaxName+1))}, failure{kind: loop.DefinitionInvalidName}},
		"broken name":            {[]loop.Option{loop.WithName("\xff")}, failure{kind: loop.DefinitionInvalidName}},
		"unknown engine":         {[]loop.Option{loop.WithEngine("steam")}, failure{kind: loop.DefinitionInvalidEngine}},
		"no engine":              {[]loop.Option{loop.WithEngine("")}, failure{kind: loop.DefinitionInvalidEngine}},
		"invalid transport":      {[]loop.Option{loop.WithTransports(model.Transport{Provider: "p"})}, failure{kind: loop.DefinitionInvalidTransport}},
		"invalid model":          {[]loop.Option{loop.WithModel(broken)}, failure{kind: loop.DefinitionInvalidModel}},
		"zero model":             {[]loop.Option{loop.WithModel(model.Model{})}, failure{kind: loop.DefinitionInvalidModel}},
		"unknown effort":         {[]loop.Option{loop.WithEffort("Low")}, failure{kind: loop.DefinitionInvalidEffort}},
		"effort not supported":   {[]loop.Option{loop.WithEffort(model.EffortMax)}, failure{kind: loop.DefinitionInvalidEffort}},
		"nil tool":               {[]loop.Option{loop.WithTools(define("a"), nil)}, failure{kind: loop.DefinitionNilTool}},
		"nil pointer as a tool":  {[]loop.Option{loop.WithTools(none)}, failure{kind: loop.DefinitionInvalidTool}},
		"panicking tool":         {[]loop.Option{loop.WithTools(panicking)}, failure{kind: loop.DefinitionInvalidTool}},
		"tool without a name":    {[]loop.Option{loop.WithTools(define(""))}, failure{kind: loop.DefinitionInvalidTool}},
		"long tool name":         {[]loop.Option{loop.WithTools(define(strings.Repeat("n", tool.MaxName+1)))}, failure{kind: loop.DefinitionInvalidTool}},
		"duplicate tool":         {[]loop.Option{loop.WithTools(define("a"), define("b"), define("a"))}, failure{loop.DefinitionDuplicateTool, "", "a"}},
		"too many tools":         {[]loop.Option{loop.WithTools(many...)}, failure{kind: loop.DefinitionTooManyTools}},
		"mode named as the base": {[]loop.Option{loop.WithMode("")}, failure{kind: loop.DefinitionInvalidMode}},
		"mode with a long name": {
			[]loop.Option{loop.WithMode(loop.ModeName(strings.Repeat("m", 65)))}, failure{loop.DefinitionInvalidMode, loop.ModeName(strings.Repeat("m", 65)), ""},
		},
		"mode with a control character":  {[]loop.Option{loop.WithMode("a\u0085")}, failure{loop.DefinitionInvalidMode, "a\u0085", ""}},
		"mode declared twice":            {[]loop.Option{loop.WithMode("a"), loop.WithMode("b"), loop.WithMode("a")}, failure{loop.DefinitionDuplicateMode, "a", ""}},
		"invalid model of a mode":        {[]loop.Option{loop.WithMode("a", loop.WithModel(broken))}, failure{loop.DefinitionInvalidModel, "a", ""}},
		"effort of a mode not supported": {[]loop.Option{loop.WithMode("a", loop.WithEffort(model.EffortMax))}, failure{loop.DefinitionInvalidEffort, "a", ""}},
		"the base's effort not supported by a mode's model": {
			[]loop.Option{loop.WithEffort(model.EffortLow), loop.WithMode("a", loop.WithModel(m2))}, failure{loop.DefinitionInvalidEffort, "a", ""},
		},
		"tool of a foreign engine": {[]loop.Option{loop.WithEngine(loop.EngineForeign), loop.WithTools(define("x"))}, failure{kind: loop.DefinitionForeignTools}},
		"tool of a foreign engine's mode": {
			[]loop.Option{loop.WithEngine(loop.EngineForeign), loop.WithMode("a", loop.WithTools(define("x")))}, failure{loop.DefinitionForeignTools, "a", ""},
		},
		"nil tool of a mode":       {[]loop.Option{loop.WithMode("a", loop.WithTools(nil))}, failure{loop.DefinitionNilTool, "a", ""}},
		"duplicate tool of a mode": {[]loop.Option{loop.WithMode("a", loop.WithTools(define("x"), define("x")))}, failure{loop.DefinitionDuplicateTool, "a", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := loop.Define(append([]loop.Option{loop.WithName("n"), loop.WithModel(looptest.Model("m1"))}, c.options...)...)
			var failed *loop.DefinitionError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, c.want, failure{failed.Kind, failed.Mode, failed.Tool})
			assert.Contains(t, err.Error(), string(c.want.kind))
			assert.False(t, d.Defined())
		})
	}
	_, err := loop.Define(loop.WithName("n"))
	var failed *loop.DefinitionError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, loop.DefinitionInvalidModel, failed.Kind, "no base model")
}

func TestDefine_BoundariesAreInside(t *testing.T) {
	var many []tool.Definition
	for i := range tool.MaxSet {
		many = append(many, looptest.Define(fmt.Sprint("d", i)))
	}
	d := sample(t, loop.WithName(strings.Repeat("n", loop.MaxName)), loop.WithTools(many...),
		loop.WithMode(loop.ModeName(strings.Repeat("é", loop.MaxModeName/2))))
	assert.Len(t, configuration(t, d, "plan").Tools, tool.MaxSet)
	assert.Equal(t, loop.EngineNative, d.Engine(), "the engine of a definition that names none")
}

func TestDefine_TheZeroDefinitionDescribesNothing(t *testing.T) {
	var d loop.Definition
	assert.False(t, d.Defined())
	assert.True(t, sample(t).Defined())
	assert.Empty(t, d.Name())
	assert.Empty(t, d.Engine())
	assert.Empty(t, d.Modes())
	assert.Empty(t, d.Transports())
	_, ok := d.Configuration(loop.BaseMode)
	assert.False(t, ok)
	_, err := d.Bind(t.Context(), nil)
	var failed *loop.DefinitionError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, loop.DefinitionUndefined, failed.Kind)
}
