package graph

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/tensor"
)

// A Type is the kind of a node as its writer spells it.
type Type string

// The types whose nodes are decoded. Of all others only Pos, Counter and Type are
// set.
const (
	TypeCaptureStart                Type = "capture_start"
	TypeCaptureEnd                  Type = "capture_end"
	TypeFunctionStart               Type = "function_start"
	TypeFunctionEnd                 Type = "function_end"
	TypeTensor                      Type = "tensor"
	TypeBuffer                      Type = "buffer"
	TypeBufferAllocate              Type = "buffer_allocate"
	TypeBufferDeallocate            Type = "buffer_deallocate"
	TypeCircularBufferAllocate      Type = "circular_buffer_allocate"
	TypeCircularBufferDeallocateAll Type = "circular_buffer_deallocate_all"
	TypeDataflowBufferAllocate      Type = "dataflow_buffer_allocate"
	TypeScratchpadAllocate          Type = "scratchpad_allocate"
	TypeSubDeviceManager            Type = "sub_device_manager"
	TypeProgramExecution            Type = "program_execution"
	TypeError                       Type = "error"
)

// A Node is one event of a capture. Which fields a node has depends on its type;
// the others are zero. Addresses and sizes are in bytes. On nodes that place
// something in L1 (circular buffers, dataflow buffers, scratchpads) Address, Size
// and Cores are always present, and below 2^32, unless it is Unreadable.
type Node struct {
	Pos     event.Pos
	Counter uint64
	Type    Type
	Anomaly event.Anomaly

	// Unreadable is the first field that cannot be read, nil if all can. Fields of such a
	// node are absent or right. Its Type is "" if that is the field.
	Unreadable *event.InputError

	// Connections are the counters a buffer, buffer event or tensor points to.
	// Nothing says that such nodes exist.
	Connections []uint64

	DeviceID         event.Opt[uint64] // of a chip or of a mesh: the node does not say which; at most 2^31-1
	PhysicalDeviceID event.Opt[uint64] // of a chip, on program_execution

	Address event.Opt[uint64]
	Size    event.Opt[uint64] // per core on circular buffers, of all banks on buffers

	Function FunctionNode
	Placed   PlacedNode
	Buffer   BufferNode
	Tensor   TensorNode
	Error    ErrorNode
}

// A FunctionNode has the fields of the start or end of a function.
type FunctionNode struct {
	Name string
	// CacheHit says whether the start of a device operation found its program in
	// the program cache; absent before mid 2026.
	CacheHit event.Opt[bool]
	// Aborted reports whether an exception ended the function, with its text in AbortReason;
	// absent before mid 2026.
	Aborted     bool
	AbortReason string
	// Arguments is a hash of the text of the arguments, 0 if it has none or [].
	// Equal texts have equal hashes, in every file and process.
	Arguments uint64
	// Inputs are counters of the tensors that a function takes. Returns are counters of what follows its end: among them are
	// the tensors that it returns. Only Options.Tensors has them.
	Inputs, Returns []uint64
}

// A PlacedNode has the fields of circular buffers, dataflow buffers and scratchpads.
type PlacedNode struct {
	Cores     l1.CoreRangeSet
	CoreArray bool // Cores are a JSON array in the capture, not a string
	Global    bool // globally_allocated or borrows_memory: takes no bytes of its own
}

// A BufferNode has the fields of a buffer, of its allocation or free, or of its tensor.
type BufferNode struct {
	MaxSizePerBank event.Opt[uint64] // bytes on the fullest core
	PageSize       event.Opt[uint64]
	NumCores       event.Opt[uint64] // cores of a sharded buffer, 0 if interleaved
	TypeName       string            // "DRAM" or "L1"
	BufferType     event.Opt[uint64] // 0 DRAM, 1 L1, 2 system memory, 3 L1_SMALL, 4 TRACE
	Layout         string
}

// A TensorNode has the fields of a tensor.
type TensorNode struct {
	DeviceTensors []DeviceTensor  // its part on each chip
	ShardGrid     l1.CoreRangeSet // where a sharded tensor lies, as far as its memory_config can be read
	Mode          fit.Mode        // how its buffer got its address: in HYBRID mode perhaps core by core
	// HidesMode reports whether the memory_config cannot be read, HidesPlace the same of the address.
	// A node without a type may be such a tensor.
	HidesMode, HidesPlace bool

	Names *tensor.Tensor // if Options.Tensors asks
}

// An ErrorNode has the fields of an error.
type ErrorNode struct{ Message, Operation string }

// A DeviceTensor is the part of a tensor on one chip. The deviceTensors of a capture
// show which chips a mesh has.
type DeviceTensor struct {
	Address      event.Opt[uint64]
	DeviceID     uint64
	MeshDeviceID event.Opt[uint64]
}

// DeviceOf returns the id that a node names.
func DeviceOf(id event.Opt[uint64]) device.ID {
	if !id.OK {
		return event.NoDevice
	}
	return device.ID(id.V)
}

// CompareDevices orders ids, the absent one first.
func CompareDevices(a, b device.ID) int {
	if (a == event.NoDevice) != (b == event.NoDevice) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// BufferKind returns the kind of a buffer: its buffer_type, or else its type, as which
// L1_SMALL buffers say L1.
func BufferKind(n *Node) (kind fit.Kind, ok bool) {
	kinds := []fit.Kind{fit.KindDRAM, fit.KindL1, fit.KindSystem, fit.KindL1Small, fit.KindTrace}
	if n.Buffer.BufferType.OK && n.Buffer.BufferType.V < uint64(len(kinds)) {
		return kinds[n.Buffer.BufferType.V], true
	}
	i := slices.Index([]string{"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"}, n.Buffer.TypeName)
	if i < 0 {
		return 0, false
	}
	return kinds[i], true
}
