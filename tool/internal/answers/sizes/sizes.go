// Package sizes finds the sizes with which a device has to be opened, l1_small_size, trace_region_size and
// worker_l1_size, from what runs did and from tt-metal's messages: [Answer].
package sizes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay"
)

// Schema names the form of a Document.
const Schema = "cbl1.sizes/1"

// A Document is the answer of cbl1 sizes.
type Document struct {
	Schema string        `json:"schema"`
	Answer replay.Answer `json:"answer"` // fits: the sizes work; cannot_tell: one cannot be told; does_not_fit: none work
	// Together reports whether all inputs ran on a device that was not closed between them.
	Together bool `json:"together"`
	// Taken is by how much the new sizes move or shrink the room of tensors, and Room how much there is: the least of
	// any run, and of what lies between the base and the lowest L1 buffer. Absent where nothing says it.
	Taken  uint64            `json:"taken_bytes"`
	Room   event.Opt[uint64] `json:"room_bytes"`
	Sizes  []Size            `json:"sizes"`  // l1_small_size, trace_region_size, worker_l1_size
	Python string            `json:"python"` // a call with the sizes that can be told; "" = none can, or none work
}

// Sure says how certain the size is that works.
type Sure string

// How certain a size is.
const (
	Exact      Sure = "exact"
	AtLeast    Sure = "at_least"    // more may be needed
	CannotTell Sure = "cannot_tell" // nothing says it
)

// A Size is a parameter of open_device.
type Size struct {
	Name  string            `json:"name"`
	Used  event.Opt[uint64] `json:"used_bytes"`  // the size in use, the largest of all inputs
	Works event.Opt[uint64] `json:"works_bytes"` // the size that works
	Sure  Sure              `json:"sure"`
	File  string            `json:"file"`    // the input that set it
	At    event.Opt[uint64] `json:"counter"` // its node, or the line of a log or text
	Text  string            `json:"text"`    // why, in words
}

// The sizes of open_device.
const (
	small  = "l1_small_size"
	trace  = "trace_region_size"
	worker = "worker_l1_size"
)

// A need is what one input says of a size.
type need struct {
	Size
	smaller uint64 // of worker_l1_size: by how much it has to shrink
}

// An Answer gathers what inputs say. The zero value is ready for use.
type Answer struct {
	needs  []need
	rooms  []event.Opt[uint64] // by how much tensors and programs can move together, of each device; absent: not known
	least  event.Opt[uint64]   // of these
	tight  Size                // File and At of the run that has it
	hybrid bool                // a run was in HYBRID mode, in which cores have rooms of their own
	doubts bool                // a run hides something, which may take of the room
	used   event.Opt[uint64]   // worker_l1_size of the runs, the least
	align  uint64              // of the base of circular buffers
}

// AddRun adds what a run of programs needed.
func (a *Answer) AddRun(r *replay.Result) {
	doubts := len(r.Untracked()) > 0 || r.Earlier.L1 > 0
	a.doubts = a.doubts || doubts
	for i := range r.L1 {
		d := &r.L1[i]
		spec := r.SpecOf(d.ID)
		a.align, a.hybrid = max(a.align, spec.CBAlign), a.hybrid || d.Hybrid
		if spec.L1Size > 0 && spec.ArchFrom != event.FromAssumed {
			if size := spec.L1Size - spec.CBBase; !a.used.OK || size < a.used.V {
				a.used = event.Some(size)
			}
		}
		a.needs = append(a.needs, smallOf(r, d, spec, doubts))
		if t := d.Needs.Trace; t.Value > 0 {
			a.needs = append(a.needs, need{Size: Size{
				Name: trace, Works: event.Some(t.Value), Sure: AtLeast, File: r.File, At: event.Some(t.At),
				Text: "the most bytes of its trace buffers together; releases round them up per bank",
			}})
		}
		room := roomOf(r, d, spec)
		if a.rooms = append(a.rooms, room); room.OK && (!a.least.OK || room.V < a.least.V) {
			a.least, a.tight = room, Size{File: r.File}
			if t := r.Checks.Tightest; t != nil {
				a.tight.At = event.Some(t.Run.At)
			}
		}
	}
}

// smallOf returns what a device needed of L1_SMALL.
func smallOf(r *replay.Result, d *replay.DeviceL1, spec replay.Spec, doubts bool) need {
	out := need{Size: Size{Name: small, Works: event.Some(uint64(0)), Sure: Exact, File: r.File, Text: "no buffer lay in L1_SMALL"}}
	if spec.SmallFrom == event.FromFile || spec.SmallFrom == event.FromOption {
		out.Used = event.Some(spec.L1Small)
	}
	bytes, by, all := d.Needs.SmallBank(spec.Spec)
	switch {
	case all:
		out.Text = "all its buffers of L1_SMALL together, which have no addresses: cached programs keep them"
	case bytes > 0:
		out.Text = fmt.Sprintf("its lowest buffer in L1_SMALL starts at %d", by.Value)
	}
	if bytes > 0 {
		out.Works, out.At = event.Some(bytes), event.Some(by.At)
	}
	if doubts || d.Needs.Kept.Value > 0 || d.SmallPeak > 0 && out.Works.V == 0 {
		out.Sure = AtLeast
	}
	return out
}

// roomOf returns by how much tensors and programs of a device can move together; absent if nothing says it.
func roomOf(r *replay.Result, d *replay.DeviceL1, spec replay.Spec) (room event.Opt[uint64]) {
	if t := r.Checks.Tightest; t != nil {
		room = event.Some(t.Headroom.Free)
	}
	if r.Checks.Failed > 0 {
		room = event.Some(uint64(0))
	}
	if lowest := d.Needs.Lowest.Value; lowest > 0 && lowest >= spec.CBBase && (!room.OK || lowest-spec.CBBase < room.V) {
		room = event.Some(lowest - spec.CBBase)
	}
	return room
}

// AddMessages adds what the messages of a text ask for.
func (a *Answer) AddMessages(file string, all []clash.Message) {
	for _, m := range all {
		ask, ok := m.Asks(a.align)
		if !ok {
			continue
		}
		one := need{Size: Size{Name: ask.Parameter, Sure: AtLeast, File: file, At: event.Some(uint64(m.Line)), Text: "a message asks for it"}, smaller: ask.Smaller}
		if ask.Used > 0 {
			one.Used = event.Some(ask.Used)
		}
		if one.Works = event.Some(ask.Least); ask.Least == 0 {
			one.Works, one.Sure = event.Opt[uint64]{}, CannotTell
		}
		if ask.Parameter == worker {
			one.Sure, one.Text = Exact, fmt.Sprintf("a program is too large for the kernel config ring: smaller by %d", ask.Smaller)
			if ask.Smaller == 0 {
				one.Sure, one.Text = CannotTell, "a program is too large for the kernel config ring, and the text does not say by how much"
			}
		}
		a.needs = append(a.needs, one)
	}
}

// up rounds up to whole steps.
func up(n, step uint64) uint64 { return (n + step - 1) / step * step }

// Document returns the answer. together: the inputs run on one device, which stays open.
func (a *Answer) Document(together bool) Document {
	doc := Document{Schema: Schema, Answer: replay.Fits, Together: together}
	smallSize, moved := a.largest(small, together), uint64(0)
	if smallSize.Used.OK && smallSize.Works.V > smallSize.Used.V {
		moved = up(smallSize.Works.V-smallSize.Used.V, max(a.align, 1))
	}
	workerSize, shrunk := a.worker()
	doc.Sizes = []Size{smallSize, a.largest(trace, together), workerSize}
	doc.Taken, doc.Room = moved+shrunk, a.least
	known := len(a.rooms) > 0 && !slices.ContainsFunc(a.rooms, func(room event.Opt[uint64]) bool { return !room.OK })
	var words []string
	for _, s := range doc.Sizes {
		if s.Sure == CannotTell {
			doc.Answer = replay.CannotTell
		} else if s.Works.OK && (s.Name != worker || shrunk > 0) {
			words = append(words, fmt.Sprintf("%s=%d", s.Name, s.Works.V))
		}
	}
	switch unknown := smallSize.Works.V > 0 && smallSize.Sure != Exact && !smallSize.Used.OK; {
	case doc.Taken == 0 && unknown: // it may be larger than the one in use
		doc.Answer = replay.CannotTell
	case doc.Taken == 0:
	case doc.Room.OK && doc.Taken > doc.Room.V && !a.hybrid:
		doc.Answer = replay.DoesNotFit
	case a.hybrid || a.doubts || unknown || !known:
		doc.Answer = replay.CannotTell
	}
	if len(words) > 0 && doc.Answer != replay.DoesNotFit {
		doc.Python = "ttnn.open_device(device_id=0, " + strings.Join(words, ", ") + ")"
	}
	return doc
}

// largest returns what all inputs need of a size: the largest need, or the sum of the inputs if they run together.
func (a *Answer) largest(name string, together bool) Size {
	out := Size{Name: name, Sure: CannotTell, Text: map[string]string{
		small: "no run and no message", trace: "no trace buffer and no message; a region of 0 shows none",
	}[name]}
	inputs, used, exact := map[string]uint64{}, event.Opt[uint64]{}, true
	for _, n := range a.needs {
		if n.Name != name {
			continue
		}
		if n.Used.OK && n.Used.V >= used.V {
			used = n.Used
		}
		inputs[n.File], exact = max(inputs[n.File], n.Works.V), exact && n.Sure == Exact
		if out.File == "" || n.Works.OK && (!out.Works.OK || n.Works.V > out.Works.V) {
			out = n.Size
		}
	}
	if out.Works.OK && !exact {
		out.Sure = AtLeast // another input may need more
	}
	out.Used = used
	if together && len(inputs) > 1 {
		sum := uint64(0)
		for _, v := range inputs {
			sum = min(sum+v, l1.MaxAddr)
		}
		if sum > out.Works.V {
			out.Text = fmt.Sprintf("between %d, the largest need, and %d, the sum: programs of two inputs may be the same", out.Works.V, sum)
			out.Works, out.Sure = event.Some(sum), AtLeast
		}
	}
	return out
}

// worker returns the largest worker_l1_size that cures all messages about the kernel config ring, and by how much it is
// smaller than the one in use. Without such a message it stays.
func (a *Answer) worker() (out Size, shrunk uint64) {
	out = Size{Name: worker, Used: a.used, Works: a.used, Sure: Exact, File: a.tight.File, At: a.tight.At, Text: "no message asks for another one"}
	if a.least.OK {
		out.Text += fmt.Sprintf("; %d bytes to spare in the tightest run", a.least.V)
	}
	if !a.used.OK {
		out.Sure, out.Text = CannotTell, "no run in the inputs says what is in use"
	}
	for _, n := range a.needs {
		if n.Name == worker && (n.Sure == CannotTell || n.smaller > shrunk) {
			shrunk = max(shrunk, n.smaller)
			out.File, out.At, out.Text, out.Sure = n.File, n.At, n.Text, n.Sure
		}
	}
	switch {
	case out.Sure == CannotTell && a.used.OK:
		out.Works = event.Opt[uint64]{}
	case shrunk > 0 && !a.used.OK:
		out.Works, out.Sure = event.Opt[uint64]{}, CannotTell
		out.Text += "; no run in the inputs says what is in use"
	case shrunk > 0 && shrunk >= a.used.V:
		out.Works, out.Text = event.Opt[uint64]{}, out.Text+", which is more than there is"
	case shrunk > 0:
		out.Works = event.Some(a.used.V - shrunk)
	}
	return out, shrunk
}
