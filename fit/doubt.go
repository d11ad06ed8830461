package fit

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A DoubtKind is the reason why the fit of a program is unknown.
type DoubtKind string

// The doubts.
const (
	DoubtRange  DoubtKind = "range-lockstep"  // whether a buffer in range lockstep counts on other cores is not known
	DoubtHidden DoubtKind = "per-core-hidden" // where a buffer that was allocated per core lies on some cores is not known
)

// A Doubt is a region of a program that tt-metal may refuse: that depends on
// something about a buffer that is not known.
type Doubt struct {
	Kind    DoubtKind
	Device  DeviceID // the first of them
	Devices int      // with the same buffers
	What    program.Kind
	Cores   l1.CoreRange // of the region
	End     uint64       // of the region
	Buffer  Buffer       // the first that matters
}

// String describes the doubt in one line.
func (d Doubt) String() string {
	if d.Kind == DoubtRange {
		return fmt.Sprintf("%v has one address on a range of cores: whether tt-metal compares it with core range %v is not known", d.Buffer, d.Cores)
	}
	return fmt.Sprintf("%v was allocated per core, and its address is not known on cores of %v", d.Buffer, d.Cores)
}

// cure describes the way to an answer.
func (v *Verdict) cure(d Doubt) string {
	if d.Kind == DoubtHidden {
		return fmt.Sprintf("say where %s lies on each of its cores", v.called(d.Buffer))
	}
	low := uint64(l1.MaxAddr)
	for p := range d.Buffer.All() {
		low = min(low, p.Range.Start)
	}
	return fmt.Sprintf("end the region at %s at most, or allocate %s per core or in lockstep", grouped(low), v.called(d.Buffer))
}
