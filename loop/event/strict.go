package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

var (
	errRepeated = errors.New("given more than once")
	errMissing  = errors.New("missing")
	errUnknown  = errors.New("unknown field")
	errNull     = errors.New("null")
)

type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of a JSON object in their order, repeated ones too. data is valid JSON.
func membersOf(data []byte) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)}
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// checkObject compares the members of an object with the fields of the struct t that it is to be decoded to: each
// member is a field's exact name and occurs once, and every field is there that is not marked omitempty. path is the
// object's own, "" at the top, where the type tag is a member too.
func checkObject(data []byte, t reflect.Type, path string) error {
	members, err := membersOf(data)
	if err != nil {
		return problem(path, err)
	}
	fields := make(map[string]reflect.StructField)
	required := make(map[string]bool)
	collectFields(t, fields, required)
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		at := join(path, m.name)
		if seen[m.name] {
			return problem(at, errRepeated)
		}
		seen[m.name] = true
		if path == "" && m.name == "type" {
			continue
		}
		field, known := fields[m.name]
		if !known {
			return problem(at, errUnknown)
		}
		if err := checkValue(m.value, field.Type, at); err != nil {
			return err
		}
	}
	for _, field := range reflect.VisibleFields(t) { // in the order of declaration, so that the same field is named each time
		if name := jsonName(field); required[name] && !seen[name] {
			return problem(join(path, name), errMissing)
		}
	}
	return nil
}

func checkValue(data []byte, t reflect.Type, path string) error {
	data = bytes.TrimSpace(data)
	null := bytes.Equal(data, []byte("null"))
	switch {
	case null && (t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer):
		return nil // no list, no value: what leaving the field out means
	case null:
		return problem(path, errNull)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			return problem(path, errors.New("not a JSON list"))
		}
		for i, element := range elements {
			if err := checkValue(element, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return checkObject(data, t, path)
	default:
		return problem(path, checkScalar(data, t))
	}
	return nil
}

// collectFields adds the JSON fields of t, those of embedded structs included, by their names.
func collectFields(t reflect.Type, fields map[string]reflect.StructField, required map[string]bool) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			collectFields(field.Type, fields, required)
			continue
		}
		name := jsonName(field)
		fields[name] = field
		required[name] = !strings.Contains(field.Tag.Get("json"), ",omitempty")
	}
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
