package large

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
)

// A Buffering is the use of L1 buffers by an operation.
type Buffering int

// The ways.
const (
	NoBuffers   Buffering = iota
	SameBuffers           // one size at few addresses, so that what lives repeats
	VaryBuffers           // each has a size of its own, so that it never does
)

// Live is how many buffers live at a time.
const Live = 12

// A Plan describes a file to be written. The zero value of a field is its default.
type Plan struct {
	Size     int64     // bytes, about: the last operation is not cut. The default is 1 MiB
	Chips    int       // of the mesh, at most 1,024; the default is 1
	Bare     bool      // the graph alone, without ids and executions, as in 2024: nothing says how many chips there are
	Share    float64   // of the graph in a file that is not Bare, above 0 to 1; the default is 1
	Programs int       // distinct ones; 0: each operation has one of its own
	Buffers  Buffering // the default is NoBuffers
}

// Counts are the numbers of written bytes, nodes and operations.
type Counts struct {
	Bytes int64
	Nodes int64
	Ops   int64 // operations: each ran its program on every chip
}

// Write writes the capture. The error is one of w.
func (c Plan) Write(w io.Writer) (Counts, error) {
	c.Size, c.Chips, c.Share = cmp.Or(c.Size, 1<<20), max(c.Chips, 1), cmp.Or(c.Share, 1)
	out := &writer{Plan: c, to: bufio.NewWriterSize(w, 64<<10)}
	out.capture()
	out.drain()
	return Counts{out.written, out.Nodes, out.ops}, out.to.Flush()
}

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
