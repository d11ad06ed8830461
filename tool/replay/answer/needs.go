package answer

import (
	"encoding/json"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Needs are what the buffers of a device need of the sizes with which it is opened.
type Needs struct {
	// Small is the lowest address at which an L1_SMALL buffer ever lay; 0 = none did. They are placed from the top, and
	// all above it is needed: holes count.
	Small Need
	// Kept are the bytes of one bank that all L1_SMALL buffers take together whose address is not recorded, in whole
	// steps of fit.Alignment. Cached programs keep them; a capture with NO_DISPATCH frees them.
	Kept Need
	// Lowest is the lowest address at which a buffer in usable L1 ever lay; 0 = none did.
	Lowest Need
	// Trace is the most bytes that trace buffers had together, in all banks.
	Trace Need
	// Stray is the first buffer in usable L1 that lies elsewhere than tt-metal's allocator puts it beside the buffers of
	// that moment. 0 = there is none, or Options.Strays is not set.
	Stray Need
}

// A Need is an address or bytes, and the buffer that led to it.
type Need struct {
	Value uint64
	At    uint64      // counter of its allocation
	T     json.Number // of that event of a log; see L1Peak.T
}

// SmallBank returns the bytes that L1_SMALL buffers needed of one bank on a device with a Spec, in whole steps of
// fit.Alignment, and the buffer that set them. all: they have no addresses, and all of them count together.
func (n Needs) SmallBank(spec l1.Spec) (bytes uint64, by Need, all bool) {
	if at := n.Small.Value; at > 0 && at < spec.L1Size {
		align := fit.Alignment(spec)
		bytes, by = (spec.L1Size-at+align-1)/align*align, n.Small
	}
	if n.Kept.Value > bytes {
		return n.Kept.Value, n.Kept, true
	}
	return bytes, by, false
}
