package large

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// A Form is the way in which a capture is written.
type Form string

// The forms.
const (
	Report  Form = "report"  // an object around the graph, one node a line, as since 2026
	Strings Form = "strings" // the graph alone with numbers as texts and no ids, as in 2024
)

// Forms returns all of them.
func Forms() []Form { return []Form{Report, Strings} }

// A Buffering is the use of L1 buffers by an operation.
type Buffering string

// The ways.
const (
	NoBuffers   Buffering = "none"
	SameBuffers Buffering = "same" // one size at few addresses, so that what lives repeats
	VaryBuffers Buffering = "vary" // each has a size of its own, so that it never does
)

// Bufferings are all of them.
func Bufferings() []Buffering { return []Buffering{NoBuffers, SameBuffers, VaryBuffers} }

// Live is how many buffers live at a time.
const Live = 12

// A Plan describes a file to be written. The zero value of a field is its default.
type Plan struct {
	Size     int64     // bytes, about: the last operation is not cut. The default is 1 MiB
	Chips    int       // of the mesh; the default is 1
	Form     Form      // the default is Report
	Share    float64   // of the graph in a Report, above 0 to 1; the default is 1
	Programs int       // distinct ones; 0: each operation has one of its own
	Buffers  Buffering // the default is NoBuffers
}

// Valid returns an error if there is no such capture.
func (c Plan) Valid() error {
	switch {
	case c.Size < 0, c.Chips < 0, c.Chips > 1024, c.Programs < 0:
		return fmt.Errorf("size %d, %d chips, %d programs: none may be negative, and a mesh has at most 1,024 chips", c.Size, c.Chips, c.Programs)
	case c.Share < 0 || c.Share > 1:
		return fmt.Errorf("share %v: want above 0 to 1", c.Share)
	case c.Share != 0 && c.Share != 1 && c.Form != Report && c.Form != "":
		return fmt.Errorf("share %v: only a report holds something besides its graph", c.Share)
	}
	if c.Form != "" && !slices.Contains(Forms(), c.Form) {
		return fmt.Errorf("form %q: want one of %v", c.Form, Forms())
	}
	if c.Buffers != "" && !slices.Contains(Bufferings(), c.Buffers) {
		return fmt.Errorf("buffers %q: want one of %v", c.Buffers, Bufferings())
	}
	return nil
}

// withDefaults returns the capture with all its fields.
func (c Plan) withDefaults() Plan {
	if c.Size == 0 {
		c.Size = 1 << 20
	}
	c.Chips = max(c.Chips, 1)
	if c.Form == "" {
		c.Form = Report
	}
	if c.Share == 0 {
		c.Share = 1
	}
	if c.Buffers == "" {
		c.Buffers = NoBuffers
	}
	return c
}

// Counts are the numbers of written bytes, nodes and operations.
type Counts struct {
	Bytes int64
	Nodes int64
	Ops   int64 // operations: each ran its program on every chip
}

// Write writes the capture. The error is one of Valid or of w.
func (c Plan) Write(w io.Writer) (Counts, error) {
	if err := c.Valid(); err != nil {
		return Counts{}, err
	}
	to := bufio.NewWriterSize(w, 64<<10)
	out := &writer{Plan: c.withDefaults(), w: to}
	out.capture()
	out.drain()
	if out.err == nil {
		out.err = to.Flush()
	}
	return Counts{out.written, out.Nodes, out.ops}, out.err
}
