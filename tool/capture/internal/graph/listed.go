package graph

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// A ListedBuffer is one row of per_operation_buffers: a buffer that lived at an operation.
// Before the rows of each operation comes one with begins, which has at alone.
type ListedBuffer struct {
	Begins  bool
	At      uint64 // counter of the operation's function_start
	Typed   bool   // kind is known
	Named   device.ID
	Kind    fit.Kind
	Address event.Opt[uint64]
	PerCore event.Opt[uint64]
}

// ReadListed reads the row of an operation that begins at a node.
func ReadListed(at uint64, number NumberIn) ListedBuffer {
	n := Node{
		Buffer:   BufferNode{BufferType: number("buffer_type", jsonobject.MaxWhole)},
		DeviceID: number("device_id", jsonobject.MaxInt),
	}
	row := ListedBuffer{
		At: at, Named: DeviceOf(n.DeviceID), Address: number("address", jsonobject.MaxWhole),
		PerCore: number("max_size_per_bank", jsonobject.MaxWhole),
	}
	row.Kind, row.Typed = BufferKind(&n)
	return row
}
