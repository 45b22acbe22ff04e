package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loopcheck/loopcheck/loop/model"
)

// Encode returns the event as one JSON object: its type tag, then its fields. The header's time is written in UTC. An event
// that does not Validate is refused with an [*InvalidError].
func Encode(e Event) ([]byte, error) {
	if other, ok := e.(Other); ok {
		if err := other.Validate(); err != nil {
			return nil, err
		}
		return slices.Clone(other.Raw), nil
	}
	record := recordOf(e)
	if record == nil {
		return nil, &InvalidError{Cause: fmt.Errorf("%T is not an event of this package", e)}
	}
	if err := record.Validate(); err != nil {
		return nil, err
	}
	record.header().Time = record.EventHeader().Time.UTC()

	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // the journal is searched for what must not be in it (DUR-4): keep text as it is
	fmt.Fprintf(&b, `{"type":%q,`, record.Type())
	start := b.Len()
	if err := encoder.Encode(record); err != nil {
		return nil, &InvalidError{Type: record.Type(), Cause: err}
	}
	encoded := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	// Every event has a header, so the encoder's object is not empty: its brace gives way to the tag and a comma.
	return slices.Delete(encoded, start, start+1), nil
}

// Decode reads one event. What Encode wrote decodes to an equal event, nil and empty lists being one. An unknown type
// decodes as an [Other]. For a known type, an unknown, missing, repeated or differently cased field, a null where a value
// must be, trailing data, and whatever does not Validate is an [*InvalidError] that names the field.
//
// encoding/json alone would accept "Source" for "source", the last of two "mode" fields, and a missing one; and the
// decoders of single values would put U+FFFD for half a surrogate pair, cut a time to the nanosecond, and take a UUID in any
// brackets. An event read so is not the event that was written.
func Decode(data []byte) (Event, error) {
	tag, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	record := blank(tag)
	if record == nil {
		return Other{Tag: tag, Raw: slices.Clone(data)}, nil
	}
	text, t := strings.Trim(string(data), jsonSpace), reflect.TypeOf(record).Elem()
	if err := (strict{}).object(text, t, ""); err != nil {
		return nil, first(tag, err)
	}
	if err := json.Unmarshal(data, record); err != nil {
		return nil, first(tag, strict{exact: true}.object(text, t, ""), &InvalidError{Cause: err})
	}
	record.header().Time = record.EventHeader().Time.UTC()
	normalizeLists(record)
	if err := record.Validate(); err != nil {
		return nil, err
	}
	return reflect.ValueOf(record).Elem().Interface().(Event), nil
}

// record is a pointer to an event of a declared type.
type record interface {
	Event
	header() *Header
}

func (h *Header) header() *Header { return h }

// recordOf returns a pointer to a copy of e; nil where e is not a declared event, by value.
func recordOf(e Event) record {
	switch e := e.(type) {
	case LoopModeChanged:
		return &e
	case LoopInferenceChanged:
		return &e
	case LoopExternalToolsetChanged:
		return &e
	case LoopStarted:
		return &e
	case LoopStopped:
		return &e
	case TurnStarted:
		return &e
	case TurnEnded:
		return &e
	}
	return nil
}

// blank returns a pointer to a zero event of type t; nil for an unknown type.
func blank(t Type) record {
	switch t {
	case TypeLoopModeChanged:
		return new(LoopModeChanged)
	case TypeLoopInferenceChanged:
		return new(LoopInferenceChanged)
	case TypeLoopExternalToolsetChanged:
		return new(LoopExternalToolsetChanged)
	case TypeLoopStarted:
		return new(LoopStarted)
	case TypeLoopStopped:
		return new(LoopStopped)
	case TypeTurnStarted:
		return new(TurnStarted)
	case TypeTurnEnded:
		return new(TurnEnded)
	}
	return nil
}

// typeTag is the name of the member that says an event's type.
const typeTag = "type"

// typeOf checks that data is one JSON object in valid UTF-8 with exactly one type tag, and returns the tag.
func typeOf(data []byte) (Type, error) {
	if !utf8.Valid(data) {
		return "", &InvalidError{Cause: errors.New("not valid UTF-8")}
	}
	if !json.Valid(data) {
		var whole json.RawMessage
		return "", &InvalidError{Cause: json.Unmarshal(data, &whole)} // which says what is wrong, and where
	}
	text := strings.Trim(string(data), jsonSpace)
	if text[0] != '{' {
		return "", &InvalidError{Cause: errNotObject}
	}
	var tag Type
	tagged := false
	for name, value := range membersOf(text) {
		if name != typeTag {
			continue
		}
		problem := func(cause error) (Type, error) { return "", &InvalidError{Field: typeTag, Cause: cause} }
		switch {
		case tagged:
			return problem(errRepeated)
		case value[0] != '"':
			return problem(errors.New("not a string"))
		case hasLoneSurrogate(value):
			return problem(errSurrogate)
		}
		tag, tagged = Type(unquote(value)), true
	}
	if tag == "" {
		return "", &InvalidError{Field: typeTag, Cause: errMissing}
	}
	return tag, nil
}

// normalizeLists makes empty lists nil.
func normalizeLists(r record) {
	switch e := r.(type) {
	case *LoopModeChanged:
		normalizeModel(&e.Runtime.Model)
	case *LoopInferenceChanged:
		normalizeModel(&e.Runtime.Model)
	case *LoopStarted:
		normalizeModel(&e.Runtime.Model)
	case *LoopExternalToolsetChanged:
		if len(e.Tools) == 0 {
			e.Tools = nil
		}
	}
}

func normalizeModel(m *model.Model) {
	if len(m.Efforts) == 0 {
		m.Efforts = nil
	}
	if len(m.Sampling.Stop) == 0 {
		m.Sampling.Stop = nil
	}
}
