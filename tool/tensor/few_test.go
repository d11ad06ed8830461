package tensor_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/tensor"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

// TestFew compares what is found out about each buffer: testdata/few.txt has a section for each capture, and behind > the
// table. A line is a node, the first one is node 0:
//
//	start NAME [TENSOR...]          a function, and the tensors that it takes
//	end [NODE...]                   its end, and what follows
//	buffer [TENSOR...]              a buffer node
//	allocate ADDRESS SIZE [of NODE] [small] [on ID]
//	tensor SHAPE [at ADDRESS] [on ID] [to START...] [dram] [l1]
//	free NODE                       of the allocation there
//	global ADDRESS [on ID...]       a global circular buffer
//	trace, cut, unread
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		var table tensor.Table
		u, places := tensor.NewUses(&table), map[uint64]tensor.Place{}
		for i, line := range asked {
			node(t, u, uint64(i), strings.Fields(line), places)
			u.Pass(uint64(i))
		}
		u.End()
		var out []string
		for at := range uint64(len(asked)) {
			if x := table.Of(&event.Event{Node: at}); x != nil {
				out = append(out, describe(at, x))
			}
		}
		for id := range uint64(3) {
			for address := range uint64(1000) {
				if x := table.Of(&event.Event{Earlier: true, Named: event.Some(device.ID(id)), Address: event.Some(address)}); x != nil {
					out = append(out, fmt.Sprintf("before, id %d at %d: %s", id, address, x.Name("")))
				}
			}
		}
		return out
	})
}

// node passes a node on.
func node(t *testing.T, u *tensor.Uses, at uint64, words []string, places map[uint64]tensor.Place) {
	id, list := uint64(0), map[string][]uint64{}
	key := words[0]
	for i, word := range words[1:] {
		switch v, err := strconv.ParseUint(word, 10, 64); {
		case key == "start" && i == 0, key == "tensor" && i == 0:
		case err != nil:
			key = word
			list[key] = []uint64{}
		default:
			list[key] = append(list[key], v)
		}
	}
	if on := list["on"]; len(on) > 0 {
		id = on[0]
	}
	of := list[words[0]]
	switch words[0] {
	case "start":
		name, caller, _ := strings.Cut(words[1], "@")
		u.Enter(at, tensor.Function{Name: name, Caller: caller}, of)
	case "end":
		u.Leave(at, of)
	case "buffer":
		u.Describe(at, of)
	case "allocate":
		places[at] = tensor.Place{ID: id, Address: of[0], Size: of[1]}
		named := event.Opt[uint64]{}
		if len(list["of"]) > 0 {
			named = event.Some(list["of"][0])
		}
		u.Allocate(at, named, places[at], list["small"] != nil)
	case "tensor":
		parts := []tensor.Place{{ID: id}}
		if a := list["at"]; len(a) > 0 {
			parts[0].Address = a[0]
		}
		if list["dram"] != nil {
			parts = nil
		}
		u.Tensor(at, tensor.New("Shape(["+strings.ReplaceAll(words[1], ",", ", ")+"])", "DataType::BFLOAT16", "Layout::TILE"), list["to"], parts, list["l1"] != nil)
	case "free":
		u.Free(at, of[0], places[of[0]])
	case "global":
		u.Global(tensor.Place{Address: of[0]}, append(list["on"], id))
	case "trace":
		u.Trace(at)
	case "cut":
		u.Cut()
	case "unread":
		u.Unread()
	default:
		require.Fail(t, "no such node", words)
	}
}

// describe returns a line about a buffer.
func describe(at uint64, x *tensor.Tensor) string {
	text := fmt.Sprintf("%d: %s", at, x.Name("HEIGHT_SHARDED"))
	if x.Output != "" {
		text += fmt.Sprintf(", output of %s (node %d)", x.Output, x.OutputAt)
	}
	if x.Caller != "" {
		text += ", called at " + x.Caller
	}
	if x.LastUse.OK {
		text += fmt.Sprintf(", last used at %d", x.LastUse.V)
	}
	if x.Freed.OK {
		text += fmt.Sprintf(", freed at %d", x.Freed.V)
	}
	return text
}

// Texts of the dialects of tt-metal, and of none.
func TestName(t *testing.T) {
	for _, c := range []struct{ shape, dtype, layout, memory, want string }{
		{"Shape([1, 1, 32768, 32])", "DataType::BFLOAT16", "Layout::TILE", "HEIGHT_SHARDED", "[1,1,32768,32] bfloat16 TILE height-sharded"},
		{"ttnn.Shape([1, 1, 784[896], 2048])", "", "", "INTERLEAVED", "[1,1,784[896],2048] interleaved"},
		{"Shape([])", "DataType::BFLOAT8_B", "Layout::ROW_MAJOR", "", "[] bfloat8_b ROW_MAJOR"},
		{"", "DataType::UINT16", "", "TensorMemoryLayout::BLOCK_SHARDED", "uint16 block-sharded"},
		{"", "", "", "HEIGHT_SHARDED", ""},
		{"] [", "", "", "", "] ["},
		{"[\x1b[31m]", "", "", "", `[\x1b[31m]`},
		{"[" + strings.Repeat("1,", 99) + "]", "", "", "", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,..."},
	} {
		require.Equal(t, c.want, tensor.New(c.shape, c.dtype, c.layout).Name(c.memory))
	}
	require.Empty(t, (*tensor.Tensor)(nil).Name("INTERLEAVED"))
	var none *tensor.Table
	require.Nil(t, none.Of(&event.Event{}))
	require.Nil(t, none.Of(&event.Event{Tensor: []byte(`"x"`)}))
	require.Equal(t, "[7] TILE", none.Of(&event.Event{Tensor: []byte(`{"shape":"[7]","layout":"TILE"}`)}).Name(""))
}
