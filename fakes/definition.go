package fakes

import (
	"errors"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/tool"
	"github.com/loopcheck/loopcheck/trace"
	"github.com/loopcheck/loopcheck/workload"
)

const provider, format = "acme", "chat"

// Transports that the definition declares besides those of its models.
var declaredTransport = model.Transport{Provider: provider, APIFormat: format, BaseURL: "https://eu.example/v1"}

func sampling(of string) model.Sampling {
	temperature, topP := 0.5, 0.9
	return model.Sampling{Temperature: &temperature, TopP: &topP, Stop: []string{"stop " + of}}
}

func baseModel() model.Model {
	return model.Model{
		Provider: provider, APIFormat: format, Name: "m0", Limits: model.Limits{Context: 1000},
		Efforts: []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh}, Sampling: sampling("m0"),
	}
}

func planModel() model.Model {
	return model.Model{
		Provider: provider, APIFormat: format, BaseURL: "https://plan.example/v1", Name: "mp", Limits: model.Limits{Context: 2000},
		Efforts: []model.Effort{model.EffortLow, model.EffortHigh, model.EffortMax}, Sampling: sampling("mp"),
	}
}

// Model returns the model that a change hands over: a variant of package workload, unique to the operation where it is a
// fresh one; and why it cannot be selected, whatever the state, nil if it can.
func Model(op, variant string) (model.Model, error) {
	m := model.Model{
		Provider: provider, APIFormat: format, Name: "m-" + op, Limits: model.Limits{Context: 3000, Output: 300},
		Efforts: model.Efforts()[1:], Sampling: sampling(op),
	}
	switch variant {
	case workload.PlainModel:
		m.Efforts, m.BaseURL = nil, declaredTransport.BaseURL
	case workload.LowModel:
		m.Efforts = []model.Effort{model.EffortLow}
	case workload.BaseModel:
		return baseModel(), nil
	case workload.KeylessModel:
		m.Name = ""
		return m, errors.New("the model has no name")
	case workload.MalformedModel:
		m.Limits.Context = -1
		return m, errors.New("the model's context limit is negative")
	case workload.UndeclaredModel:
		m.BaseURL = "https://undeclared.example"
		return m, errors.New("the model's transport is not declared")
	}
	return m, nil
}

// Define returns the definition that the loops of a run are made of, without one of its modes if that is not the base, and what
// the oracle has to know of it. All lives of a run are of one definition (CHG-6); its declared tools note what happens in the
// life that began last before they were built.
//
// The base has tools d1 and d2; mode plan its own instructions, model, effort and tools d1 and d3; mode quick its own
// instructions; mode bare its own instructions, no tools and no effort. What d2 says of itself changes after the start.
func (s *Stage) Define(foreign bool, without loop.ModeName) (loop.Definition, *trace.Definition, error) {
	facts := &trace.Definition{Modes: make(map[loop.ModeName]*trace.Mode, 4), Declared: make(map[string]bool, 3), Foreign: foreign}
	tools := func(mode string, names ...string) (definitions []tool.Definition, described []trace.Tool) {
		if foreign {
			return nil, nil
		}
		for _, name := range names {
			d := &Definition{stage: s, name: name, instance: mode + "/", of: "mode " + mode}
			if name == "d2" {
				d.behaviour = workload.Changing
			}
			info := d.info(name)
			definitions = append(definitions, d)
			described = append(described, trace.Tool{Name: name, Description: info.Description, Schema: string(info.Schema), Instance: d.instance + name})
			facts.Declared[name] = true
		}
		return definitions, described
	}
	engine := loop.EngineNative
	if foreign {
		engine = loop.EngineForeign
	}
	baseTools, base := tools("base", "d1", "d2")
	planTools, plan := tools("plan", "d1", "d3")
	facts.Modes[loop.BaseMode] = &trace.Mode{Name: loop.BaseMode, Instructions: "base", Model: baseModel(), Effort: model.EffortLow, Tools: base}
	options := []loop.Option{
		loop.WithName("assistant"), loop.WithEngine(engine), loop.WithInstructions("base"), loop.WithModel(baseModel()),
		loop.WithEffort(model.EffortLow), loop.WithTools(baseTools...), loop.WithTransports(declaredTransport),
	}
	declare := func(mode *trace.Mode, settings ...loop.Setting) {
		if mode.Name != without {
			facts.Modes[mode.Name] = mode
			options = append(options, loop.WithMode(mode.Name, append(settings, loop.WithInstructions(mode.Instructions))...))
		}
	}
	declare(&trace.Mode{Name: "plan", Instructions: "plan", Model: planModel(), Effort: model.EffortHigh, Tools: plan},
		loop.WithModel(planModel()), loop.WithEffort(model.EffortHigh), loop.WithTools(planTools...))
	declare(&trace.Mode{Name: "quick", Instructions: "quick", Model: baseModel(), Effort: model.EffortLow, Tools: base})
	declare(&trace.Mode{Name: "bare", Instructions: "bare", Model: baseModel(), Effort: model.EffortNone},
		loop.WithEffort(model.EffortNone), loop.WithTools())
	definition, err := loop.Define(options...)
	if err != nil {
		return loop.Definition{}, nil, err
	}
	facts.Transports = definition.Transports()
	return definition, facts, nil
}

// SpoilDeclared has the declared tools that change overwrite the memory that they handed out.
func SpoilDeclared(definition loop.Definition) {
	for _, mode := range append(definition.Modes(), loop.BaseMode) {
		configuration, _ := definition.Configuration(mode)
		for _, d := range configuration.Tools {
			if d, ours := d.(*Definition); ours {
				d.Spoil()
			}
		}
	}
}
