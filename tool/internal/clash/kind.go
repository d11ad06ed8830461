package clash

// A Kind says which of tt-metal's messages a Message is.
type Kind string

// The kinds of messages, by failure.
const (
	Grow          Kind = "grow"           // the buffers of a program end beyond L1
	Clash         Kind = "clash"          // they end above the lowest L1 buffer
	ServiceClash  Kind = "service-clash"  // they end above L1 that a service core has taken
	Grid          Kind = "grid"           // a buffer is on cores outside the compute grid
	Append        Kind = "append"         // a buffer was to start inside what is taken already
	IndexReuse    Kind = "index-reuse"    // a buffer index is used twice on a core
	BackingBuffer Kind = "backing-buffer" // a buffer is larger than the tensor it lies in
	PageSize      Kind = "page-size"      // a size is not a multiple of the page size
	OutOfMemory   Kind = "out-of-memory"  // the allocator has no space for a buffer

	KernelConfig     Kind = "kernel-config"      // a program is larger than the ring that it is sent through
	TraceRegion      Kind = "trace-region"       // traces are larger than the region for them
	UnsafeAllocation Kind = "unsafe-allocation"  // a buffer is allocated while a trace may write there
	PersistentL1     Kind = "persistent-l1"      // there is no space for pages that outlive programs
	PersistentSealed Kind = "persistent-l1-late" // such pages were requested after a program was placed
	AddressLimit     Kind = "address-limit"      // the allocator reached the lowest address for buffers
	Slots            Kind = "slots"              // a buffer has a number that cores do not have
	Compiler         Kind = "compiler"           // tt-mlir's compiler needs more L1 than a core has
)

// What kind of buffers a message is about, in tt-metal's words.
const (
	Circular = "circular"
	Dataflow = "dataflow"
)
