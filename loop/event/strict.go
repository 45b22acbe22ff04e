package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

var (
	errRepeated  = errors.New("given more than once")
	errMissing   = errors.New("missing")
	errUnknown   = errors.New("unknown field")
	errNull      = errors.New("null")
	errNotObject = errors.New("not a JSON object")
	errNotList   = errors.New("not a JSON list")
)

// strict compares an encoding, which is valid JSON, with the Go type that it is to be decoded to.
type strict struct {
	// exact decodes each scalar on its own, so that the error of one that does not fit its type has a path: that of
	// encoding/json has none for a type that decodes itself, as a time does.
	exact bool
}

// object checks that each member of an object is a field's exact name and occurs once, and that every field is there
// that is not marked omitempty. path is the object's own, "" at the top, where the type tag is a member too.
func (s strict) object(data string, t reflect.Type, path string) error {
	if data[0] != '{' {
		return problem(path, errNotObject)
	}
	fields := fieldsOf(t)
	var seen uint64 // of fields, by their index
	for name, value := range membersOf(data) {
		if path == "" && name == typeTag {
			continue // typeOf has seen to it
		}
		i := indexOf(fields, name)
		if i < 0 {
			return problem(join(path, name), errUnknown)
		}
		if seen&(1<<i) != 0 {
			return problem(join(path, name), errRepeated)
		}
		seen |= 1 << i
		if err := s.value(value, fields[i].of, join(path, name)); err != nil {
			return err
		}
	}
	for i, f := range fields {
		if f.required && seen&(1<<i) == 0 {
			return problem(join(path, f.name), errMissing)
		}
	}
	return nil
}

func (s strict) value(data string, t reflect.Type, path string) error {
	switch {
	case data == "null" && (t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer):
		return nil // no list, no value: what leaving the field out means
	case data == "null":
		return problem(path, errNull)
	case t.Kind() == reflect.Slice:
		if data[0] != '[' {
			return problem(path, errNotList)
		}
		i := 0
		for element := range elementsOf(data) {
			if err := s.value(element, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
			i++
		}
		return nil
	case t.Kind() == reflect.Struct && t != timeType:
		return s.object(data, t, path)
	}
	if s.exact {
		if err := json.Unmarshal([]byte(data), reflect.New(t).Interface()); err != nil {
			return problem(path, mismatch(err))
		}
	}
	return problem(path, checkScalar(data, t))
}

func mismatch(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Errorf("a JSON %s does not belong here", mismatch.Value)
	}
	return err
}

// structField is a field as the encoding has it.
type structField struct {
	name     string
	of       reflect.Type
	required bool
}

func indexOf(fields []structField, name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}

var knownFields sync.Map // of []structField by reflect.Type

// fieldsOf returns the JSON fields of a struct, those of embedded structs included, in the order of declaration. There are
// fewer than 64.
func fieldsOf(t reflect.Type) []structField {
	if known, ok := knownFields.Load(t); ok {
		return known.([]structField)
	}
	var fields []structField
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, structField{name, field.Type, options != "omitempty"})
	}
	knownFields.Store(t, fields)
	return fields
}

func join(path, name string) string {
	if name == "" {
		name = `""` // an empty path would mean the whole event
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
