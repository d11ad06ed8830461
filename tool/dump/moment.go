package dump

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// maxBank is larger than the L1 of any chip, and far smaller than a bank of DRAM.
const maxBank = 16 << 20

// maxBanks is how many cores a row of a grid may have.
const maxBanks = 256

// A block is a range of bytes of a bank, free or allocated.
type block struct {
	start, size uint64
	used        bool
	at          place
}

// A bank is the state of all banks of one kind, which are alike.
type bank struct {
	at               place
	blocks           []block
	banks            uint64 // 0: their number follows from the totals
	total, allocated uint64 // as the file has them
	stated           bool   // total and allocated are
	each             bool   // they are those of one bank
	coarse           bool   // they are rounded
}

// A moment has the banks of L1 and L1_SMALL of each device in one state of a file.
type moment struct {
	at      place
	op      string
	devices map[device.ID]*[2]bank
}

const (
	bankL1 = iota
	bankSmall
)

func newMoment(at place) *moment { return &moment{at: at, devices: map[device.ID]*[2]bank{}} }

func (m *moment) bank(id device.ID, kind int) *bank {
	if m.devices[id] == nil {
		m.devices[id] = &[2]bank{}
	}
	return &m.devices[id][kind]
}

// A layout has the facts of a device that hold at all moments, and its live blocks.
type layout struct {
	bank, small l1.Range // as the file has them
	banks       uint64
	shift       uint64 // from the addresses of the file to those of events; it may wrap to go down
	spec        l1.Spec
	from        event.Origins
	detail      string
	live        map[l1.Range]fit.BufferID
}

// check orders the blocks of a bank, compares them with its totals, and returns its bytes and the number of banks.
func (r *reader) check(b *bank) (of l1.Range, banks uint64, err error) {
	if len(b.blocks) == 0 {
		if b.total > 0 {
			return of, 0, r.fail(b.at, "total", fmt.Sprint(b.total), "belongs to a bank without blocks: the file is cut, or lists no blocks", nil)
		}
		return of, 0, nil
	}
	slices.SortStableFunc(b.blocks, func(x, y block) int { return cmp.Compare(x.start, y.start) })
	of.Start, of.End = b.blocks[0].start, b.blocks[0].start
	taken := uint64(0)
	for _, k := range b.blocks {
		if k.start < of.End || k.start > of.End && !b.coarse {
			return of, 0, r.fail(k.at, "address", fmt.Sprint(k.start), fmt.Sprintf("is not where the block before it ends, at %d", of.End), nil)
		}
		if of.End = k.start + k.size; k.used {
			taken += k.size
		}
	}
	sum := of.End - of.Start
	if sum > maxBank {
		return of, 0, r.fail(b.at, "size", fmt.Sprint(sum), "is larger than any bank of L1", nil)
	}
	agrees := true
	switch banks = b.banks; {
	case b.each:
		agrees = b.total == sum && b.allocated == taken
	case b.coarse:
		banks = max((b.total+sum/2)/sum, 1)
	default:
		banks = b.total / sum
		agrees = banks*sum == b.total && (banks > maxBanks || banks*taken == b.allocated)
	}
	switch {
	case !b.stated:
		return of, 0, r.fail(b.at, "total", "", "is missing: the file is cut, or of another kind", nil)
	case !agrees:
		return of, 0, r.fail(b.at, "total", fmt.Sprint(b.total), fmt.Sprintf("contradicts the blocks of a bank, which have %d bytes, and %d of them allocated: the file is cut", sum, taken), nil)
	case banks == 0 || banks > maxBanks:
		return of, 0, r.fail(b.at, "num_banks", fmt.Sprint(banks), "is not a number of banks of L1", nil)
	}
	return of, banks, nil
}

// emitMoment yields the differences to the moment before.
func (r *reader) emitMoment(m *moment) error {
	if len(m.devices) == 0 {
		return r.fail(m.at, "L1", "", "is missing: the file is cut, or lists no bank of L1", nil)
	}
	if r.moments == 0 {
		if err := r.emit(place{}, &event.Event{Kind: event.KindHeader, Source: "dump"}); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.devices)) {
		both := m.devices[id]
		of, banks, err := r.check(&both[bankL1])
		if err == nil && banks == 0 {
			err = r.fail(m.at, "L1", "", "has no blocks", nil)
		}
		if err != nil {
			return err
		}
		small, smallBanks, err := r.check(&both[bankSmall])
		if err != nil {
			return err
		}
		d := r.known[id]
		switch {
		case d == nil:
			if d, err = r.declare(m.at, id, of, small, banks, smallBanks > 0); err != nil {
				return err
			}
		case d.bank != of || d.small != small || d.banks != banks:
			return r.fail(both[bankL1].at, "L1", fmt.Sprint(of), fmt.Sprintf("is another bank than the one before, %v of %d", d.bank, d.banks), nil)
		}
		if err := r.changes(id, d, m, both); err != nil {
			return err
		}
	}
	r.moments++
	return nil
}

// changes yields the blocks that went, and the ones that came.
func (r *reader) changes(id device.ID, d *layout, m *moment, both *[2]bank) error {
	now := map[l1.Range]fit.BufferID{}
	var came []event.Event
	for kind, b := range both {
		shift, in := d.shift, fit.KindL1
		if kind == bankSmall {
			shift, in = d.shift+d.bank.End-d.small.Start, fit.KindL1Small
		}
		for _, k := range b.blocks {
			if !k.used {
				continue
			}
			part := l1.Range{Start: k.start + shift, End: k.start + k.size + shift}
			if have, ok := d.live[part]; ok {
				now[part] = have
				continue
			}
			r.buffers++
			now[part] = r.buffers
			name := fmt.Sprintf("%s at %s", shown.Plural(k.size, "byte"), l1.Bytes(part.Start).Exact())
			if m.op != "" {
				name = m.op + " > " + name
			}
			came = append(came, event.Event{
				Kind: event.KindAllocate, Devices: event.Some([]device.ID{id}), Named: event.Some(id), Op: event.Some(name), Parts: []event.Part{{Cores: event.Some(d.spec.Grid().Cores()), Range: part}},
				Buffer: fit.Buffer{ID: r.buffers, Kind: in, Size: k.size * d.banks}, PerCore: event.Some(k.size), Address: event.Some(part.Start),
			})
		}
	}
	for _, part := range slices.SortedFunc(maps.Keys(d.live), func(a, b l1.Range) int { return cmp.Compare(a.Start, b.Start) }) {
		if _, ok := now[part]; !ok {
			e := event.Event{Kind: event.KindFree, Devices: event.Some([]device.ID{id}), Named: event.Some(id), Buffer: fit.Buffer{ID: d.live[part]}}
			if m.op != "" {
				e.Op = event.Some(m.op)
			}
			if err := r.emit(m.at, &e); err != nil {
				return err
			}
		}
	}
	d.live = now
	for i := range came {
		if err := r.emit(m.at, &came[i]); err != nil {
			return err
		}
	}
	return nil
}

// declare yields a device with banks like these.
func (r *reader) declare(at place, id device.ID, of, small l1.Range, banks uint64, listed bool) (*layout, error) {
	d := &layout{bank: of, small: small, banks: banks, from: event.Origins{Arch: event.FromOption, Base: event.FromFile, Small: event.FromFile, Grid: event.FromAssumed}}
	smallBytes := small.Len()
	if !listed {
		smallBytes = r.opt.L1Small.V
	}
	arch := r.opt.Arch
	if arch == "" {
		arch, d.from.Arch = l1.Blackhole, event.FromAssumed
		for _, a := range []l1.Arch{l1.Wormhole, l1.Blackhole} {
			if s := l1.ArchSpec(a); s.CBBase+of.Len()+smallBytes == s.L1Size {
				arch, d.from.Arch = a, event.FromFile
			}
		}
	}
	d.spec = l1.ArchSpec(arch)
	d.spec.Cols, d.spec.Rows = int(banks), 1
	for _, b := range l1.Boards() {
		if b.Arch == arch && b.NumCores() == int(banks) {
			d.spec.Cols, d.spec.Rows = b.Cols, b.Rows
		}
	}
	base, exact := r.opt.Base, r.opt.Base > 0
	top, given := cmp.Or(r.opt.MaxL1, d.spec.L1Size), exact || r.opt.Arch != "" && r.opt.L1Small.OK
	if rest := of.Len() + smallBytes; !exact && rest <= top && (listed || r.opt.L1Small.OK || d.from.Arch == event.FromFile) {
		base, exact = top-rest, true
	}
	start := of.Start
	switch {
	case given && !exact:
		return nil, r.fail(at, "L1", fmt.Sprint(of.Len()), fmt.Sprintf("and L1_SMALL are more bytes than the L1 of a %s has, %d", arch, top), nil)
	case given:
		start, d.from.Base, d.detail = base, event.FromOption, "addresses are those of L1: the bank starts at "+l1.Bytes(base).Exact()
	case of.Start > 0:
		d.detail = "addresses stand as in the file: the bank starts at " + l1.Bytes(of.Start).Exact()
	case exact:
		d.detail = "addresses are offsets in a bank, which starts at " + l1.Bytes(base).Exact()
	default:
		d.detail = "addresses are offsets in a bank: --arch and --l1-small give its start"
	}
	d.shift = start - of.Start
	d.spec.CBBase, d.spec.L1Small, d.spec.L1Size = start, smallBytes, start+of.Len()+smallBytes
	if err := d.spec.Check(); err != nil {
		return nil, r.fail(at, "L1", fmt.Sprint(of), err.Error(), err)
	}
	if r.known[id] = d; r.first == nil {
		r.first = d
	}
	return d, r.emit(at, &event.Event{Kind: event.KindDevice, Device: id, Role: event.RoleChip, Spec: d.spec, From: d.from})
}

// finish yields the events of the end.
func (r *reader) finish() error {
	if r.first == nil {
		return r.fail(place{1, 0}, "L1", "", "is missing: the file is cut, or lists no bank of L1", nil)
	}
	d := r.first
	if err := r.emit(place{}, &event.Event{Kind: event.KindHidden, Code: TensorsOnly, Count: 1, Detail: d.detail}); err != nil {
		return err
	}
	return r.emit(place{}, &event.Event{Kind: event.KindEnd, Nodes: r.moments, Spec: d.spec, From: d.from})
}

// shortOp returns the name of an operation of a line of MLIR, like %1 = "ttnn.add"(%0), or the text itself.
func shortOp(text string) string {
	if _, rest, ok := strings.Cut(text, `= "`); ok {
		if name, _, ok := strings.Cut(rest, `"`); ok && name != "" {
			return name
		}
	}
	return strings.TrimSpace(text)
}
