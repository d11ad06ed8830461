package large

import (
	"bytes"
	"fmt"
)

// A Graph is the nodes of a capture in the making. The zero Graph is empty.
type Graph struct {
	bytes.Buffer       // the nodes, one on a line
	Nodes        int64 // written so far
	Whole        bool  // nodes have the members that nothing reads, as tt-metal writes them
}

// Node writes a node without connections and returns its counter. Its params are a format of the
// members of an object.
func (g *Graph) Node(kind, params string, args ...any) int64 {
	return g.Linked("", kind, params, args...)
}

// Linked writes a node with connections, as in Node.
func (g *Graph) Linked(connections, kind, params string, args ...any) int64 {
	first, middle, last := "", "", ""
	if g.Whole {
		first, middle, last = `"arguments":[],`, `"input_tensors":[],`, `,"stacking_level":1`
	}
	if g.Nodes > 0 {
		g.WriteString(",\n")
	}
	fmt.Fprintf(g, `{%s"connections":[%s],"counter":%d,%s"node_type":"%s","params":{`, first, connections, g.Nodes, middle, kind)
	fmt.Fprintf(g, params, args...)
	fmt.Fprintf(g, "}%s}", last)
	g.Nodes++
	return g.Nodes - 1
}
