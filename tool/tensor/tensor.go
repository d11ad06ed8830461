package tensor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// A Tensor is what a capture says of the tensors in one L1 buffer.
type Tensor struct {
	Shape  string `json:"shape"`  // of the first one, "[1,1,32,32]"; "" = not said, as all others
	DType  string `json:"dtype"`  // as ttnn writes it, "bfloat16"
	Layout string `json:"layout"` // "TILE" or "ROW_MAJOR"
	Others int    `json:"other_shapes"`

	Output   string `json:"output_of"`      // functions, outermost first, that returned it; of several nested ones the outermost
	OutputAt uint64 `json:"output_counter"` // where the innermost of these functions began
	Caller   string `json:"called_at"`      // the file and line in Python that called it, "model.py:12"; "" = not said

	// LastUse is the end of the last outermost function that used the buffer, absent if that is not certain. Freed
	// is then the free of the buffer; absent: it lives at the end.
	LastUse event.Opt[uint64] `json:"last_use"`
	Freed   event.Opt[uint64] `json:"freed"`
}

// A Table has the Tensors of a capture. The zero Table is empty, and so is nil.
type Table struct {
	allocated map[uint64]*Tensor
	before    map[Place]*Tensor // of buffers from before the capture; Size is 0
}

// Of returns the Tensor of the buffer that an event allocates, nil if there is none. An event of a log has its own, and one
// that cannot be read names nothing.
func (t *Table) Of(e *event.Event) *Tensor {
	switch {
	case e.Tensor != nil:
		var x Tensor
		if json.Unmarshal(e.Tensor, &x) != nil {
			return nil
		}
		return &x
	case t == nil:
		return nil
	case e.Earlier:
		return t.before[Place{ID: uint64(e.Named.V), Address: e.Address.V}]
	}
	return t.allocated[e.Node]
}

// New returns a Tensor from the texts of a node, as tt-metal prints them.
func New(shape, dtype, layout string) *Tensor {
	if from, to := strings.IndexByte(shape, '['), strings.LastIndexByte(shape, ']'); 0 <= from && from < to {
		shape = strings.ReplaceAll(shape[from:to+1], " ", "")
	}
	return &Tensor{Shape: short(shape), DType: short(strings.ToLower(word(dtype))), Layout: short(word(layout))}
}

// word returns an enumerator without its type.
func word(text string) string { return text[strings.LastIndexByte(text, ':')+1:] }

// short returns a text that fits into a row.
func short(text string) string { return shown.Start(shown.Visible(text), 48) }

// Name returns the words for a tensor in a buffer whose memory layout a capture spells as "HEIGHT_SHARDED":
// "[1,1,32,32] bfloat16 TILE height-sharded". It is "" if nothing is said of the tensor.
func (t *Tensor) Name(memory string) string {
	if t == nil || cmp.Or(t.Shape, t.DType, t.Layout) == "" {
		return ""
	}
	words := []string{t.Shape, t.DType, t.Layout, strings.ToLower(strings.ReplaceAll(word(memory), "_", "-"))}
	text := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	if t.Others > 0 {
		text += fmt.Sprintf(" and %s", shown.Plural(t.Others, "other shape"))
	}
	return text
}
