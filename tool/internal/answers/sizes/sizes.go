// Package sizes finds the sizes with which a device has to be opened, l1_small_size, trace_region_size and
// worker_l1_size, from what runs did and from tt-metal's messages: [Answer].
package sizes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Schema names the form of a Document.
const Schema = "cbl1.sizes/1"

// A Document is the answer of cbl1 sizes.
type Document struct {
	Schema string        `json:"schema"`
	Answer answer.Answer `json:"answer"` // fits: the sizes work; cannot_tell: one cannot be told; does_not_fit: none work
	// Together reports whether all inputs ran on a device that was not closed between them.
	Together bool `json:"together"`
	// Taken is by how much the new sizes move or shrink the room of tensors on the device that decides the answer, and
	// Room how much there is: the least of any run, and of what lies between the base and the lowest L1 buffer. Absent
	// where nothing says it.
	Taken  uint64            `json:"taken_bytes"`
	Room   event.Opt[uint64] `json:"room_bytes"`
	Why    string            `json:"why"`    // the answer is not fits; "" = the bytes say it, or a size that cannot be told
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

// An Answer gathers what inputs say. The zero value is ready for use.
type Answer struct {
	needs   []Size // of worker_l1_size, what works is the size of the kernel config ring
	devices []device
}

// A device is one that runs had opened.
type device struct {
	spec   answer.Spec
	need   Size              // of l1_small_size
	worker event.Opt[uint64] // worker_l1_size in use

	room    event.Opt[uint64] // by how much tensors and programs can move together; absent: not known
	at      event.Opt[uint64] // the program run that leaves it
	atLeast bool              // there may be more: another device or L1_SMALL ends it
	fails   bool              // a program does not fit
	over    uint64            // by so much, or more
	hides   bool              // the run hides something, which may take of the room
	loose   string            // why its buffers may not move together; "" = they do
}

// AddRun adds what a run of programs needed.
func (a *Answer) AddRun(r *answer.Result) {
	hides := len(r.Untracked()) > 0 || r.Earlier.L1 > 0
	for i := range r.L1 {
		d := &r.L1[i]
		spec := r.SpecOf(d.ID)
		o := device{spec: spec, need: smallOf(r, d, spec, hides), hides: hides}
		if spec.L1Size > 0 && spec.ArchFrom != event.FromAssumed {
			o.worker = event.Some(spec.L1Size - spec.CBBase)
		}
		switch {
		case !o.worker.OK:
			o.loose = r.File + ": its chip is not known: --arch says it"
		case d.Hybrid:
			o.loose = r.File + ": in HYBRID mode each core has addresses of its own"
		case d.Needs.Stray.Value > 0:
			o.loose = fmt.Sprintf("%s:%d: the buffer at %s is not where tt-metal's allocator puts it: it may not move as others do", r.File, d.Needs.Stray.At, l1.Bytes(d.Needs.Stray.Value).Exact())
		}
		o.measure(r, d)
		a.devices, a.needs = append(a.devices, o), append(a.needs, o.need)
		if t := d.Needs.Trace; t.Value > 0 {
			a.needs = append(a.needs, Size{
				Name: trace, Works: event.Some(t.Value), Sure: AtLeast, File: r.File, At: event.Some(t.At),
				Text: "the most bytes of its trace buffers together, not rounded: open_device rounds it up itself, by the rule of its release",
			})
		}
	}
}

// measure finds how much room there is, or by how much a program does not fit.
func (o *device) measure(r *answer.Result, d *answer.DeviceL1) {
	if t := r.Checks.Tightest; t != nil {
		h := t.Headroom
		o.room, o.at = event.Some(h.Free), event.Some(t.Run.At)
		o.atLeast = t.Device != d.ID || h.End+h.Free >= o.spec.Usable().End // programs may reach into L1_SMALL
	}
	if lowest, base := d.Needs.Lowest.Value, o.spec.CBBase; lowest > 0 && lowest >= base && least(&o.room, event.Some(lowest-base)) {
		o.atLeast = false
	}
	known := r.Judge(answer.Terms{}).Answer == answer.DoesNotFit
	if o.fails = known && r.Checks.Failed == 0; o.fails { // buffers share bytes
		o.over = l1.MaxAddr
	}
	for i := range r.Checks.List {
		if f := &r.Checks.List[i]; f.Device == d.ID {
			o.fails, o.room, o.at = true, event.Some(uint64(0)), event.Some(f.Run.At)
			for _, no := range f.Verdict.Refusals {
				if !known {
					break
				} else if o.over = max(o.over, no.Over()); no.Kind != fit.RefusedClash {
					o.over = l1.MaxAddr // no size helps
				}
			}
		}
	}
}

// smallOf returns what a device needed of L1_SMALL.
func smallOf(r *answer.Result, d *answer.DeviceL1, spec answer.Spec, doubts bool) Size {
	out := Size{Name: small, Works: event.Some(uint64(0)), Sure: Exact, File: r.File, Text: "no buffer lay in L1_SMALL"}
	if spec.SmallFrom == event.FromFile || spec.SmallFrom == event.FromOption {
		out.Used = event.Some(spec.L1Small)
	}
	bytes, by, all := d.Needs.SmallBank(spec.Spec)
	switch {
	case all:
		out.Text = "all its buffers of L1_SMALL together, which have no addresses: cached programs keep them"
	case bytes > 0:
		out.Text = fmt.Sprintf("its lowest buffer in L1_SMALL starts at %s", l1.Bytes(by.Value).Exact())
	}
	if bytes > 0 {
		out.Works, out.At = event.Some(bytes), event.Some(by.At)
	}
	if doubts || d.Needs.Kept.Value > 0 || d.SmallPeak > 0 && out.Works.V == 0 {
		out.Sure = AtLeast
	}
	return out
}

// AddMessages adds what the messages of a text ask for.
func (a *Answer) AddMessages(file string, all []clash.Message) {
	for _, m := range all {
		ask, ok := m.Asks()
		if !ok {
			continue
		}
		one := Size{Name: ask.Parameter, Works: event.Some(ask.Least), Sure: AtLeast, File: file, At: event.Some(uint64(m.Line)), Text: "a message asks for it"}
		if ask.Used > 0 {
			one.Used = event.Some(ask.Used)
		}
		if ask.Parameter == worker {
			one.Sure, one.Text = Exact, fmt.Sprintf("a program needs a kernel config ring of %s bytes", l1.Bytes(ask.Least).Exact())
		}
		if ask.Least == 0 {
			one.Works, one.Sure = event.Opt[uint64]{}, CannotTell
			one.Text = "a message asks for more, and does not say how much"
		}
		a.needs = append(a.needs, one)
	}
}

// up rounds up to whole steps.
func up(n, step uint64) uint64 { return (n + step - 1) / step * step }

// Document returns the answer. together: the inputs run on one device, which stays open.
func (a *Answer) Document(together bool) Document {
	doc := Document{Schema: Schema, Together: together}
	smallSize, smallSum := a.largest(small, together)
	traceSize, traceSum := a.largest(trace, together)
	if traceSum > 0 {
		traceSize.Works = event.Some(traceSum)
	}
	workerSize, asked := a.worker()
	v := a.judge(smallSize.Works.V, workerSize, asked)
	if smallSum > 0 {
		smallSize.Works = event.Some(smallSum)
		switch more := a.judge(smallSum, workerSize, asked); {
		case more.answer != answer.DoesNotFit:
			v = more
		case v.answer != answer.DoesNotFit: // the largest need may be all
			v = more
			v.answer, v.why = answer.CannotTell, "the largest l1_small_size may work, and the sum does not"
			smallSize.Works, smallSize.Sure = event.Opt[uint64]{}, CannotTell
		}
	}
	doc.Answer, doc.Taken, doc.Room, doc.Why = v.answer, uint64(max(v.taken, 0)), v.room, v.why
	doc.Sizes = []Size{smallSize, traceSize, workerSize}
	var words []string
	for _, s := range doc.Sizes {
		if s.Sure == CannotTell && doc.Answer == answer.Fits {
			doc.Answer = answer.CannotTell
		} else if s.Sure != CannotTell && s.Works.OK && (s.Name != worker || asked) {
			words = append(words, fmt.Sprintf("%s=%d", s.Name, s.Works.V))
		}
	}
	if len(words) > 0 && doc.Answer != answer.DoesNotFit {
		doc.Python = "ttnn.open_device(device_id=0, " + strings.Join(words, ", ") + ")"
	}
	return doc
}

// A verdict says whether a device fits with other sizes.
type verdict struct {
	answer answer.Answer
	taken  int64 // of its room; below 0: they give back
	room   event.Opt[uint64]
	why    string
}

// worse reports whether a verdict decides, and not another one: does not fit, then cannot tell, then the least that is left.
func (v verdict) worse(than verdict) bool {
	rank := func(v verdict) int {
		return slices.Index([]answer.Answer{answer.Fits, answer.CannotTell, answer.DoesNotFit}, v.answer)
	}
	left := func(v verdict) int64 { return int64(v.room.Or(l1.MaxAddr/2)) - v.taken }
	return cmp.Or(cmp.Compare(rank(v), rank(than)), cmp.Compare(left(than), left(v))) > 0
}

// judge returns the verdict of the device that decides. asked: worker_l1_size is another one.
func (a *Answer) judge(small uint64, size Size, asked bool) verdict {
	if asked && size.Sure == Exact && !size.Works.OK {
		return verdict{answer: answer.DoesNotFit, why: size.Text}
	}
	out := verdict{answer: answer.CannotTell, why: "no run says how much room there is"}
	for i := range a.devices {
		spec := a.devices[i].spec.Spec
		base := spec.CBBase
		if asked && size.Works.OK {
			base = up(spec.L1Size-min(size.Works.V, spec.L1Size), max(spec.CBAlign, 1))
		}
		if v := a.devices[i].with(small, base); i == 0 || v.worse(out) {
			out = v
		}
	}
	return out
}

// with judges a device with another l1_small_size and base. Both move all buffers and programs, by what lies between
// them and those in use.
func (o *device) with(small, base uint64) verdict {
	signed := func(n uint64) int64 { return int64(min(n, l1.MaxAddr/4)) } // so are sums
	align, was, moved := fit.Alignment(o.spec.Spec), o.spec.CBBase, int64(0)
	if o.need.Used.OK {
		moved = signed(up(small, align)) - signed(up(o.need.Used.V, align))
	}
	v := verdict{answer.CannotTell, moved + signed(base) - signed(was), o.room, ""}
	switch {
	case !o.need.Used.OK && small > 0 && (small > o.need.Works.V || o.need.Sure != Exact): // perhaps more than the one in use
		v.why = o.need.File + ": its l1_small_size is not known: --l1-small says it"
	case !o.fails && moved <= 0 && base == was:
		v.answer = answer.Fits // a smaller l1_small_size always works
	case o.fails:
		v.why = o.need.File + " does not fit as its device was opened: cbl1 check says why"
		if v.taken > -signed(o.over) {
			v.answer = answer.DoesNotFit
		}
	case o.loose != "":
		v.why = o.loose
	case !o.room.OK:
		v.why = o.need.File + ": nothing says how much room there is"
	case v.taken > signed(o.room.V) && o.atLeast:
		v.why = o.need.File + ": there is so much room at least, and how much more is not known"
	case v.taken > signed(o.room.V):
		v.answer = answer.DoesNotFit
	case o.hides:
		v.why = o.need.File + " hides something, which may take of the room: cbl1 check says what"
	default:
		v.answer = answer.Fits
	}
	return v
}

// largest returns what all inputs need of a size: the largest need, and the sum of the inputs if they run together and
// it is larger, else 0.
func (a *Answer) largest(name string, together bool) (out Size, sum uint64) {
	out = Size{Name: name, Sure: CannotTell, Text: map[string]string{
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
		if out.File == "" || !n.Works.OK || out.Works.OK && n.Works.V > out.Works.V { // one that is not known may be the largest
			out = n
		}
	}
	if out.Used = used; !out.Works.OK {
		return out, 0
	}
	if !exact {
		out.Sure = AtLeast // another input may need more
	}
	for _, v := range inputs {
		sum = min(sum+v, l1.MaxAddr)
	}
	if !together || sum <= out.Works.V {
		return out, 0
	}
	out.Text = fmt.Sprintf("between %s, the largest need, and %s, the sum: programs of two inputs may be the same", l1.Bytes(out.Works.V).Exact(), l1.Bytes(sum).Exact())
	out.Sure = AtLeast
	return out, sum
}

// worker returns the largest worker_l1_size that cures all messages about the kernel config ring, but none above the
// least in use. asked: there is such a message. Without one it stays.
func (a *Answer) worker() (out Size, asked bool) {
	out = Size{Name: worker, Sure: Exact, Text: "no message asks for another one"}
	var room, ring event.Opt[uint64]
	for _, n := range a.needs {
		if n.Name == worker && (!n.Works.OK || out.Sure == Exact && n.Works.V > ring.V) {
			asked, ring = true, n.Works
			out.File, out.At, out.Text, out.Sure = n.File, n.At, n.Text, n.Sure
		}
	}
	for i := range a.devices {
		o := &a.devices[i]
		if least(&room, o.room) && !asked {
			out.File, out.At = o.need.File, o.at
		}
		works := o.worker
		if lack, ok := clash.RingLack(o.spec.Spec, ring.V); asked && ok {
			works.V -= min(works.V, lack)
		} else if asked {
			out.Sure, out.Text = CannotTell, o.need.File+": where the kernel config ring of its chip begins is not known"
		}
		least(&out.Used, o.worker)
		least(&out.Works, works)
	}
	switch {
	case !out.Used.OK && asked:
		out.Sure, out.Text = CannotTell, out.Text+"; no run in the inputs says what is in use"
	case !out.Used.OK:
		out.Sure, out.Text = CannotTell, "no run in the inputs says what is in use"
	case out.Sure == CannotTell:
		out.Works.OK = false
	case out.Works.V == 0:
		out.Works.OK, out.Text = false, out.Text+", which is more than there is"
	case !asked && room.OK:
		out.Text += fmt.Sprintf("; %s bytes to spare in the tightest run", l1.Bytes(room.V).Exact())
	case asked && out.Works == out.Used:
		out.Text += ", which the size in use leaves"
	}
	return out, asked
}

// least lowers a number to another one that is known, and reports whether it does.
func least(to *event.Opt[uint64], n event.Opt[uint64]) bool {
	lower := n.OK && (!to.OK || n.V < to.V)
	if lower {
		*to = n
	}
	return lower
}
