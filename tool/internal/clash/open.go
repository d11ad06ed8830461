package clash

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// ringNeed returns by how much the base of circular buffers, which moves in steps of align, must move up for a
// program to go through the ring; 0 if the message does not say it. The test is strict (offset < size in
// finalize_program_offsets of program.cpp): a program of n bytes needs a ring of n + 1.
func (m Message) ringNeed(align uint64) uint64 {
	size, limit := m.Numbers["size"], m.Numbers["limit"]
	if !m.has("size", "limit") || size < limit {
		return 0
	}
	return ceil(size-limit+1, align) * align
}

// smallNeed returns by how much L1_SMALL must grow, 0 if the message does not say it.
func (m Message) smallNeed() uint64 {
	least, bank := m.least(), m.Numbers["bank"]
	if !m.has("bank") || least < bank {
		return 0
	}
	return roundUp(least - bank)
}

// An Ask is the size of open_device that a message asks for.
type Ask struct {
	Parameter string // l1_small_size, trace_region_size or worker_l1_size
	Used      uint64 // the size in use; 0 = the text does not say it
	Least     uint64 // the size that is needed at least, of worker_l1_size that of the kernel config ring; 0 = the text does not say it
}

// Asks returns the size of open_device that would cure the message; ok is false for other messages.
func (m Message) Asks() (a Ask, ok bool) {
	switch {
	case m.Kind == OutOfMemory && m.What == "L1_SMALL":
		return Ask{"l1_small_size", m.Numbers["bank"], m.least()}, true
	case m.Kind == TraceRegion:
		return Ask{"trace_region_size", m.Numbers["limit"], m.Numbers["size"]}, true
	case m.Kind == OutOfMemory && m.What == "TRACE":
		return Ask{Parameter: "trace_region_size"}, true
	case m.Kind == KernelConfig && (m.What == "TENSIX" || m.What == ""):
		a = Ask{Parameter: "worker_l1_size"}
		if m.ringNeed(1) > 0 {
			a.Least = m.Numbers["size"] + 1
		}
		return a, true
	}
	return Ask{}, false
}

// RingLack returns by how much the base of circular buffers must move up on a device so that its kernel config ring has
// so many bytes. The ring ends at the base and starts at a fixed address. The base tells the release; if worker_l1_size has
// moved it the latest one counts. ok is false for chips whose ring is not known.
func RingLack(spec l1.Spec, bytes uint64) (lack uint64, ok bool) {
	known := bases(spec.Arch)
	if len(known) == 0 {
		return 0, false
	}
	end := slices.Max(known)
	if slices.Contains(known, spec.CBBase) {
		end = spec.CBBase
	}
	base := ceil(end-ring+bytes, max(spec.CBAlign, 1)) * max(spec.CBAlign, 1)
	return base - min(base, spec.CBBase), true
}

// A Margin says how far sizes of open_device can change before a run of a capture does not fit.
type Margin struct {
	// The run with the least room, as in Run.
	Capture  string      `json:"capture"`
	Log      bool        `json:"-"`
	Op       string      `json:"op,omitempty"`
	Event    uint64      `json:"counter"`
	T        json.Number `json:"-"`
	Inferred bool        `json:"-"`

	Spec   l1.Spec `json:"-"`      // of the device with the lowest base
	Free   uint64  `json:"room"`   // between its circular buffers and the lowest L1 buffer above, or L1_SMALL
	Failed int64   `json:"failed"` // runs that do not fit as it is

	Small     uint64 `json:"l1_small"`      // the size of L1_SMALL; 0 = there is none, or it is not known
	SmallUsed bool   `json:"l1_small_used"` // a buffer lived there
	SmallFree uint64 `json:"l1_small_free"` // bytes below the lowest one
}

// AddMargin adds the margin of a capture. It counts for the messages that the capture is about. For others the least
// of all counts.
func (c *Comparison) AddMargin(next Margin) {
	c.margins[next.Capture] = &next
	if least := c.least; least == nil || least.Failed == 0 && (next.Failed > 0 || next.Free < least.Free) {
		c.least = &next
	}
}

// changes returns what the words may name about how far the parameter that would help can change.
// Without a margin no run was judged that takes any bytes.
func (r *MessageRow) changes(margin *Margin) filler {
	m, memory := r.Message, ""
	if m.Kind == OutOfMemory {
		memory = m.What
	}
	g := Margin{}
	if margin != nil {
		g = *margin
	}
	run := ProgramRun{Capture: g.Capture, Log: g.Log, Op: g.Op, Event: g.Event, T: g.T, Inferred: g.Inferred}
	ofRing := m.Kind == KernelConfig && (m.What == "TENSIX" || m.What == "")
	parameter, verb, wanted := "l1_small_size", "grow", m.smallNeed()
	if ofRing {
		parameter, verb, wanted = "worker_l1_size", "shrink", m.ringNeed(cmp.Or(r.align, baseAlign))
	}
	large := false
	if lack, ok := RingLack(g.Spec, m.Numbers["size"]+1); ok && ofRing && wanted > 0 { // the base may be another one than that of the message
		wanted, large = lack, lack == 0
	}
	return filler{
		message: m,
		numbers: map[string]uint64{
			"failed": uint64(g.Failed), "gap": g.Free, "small": g.Small, "small-free": g.SmallFree, "wanted": wanted, "lack": wanted - min(wanted, g.Free),
		},
		texts: map[string]string{"parameter": parameter, "verb": verb, "capture": captureName(run), "run": run.text()},
		holds: map[string]bool{
			"margin": margin != nil, "large": large, "lower": r.lowers(), "small-used": g.SmallUsed, "asks-room": ofRing || memory == "L1_SMALL",
			"asks-trace": m.Kind == TraceRegion || memory == "TRACE", "asks-small": m.Kind == Clash || memory == "L1",
		},
	}
}
