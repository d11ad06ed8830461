package page

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/internal/asciijson"
)

// A packer writes a document as JSON in fewer bytes, for a page that unpacks it:
//
//	{"v": DOCUMENT, "r": [VALUE, ...]}
//
// In it, {"$r": 3} stands for the value with that number in r. {"$n": 2, "$c": {"op": ["a", "b"],
// "cb": {"$k": 0}}} stands for a list of two objects, [{"op": "a", "cb": 0}, {"op": "b", "cb": 0}]: each
// member is a list of its own, or one value for all. {"$i": "9007199254740993"} is a whole number that a
// double cannot hold, {"$t": "0.10"} another number as it is written.
type packer struct {
	nodes []node
	at    map[string]int // numbers of nodes, by what they say
	out   []string       // the values of r
	key   []byte         // what the last node says
}

// A node is a distinct value.
type node struct {
	text string   // of a number, word or nothing
	open byte     // '{', '[' or 0
	keys []string // of an object, encoded
	kids []int
	uses int // where it stands
	size int // bytes, about, if nothing in it was shared
	ref  int // its number in r, from 1
}

// pack returns the packed form of a document, in ASCII and without "<", ">" and "&".
func pack(doc []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	p := packer{at: map[string]int{}}
	text := p.write(p.add(columns(v)))
	return asciijson.Escape([]byte(`{"v":` + text + `,"r":[` + strings.Join(p.out, ",") + "]}")), nil
}

// columns turns lists of objects with the same members into members with lists.
func columns(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = columns(v[k])
		}
	case []any:
		for i := range v {
			v[i] = columns(v[i])
		}
		return turned(v)
	case json.Number:
		return number(v)
	}
	return v
}

func turned(list []any) any {
	if len(list) < 3 {
		return list
	}
	first, _ := list[0].(map[string]any)
	if len(first) == 0 {
		return list
	}
	for k := range first {
		if strings.HasPrefix(k, "$") { // what is packed already
			return list
		}
	}
	for _, v := range list {
		o, ok := v.(map[string]any)
		if !ok || len(o) != len(first) {
			return list
		}
		for k := range first {
			if _, ok := o[k]; !ok {
				return list
			}
		}
	}
	cols := map[string]any{}
	for k := range first {
		col := make([]any, len(list))
		for i, v := range list {
			col[i] = v.(map[string]any)[k]
		}
		cols[k] = col
		if constant(col) {
			cols[k] = map[string]any{"$k": col[0]}
		}
	}
	return map[string]any{"$n": len(list), "$c": cols}
}

// constant reports whether a column has the same number, word or nothing in all rows.
func constant(col []any) bool {
	switch col[0].(type) {
	case map[string]any, []any:
		return false
	}
	return !slices.ContainsFunc(col, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return v != col[0]
	})
}

// number returns a number as a page can read it without loss.
func number(n json.Number) any {
	const exact = 1 << 53
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		if -exact <= i && i <= exact {
			return n
		}
		return map[string]any{"$i": string(n)}
	}
	if _, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return map[string]any{"$i": string(n)}
	}
	if f, err := n.Float64(); err == nil {
		if text, err := json.Marshal(f); err == nil && string(text) == string(n) {
			return n
		}
	}
	return map[string]any{"$t": string(n)}
}

// add returns the number of the node of a value.
func (p *packer) add(v any) int {
	var n node
	switch v := v.(type) {
	case map[string]any:
		n.open = '{'
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.keys, n.kids = append(n.keys, encoded(k)), append(n.kids, p.add(v[k]))
		}
	case []any:
		n.open = '['
		for _, x := range v {
			n.kids = append(n.kids, p.add(x))
		}
	default:
		n.text = encoded(v)
	}
	p.key = n.appendKey(p.key[:0])
	i, ok := p.at[string(p.key)]
	if !ok {
		i = len(p.nodes)
		n.size = len(n.text) + 2
		for _, k := range n.kids {
			p.nodes[k].uses++
			n.size += p.nodes[k].size + 1
		}
		for _, k := range n.keys {
			n.size += len(k) + 1
		}
		p.at[string(p.key)], p.nodes = i, append(p.nodes, n)
	}
	return i
}

// appendKey appends what a node says. Nodes that say the same have equal keys, and others have not.
func (n *node) appendKey(b []byte) []byte {
	b = append(append(b, n.open), n.text...)
	for i, kid := range n.kids {
		if n.open == '{' {
			b = append(b, n.keys[i]...)
		}
		b = binary.AppendUvarint(b, uint64(kid))
	}
	return b
}

// encoded returns the JSON of a word, number or nothing, in which no markup can begin.
func encoded(v any) string {
	if n, ok := v.(json.Number); ok {
		return string(n)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "null" // what was decoded can be encoded
	}
	return string(text)
}

// write returns the text of a node. It moves nodes that occur several times into r.
func (p *packer) write(i int) string {
	const worth = 20 // bytes that a shared value has at least
	n := &p.nodes[i]
	if n.uses < 2 || n.size < worth {
		return p.inside(n)
	}
	if n.ref == 0 {
		text := p.inside(n) // which may need others
		p.out = append(p.out, text)
		n.ref = len(p.out)
	}
	return fmt.Sprintf(`{"$r":%d}`, n.ref-1)
}

func (p *packer) inside(n *node) string {
	if n.open == 0 {
		return n.text
	}
	var b strings.Builder
	b.WriteByte(n.open)
	for i, k := range n.kids {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == '{' {
			b.WriteString(n.keys[i] + ":")
		}
		b.WriteString(p.write(k))
	}
	b.WriteByte(n.open + 2) // ']' and '}' stand two behind '[' and '{'
	return b.String()
}
