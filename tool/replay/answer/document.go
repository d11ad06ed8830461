package answer

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A Name is the name of an operation: the functions that ran, outermost first, joined by " > ".
// JSON has at most 1,024 bytes of it.
type Name string

// MarshalText returns the name as JSON has it.
func (n Name) MarshalText() ([]byte, error) {
	return []byte(shown.Clip(string(n), shown.MaxOutput)), nil
}

// An Origin names the form of a document, and its input.
type Origin struct {
	Schema string            `json:"schema"`
	File   string            `json:"file"`
	Rank   event.Opt[uint64] `json:"rank"`
}

// A Head begins a document: an answer as JSON has it.
type Head struct {
	Origin
	Only  *Filter `json:"only"` // nil: everything
	Nodes int64   `json:"nodes"`
}

// Head returns the head of a document with a schema.
func (r *Result) Head(schema string) Head {
	head := Head{Origin{schema, r.File, r.Rank}, nil, r.Nodes}
	if !r.Only.IsZero() {
		head.Only = &r.Only
	}
	return head
}

// A Chip says with which sizes the figures of a document were reckoned, and where they come from.
type Chip struct {
	Arch     l1.Arch           `json:"arch"`
	ArchFrom event.Source      `json:"arch_from"`
	BaseFrom event.Source      `json:"base_from"`
	L1Size   event.Opt[uint64] `json:"l1_size_bytes"`
	L1Small  uint64            `json:"l1_small_bytes"`
	Small    event.Source      `json:"l1_small_from"`
	Base     uint64            `json:"cb_base"`
	Align    uint64            `json:"cb_align"`
}

// Chip returns what a document says of a Spec.
func (s Spec) Chip() Chip {
	return Chip{s.Arch, s.ArchFrom, s.BaseFrom, Known(s.L1Size, s.L1Size), s.L1Small, s.SmallFrom, s.CBBase, s.CBAlign}
}

// Known returns a figure about n bytes. It is absent if n is 0: they are not known, or not there.
func Known[T any](n uint64, figure T) event.Opt[T] {
	if n == 0 {
		return event.Opt[T]{}
	}
	return event.Some(figure)
}

// Basis has the facts under the figures of a document about L1.
type Basis struct {
	Chip
	Usable      event.Opt[uint64] `json:"usable_bytes"`
	Addresses   Addresses         `json:"cb_addresses"`
	Earlier     int64             `json:"earlier_l1_buffers"`
	EarlierSize uint64            `json:"earlier_l1_bytes"`
}

// Basis returns the facts under figures that were reckoned with a Spec.
func (r *Result) Basis(s Spec) Basis {
	return Basis{s.Chip(), Known(s.L1Size, s.UsableBytes()), r.Addresses, r.Earlier.L1, r.Earlier.Bytes}
}

// A PeakDocument is the answer of cbl1 peak.
type PeakDocument struct {
	Head
	Basis    Basis          `json:"basis"`
	Untold   []Reason       `json:"untold"`
	Inferred int64          `json:"hits_inferred"`
	Fullest  event.Opt[int] `json:"fullest"` // index of the device with the highest peak
	Devices  []DevicePeak   `json:"devices"`
	Stale    []Stale        `json:"stale"` // of the fullest device
}

// A DevicePeak is the peak of a device.
type DevicePeak struct {
	Device    event.Opt[uint64] `json:"device"`
	Kind      DeviceKind        `json:"kind"`
	Chips     []uint64          `json:"chips"`
	Addresses Addresses         `json:"l1_addresses"`
	Unplaced  int64             `json:"l1_buffers_unplaced"`
	Assumed   int64             `json:"l1_buffers_assumed"`
	Peak      *L1Peak           `json:"peak"`
	// Registered is the most bytes that circular buffers of registered programs took of a core. It is
	// absent if programs have run.
	Registered event.Opt[uint64] `json:"registered_core_peak_bytes"`
}

// Document returns the peak as documents have it: composed, with its share of the L1 of a Spec. A
// nil peak has none.
func (p *L1Peak) Document(s Spec) *L1Peak { return p.document(s, everything()) }

func (p *L1Peak) document(s Spec, c *composer) *L1Peak {
	if p == nil {
		return nil
	}
	out := *c.peak(p)
	out.Percent, out.Count = s.Percent(out.Bytes), out.Cores.Len()
	out.Shared, out.Residents = List(out.Shared), List(out.Residents)
	return &out
}

// Percent returns what share of L1 some bytes are; nil if its size is not known.
func (s Spec) Percent(bytes uint64) *float64 {
	if s.L1Size == 0 {
		return nil
	}
	percent := float64(bytes) * 100 / float64(s.L1Size)
	return &percent
}

// List returns the list, which is not nil then: JSON has [] and not null.
func List[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

// PeakSchema names the form of a PeakDocument.
const PeakSchema = "cbl1.peak/1"

// Peak returns the peak of each device: the most that a core held, and who held it. All devices list at most 100,000
// residents. Cost: the residents of those cores, once for devices that held the same.
func (r *Result) Peak() PeakDocument {
	doc := PeakDocument{
		Head: r.Head(PeakSchema), Basis: r.Basis(r.Spec), Untold: List(r.Untracked()), Inferred: r.Hits.Inferred,
		Devices: make([]DevicePeak, 0, len(r.L1)), Stale: List(r.Stale),
	}
	highest, look := uint64(0), r.composer()
	for i := range r.L1 {
		d := &r.L1[i]
		if d.Peak != nil && (!doc.Fullest.OK || d.Peak.Bytes > highest) {
			doc.Fullest, highest = event.Some(i), d.Peak.Bytes
		}
		doc.Devices = append(doc.Devices, DevicePeak{
			d.ID, d.Kind, List(d.Chips), d.Addresses, d.Unplaced, d.Assumed, d.Peak.document(r.SpecOf(d.ID), look), r.onlyRegistered(d.ID),
		})
	}
	return doc
}

// onlyRegistered returns the most that the circular buffers of programs that were registered at once
// took of a core of a device; absent where some have run.
func (r *Result) onlyRegistered(id event.Opt[uint64]) event.Opt[uint64] {
	i, ok := slices.BinarySearchFunc(r.Devices, id.V, func(d Device, id uint64) int { return cmp.Compare(d.ID.V, id) })
	if !r.Log || r.Checks.Runs > 0 || !ok || r.Devices[i].CorePeak == 0 {
		return event.Opt[uint64]{}
	}
	return event.Some(r.Devices[i].CorePeak)
}

// CompareIDs orders ids of devices or ranks. An absent one comes first.
func CompareIDs(a, b event.Opt[uint64]) int {
	switch {
	case a.OK == b.OK:
		return cmp.Compare(a.V, b.V)
	case a.OK:
		return 1
	}
	return -1
}
