package event_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loopcheck/loopcheck/loop/event"
	"github.com/loopcheck/loopcheck/loop/internal/looptest"
)

// node is one value of a JSON text, as it is written: members keep their order and may repeat, scalars their spelling.
type node struct {
	scalar  string
	members []field
	list    []*node
	kind    byte // '{', '[', or 0 for a scalar
}

type field struct {
	name  string
	value *node
}

func parse(t *rapid.T, text []byte) *node {
	text = bytes.TrimSpace(text)
	decoder := json.NewDecoder(bytes.NewReader(text))
	n := &node{kind: text[0]}
	switch n.kind {
	case '{', '[':
		_, err := decoder.Token()
		require.NoError(t, err)
	default:
		return &node{scalar: string(text)}
	}
	for decoder.More() {
		var name string
		if n.kind == '{' {
			token, err := decoder.Token()
			require.NoError(t, err)
			name = token.(string)
		}
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
		if child := parse(t, value); n.kind == '{' {
			n.members = append(n.members, field{name, child})
		} else {
			n.list = append(n.list, child)
		}
	}
	return n
}

// render writes the value with what space returns between all tokens.
func (n *node) render(b *strings.Builder, space func() string) {
	b.WriteString(space())
	switch n.kind {
	case '{':
		b.WriteString("{" + space())
		for i, m := range n.members {
			if i > 0 {
				b.WriteString("," + space())
			}
			name, _ := json.Marshal(m.name)
			b.WriteString(string(name) + space() + ":")
			m.value.render(b, space)
		}
		b.WriteString("}")
	case '[':
		b.WriteString("[" + space())
		for i, value := range n.list {
			if i > 0 {
				b.WriteString(",")
			}
			value.render(b, space)
		}
		b.WriteString("]")
	default:
		b.WriteString(n.scalar)
	}
	b.WriteString(space())
}

func (n *node) String() string {
	var b strings.Builder
	n.render(&b, func() string { return "" })
	return b.String()
}

// walk calls visit for n and all that is in it, each with its path.
func (n *node) walk(path string, visit func(path string, n *node)) {
	visit(path, n)
	for _, m := range n.members {
		m.value.walk(join(path, m.name), visit)
	}
	for i, value := range n.list {
		value.walk(fmt.Sprintf("%s[%d]", path, i), visit)
	}
}

func join(path, name string) string {
	return strings.TrimPrefix(path+"."+name, ".")
}

// place is an object in a text.
type place struct {
	path string
	node *node
}

func drawPlace(t *rapid.T, root *node, want func(*node) bool) (place, bool) {
	var places []place
	root.walk("", func(path string, n *node) {
		if want(n) {
			places = append(places, place{path, n})
		}
	})
	if len(places) == 0 {
		return place{}, false
	}
	return places[rapid.IntRange(0, len(places)-1).Draw(t, "place")], true
}

func isObject(n *node) bool { return n.kind == '{' && len(n.members) > 0 }

// drawKnown generates an event of a declared type, and its encoding as a tree.
func drawKnown(t *rapid.T) (event.Event, *node) {
	e := looptest.Events().Filter(func(e event.Event) bool { return e.Scope() != event.ScopeOther }).Draw(t, "event")
	encoded, err := event.Encode(e)
	require.NoError(t, err)
	return e, parse(t, encoded)
}

// recased returns name with the case of one of its letters swapped.
func recased(t *rapid.T, name string) string {
	letters := []rune(name)
	var at []int
	for i, r := range letters {
		if unicode.IsLetter(r) {
			at = append(at, i)
		}
	}
	i := rapid.SampledFrom(at).Draw(t, "letter")
	letters[i] = unicode.ToUpper(letters[i])
	return string(letters)
}

func TestDUR5_AMutatedMemberIsATypedErrorThatNamesIt(t *testing.T) {
	optional := []string{"base_url", "efforts", "context", "output", "temperature", "top_p", "stop", "tools"}
	rapid.Check(t, func(t *rapid.T) {
		e, root := drawKnown(t)
		at, _ := drawPlace(t, root, isObject)
		i := rapid.IntRange(0, len(at.node.members)-1).Draw(t, "member")
		member := &at.node.members[i]
		path := join(at.path, member.name)
		tag := path == "type"
		kind := e.Type()
		switch rapid.SampledFrom([]string{"case", "repeat", "drop", "add", "null"}).Draw(t, "mutation") {
		case "case":
			member.name = recased(t, member.name)
			if path = join(at.path, member.name); tag {
				path, kind = "type", "" // then the tag is missing
			}
		case "repeat":
			again := field{member.name, rapid.SampledFrom([]*node{member.value, {scalar: "null"}}).Draw(t, "value")}
			j := rapid.IntRange(i+1, len(at.node.members)).Draw(t, "where")
			at.node.members = slices.Insert(at.node.members, j, again)
			if tag {
				kind = ""
			}
		case "drop":
			if slices.Contains(optional, member.name) || path == "runtime.model.sampling.effort" {
				t.Skip("may be left out")
			}
			at.node.members = slices.Delete(at.node.members, i, i+1)
			if tag {
				kind = ""
			}
		case "add":
			name := rapid.OneOf(looptest.Text(12), rapid.SampledFrom([]string{"Header", "EventID", "TypE", "schema", "description"})).Draw(t, "name")
			for _, m := range at.node.members {
				if m.name == name {
					t.Skip("already there")
				}
			}
			if slices.Contains(optional, name) || name == "type" {
				t.Skip("a field")
			}
			at.node.members = slices.Insert(at.node.members, i, field{name, &node{scalar: "null"}})
			path = join(at.path, name)
		case "null":
			if member.value.kind == '[' || member.name == "temperature" || member.name == "top_p" {
				t.Skip("null is none")
			}
			member.value = &node{scalar: "null"}
			if tag {
				kind = ""
			}
		}
		_, err := checkDecoding(t, []byte(root.String()))
		requireInvalid(t, err, kind, path)
	})
}

func TestDUR5_WhiteSpaceAndOrderDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, root := drawKnown(t)
		root.walk("", func(_ string, n *node) {
			if n.kind == '{' {
				n.members = rapid.Permutation(n.members).Draw(t, "order")
			}
		})
		space := rapid.SampledFrom([]string{"", "", " ", "\n", "\t", "\r", "  "})
		var b strings.Builder
		root.render(&b, func() string { return space.Draw(t, "space") })
		decoded, err := checkDecoding(t, []byte(b.String()))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(e, decoded, looptest.SameEvent))
	})
}

func TestDUR5_ListsThatAreNullOrEmptyOrLeftOutAreOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, root := drawKnown(t)
		isList := func(n *node) bool {
			return n.kind == '{' && slices.ContainsFunc(n.members, func(m field) bool { return m.value.kind == '[' })
		}
		at, ok := drawPlace(t, root, isList)
		if !ok {
			t.Skip("no list")
		}
		i := slices.IndexFunc(at.node.members, func(m field) bool { return m.value.kind == '[' })
		var first event.Event
		for _, none := range []*node{{kind: '['}, {scalar: "null"}, nil} {
			if at.node.members[i].value = none; none == nil {
				at.node.members = slices.Delete(at.node.members, i, i+1)
			}
			decoded, err := checkDecoding(t, []byte(root.String()))
			require.NoError(t, err)
			if first == nil {
				first = decoded
			}
			require.Equal(t, first, decoded)
		}
	})
}

func TestDUR5_AppendedDataIsAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, root := drawKnown(t)
		data := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 1, 8), rapid.SampledFrom([][]byte{
			[]byte("{}"), []byte("null"), []byte(","), []byte("}"), []byte("\x00"), []byte(root.String()),
		})).Draw(t, "data")
		_, err := checkDecoding(t, append([]byte(root.String()), data...))
		if len(bytes.Trim(data, " \t\r\n")) == 0 {
			require.NoError(t, err)
		} else {
			require.Error(t, err)
		}
	})
}

func TestDUR5_HalfASurrogatePairIsATypedErrorWhereverItStands(t *testing.T) {
	halves := rapid.SampledFrom([]string{`\ud800`, `\uDBFF`, `\udc00`, `\uDFFF`, `\udc00\ud800`, `\ud83d\ud83d\ude00`, `\ud800\\udc00`})
	rapid.Check(t, func(t *rapid.T) {
		e, root := drawKnown(t)
		at, _ := drawPlace(t, root, func(n *node) bool { return strings.HasPrefix(n.scalar, `"`) })
		text := strings.TrimSuffix(at.node.scalar, `"`)
		at.node.scalar = text + halves.Draw(t, "half") + `"`
		kind := e.Type()
		if at.path == "type" {
			kind = ""
		}
		_, err := checkDecoding(t, []byte(root.String()))
		requireInvalid(t, err, kind, at.path)
	})
}
