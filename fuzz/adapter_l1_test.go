package fuzz_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The other contents of L1, and the fit beside them, in the words of the oracle.

// kindOf returns the kind with a name; of none an unknown one.
func kindOf(name model.Kind) fit.Kind {
	for k := fit.KindCB; k <= fit.KindSystem; k++ {
		if k.String() == string(name) {
			return k
		}
	}
	return 200
}

func toBuffer(b model.Buffer) fit.Buffer {
	out := fit.Buffer{ID: fit.BufferID(b.ID), Kind: kindOf(b.Kind), Size: b.Size, Backing: b.Backing, Name: b.Name, Hidden: b.Hidden.Cores(), Unsized: b.Unsized}
	out.Mode = modes()[b.Mode]
	for _, p := range b.Parts {
		out.Parts = append(out.Parts, fit.Part{Cores: p.Cores.Cores(), Range: p.Range})
	}
	if len(out.Parts) == 1 && b.ID%2 == 1 { // one part may be given in two ways
		out.Cores, out.Range, out.Parts = out.Parts[0].Cores, out.Parts[0].Range, nil
	}
	return out
}

func (f *fleet) Allocate(b model.Buffer, to []uint64) error {
	s, err := f.set(to)
	if err != nil {
		return class(err)
	}
	given := toBuffer(b)
	err = f.f.Allocate(given, s)
	clear(given.Parts) // a callee may not keep its arguments
	return class(err)
}

func (f *fleet) Place(b model.Buffer, on []uint64) error {
	s, err := f.set(on)
	if err != nil {
		return class(err)
	}
	given, size := toBuffer(b), uint64(0)
	if len(b.Parts) == 1 {
		part := b.Parts[0]
		given.Cores, given.Range, given.Parts, size = part.Cores.Cores(), l1.Range{}, nil, part.Range.End-part.Range.Start
	}
	found, _ := f.f.FindPlace(given, size, s)
	placed, err := f.f.Place(given, size, s)
	devices := 0
	for _, p := range found {
		for id := range p.Set.All() {
			devices++
			if got, _ := f.handles[id].Buffer(given.ID); err == nil && fmt.Sprint(got.Plain()) != fmt.Sprint(p.Buffer) {
				return fmt.Errorf("device %d has %+v, and FindPlace found %+v", id, got, p.Buffer)
			}
		}
	}
	if err == nil && devices != s.Len() {
		return fmt.Errorf("FindPlace found a place on %d devices of %d", devices, s.Len())
	}
	for id := range s.All() {
		if err != nil {
			break
		}
		if got, _ := f.handles[id].Buffer(given.ID); fmt.Sprint(got.Plain()) != fmt.Sprint(placed) {
			return fmt.Errorf("the lowest device has %+v, and not %+v", got, placed)
		}
		break
	}
	return class(err)
}

func (f *fleet) Free(id uint64, from []uint64) (model.Buffer, error) {
	s, err := f.set(from)
	if err != nil {
		return model.Buffer{}, class(err)
	}
	b, err := f.f.Free(fit.BufferID(id), s)
	return fromBuffer(b), class(err)
}

func fromBuffer(b fit.Buffer) model.Buffer {
	out := model.Buffer{ID: uint64(b.ID), Size: b.Size, Backing: b.Backing, Name: b.Name, Hidden: b.Hidden.Ranges(), Unsized: b.Unsized}
	if b.Mode != fit.Lockstep {
		out.Mode = model.Mode(b.Mode.String())
	}
	if b.Kind != 0 {
		out.Kind = model.Kind(b.Kind.String())
	}
	for p := range b.All() {
		out.Parts = append(out.Parts, model.Part{Cores: p.Cores.Ranges(), Range: p.Range})
	}
	clear(b.Parts) // they are the caller's
	return out
}

func (f *fleet) Buffers(id uint64) []model.Buffer {
	var out []model.Buffer
	for b := range f.handles[device.ID(id)].Buffers() {
		out = append(out, fromBuffer(b))
	}
	return out
}

func basis(registered bool) device.Basis {
	if registered {
		return device.BasisRegistered
	}
	return device.BasisResident
}

func usage(u device.Usage) model.Usage {
	out := model.Usage{Tracked: u.Tracked, WithKernels: u.WithKernels, Of: map[model.Kind]uint64{}, Shared: map[string]uint64{}}
	for k := fit.KindCB; k <= fit.KindSystem; k++ {
		if n := u.Of(k); n > 0 {
			out.Of[model.Kind(k.String())] = n
		}
	}
	for s := range u.Shared() {
		var kinds []string
		for _, k := range s.Kinds {
			kinds = append(kinds, k.String())
		}
		out.Shared[strings.Join(kinds, " + ")] += s.Bytes
	}
	return out
}

func (f *fleet) Usage(id uint64, registered bool) model.Usage {
	return usage(f.handles[device.ID(id)].Usage(basis(registered)))
}

func (f *fleet) CoreUsage(id uint64, core l1.Core, registered bool) model.Usage {
	return usage(f.groupOn(id, core, registered).Usage)
}

func (f *fleet) Residents(id uint64, core l1.Core, registered bool) []model.Resident {
	return residents(slices.Collect(f.groupOn(id, core, registered).Residents()))
}

func (f *fleet) groupOn(id uint64, core l1.Core, registered bool) device.UsageGroup {
	for g := range f.handles[device.ID(id)].UsageGroups(basis(registered)) {
		if g.Cores.Has(core) {
			return g
		}
	}
	return device.UsageGroup{}
}

// Moment is also queried once at once, and later by its holder.
func (f *fleet) Moment(id uint64, without ...uint64) model.Moment {
	var ids []fit.BufferID
	for _, id := range without {
		ids = append(ids, fit.BufferID(id))
	}
	m := f.handles[device.ID(id)].Moment(ids...)
	return func(core l1.Core) []model.Resident {
		for g := range m.UsageGroups() {
			if g.Cores.Has(core) {
				return residents(slices.Collect(g.Residents()))
			}
		}
		return nil
	}
}

func residents(all []fit.Resident) (out []model.Resident) {
	for _, r := range all {
		m := model.Resident{Kind: model.Kind(r.Kind.String()), Range: r.Range, CB: r.CB, Buffer: uint64(r.Buffer.ID)}
		if r.Program != nil {
			m.Program = r.Program.ID()
		}
		out = append(out, m)
	}
	model.SortResidents(out)
	return out
}

func (f *fleet) Check(p *program.Program, on []uint64) (out model.Verdict, err error) {
	s, err := f.set(on)
	if err != nil {
		return out, class(err)
	}
	v, err := f.f.Check(p, s)
	if err != nil {
		return out, class(err)
	}
	out.Refusals, out.Hybrid = refusals(v.Refusals), refusals(v.Hybrid)
	for _, d := range v.Doubts {
		out.Doubts = append(out.Doubts, model.Doubt{
			Kind: string(d.Kind), What: d.What, Device: uint64(d.Device), Devices: d.Devices, Cores: d.Cores, End: d.End,
		})
	}
	for _, c := range v.Clashes {
		for core := range c.Cores.All() {
			out.Clashes = append(out.Clashes, clash(v, c, core))
		}
	}
	slices.SortStableFunc(out.Clashes, func(a, b model.Clash) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), a.Core.Compare(b.Core))
	})
	return out, wording(v)
}

// wording checks what a verdict says besides: lines that are there when they should be.
func wording(v fit.Verdict) error {
	refused, clashes := len(v.Refusals) > 0, len(v.Clashes) > 0
	agree := refused == clashes || refused && v.Refusals[0].Kind == fit.RefusedGrid
	switch {
	case v.Fits() != (!refused && !clashes && !v.CannotTell()), (v.Advice() == "") != v.Fits(), (v.Difference() == "") != agree:
		return fmt.Errorf("verdict %s", v.String())
	case strings.Contains(v.Difference()+v.Advice()+v.String(), "\n"), v.String() == "":
		return fmt.Errorf("verdict of more than one line: %q", v.String())
	}
	operand := false
	named := v.Named(func(b fit.Buffer) string {
		own := model.Buffer{}
		for p := range b.All() {
			own.Parts = append(own.Parts, model.Part{Cores: p.Cores.Ranges(), Range: p.Range})
		}
		operand = operand || own.OperandOf(v.Program)
		return "it"
	})
	if strings.HasPrefix(named.Advice(), "free") && operand {
		return fmt.Errorf("frees an operand: %s", v.Advice())
	}
	return nil
}

func refusals(all []*fit.Refusal) (out []model.Refusal) {
	for _, r := range all {
		if r.Kind != fit.RefusedGrid && r.Over() != r.End-r.Limit {
			out = append(out, model.Refusal{Text: "wrong Over"})
		}
		out = append(out, model.Refusal{
			Kind: string(r.Kind), What: r.What, Device: uint64(r.Device), Devices: r.Devices, Cores: r.Cores,
			End: r.End, Limit: r.Limit, Text: r.Error(),
		})
	}
	return out
}

func clash(v fit.Verdict, c fit.Clash, core l1.Core) model.Clash {
	out := model.Clash{
		Device: uint64(c.Device), Devices: c.Devices, Core: core, End: c.End, Limit: c.Limit, Grows: c.Grows, Bytes: c.Bytes,
	}
	for _, r := range v.Own(c) {
		out.CBs = append(out.CBs, r.CB)
	}
	var inWay []fit.Resident
	last := ^uint64(0)
	for _, r := range v.Above(c) {
		if r.Range.Len() > last {
			out.Bytes = 0 // not the largest first
		}
		last = r.Range.Len()
		for _, cb := range v.Program.CBs() {
			if !cb.Global && cb.Range.Overlaps(r.Range) && cb.Cores.Cores().Has(core) {
				inWay = append(inWay, r)
				break
			}
		}
	}
	out.InWay = residents(inWay)
	for _, h := range v.Holes(c) {
		out.Holes = append(out.Holes, h.Range)
	}
	return out
}

func (f *fleet) SetHybrid(on []uint64, hybrid bool) ([]uint64, error) {
	s, err := f.set(on)
	if err != nil {
		return nil, class(err)
	}
	changed, err := f.f.SetHybrid(s, hybrid)
	for id := range s.All() {
		if err == nil && f.handles[id].Hybrid() != hybrid {
			return nil, fmt.Errorf("device %d is not in the mode", id)
		}
	}
	return ids(changed), class(err)
}

func (f *fleet) Headroom(p *program.Program, on []uint64) (out []model.Headroom, err error) {
	s, err := f.set(on)
	if err != nil {
		return nil, class(err)
	}
	if p == nil {
		for id := range s.All() {
			if err := f.leastAgrees(f.handles[id]); err != nil {
				return nil, class(err)
			}
		}
	}
	return rooms(f.f.Headroom(p, s))
}

// leastAgrees compares the least headroom of a device with the headroom of its cores.
func (f *fleet) leastAgrees(d device.Device) error {
	alone, err := f.f.Headroom(nil, d.Set())
	if err != nil {
		return err
	}
	least := uint64(math.MaxUint64)
	for _, h := range alone {
		least = min(least, h.Free)
	}
	if free, ok := d.LeastHeadroom(); ok != (d.Registered() > 0) || ok && free != least {
		return fmt.Errorf("device %d: the least headroom is %d (%v), and %d by its cores", d.ID(), free, ok, least)
	}
	return nil
}

func rooms(all []fit.Headroom, err error) (out []model.Headroom, _ error) {
	for i, h := range all {
		if i > 0 && all[i-1].Device > h.Device {
			return nil, errors.New("headroom: devices out of order")
		}
		for core := range h.Cores.All() {
			out = append(out, model.Headroom{Device: uint64(h.Device), Devices: h.Devices, Core: core, End: h.End, Free: h.Free, Gap: h.Gap})
		}
	}
	slices.SortStableFunc(out, func(a, b model.Headroom) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), a.Core.Compare(b.Core))
	})
	return out, class(err)
}

// modes are the modes of buffers by the words of the model.
func modes() map[model.Mode]fit.Mode {
	return map[model.Mode]fit.Mode{model.Lockstep: fit.Lockstep, model.PerCore: fit.PerCore, model.RangeLockstep: fit.RangeLockstep}
}

// Room also looks whether who is named below and above is there, and ends or begins there.
func (f *fleet) Room(mode model.Mode, cores l1.CoreRangeSet, on []uint64) (l1.Range, error) {
	s, err := f.set(on)
	if err != nil {
		return l1.Range{}, class(err)
	}
	room, err := f.f.Room(modes()[mode], cores.Cores(), s)
	if !room.Range.IsEmpty() {
		if b := room.Below; b != nil && !ends(b, func(end uint64) bool { return end <= room.Range.Start && room.Range.Start-end < 48 }) {
			return l1.Range{}, fmt.Errorf("room %v is not above %+v", room.Range, b)
		}
		starts := func(p fit.Part) bool { return p.Range.Start >= room.Range.End && p.Range.Start-room.Range.End < 48 }
		if a := room.Above; a != nil && !slices.ContainsFunc(slices.Collect(a.Buffer.All()), starts) {
			return l1.Range{}, fmt.Errorf("room %v is not below %+v", room.Range, a)
		}
	}
	return room.Range, class(err)
}

// ends calls at for each address at which something in L1 ends.
func ends(r *fit.Resident, at func(uint64) bool) bool {
	for p := range r.Buffer.All() {
		if at(p.Range.End) {
			return true
		}
	}
	if r.Program == nil {
		return false
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for e := range r.Program.Entries(kind) {
			if at(e.End) {
				return true
			}
		}
	}
	for _, cb := range r.Program.CBs() {
		if at(cb.Range.End) {
			return true
		}
	}
	return false
}

func (f *fleet) MayGrow(p *program.Program, cb int, on []uint64) (uint64, bool, error) {
	s, err := f.set(on)
	if err != nil {
		return 0, false, class(err)
	}
	n, ok, err := f.f.MayGrow(p, cb, s)
	return n, ok, class(err)
}

// Enqueue also compares a refusal with the verdict of Check.
func (f *fleet) Enqueue(p *program.Program, to []uint64) ([]uint64, error) {
	s, err := f.set(to)
	if err != nil {
		return nil, class(err)
	}
	added, err := f.f.Enqueue(p, s)
	if v := (fit.Verdict{}); errors.As(err, &v) {
		checked, _ := f.f.Check(v.Program, s)
		if checked.Fits() || !reflect.DeepEqual(checked, v) || err.Error() != v.String() {
			return nil, fmt.Errorf("enqueue says %s, check says %s", v.String(), checked.String())
		}
	}
	return ids(added), class(err)
}

// sameUsage compares the queries of a device's contents with each other.
func sameUsage(d device.Device) error {
	for _, basis := range []device.Basis{device.BasisResident, device.BasisRegistered} {
		var seen l1.CoreSet
		var tracked, with uint64
		for g := range d.UsageGroups(basis) {
			bytes := uint64(0)
			for _, r := range g.Regions {
				bytes += r.Len()
			}
			if g.Cores.IsEmpty() || g.Cores.Overlaps(seen) || bytes != g.Usage.Tracked {
				return fmt.Errorf("usage of %v: %+v in regions %v", g.Cores, g.Usage, g.Regions)
			}
			seen = seen.Union(g.Cores)
			n := uint64(g.Cores.Len())
			tracked, with = tracked+n*g.Usage.Tracked, with+n*g.Usage.WithKernels
			sum, shared := uint64(0), uint64(0)
			for k := fit.KindCB; k <= fit.KindSystem; k++ {
				sum += g.Usage.Of(k)
			}
			for s := range g.Usage.Shared() {
				shared += s.Bytes * uint64(len(s.Kinds)-1)
			}
			if sum-shared != g.Usage.WithKernels {
				return fmt.Errorf("usage of %v: kinds sum to %d, %d of them shared, of %+v", g.Cores, sum, shared, g.Usage)
			}
		}
		u := d.Usage(basis)
		if u.Tracked != tracked || u.WithKernels != with {
			return fmt.Errorf("usage %+v, groups have %d, %d", u, tracked, with)
		}
		if basis == device.BasisResident && tracked != d.Totals().Tracked {
			return fmt.Errorf("usage %+v, totals %+v", u, d.Totals())
		}
	}
	return nil
}
