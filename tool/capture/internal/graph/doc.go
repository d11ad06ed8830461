// Package graph reads the nodes of a graph capture: the JSON text of one file, or of one cell of a database, in every
// dialect of ttnn. It is the first stage of package capture, and knows nothing of programs, meshes and events.
//
// [Document.Read] reads a text with its other sections. It yields a [Node] for each one of the graph, in the order of
// the file, with the fields that its type has. A [Decoder] remembers the shapes of texts, so that nodes that differ
// in a few numbers alone are decoded once (shape.go).
//
// # Words
//
//   - document: the text of a capture, with a graph in it;
//   - shape: what nodes have in common that differ in numbers alone;
//   - shift: how far the nodes of a slice of a database are moved, so that all slices are counted as one capture;
//   - unread row: a row of a section with a field that cannot be read.
package graph
