package render

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// fold folds devices with equal rows, ids and nodes left out. A capture whose programs ran on no device that it
// names has rows of L1 alone.
func (o *overview) fold() []deviceFold[answer.Device] {
	devices := o.r.Devices
	if len(devices) == 0 {
		for _, on := range o.r.L1 {
			devices = append(devices, answer.Device{ID: on.ID, Kind: on.Kind, Chips: on.Chips})
		}
	}
	programs := map[*answer.Programs]string{} // of a list: devices may share it
	return foldDevices(devices, namedDevice, func(d *answer.Device) string {
		if d.ProgramsDetail.Len() == 0 {
			return o.key(d)
		}
		text, ok := programs[d.ProgramsDetail]
		if !ok {
			text = o.programsKey(d)
			programs[d.ProgramsDetail] = text
		}
		return text + o.key(d)
	})
}

func (o *overview) programsKey(d *answer.Device) string {
	var b strings.Builder
	for p := range o.placedPrograms(d) {
		fmt.Fprintf(&b, "%+v\n", p.withoutNodes())
	}
	return b.String()
}

// A placedProgram is a program, and the number of its list of buffers, 0 without one.
type placedProgram struct {
	answer.ProgramDetail
	placed int
}

// withoutNodes is WithoutNodes of the program.
func (p placedProgram) withoutNodes() placedProgram {
	p.ProgramDetail = p.WithoutNodes()
	return p
}

// placedPrograms are the programs of a device, in their order.
func (o *overview) placedPrograms(d *answer.Device) iter.Seq[placedProgram] {
	numbers := o.numbers(d)
	return func(yield func(placedProgram) bool) {
		for i, p := range d.ProgramsDetail.All() {
			row := placedProgram{ProgramDetail: p}
			if numbers != nil {
				row.placed = numbers[i]
			}
			if !yield(row) {
				return
			}
		}
	}
}

// key is the contents of a device as text, without its programs.
func (o *overview) key(d *answer.Device) string {
	var b strings.Builder
	figures := *d
	figures.ID, figures.ProgramsDetail, figures.ProgramsBuffers, figures.Fullest = event.Opt[uint64]{}, nil, nil, nil
	fmt.Fprintf(&b, "%+v\n", figures)
	for _, s := range o.lines[d.ID].Samples {
		fmt.Fprintln(&b, strconv.Quote(string(s.Op)), s.Registered, s.Resident, s.Tracked, s.Core, s.Headroom)
	}
	for _, m := range o.lines[d.ID].Moments {
		fmt.Fprintln(&b, strconv.Quote(string(m.Op)), o.same.moment(m))
	}
	on := o.l1[d.ID]
	if on == nil {
		return b.String()
	}
	l1 := *on
	l1.ID, l1.Peak, l1.Usable, l1.Dispatched = event.Opt[uint64]{}, nil, nil, nil
	fmt.Fprintf(&b, "%+v %+v\n", l1, on.Dispatched)
	if u := on.Usable; u != nil {
		fmt.Fprintf(&b, "%d %d %q %v\n", u.Bytes, u.Tracked, u.Op, u.Cores)
	}
	if p := on.Peak; p != nil {
		fmt.Fprintf(&b, "%d %q %v %v %d", p.Bytes, p.Op, p.Cores, p.Spike != nil, o.same.peak(p, func(p *answer.L1Peak) string {
			return fmt.Sprintf("%d %v\n%s%s", p.WithKernels, p.Shared, appendResidents(nil, p.Residents), laidKey(p.Groups))
		}))
	}
	return b.String()
}

// laidKey is the contents of all cores as text.
func laidKey(groups []answer.LaidGroup) string {
	var b []byte
	for _, g := range groups {
		b = append(append(b, g.Cores.String()...), '\n')
		b = appendResidents(b, g.Residents)
	}
	return string(b)
}

// appendResidents appends what lies where and whose it is, whichever node that is of.
func appendResidents(b []byte, residents []answer.L1Resident) []byte {
	for _, x := range residents {
		b = appendNumbers(append(b, byte(x.Kind)), x.Start, x.End, x.CB.V)
		if x.Program != nil {
			b = strconv.AppendBool(strconv.AppendQuote(b, string(x.Program.Op)), x.Program.Inferred)
		}
		if f := x.Buffer; f != nil {
			b = strconv.AppendQuote(strconv.AppendQuote(b, string(f.Op)), f.Layout)
			b = appendNumbers(b, f.Size, f.PerCore.Or(math.MaxUint64), f.Address.Or(math.MaxUint64))
		}
		b = append(b, '\n')
	}
	return b
}

func appendNumbers(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// numbers returns the number of the list of buffers of each program of a device; nil if they are not known.
func (o *overview) numbers(d *answer.Device) []int {
	if len(d.ProgramsBuffers) != d.ProgramsDetail.Len() {
		return nil
	}
	out := make([]int, 0, len(d.ProgramsBuffers))
	for _, list := range d.ProgramsBuffers {
		out = append(out, o.number(list))
	}
	return out
}

// number returns the number of a list of buffers, 0 of an empty one. Equal ones have the
// same.
func (o *overview) number(list []answer.ProgramBuffer) int {
	if len(list) == 0 {
		return 0
	}
	if n, ok := o.lists[&list[0]]; ok {
		return n
	}
	n, fresh := fold.Number(o.known, fmt.Sprint(list))
	if fresh {
		o.all = append(o.all, list)
	}
	o.lists[&list[0]] = n + 1
	return n + 1
}
